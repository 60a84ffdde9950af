#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts in pages and comments what makes prose hard to read, for each thousand words outside of code and tables.

    tests/prose.py [--check] [PAGE...]    all pages and the comments of each room of include/, if none is named;
                                          --check fails where one misses a limit
    tests/prose.py --show PAGE            the sentences that are counted, each with the reason; a header or a folder of
                                          headers is a page, too
    tests/prose.py --self-test            that each kind is found

It counts relative clauses without a head ("what is read", "those who ask"), semicolons, connectives ("because", "for
example"), and sentences of more than 30 words. It is rough: the limits leave room for its mistakes.
"""

import argparse
import pathlib
import re
import sys

PROJECT = pathlib.Path(__file__).resolve().parent.parent
LONGEST = 30  # words of a sentence
FEW = 400  # words below which counts say nothing

WORDS_OF_QUESTIONS = r"(?:[Ww]hat|[Ww]hatever|[Ww]hoever|[Ww]ho|[Ww]hichever)"
HEADLESS = re.compile(rf"(?<![\w-]){WORDS_OF_QUESTIONS} (?!to\b|about\b|if\b|for\b)[a-z`*_]|"
                      r"\b(?:that|those|the ones?|he|they) (?:who|which)\b|(?<!, )\bin which is\b")
HEADS = re.compile(r"\b(?:says?|shows?|tells?|decides?|knows?|explains?|lists?|ranks?|users?|programmers?|engineers?|"
                   r"readers?|people|anyone|someone|everyone|authors?|newcomers?|contributors?|colleagues?|of|on|see|"
                   r"ask|asks|about|matter|states?|describes?|and|is|know) ?$", re.I)
SEMICOLON = re.compile(r";")
FIELD = re.compile(r"(errors|grad|dims|layout|source|parameters|states?|before|after)(?: |:)  ?")
CODES = ("errors", "parameters", "state", "states")  # whose lists have semicolons
CONNECTIVE = re.compile(r"\b(because|for example|for instance|therefore|so that|so|however|note that|we)\b", re.I)

# most (or, of connectives, least) for each 1,000 words
LIMITS = {"headless": 0.5, "semicolons": 4, "connectives": 5, "long": 2}


def prose(text):
    """The page without code, tables, headings, links' addresses and quoted output."""
    text = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.M | re.S)
    text = re.sub(r"^(\||#|    \S).*$", "", text, flags=re.M)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(r"`[^`]*`", "`x`", text)
    text = re.sub(r"\"[^\"\n]{0,200}\"", '"x"', text)
    return text


def comments(code):
    """The comments of a header that stand on lines of their own, as paragraphs. Fields of a docstring are one each."""
    lines = []
    for line in code.splitlines():
        found = re.match(r"\s*///?(?: (.*))?$", line)
        words = (found[1] or "") if found else ""
        if words.startswith("SPDX-"):
            words = ""
        field = FIELD.match(words)
        lines.append(("\n" + (words.replace(";", ",") if field[1] in CODES else words)) if field else words)
    return "\n".join(lines) + "\n"


def text_of(path):
    if path.is_dir():
        return "\n".join(comments(p.read_text(encoding="utf-8")) for p in sorted(path.rglob("*.hpp")))
    text = path.read_text(encoding="utf-8")
    return comments(text) if path.suffix in (".hpp", ".cpp") else text


def sentences(text):
    for paragraph in re.split(r"\n\s*\n|^\s*(?:[-*]|\d+\.) ", prose(text), flags=re.M):
        plain = " ".join(paragraph.split())
        for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z`\[\"*(])", plain):
            if sentence:
                yield sentence


def words_of(sentence):
    return re.findall(r"[\w`'’-]*\w[\w`'’-]*", sentence)


