// SPDX-License-Identifier: Apache-2.0
// An encoder and a decoder that translate. They follow Vaswani et al., arXiv:1706.03762, but have the norms before the
// sublayers. One embedding table serves both languages and the output.
//
// Every extent is chosen at start-up, so that sentences of several lengths share one program, its kernels and its
// parameters. Both sentences of a pair are padded to the same length with token 0.
#pragma once

#include <meshtensor/meshtensor.hpp>

namespace translation {
namespace mt = meshtensor;
using namespace mt::nn;
using mt::to;

// ---- dims ----

inline constexpr struct batch : mt::dim<"batch"> {} batch;  // pairs of sentences
inline constexpr struct parts : mt::dim<"parts"> {} parts;  // microbatches of a batch
inline constexpr struct length : mt::dim<"length"> {} length;  // position in a sentence, of a query
inline constexpr struct source : mt::dim<"source", length + 0> {} source;  // position of a key in the source
inline constexpr struct memory : mt::dim<"memory", length + 0> {} memory;  // position of a key in the target
inline constexpr struct vocab : mt::dim<"vocab"> {} vocab;
inline constexpr struct layers : mt::dim<"layers"> {} layers;
inline constexpr struct d_model : mt::dim<"d_model"> {} d_model;
inline constexpr struct heads : mt::dim<"heads"> {} heads;
inline constexpr struct d_head : mt::dim<"d_head"> {} d_head;
inline constexpr struct d_ff : mt::dim<"d_ff"> {} d_ff;

inline constexpr int padding = 0, begin = 2, end = 3;

// ---- the model ----

/// The sinusoidal position embedding has first sines, then cosines, with wavelengths from 2π to 10,000·2π.
constexpr auto sinusoids(mt::scope auto s, auto const& position) {
  auto const half = extent(d_model) / 2;
  auto const i = iota(s, d_model, mt::f32);
  auto const is_cosine = i >= half;
  auto const wave = exp((i - select(is_cosine, i * 0 + half, 0)) * (-9.210340371976184 / half));
  return mt::cast<s.compute>(sin(wave * position + select(is_cosine, i * 0 + 1.5707963267948966, 0)));
}

inline constexpr mt::layer words = [](mt::scope auto s, auto table, auto ids, auto position) {
  auto const x = gather(table, ids, vocab) * sqrt(extent(d_model)) + sinusoids(s, iota(s, position, mt::f32));
  return dropout(s / "drop", x, s.number("dropout", 0));
};

inline constexpr mt::layer feed = [](mt::scope auto s, auto x) {
  return linear(s / "down", relu(linear(s / "up", x, d_model, d_ff)), d_ff, d_model);
};

inline constexpr mt::layer encoder_block = [](mt::scope auto s, auto x, auto visible) {
  auto const rate = s.number("dropout", 0);
  auto const normed = layer_norm(s / "norm_1", x, d_model);
  auto const a = attention(s / "attention", normed, length, source, d_model, heads, d_head, visible);
  auto const h = x + dropout(s / "drop_1", a, rate);
  return h + dropout(s / "drop_2", feed(s / "feed", layer_norm(s / "norm_2", h, d_model)), rate);
};

inline constexpr mt::layer decoder_block = [](mt::scope auto s, auto x, auto encoded, auto visible) {
  auto const rate = s.number("dropout", 0);
  auto const normed = layer_norm(s / "norm_1", x, d_model);
  auto const a = causal_attention(s / "attention", normed, length, memory, d_model, heads, d_head);
  auto const h = x + dropout(s / "drop_1", a, rate);
  auto const wanted = layer_norm(s / "norm_2", h, d_model);
  auto const b = cross_attention(s / "source", wanted, encoded, length, source, d_model, heads, d_head, visible);
  auto const g = h + dropout(s / "drop_2", b, rate);
  return g + dropout(s / "drop_3", feed(s / "feed", layer_norm(s / "norm_3", g, d_model)), rate);
};

constexpr auto table_of(mt::scope auto s) {
  return s.parameter("table", vocab, d_model, mt::normal(1 / sqrt(extent(d_model))));
}
constexpr auto visible_of(auto from) { return rename(from, length, source) != padding; }

inline constexpr mt::layer encoded_of = [](mt::scope auto s, auto from) {
  auto const visible = visible_of(from);
  auto const read = repeat(s / "encoder", layers, words(s / "source", table_of(s), from, length),
                           [&](mt::scope auto r, auto x) { return encoder_block(r, x, visible); });
  return rename(layer_norm(s / "meaning", read, d_model), length, source);
};

/// The logits of the next word at each position of the target.
inline constexpr mt::layer logits_of = [](mt::scope auto s, auto from, auto into) {
  auto const table = table_of(s);
  auto const visible = visible_of(from);
  auto const encoded = encoded_of(s, from);
  auto const written = repeat(s / "decoder", layers, words(s / "target", table, into, length),
                              [&](mt::scope auto r, auto x) { return decoder_block(r, x, encoded, visible); });
  return einsum(layer_norm(s / "norm", written, d_model), table, to(batch, length, vocab));
};

// ---- the programs, which share the parameters under "model" ----

/// The inputs of a step are both sentences of each pair, and the next word at each position of the target.
constexpr auto pairs_of(mt::scope auto s, auto... dims) {
  return std::tuple(s.input("source", mt::i32, dims...), s.input("target", mt::i32, dims...),
                    s.input("next", mt::i32, dims...));
}

/// The cross-entropy with label smoothing, summed over the words of a batch without padding, in nats.
inline constexpr mt::layer nats_of = [](mt::scope auto s, auto from, auto into, auto next) {
  auto const each = cross_entropy(logits_of(s, from, into), next, vocab, s.number("smoothing", 0.1));
  return sum(each * mt::cast<mt::f32>(next != padding));
};

/// The optimizers minimize `what`, which is a loss or the gradients that were accumulated before.
struct with_adam {
  static constexpr void minimize(mt::scope auto s, auto const& what) {
    auto const rate = inverse_square_root(s, s.number("learning_rate", 5e-3), s.number("warmup", 2000));
    mt::adam{.learning_rate = rate, .beta_2 = 0.98, .clip_norm = s.number("clip_norm", 1)}.minimize(s / "optimizer",
                                                                                                    what);
  }
};
struct with_adafactor {
  static constexpr void minimize(mt::scope auto s, auto const& what) {
    auto const rate = inverse_square_root(s, s.number("learning_rate", 5e-2), s.number("warmup", 2000));
    mt::adafactor{.learning_rate = rate, .clip_norm = s.number("clip_norm", 1)}.minimize(s / "optimizer", what);
  }
};

template <class Optimizer>
struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const [from, into, next] = pairs_of(s, batch, length);
    auto const count = sum(mt::cast<mt::f32>(next != padding));
    auto const loss = nats_of(s / "model", from, into, next) / count;
    Optimizer::minimize(s, loss);
    s.output("loss", loss);
    s.output("count", count);
  }
};

