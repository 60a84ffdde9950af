# SPDX-License-Identifier: Apache-2.0
"""PyTorch: translates with the parameters that `examples/translate --export FILE` writes, by the same search.

What was said is kept as keys and values and gathered by parents; a source has its keys and values once, whatever the
beam; sentences of similar length are together, and leave the batch when they are done. `--check` compares with a form
that keeps nothing, on parameters made by chance, and needs no files. Prints one line of JSON."""

import argparse
import gzip
import json
import math
import pathlib
import resource
import time

import numpy
import torch
from torch.nn import functional

HEADS, WORDS = 4, 8000
PAD, BEGIN, END = 0, 2, 3
HIDDEN = -1e30
SIZES = dict(layers=4, d_model=128, d_ff=256, heads=HEADS, d_head=32, vocab=WORDS)


def parameters():
    """Of each parameter its dims, in the order of the file."""
    norm = {"gain": "d_model", "bias": "d_model"}
    heads = dict.fromkeys(("query", "key", "value"), "d_model heads d_head") | {"out": "heads d_head d_model"}
    feed = {"up/weight": "d_model d_ff", "up/bias": "d_ff", "down/weight": "d_ff d_model", "down/bias": "d_model"}
    dims = {"model/table": "vocab d_model"}
    for place in "meaning", "norm":
        dims |= {f"model/{place}/{n}": d for n, d in norm.items()}
    for stack, norms, attentions in ("encoder", 2, ["attention"]), ("decoder", 3, ["attention", "source"]):
        parts = [(f"norm_{i + 1}", norm) for i in range(norms)] + [(a, heads) for a in attentions] + [("feed", feed)]
        for part, inside in parts:
            dims |= {f"model/{stack}/{part}/{n}": "layers " + d for n, d in inside.items()}
    return {name: [SIZES[dim] for dim in all_dims.split()] for name, all_dims in dims.items()}


def read_parameters(file):
    from safetensors.torch import load_file

    given = load_file(file)
    for name, shape in parameters().items():
        if name not in given or list(given[name].shape) != shape:
            found = list(given[name].shape) if name in given else "nothing"
            raise SystemExit(f"{file}: '{name}' is to be {shape}, and is {found}: export the size `tiny`")
    return {name: given[name].float() for name in parameters()}


