// SPDX-License-Identifier: Apache-2.0
// An encoder and a decoder that translate: Vaswani et al., arXiv:1706.03762, with the norms before the sublayers, and
// one table for both languages and for what is said at the end.
//
// Every extent is chosen at start-up, so that sentences of several lengths share one program, its kernels and its
// parameters. Two sentences of one pair are padded to one length; zero is no word.
#pragma once

#include <meshtensor/meshtensor.hpp>

namespace translation {
namespace mt = meshtensor;
using namespace mt::nn;
using mt::to;

// ---- dims ----

inline constexpr struct batch : mt::dim<"batch"> {
} batch;  // pairs of sentences
inline constexpr struct length : mt::dim<"length"> {
} length;  // position in a sentence
inline constexpr struct source : mt::dim<"source", length + 0> {
} source;  // position of the source that answers
inline constexpr struct memory : mt::dim<"memory", length + 0> {
} memory;  // position of the target that answers
inline constexpr struct vocab : mt::dim<"vocab"> {
} vocab;
inline constexpr struct layers : mt::dim<"layers"> {
} layers;
inline constexpr struct d_model : mt::dim<"d_model"> {
} d_model;
inline constexpr struct heads : mt::dim<"heads"> {
} heads;
inline constexpr struct d_head : mt::dim<"d_head"> {
} d_head;
inline constexpr struct d_ff : mt::dim<"d_ff"> {
} d_ff;

// As a translation is written, word by word, in several ways at once:
inline constexpr struct beam : mt::dim<"beam"> {
} beam;  // a way that is followed
inline constexpr struct before : mt::dim<"before", beam + 0> {
} before;  // one that was, a word ago
inline constexpr struct said : mt::dim<"said"> {
} said;  // position in a translation, up to the longest
inline constexpr struct choices : mt::dim<"choices"> {
} choices;  // the likeliest ways to go on
inline constexpr struct ways : mt::dim<"ways", beam * choices> {
} ways;
inline constexpr struct part : mt::dim<"part"> {
} part;  // the vocabulary in parts, which may lie spread
inline constexpr struct word : mt::dim<"word"> {
} word;  // place in a part

inline constexpr int padding = 0, begin = 2, end = 3;

// ---- the model ----

/// Of a position, sines, then cosines, of wavelengths from 2π to 10,000·2π.
constexpr auto sinusoids(mt::scope auto s, auto const& position) {
  auto const half = extent(d_model) / 2;
  auto const i = iota(s, d_model, mt::f32);
  auto const turned = i >= half;
  auto const wave = exp((i - select(turned, i * 0 + half, 0)) * (-9.210340371976184 / half));
  return mt::cast<s.compute>(sin(wave * position + select(turned, i * 0 + 1.5707963267948966, 0)));
}

inline constexpr mt::layer words = [](mt::scope auto s, auto table, auto ids, auto position) {
  auto const x = gather(table, ids, vocab) * sqrt(extent(d_model)) + sinusoids(s, iota(s, position, mt::f32));
  return dropout(s / "drop", x, s.number("dropout", 0));
};

inline constexpr mt::layer feed = [](mt::scope auto s, auto x) {
  return linear(s / "down", relu(linear(s / "up", x, d_model, d_ff)), d_ff, d_model);
};

inline constexpr mt::layer encoder_block = [](mt::scope auto s, auto x, auto seen) {
  auto const rate = s.number("dropout", 0);
  auto const asked = layer_norm(s / "norm_1", x, d_model);
  auto const a = attention(s / "attention", asked, length, source, d_model, heads, d_head, seen);
  auto const h = x + dropout(s / "drop_1", a, rate);
  return h + dropout(s / "drop_2", feed(s / "feed", layer_norm(s / "norm_2", h, d_model)), rate);
};

inline constexpr mt::layer decoder_block = [](mt::scope auto s, auto x, auto meant, auto seen) {
  auto const rate = s.number("dropout", 0);
  auto const asked = layer_norm(s / "norm_1", x, d_model);
  auto const a = causal_attention(s / "attention", asked, length, memory, d_model, heads, d_head);
  auto const h = x + dropout(s / "drop_1", a, rate);
  auto const wanted = layer_norm(s / "norm_2", h, d_model);
  auto const b = cross_attention(s / "source", wanted, meant, length, source, d_model, heads, d_head, seen);
  auto const g = h + dropout(s / "drop_2", b, rate);
  return g + dropout(s / "drop_3", feed(s / "feed", layer_norm(s / "norm_3", g, d_model)), rate);
};

constexpr auto table_of(mt::scope auto s) {
  return s.parameter("table", vocab, d_model, mt::normal(1 / sqrt(extent(d_model))));
}
constexpr auto seen_of(auto from) { return rename(from, length, source) != padding; }

inline constexpr mt::layer meaning_of = [](mt::scope auto s, auto from) {
  auto const seen = seen_of(from);
  auto const read = repeat(s / "encoder", layers, words(s / "source", table_of(s), from, length),
                           [&](mt::scope auto r, auto x) { return encoder_block(r, x, seen); });
  return rename(layer_norm(s / "meaning", read, d_model), length, source);
};

/// What each position of the target finds likely next.
inline constexpr mt::layer logits_of = [](mt::scope auto s, auto from, auto into) {
  auto const table = table_of(s);
  auto const seen = seen_of(from);
  auto const meant = meaning_of(s, from);
  auto const written = repeat(s / "decoder", layers, words(s / "target", table, into, length),
                              [&](mt::scope auto r, auto x) { return decoder_block(r, x, meant, seen); });
  return einsum(layer_norm(s / "norm", written, d_model), table, to(batch, length, vocab));
};

// ---- the programs; they share the parameters under "model" ----

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const from = s.input("source", mt::i32, batch, length);
    auto const into = s.input("target", mt::i32, batch, length);
    auto const next = s.input("next", mt::i32, batch, length);
    auto const logits = logits_of(s / "model", from, into);
    auto const counts = mt::cast<mt::f32>(next != padding);
    auto const each = mt::cast<mt::f32>(cross_entropy(logits, next, vocab, s.number("smoothing", 0.1)));
    auto const count = sum(counts);
    auto const loss = sum(each * counts) / count;
    auto const rate = inverse_square_root(s, s.number("learning_rate", 5e-3), s.number("warmup", 2000));
    mt::adam{.learning_rate = rate, .beta_2 = 0.98, .clip_norm = s.number("clip_norm", 1)}.minimize(s / "optimizer",
                                                                                                    loss);
    s.output("loss", loss);
    s.output("count", count);
  }
};