/// The same step with the memory of one microbatch. Gradients are accumulated, and reduced over the mesh only once.
template <class Optimizer>
struct train_in_parts {
  static constexpr struct parts parts{};
  constexpr void operator()(mt::scope auto s) const {
    auto const pairs = pairs_of(s, batch, parts, length);
    auto const count = sum(mt::cast<mt::f32>(std::get<2>(pairs) != padding));
    auto const [loss, gradients] = mt::accumulate(
        s / "model", parts, pairs,
        [&](mt::scope auto m, auto from, auto into, auto next) { return nats_of(m, from, into, next) / count; });
    Optimizer::minimize(s, gradients);
    s.output("loss", loss);
    s.output("count", count);
  }
};

struct evaluate {
  constexpr void operator()(mt::scope auto s) const {
    auto const [from, into, next] = pairs_of(s, batch, length);
    auto const counts = mt::cast<mt::f32>(next != padding);
    auto const each = cross_entropy(logits_of(s / "model", from, into), next, vocab);
    s.output("sum", sum(each * counts));
    s.output("count", sum(counts));
  }
};

// ---- mesh and layout ----

inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};
struct layout
    : mt::layout<mt::shard<batch, data>, mt::shard<heads, model>, mt::shard<d_ff, model>, mt::shard<vocab, model>> {};

}  // namespace translation