def positions(count, model):
    wave = 1e4 ** -(torch.arange(model // 2, dtype=torch.float64) / (model // 2))
    angle = torch.arange(count, dtype=torch.float64)[:, None] * wave
    return torch.cat([angle.sin(), angle.cos()], 1)


def likeliest(scores, count):
    """torch.topk of each row, of rows so long that it pays to look at the greatest of each chunk first."""
    rows, words = scores.shape
    chunk = next((c for c in range(40, 15, -1) if words % c == 0 and words // c >= count), 1)
    if chunk == 1:
        return scores.topk(count)
    chunks = scores.view(rows, words // chunk, chunk)
    where = chunks.amax(-1).topk(count, sorted=False)[1]
    best, at = chunks.gather(1, where[..., None].expand(-1, -1, chunk)).flatten(1).topk(count)
    return best, where.gather(1, at // chunk) * chunk + at % chunk


class Translator:
    """The model without dropout. One row of what is kept holds the keys and values of all layers for one position."""

    def __init__(self, weights, limit, longest):
        self.table = weights["model/table"]
        model = self.model = self.table.shape[1]
        self.head = model // HEADS
        self.layers = len(weights["model/decoder/norm_1/gain"])
        self.limit = limit
        self.words = self.table * math.sqrt(model)
        self.out = self.table.t().contiguous()
        self.positions = positions(max(limit, longest), model).to(self.table.dtype)
        self.final = {place: self.norm_of(weights, f"model/{place}") for place in ("meaning", "norm")}
        self.encoder = [self.layer_of(weights, "encoder", i) for i in range(self.layers)]
        self.decoder = [self.layer_of(weights, "decoder", i) for i in range(self.layers)]
        of_source = [weights[f"model/decoder/source/{n}"][i].reshape(model, model)
                     for i in range(self.layers) for n in ("key", "value")]
        self.of_source = torch.cat(of_source, 1)

    @staticmethod
    def norm_of(weights, name, *at):
        return weights[f"{name}/gain"][at], weights[f"{name}/bias"][at]

    def layer_of(self, weights, stack, i):
        model = self.model
        get = lambda name: weights[f"model/{stack}/{name}"][i]
        layer = {f"norm_{n}": self.norm_of(weights, f"model/{stack}/norm_{n}", i)
                 for n in ((1, 2) if stack == "encoder" else (1, 2, 3))}
        layer["inward"] = torch.cat([get(f"attention/{n}").reshape(model, model) for n in ("query", "key", "value")], 1)
        layer["outward"] = get("attention/out").reshape(model, model).contiguous()
        if stack == "decoder":
            layer["query"] = get("source/query").reshape(model, model).contiguous()
            layer["output"] = get("source/out").reshape(model, model).contiguous()
        layer["up"] = get("feed/up/weight").contiguous(), get("feed/up/bias")
        layer["down"] = get("feed/down/weight").contiguous(), get("feed/down/bias")
        return layer

    def norm(self, x, gain_and_bias):
        return functional.layer_norm(x, (self.model,), *gain_and_bias)

    def feed(self, layer, x):
        (up, up_bias), (down, down_bias) = layer["up"], layer["down"]
        return torch.addmm(down_bias, torch.addmm(up_bias, x, up).relu_(), down)

    def read(self, source):
        """Of sentences that are padded: keys and values of all layers, and what is added to scores."""
        n, length = source.shape
        visible = source != PAD
        x = (self.words[source] + self.positions[:length]).view(n * length, self.model)
        for layer in self.encoder:
            parts = (self.norm(x, layer["norm_1"]) @ layer["inward"]).view(n, length, 3, HEADS, self.head)
            query, key, value = parts.permute(2, 0, 3, 1, 4)
            attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=visible[:, None, None, :])
            x = x + attended.transpose(1, 2).reshape(n * length, self.model) @ layer["outward"]
            x = x + self.feed(layer, self.norm(x, layer["norm_2"]))
        kept = (self.norm(x, self.final["meaning"]) @ self.of_source).view(n, length, 2 * self.layers, HEADS, self.head)
        added = torch.zeros(n, 1, 1, length, dtype=x.dtype).masked_fill_(~visible[:, None, None, :], HIDDEN)
        return kept.permute(2, 0, 3, 1, 4).contiguous(), added.expand(-1, HEADS, -1, -1).contiguous()

    def say(self, token, position, kept, of_source, added):
        """The logits after one word more of each row. `kept` [position, row, layer's keys or values, model] has what
        was said before; the new keys and values are written to it. Rows of one sentence follow one another."""
        rows, n = len(token), of_source.shape[1]
        scale = self.head**-0.5
        x = self.words[token] + self.positions[position]
        kept = kept.view(-1, rows, 2 * self.layers, HEADS, self.head)[: position + 1]
        for i, layer in enumerate(self.decoder):
            parts = (self.norm(x, layer["norm_1"]) @ layer["inward"]).view(rows, 3, HEADS, self.head)
            kept[position, :, 2 * i : 2 * i + 2] = parts[:, 1:]
            keys, values = kept[:, :, 2 * i], kept[:, :, 2 * i + 1]
            weights = (keys * (parts[:, 0] * scale)).sum(-1, keepdim=True).softmax(0)
            x = x + (weights * values).sum(0).view(rows, self.model) @ layer["outward"]

            query = (self.norm(x, layer["norm_2"]) @ layer["query"]).view(n, rows // n, HEADS, self.head)
            query = query.transpose(1, 2).reshape(n * HEADS, rows // n, self.head)
            keys, values = of_source[2 * i].flatten(0, 1), of_source[2 * i + 1].flatten(0, 1)
            scores = torch.baddbmm(added.flatten(0, 1), query, keys.transpose(1, 2), alpha=scale)
            attended = torch.bmm(scores.softmax(-1), values).view(n, HEADS, rows // n, self.head)
            x = x + attended.transpose(1, 2).reshape(rows, self.model) @ layer["output"]
            x = x + self.feed(layer, self.norm(x, layer["norm_3"]))
        return self.norm(x, self.final["norm"]) @ self.out

    def search(self, source, width):
        """The best translation of each sentence, by log probability for each word: a way that ends among the best
        `width` is complete, and a sentence with `width` complete ones is done."""
        of_source, added = self.read(source)
        n, live = len(source), 1  # at first there is one way
        sentences = numpy.arange(n)
        complete = [[] for _ in range(n)]
        token = torch.full((n,), BEGIN)
        score = torch.zeros(n, 1, dtype=self.table.dtype)
        said = numpy.zeros((n, 1, 0), numpy.int64)
        columns = 2 * self.layers * self.model
        kept, other = (torch.empty(self.limit * n * width, columns, dtype=self.table.dtype) for _ in range(2))
        for position in range(self.limit):
            logits = self.say(token, position, kept[: self.limit * n * live], of_source, added)
            likely = logits.log_softmax(-1)
            likely[:, PAD] = likely[:, BEGIN] = HIDDEN
            if position + 1 == self.limit:
                likely[:, END] = 0  # the sentence ends here, whatever the model says
            each, word = likeliest(likely, 2 * width)
            best, way = (each.view(n, live, -1) + score[..., None]).flatten(1).topk(2 * width)
            word = word.view(n, -1).gather(1, way).numpy()
            way = way.numpy() // (2 * width)
            ends = word == END
            for s, c in numpy.argwhere(ends[:, :width]):
                if len(complete[sentences[s]]) < width:
                    complete[sentences[s]].append((best[s, c].item() / (position + 1), said[s, way[s, c]]))
            left = numpy.array([len(complete[s]) < width for s in sentences])
            if position + 1 == self.limit or not left.any():
                break
            go_on = ends.argsort(1, kind="stable")[:, :width]
            take = lambda a: numpy.take_along_axis(a, go_on, 1)
            way, word, best = take(way), take(word), torch.from_numpy(take(best.numpy()))
            # Sentences that are done leave as soon as that is free, for ways are gathered; else when a tenth is done.
            stays = left if width > 1 or left.mean() < 0.9 else numpy.ones_like(left)
            rows = (numpy.arange(n)[:, None] * live + way)[stays].reshape(-1)
            said = numpy.concatenate([said[numpy.arange(n)[:, None], way], word[..., None]], 2)[stays]
            if len(rows) != n * live or (rows != numpy.arange(n * live)).any():
                at = torch.from_numpy((numpy.arange(position + 1)[:, None] * (n * live) + rows).reshape(-1))
                torch.index_select(kept, 0, at, out=other[: len(at)])
                kept, other = other, kept
            if not stays.all():
                still = torch.from_numpy(numpy.flatnonzero(stays))
                of_source, added = of_source.index_select(1, still), added.index_select(0, still)
            sentences, n, live = sentences[stays], int(stays.sum()), width
            token, score = torch.from_numpy(word[stays].reshape(-1)), best[torch.from_numpy(stays)]
        return [max(c, key=lambda one: one[0])[1].tolist() if c else [] for c in complete]


def padded(sentences):
    source = torch.full((len(sentences), max(map(len, sentences))), PAD)
    for row, ids in zip(source, sentences):
        row[: len(ids)] = torch.tensor(ids)
    return source


def translate(model, sentences, width, at_a_time):
    order = sorted(range(len(sentences)), key=lambda i: (len(sentences[i]), i))
    said = [None] * len(sentences)
    for first in range(0, len(order), at_a_time):
        some = order[first : first + at_a_time]
        for i, ids in zip(some, model.search(padded([sentences[i] for i in some]), width)):
            said[i] = ids
    return said


# ---- what keeps nothing, for --check ----


def logits_of_all(weights, source, target):
    """The logits at every position of whole targets, layer by layer as the model is defined."""
    def normed(x, name, *at):
        return functional.layer_norm(x, x.shape[-1:], weights[name + "/gain"][at], weights[name + "/bias"][at])

    def attend(x, y, name, i, open_to):
        query, key, value = (torch.einsum("nld,dhe->nhle", z, weights[f"{name}/{part}"][i])
                             for z, part in ((x, "query"), (y, "key"), (y, "value")))
        scores = torch.einsum("nhle,nhme->nhlm", query, key) / math.sqrt(query.shape[-1])
        attended = scores.masked_fill(~open_to, HIDDEN).softmax(-1) @ value
        return torch.einsum("nhle,hed->nld", attended, weights[name + "/out"][i])

    def feed(x, name, i):
        up = x @ weights[name + "/up/weight"][i] + weights[name + "/up/bias"][i]
        return up.relu() @ weights[name + "/down/weight"][i] + weights[name + "/down/bias"][i]

    table = weights["model/table"]
    begin = lambda ids: table[ids] * table.shape[1] ** 0.5 + positions(ids.shape[1], table.shape[1]).to(table.dtype)
    visible, later = (source != PAD)[:, None, None, :], torch.ones(target.shape[1], target.shape[1]).tril().bool()
    x, y = begin(source), begin(target)
    for i in range(SIZES["layers"]):
        a = normed(x, "model/encoder/norm_1", i)
        x = x + attend(a, a, "model/encoder/attention", i, visible)
        x = x + feed(normed(x, "model/encoder/norm_2", i), "model/encoder/feed", i)
    meant = normed(x, "model/meaning")
    for i in range(SIZES["layers"]):
        a = normed(y, "model/decoder/norm_1", i)
        y = y + attend(a, a, "model/decoder/attention", i, later)
        y = y + attend(normed(y, "model/decoder/norm_2", i), meant, "model/decoder/source", i, visible)
        y = y + feed(normed(y, "model/decoder/norm_3", i), "model/decoder/feed", i)
    return normed(y, "model/norm") @ table.T


def slow_search(weights, source, width, limit):
    """The search of one sentence as examples/translate/beam_search.hpp has it."""
    live, score, done = [[] for _ in range(width)], [0.0] + [-1e9] * (width - 1), []
    for step in range(1, limit + 1):
        rows = torch.tensor([[BEGIN] + way for way in live])
        likely = logits_of_all(weights, source.expand(width, -1), rows)[:, -1].log_softmax(-1)
        likely[:, [PAD, BEGIN]] = HIDDEN
        if step == limit:
            likely[:, END] = 0
        best, at = (likely + torch.tensor(score, dtype=likely.dtype)[:, None]).flatten().topk(2 * width)
        following = []
        for c, (one, place) in enumerate(zip(best.tolist(), at.tolist())):
            way, word = divmod(place, WORDS)
            if word == END:
                if c < width and len(done) < width:
                    done.append((one / step, live[way]))
            elif len(following) < width:
                following.append((one, live[way] + [word]))
        score, live = [one for one, _ in following], [way for _, way in following]
        if len(done) == width:
            break
    return max(done, key=lambda one: one[0])[1] if done else []


def check():
    torch.manual_seed(1)
    weights = {name: torch.randn(shape, dtype=torch.float64) * (0.3 if "norm" in name else shape[-1] ** -0.5)
               for name, shape in parameters().items()}
    weights |= {name: w + 1 for name, w in weights.items() if name.endswith("/gain")}
    weights["model/norm/bias"] += 4.5 * weights["model/table"][END]  # sentences end now and then
    limit = 14
    model = Translator(weights, limit, 12)
    lengths = [1, 9, 2, 12, 5, 5, 7]
    sentences = [torch.randint(4, WORDS, (length - 1,)).tolist() + [END] for length in lengths]
    source, rows = padded(sentences), len(sentences)

    target = torch.cat([torch.full((rows, 1), BEGIN), torch.randint(4, WORDS, (rows, limit - 1))], 1)
    of_source, added = model.read(source)
    kept = torch.empty(limit * rows, 2 * model.layers * model.model, dtype=torch.float64)
    steps = [model.say(target[:, t], t, kept, of_source, added) for t in range(limit)]
    apart = (torch.stack(steps, 1) - logits_of_all(weights, source, target)).abs().max().item()
    assert apart < 1e-9, apart

    scores = torch.randn(7, WORDS)
    assert all(torch.equal(a, b) for a, b in zip(likeliest(scores, 10), scores.topk(10)))

    ends = set()
    for width in 1, 2, 5:
        wanted = [slow_search(weights, torch.tensor([ids]), width, limit) for ids in sentences]
        ends |= {len(ids) for ids in wanted}
        for at_a_time in 1, 3, 64:
            assert translate(model, sentences, width, at_a_time) == wanted, (width, at_a_time)
    assert len(ends) > 3, ends  # some were done before others
    print(json.dumps({"check": "passed", "logits_apart": apart, "lengths": sorted(ends)}))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", help="what `translate --export FILE` wrote")
    parser.add_argument("--vocabulary", help="the model of subwords that it kept")
    parser.add_argument("--data", type=pathlib.Path, help="the folder of texts")
    parser.add_argument("--test", default="test_2016_flickr", help="which of them")
    parser.add_argument("--from", dest="source", default="en")
    parser.add_argument("--into", default="de")
    parser.add_argument("--beam", type=int, default=5, help="1: the likeliest word each time")
    parser.add_argument("--sentences", type=int, default=64, help="translated at a time")
    parser.add_argument("--limit", type=int, default=60, help="words of the longest translation")
    parser.add_argument("--longest", type=int, default=48, help="words of a source, the last included; the rest is cut")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3, help="the median of so many is told, after a first one, which is told, too")
    parser.add_argument("--said", help="a file for the translations")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    if given.check:
        return check()
    if not (given.weights and given.vocabulary and given.data):
        parser.error("--weights, --vocabulary and --data are needed, or --check")

    import sacrebleu
    import sentencepiece

    def lines(language):
        plain = given.data / f"{given.test}.{language}"
        read = plain.open if plain.exists() else lambda *a, **k: gzip.open(f"{plain}.gz", *a, **k)
        with read("rt", encoding="utf8", newline="\n") as file:
            return file.read().removesuffix("\n").split("\n")

    vocabulary = sentencepiece.SentencePieceProcessor(model_file=given.vocabulary)
    sources, wanted = lines(given.source), lines(given.into)
    sentences = [ids[: given.longest - 1] + [END] for ids in vocabulary.encode(sources)]
    model = Translator(read_parameters(given.weights), given.limit, given.longest)
    took = []
    for _ in range(given.rounds + 1):
        begin = time.perf_counter()
        said = vocabulary.decode(translate(model, sentences, given.beam, given.sentences))
        took.append(time.perf_counter() - begin)
    first, *took = took  # in which a new process makes what it keeps
    seconds = sorted(took)[len(took) // 2]
    if given.said:
        pathlib.Path(given.said).write_text("".join(line + "\n" for line in said), encoding="utf8")
    bleu = sacrebleu.corpus_bleu(said, [wanted])
    print(json.dumps({
        "peer": f"PyTorch {torch.__version__.split('+')[0]} eager", "workload": "translate_decode", "beam": given.beam,
        "sentences": len(said), "at_a_time": given.sentences, "threads": given.threads, "seconds": seconds,
        "first_s": first, "fastest_s": min(took), "sentences_per_s": len(said) / seconds, "bleu": bleu.score, "score": str(bleu),
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))


if __name__ == "__main__":
    with torch.inference_mode():
        main()
