// SPDX-License-Identifier: Apache-2.0
// A decoder Transformer over bytes: the model, its training step, and programs that evaluate it and generate text. It
// follows Vaswani et al., arXiv:1706.03762, but has the norms before the sublayers.
//
// Every extent and every axis is chosen at start-up, so that one binary serves any size on any mesh.
#pragma once

#include <meshtensor/meshtensor.hpp>

namespace transformer {
namespace mt = meshtensor;
using namespace mt::nn;
using mt::to;

// ---- dims ----

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct length : mt::dim<"length"> {} length;  // position of a query
inline constexpr struct memory : mt::dim<"memory", length + 0> {} memory;  // position of a key
inline constexpr struct vocab : mt::dim<"vocab", 256> {} vocab;  // the values of a byte
inline constexpr struct layers : mt::dim<"layers"> {} layers;
inline constexpr struct d_model : mt::dim<"d_model"> {} d_model;
inline constexpr struct heads : mt::dim<"heads"> {} heads;
inline constexpr struct d_head : mt::dim<"d_head"> {} d_head;
inline constexpr struct d_ff : mt::dim<"d_ff"> {} d_ff;

// ---- the model ----

inline constexpr mt::layer block = [](mt::scope auto s, auto x) {
  auto rate = s.number("dropout", 0);
  auto normed = layer_norm(s / "norm_1", x, d_model);
  auto attended = causal_attention(s / "attention", normed, length, memory, d_model, heads, d_head);
  auto a = x + dropout(s / "drop_1", attended, rate);
  auto made = feed_forward(s / "feed_forward", layer_norm(s / "norm_2", a, d_model), d_model, d_ff);
  return a + dropout(s / "drop_2", made, rate);
};

inline constexpr mt::layer decoder = [](mt::scope auto s, auto text) {
  auto tokens = embed(s / "tokens", text, vocab, d_model);
  auto x = tokens + s.parameter("positions", length, d_model, mt::normal(1 / sqrt(extent(d_model))));
  return layer_norm(s / "norm", repeat(s / "layers", layers, x, block), d_model);
};

inline constexpr mt::layer loss_of = [](mt::scope auto s, auto text, auto next) {
  auto x = decoder(s / "decoder", text);
  return mean(cross_entropy(linear(s / "logits", x, d_model, vocab), next, vocab));
};

// ---- the programs, which share the parameters under "model" ----

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto text = s.input("text", mt::u8, batch, length);
    auto next = s.input("next", mt::u8, batch, length);
    auto loss = loss_of(s / "model", text, next);
    auto rate =
        warmup_cosine(s, s.number("learning_rate", 1e-3), s.number("warmup", 100), s.number("steps", 2000), 0.1);
    mt::adamw{
        .learning_rate = rate, .weight_decay = s.number("weight_decay", 0.01), .clip_norm = s.number("clip_norm", 1)}
        .minimize(s / "optimizer", loss);
    s.output("loss", loss);
    s.output("learning_rate", rate);
  }
};

struct evaluate {
  constexpr void operator()(mt::scope auto s) const {
    auto text = s.input("text", mt::u8, batch, length);
    auto next = s.input("next", mt::u8, batch, length);
    s.output("loss", loss_of(s / "model", text, next));
  }
};

// The probabilities of the byte after the last one.
inline constexpr mt::layer next_byte = [](mt::scope auto s, auto logits) {
  s.output("likely", softmax(logits / s.number("temperature", 1), vocab));
};

struct generate {
  constexpr void operator()(mt::scope auto s) const {
    auto text = s.input("text", mt::u8, batch, length);
    auto last = s.input("last", mt::i32, batch);
    auto m = s / "model";
    auto x = gather(decoder(m / "decoder", text), last, length);
    next_byte(s / "next_byte", linear(m / "logits", x, d_model, vocab));
  }
};

struct programs : mt::programs<train_step, evaluate, generate> {};

// ---- mesh and layouts, on which the model above does not depend ----

inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};

struct layout
    : mt::layout<mt::shard<batch, data>, mt::shard<heads, model>, mt::shard<d_ff, model>, mt::shard<vocab, model>> {};
// The layout to generate one text at a time. The parameters are laid out as above, but the batch is replicated, and
// every rank has all probabilities.
struct one_text : mt::layout<mt::shard<heads, model>, mt::shard<d_ff, model>, mt::shard<vocab, model>,
                             mt::in<"next_byte", mt::replicate<vocab>>> {};

}  // namespace transformer