struct evaluate {
  constexpr void operator()(mt::scope auto s) const {
    auto const from = s.input("source", mt::i32, batch, length);
    auto const into = s.input("target", mt::i32, batch, length);
    auto const next = s.input("next", mt::i32, batch, length);
    auto const counts = mt::cast<mt::f32>(next != padding);
    auto const each = cross_entropy(logits_of(s / "model", from, into), next, vocab);
    s.output("sum", sum(mt::cast<mt::f32>(each) * counts));
    s.output("count", sum(counts));
  }
};

// ---- translating: what was said before is kept, and each word costs one step ----

/// What the decoder's layers will look at of the source.
inline constexpr mt::layer kept_of_source = [](mt::scope auto s, auto meant) {
  auto const keys = s.parameter("key", layers, d_model, heads, d_head);
  auto const values = s.parameter("value", layers, d_model, heads, d_head);
  return std::tuple(einsum(meant, keys, to(layers, batch, source, heads, d_head)),
                    einsum(meant, values, to(layers, batch, source, heads, d_head)));
};

inline constexpr mt::layer memory_of_source = [](mt::scope auto s) {
  return std::tuple(s.state("source_keys", s.real(), layers, batch, source, heads, d_head),
                    s.state("source_values", s.real(), layers, batch, source, heads, d_head),
                    s.state("seen", mt::boolean, batch, source));
};
inline constexpr mt::layer memory_of_words = [](mt::scope auto s) {
  return std::tuple(s.state("keys", s.real(), layers, batch, before, said, heads, d_head),
                    s.state("values", s.real(), layers, batch, before, said, heads, d_head));
};

/// Before the first word.
struct read_source {
  constexpr void operator()(mt::scope auto s) const {
    auto const from = s.input("source", mt::i32, batch, length);
    auto const [keys, values] = kept_of_source(s / "model" / "decoder" / "source", meaning_of(s / "model", from));
    auto const [old_keys, old_values, seen] = memory_of_source(s / "memory");
    s.update(old_keys, keys);
    s.update(old_values, values);
    s.update(seen, seen_of(from));
  }
};

/// One position's attention to what is kept: `keys` and `values` have `along`, of which `open` says what may be seen.
constexpr auto look(auto const& question, auto const& keys, auto const& values, auto along, auto const& open) {
  auto const scores = einsum(question, keys, to(batch, beam, heads, along)) / sqrt(extent(d_head));
  return einsum(softmax(select(open, scores, -1e30), along), values, to(batch, beam, heads, d_head));
}

