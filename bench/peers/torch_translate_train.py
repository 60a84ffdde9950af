# SPDX-License-Identifier: Apache-2.0
"""PyTorch: epochs of the training of `examples/translate --size tiny` with its defaults, for their time: the same model,
texts, pieces, batches of the same shapes, dropout, label smoothing, schedule and update. Prints one line of JSON for
each epoch; the validation loss is that of the last parameters."""

import argparse
import gzip
import json
import math
import pathlib
import resource
import time

import numpy
import torch
from torch import nn
from torch.nn import functional

PAD, BEGIN, END = 0, 2, 3
LAYERS, MODEL, FEED, HEADS, WORDS = 4, 128, 256, 4, 8000
DROPOUT, SMOOTHING, RATE, WARMUP, CLIP = 0.3, 0.1, 5e-3, 2000, 1.0


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(MODEL, MODEL, bias=False) for _ in range(4))

    def forward(self, x, y, **mask):
        parts = [part(z).unflatten(-1, (HEADS, -1)).transpose(1, 2)
                 for part, z in ((self.query, x), (self.key, y), (self.value, y))]
        return self.out(functional.scaled_dot_product_attention(*parts, **mask).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, reads_source):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(MODEL) for _ in range(3 if reads_source else 2))
        self.itself, self.source = Attention(), Attention() if reads_source else None
        self.up, self.down = nn.Linear(MODEL, FEED), nn.Linear(FEED, MODEL)

    def forward(self, x, own, meant=None, visible=None):
        drop = lambda y: functional.dropout(y, DROPOUT, self.training)
        y = self.norms[0](x)
        x = x + drop(self.itself(y, y, **own))
        if self.source is not None:
            x = x + drop(self.source(self.norms[1](x), meant, attn_mask=visible))
        return x + drop(self.down(functional.relu(self.up(self.norms[-1](x)))))