def is_headless(sentence, found):
    if sentence.endswith("?"):
        return False
    before = sentence[: found.start()]
    word = found[0].split()[0].lower()
    if word in ("who", "what"):
        # "shows what a layout does" asks; "users who" has a head.
        return not HEADS.search(before)
    return True


def findings(text):
    """(kind, sentence) of all that is counted but connectives."""
    for sentence in sentences(text):
        for found in HEADLESS.finditer(sentence):
            if is_headless(sentence, found):
                yield "headless", sentence
        for _ in SEMICOLON.finditer(sentence):
            yield "semicolons", sentence
        if len(words_of(sentence)) > LONGEST:
            yield "long", sentence


def counts(text):
    number = sum(len(words_of(s)) for s in sentences(text))
    found = [kind for kind, _ in findings(text)]
    each = {kind: 1000 * found.count(kind) / max(number, 1) for kind in ("headless", "semicolons", "long")}
    each["connectives"] = 1000 * len(CONNECTIVE.findall(prose(text))) / max(number, 1)
    return number, each


def misses(text):
    number, each = counts(text)
    if number < FEW:
        return []
    return [f"{kind} {each[kind]:.1f} of {limit}" for kind, limit in LIMITS.items()
            if (each[kind] < limit if kind == "connectives" else each[kind] > limit)]


def pages():
    named = [PROJECT / name for name in ("README.md", "ROADMAP.md", "CHANGELOG.md", "CONTRIBUTING.md", "bench/README.md")]
    rooms = [p for p in sorted((PROJECT / "include/meshtensor").iterdir()) if p.is_dir()]
    return [*named, *sorted((PROJECT / "docs").rglob("*.md")), *rooms]


def self_test():
    """One page for each kind, of which that kind alone is beyond its limit."""
    plain = "We read the file, because it is there. It has a name. So the test opens it.\n\n" * 40
    bad = {
        "headless": "The list has what is read from it.\n\n",
        "semicolons": "One is here; the other is there; all are well.\n\n" * 2,
        "long": "This is a sentence that goes on and on, and that has one more clause behind each comma, and then another "
                "one, so that a reader has forgotten its beginning when the end of it is there.\n\n" * 2,
    }
    wrong = [f"a plain page misses {m}" for m in misses(plain)]
    for kind, text in bad.items():
        found = misses(plain + text)
        if len(found) != 1 or not found[0].startswith(kind):
            wrong.append(f"a page with {kind} misses {found}")
    if not any(m.startswith("connectives") for m in misses("The file is there. It has a name.\n\n" * 100)):
        wrong.append("a page without connectives passes")
    hidden = "| what is read; who asks |\n\n```cpp\nwhat is read; who;\n```\n\nSay what a layout does. What is a mesh?\n"
    if misses(plain + hidden):
        wrong.append(f"tables, code and questions count: {misses(plain + hidden)}")
    header = "#pragma once\n/// The list has what is read from it; it is short.\n/// errors  T01 no dim; T02 no dtype\nint x;  // y;\n"
    if [kind for kind, _ in findings(comments(header))] != ["headless", "semicolons"]:
        wrong.append(f"a header's comment gives {list(findings(comments(header)))}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    given = parser.parse_args()
    if given.self_test:
        wrong = self_test()
        print("\n".join(wrong) if wrong else "each kind is found")
        return 1 if wrong else 0
    beyond = 0
    for path in given.pages or pages():
        text = text_of(path)
        number, each = counts(text)
        said = "  ".join(f"{kind} {value:4.1f}" for kind, value in each.items())
        page = str(path.relative_to(PROJECT) if path.is_relative_to(PROJECT) else path)
        missed = misses(text)
        beyond += bool(missed)
        print(f"{page:40} {number:5} words  {said}" + (f"  beyond: {', '.join(missed)}" if missed else ""))
        if given.show:
            for kind, sentence in findings(text):
                print(f"  {kind}: {sentence}")
    return 1 if given.check and beyond else 0


if __name__ == "__main__":
    sys.exit(main())