inline constexpr mt::layer attend_again = [](mt::scope auto s, auto x, auto parent, auto keys, auto values) {
  auto const position = s.number("position", 0);
  auto const place = iota(s, said, mt::i32);
  auto const kept = [&](auto const& old, auto const& now) {
    return select(place == position, now, gather(old, parent, before));
  };
  auto const project = [&](auto const& weight) { return einsum(x, weight, to(batch, beam, heads, d_head)); };
  auto const all_keys = kept(keys, project(s.parameter("key", d_model, heads, d_head)));
  auto const all_values = kept(values, project(s.parameter("value", d_model, heads, d_head)));
  auto const mixed =
      look(project(s.parameter("query", d_model, heads, d_head)), all_keys, all_values, said, place <= position);
  return std::tuple(einsum(mixed, s.parameter("out", heads, d_head, d_model), to(batch, beam, d_model)), all_keys,
                    all_values);
};
inline constexpr mt::layer attend_to_source = [](mt::scope auto s, auto x, auto keys, auto values, auto seen) {
  auto const question = einsum(x, s.parameter("query", d_model, heads, d_head), to(batch, beam, heads, d_head));
  auto const mixed = look(question, keys, values, source, seen);
  return einsum(mixed, s.parameter("out", heads, d_head, d_model), to(batch, beam, d_model));
};

/// One word more of every way: `parent` says which way each of them follows, `token` its last word. Gives, of each
/// sentence, the likeliest ways to go on: their scores, which way times `choices` and choice it is, and the word.
inline constexpr mt::layer next_words = [](mt::scope auto s, auto of_source, auto of_words, auto token, auto parent) {
  auto const seen = std::get<2>(of_source);
  auto const table = table_of(s);
  auto const position = s.number("position", 0);
  auto const x = gather(table, token, vocab) * sqrt(extent(d_model)) + sinusoids(s, position);
  auto const [y, kept] = repeat(
      s / "decoder", layers, x, std::tuple_cat(of_words, std::tuple(std::get<0>(of_source), std::get<1>(of_source))),
      [&](mt::scope auto r, auto h, auto keys, auto values, auto of_keys, auto of_values) {
        auto const [a, all_keys, all_values] =
            attend_again(r / "attention", layer_norm(r / "norm_1", h, d_model), parent, keys, values);
        auto const b = h + a;
        auto const c =
            b + attend_to_source(r / "source", layer_norm(r / "norm_2", b, d_model), of_keys, of_values, seen);
        return std::tuple(c + feed(r / "feed", layer_norm(r / "norm_3", c, d_model)), std::tuple(all_keys, all_values));
      });
  auto const logits = einsum(layer_norm(s / "norm", y, d_model), table, to(batch, beam, vocab));
  return std::tuple(log_softmax(logits, vocab), std::get<0>(kept), std::get<1>(kept));
};

/// One word.
struct say_word {
  constexpr void operator()(mt::scope auto s) const {
    auto const token = s.input("token", mt::i32, batch, beam);
    auto const parent = s.input("parent", mt::i32, batch, beam);
    auto const score = s.input("score", s.real(), batch, beam);
    auto const of_words = memory_of_words(s / "memory");
    auto const [likely, keys, values] =
        next_words(s / "model", memory_of_source(s / "memory"), of_words, token, parent);
    s.update(std::get<0>(of_words), rename(keys, beam, before));
    s.update(std::get<1>(of_words), rename(values, beam, before));

    auto const id = iota(s, vocab, mt::i32);
    auto const ending = s.number("ending", 0);  // 1: the sentence ends here, whatever the model says
    auto const open = select(id == padding || id == begin, -1e30, likely);
    auto const [each, which] = top_k(select(id == end && id * 0 < ending, 0, open) + score, vocab, choices, part, word);
    auto const [best, way] = top_k(merge(each, to(beam, choices), ways), ways, choices);
    s.output("best", best);
    s.output("way", way);
    s.output("word", gather(merge(which, to(beam, choices), ways), way, ways));
  }
};

struct programs : mt::programs<train_step, evaluate, read_source, say_word> {};

// ---- processors ----

inline constexpr struct data : mt::axis<"data"> {
} data;
inline constexpr struct model : mt::axis<"model"> {
} model;
struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<heads, model>, mt::shard<d_ff, model>,
                           mt::shard<vocab, model>, mt::shard<part, model>> {};

}  // namespace translation