class Translator(nn.Module):
    def __init__(self, longest):
        super().__init__()
        self.table = nn.Parameter(torch.randn(WORDS, MODEL) * MODEL**-0.5)
        self.encoder = nn.ModuleList(Block(False) for _ in range(LAYERS))
        self.decoder = nn.ModuleList(Block(True) for _ in range(LAYERS))
        self.meaning, self.norm = nn.LayerNorm(MODEL), nn.LayerNorm(MODEL)
        wave = 1e4 ** -(torch.arange(MODEL // 2) / (MODEL // 2))
        angle = torch.arange(longest)[:, None] * wave
        self.register_buffer("positions", torch.cat([angle.sin(), angle.cos()], 1))

    def begin(self, ids):
        x = functional.embedding(ids, self.table) * math.sqrt(MODEL) + self.positions[: ids.shape[1]]
        return functional.dropout(x, DROPOUT, self.training)

    def forward(self, source, target):
        visible = (source != PAD)[:, None, None, :]
        x, y = self.begin(source), self.begin(target)
        for block in self.encoder:
            x = block(x, {"attn_mask": visible})
        meant = self.meaning(x)
        for block in self.decoder:
            y = block(y, {"is_causal": True}, meant, visible)
        return self.norm(y) @ self.table.T


def nats(logits, following, smoothing=0.0):
    return functional.cross_entropy(logits.flatten(0, 1), following.flatten(), ignore_index=PAD, reduction="sum",
                                    label_smoothing=smoothing)


def bucket_lengths(pairs_of, count, step):
    """At most `count` multiples of `step` that leave the least to fill up; `pairs_of` has the pairs of each length."""
    ends = range(step, len(pairs_of) + step - 1, step)
    within = [sum(pairs_of[1 : end + 1]) for end in ends]
    best = [(end * pairs, [end]) for end, pairs in zip(ends, within)]  # buckets for all pairs up to each end
    for _ in range(count - 1):
        best = [min([best[k]] + [(best[i][0] + ends[k] * (within[k] - within[i]), best[i][1] + [ends[k]])
                                 for i in range(k)]) for k in range(len(ends))]
    return best[-1][1]


class Pairs:
    """Pairs of ids in buckets: of all rows that `tokens` allow the fewest that make no batch more."""

    def __init__(self, sources, targets, longest, lengths=None, count=1, multiple=1, tokens=1):
        both = [(a + [END], b + [END]) for a, b in zip(sources, targets)]
        self.pairs = sorted((p for p in both if max(map(len, p)) <= longest), key=lambda p: max(map(len, p)))
        found = [max(map(len, p)) for p in self.pairs]
        self.lengths = lengths or bucket_lengths(numpy.bincount(found, minlength=longest + 1).tolist(), count, multiple)
        self.batches = []
        for first, end in zip([0] + self.lengths, self.lengths):
            which = numpy.flatnonzero((numpy.array(found) > first) & (numpy.array(found) <= end))
            rows = max(8, tokens // end // 8 * 8)
            batches = max(1, -(-len(which) // rows))
            self.batches.append((end, max(8, -(-len(which) // (8 * batches)) * 8), which))

    def of_epoch(self, random=None):
        pending = []
        for length, rows, which in self.batches:
            which = random.permutation(which) if random else which
            pending += [(length, rows, which[i : i + rows]) for i in range(0, len(which), rows)]
        for i in random.permutation(len(pending)) if random else range(len(pending)):
            length, rows, which = pending[i]
            source, target, following = (numpy.full((rows, length), PAD) for _ in range(3))
            source[len(which) :, 0], target[:, 0] = END, BEGIN
            for row, k in enumerate(which):
                a, b = self.pairs[k]
                source[row, : len(a)], target[row, 1 : len(b)], following[row, : len(b)] = a, b[:-1], b
            yield tuple(map(torch.from_numpy, (source, target, following)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="the folder of texts")
    parser.add_argument("--vocabulary", required=True, help="the model of subwords that `translate` kept")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch-tokens", type=int, default=3600)
    parser.add_argument("--buckets", type=int, default=20)
    parser.add_argument("--length-multiple", type=int, default=1)
    parser.add_argument("--longest", type=int, default=48)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(given.seed)

    import sentencepiece

    vocabulary = sentencepiece.SentencePieceProcessor(model_file=given.vocabulary)

    def pairs(part):
        texts = []
        for language in "en", "de":
            plain = given.data / f"{part}.{language}"
            opened = plain.open if plain.exists() else lambda *a, **k: gzip.open(f"{plain}.gz", *a, **k)
            with opened("rt", encoding="utf8", newline="\n") as file:
                texts.append(vocabulary.encode(file.read().removesuffix("\n").split("\n")))
        return texts

    shape = dict(count=given.buckets, multiple=given.length_multiple, tokens=given.batch_tokens)
    train = Pairs(*pairs("train"), given.longest, **shape)
    valid = Pairs(*pairs("val"), given.longest, train.lengths, **shape)
    model, random = Translator(given.longest), numpy.random.default_rng(given.seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98), fused=True)
    updates = 0
    for epoch in range(1, given.epochs + 1):
        model.train()
        words, begin = 0, time.perf_counter()
        for source, target, following in train.of_epoch(random):
            updates += 1
            count = int((following != PAD).sum())
            optimizer.param_groups[0]["lr"] = RATE * min(updates / WARMUP, math.sqrt(WARMUP / updates))
            optimizer.zero_grad(set_to_none=True)
            (nats(model(source, target), following, SMOOTHING) / count).backward()
            nn.utils.clip_grad_norm_(model.parameters(), CLIP)
            optimizer.step()
            words += count
        seconds = time.perf_counter() - begin
        model.eval()
        with torch.inference_mode():
            parts = [(nats(model(s, t), f).item(), int((f != PAD).sum())) for s, t, f in valid.of_epoch()]
        print(json.dumps({
            "peer": f"PyTorch {torch.__version__.split('+')[0]} eager", "workload": "translate_train", "epoch": epoch,
            "updates": updates, "threads": given.threads, "seconds": seconds, "words_per_s": words / seconds,
            "validation": sum(n for n, _ in parts) / sum(c for _, c in parts),
            "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}), flush=True)


if __name__ == "__main__":
    main()
