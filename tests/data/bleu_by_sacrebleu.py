# SPDX-License-Identifier: Apache-2.0
"""Records what sacreBLEU says of small corpora: those of its own tests, and random ones. tests/data/bleu_by_sacrebleu.cpp
must find the same.

    python3 bleu_by_sacrebleu.py > bleu_by_sacrebleu.txt        # sacreBLEU 2.6.0

A corpus is a line `corpus SENTENCES REFERENCES`, for each sentence the translation and its references, a line each, then
its figures: score, four precisions, brevity penalty, four counts of matches, four of runs, words, words of references. A
line `words` has a sentence behind it, then its words. Characters that are not shown, or not of ASCII, are written as
\\u and six hexadecimal digits.
"""

import random

from sacrebleu.metrics import BLEU

# From test/test_bleu.py and test/test_sentence_bleu.py of sacreBLEU.
OWN = [
    (
        ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."],
        [
            ["The dog bit the man.", "It was not unexpected.", "The man bit him first."],
            ["The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."],
        ],
    ),
    (
        ["", "", ""],
        [
            ["The dog bit the man.", "It was not unexpected.", "The man bit him first."],
            ["The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."],
        ],
    ),
    (["this is a test", "another test"], [["ref1", "ref2"]]),
    (["this is a test"], [["this is a test"]]),
    (["this is a fest"], [["this is a test"]]),
    (["am I am a character sequence"], [["I am a symbol string sequence a a"]]),
    (["test"], [["a test"]]),
    (["a test"], [["a test"]]),
    (["a little test"], [["a test"]]),
    (
        ["Producția de zahăr primă va fi exprimată în ceea ce privește zahărul alb;"],
        [["producţia de zahăr brut se exprimă în zahăr alb;"]],
    ),
    (["this is a cat"], [["okay thanks"]]),
]

BLANKS = [chr(c) for c in range(0x110000) if chr(c).isspace()]
PARTS = (
    list("abcXYZ") + list("0123456789") + list("\"!#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") + list(".,-.,-") + BLANKS
    + ["&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "<skipped>", "-\n", "\n", "...", "1,000.5", "3-4", "don't", "U.S."]
    + [chr(c) for c in (0x0, 0x7f, 0xa1, 0xe4, 0xdf, 0x301, 0x3b1, 0x416, 0x661, 0x200b, 0x2010, 0x201c, 0x4e2d, 0xff0c, 0xff11)]
    + [chr(0x1F600), chr(0x10FFFF), chr(0xFEFF), chr(0x2FFFF)]
)


def escaped(text):
    last = len(text) - 1  # where editors take blanks away
    return "".join(c if "!" <= c <= "~" and c != "\\" or c == " " and i < last else f"\\u{ord(c):06x}" for i, c in enumerate(text))


def sentence(rng, words):
    """Words of a small stock, so that they match, and parts between them."""
    text = ""
    for _ in range(rng.randrange(words + 1)):
        text += rng.choice(["the", "a", "dog", "man", "2.5", "well-known", "ja", "über"])
        text += rng.choice([" ", " ", " ", ", ", ". ", rng.choice(PARTS), rng.choice(PARTS) + rng.choice(PARTS)])
    return text


def changed(rng, text):
    """The same sentence, said a little otherwise."""
    words = text.split(" ")
    for _ in range(rng.randrange(3)):
        at = rng.randrange(len(words))
        words[at:at + rng.randrange(2)] = [rng.choice(["the", "cat", rng.choice(PARTS)])] * rng.randrange(3) or ["x"]
    return " ".join(words)


def record(said, references):
    s = BLEU().corpus_score(said, references)
    print("corpus", len(said), len(references))
    for i, text in enumerate(said):
        print(escaped(text))
        for one in references:
            print(escaped(one[i]))
    figures = [s.score, *s.precisions, s.bp, *s.counts, *s.totals, s.sys_len, s.ref_len]
    print(*(repr(float(f)) for f in figures))


def main():
    rng = random.Random(1)
    for said, references in OWN:
        record(said, references)
    for k in range(60):
        said = [sentence(rng, 1 + k % 12) for _ in range(rng.randrange(1, 5))]
        record(said, [[changed(rng, text) for text in said] for _ in range(rng.randrange(1, 4))])
    tokenizer = BLEU()
    texts = ["".join(rng.choices(PARTS, k=rng.randrange(14))) for _ in range(400)]
    texts += [a + b + c for a in "1a." for b in ".,-" for c in "1a.,-"]
    for text in texts:
        print("words")
        print(escaped(text))
        print(escaped(tokenizer._preprocess_segment(text)))


main()
