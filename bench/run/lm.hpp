// SPDX-License-Identifier: Apache-2.0
// A training step of a decoder Transformer on tokens, and the sizes it is measured at: what bench/run/lm_step.cpp and
// bench/run/lm_on_pjrt.cpp run, and bench/peers has in Python.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <meshtensor/meshtensor.hpp>

namespace lm {
namespace mt = meshtensor;
using namespace mt::nn;

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct length : mt::dim<"length"> {} length;
inline constexpr struct memory : mt::dim<"memory", length + 0> {} memory;
inline constexpr struct vocab : mt::dim<"vocab"> {} vocab;
inline constexpr struct layers : mt::dim<"layers"> {} layers;
inline constexpr struct d_model : mt::dim<"d_model"> {} d_model;
inline constexpr struct heads : mt::dim<"heads"> {} heads;
inline constexpr struct d_head : mt::dim<"d_head"> {} d_head;
inline constexpr struct d_ff : mt::dim<"d_ff"> {} d_ff;
inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<heads, model>, mt::shard<d_ff, model>> {};
struct vocab_too
    : mt::layout<mt::shard<batch, data>, mt::shard<heads, model>, mt::shard<d_ff, model>, mt::shard<vocab, model>> {};

inline constexpr mt::layer block = [](mt::scope auto s, auto x) {
  auto normed = layer_norm(s / "norm_1", x, d_model);
  auto a = x + causal_attention(s / "attention", normed, length, memory, d_model, heads, d_head);
  auto hidden = relu(linear(s / "up", layer_norm(s / "norm_2", a, d_model), d_model, d_ff));
  return a + linear(s / "down", hidden, d_ff, d_model);
};

template <bool Again>
struct step_of {
  constexpr void operator()(mt::scope auto s) const {
    auto text = s.input("text", mt::i32, batch, length);
    auto next = s.input("next", mt::i32, batch, length);
    auto x = embed(s / "tokens", text, vocab, d_model) + s.parameter("positions", length, d_model, mt::normal(0.02));
    auto deep = [&] {
      if constexpr (Again) return repeat(s / "layers", layers, x, mt::rematerialize(block));
      else return repeat(s / "layers", layers, x, block);
    }();
    auto y = layer_norm(s / "norm", deep, d_model);
    auto loss = mean(cross_entropy(linear(s / "logits", y, d_model, vocab), next, vocab));
    mt::adam{.learning_rate = 1e-3}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

struct step_f32 : mt::precision<step_of<false>, mt::f32> {};
struct step_again : mt::precision<step_of<true>, mt::f32> {};  // layers are made again for their gradient
struct step_f64 : mt::precision<step_of<false>, mt::f64> {};
struct step_bf16 : mt::precision<step_of<false>, mt::f32, mt::bf16> {};  // parameters and what is done to them in f32

struct sizes {
  std::int64_t layers, d_model, heads, d_ff, length, batch, vocab = 256;
};
std::map<std::string, sizes> const known = {
    {"lm", {6, 512, 8, 2048, 128, 16}}, {"lm_base", {12, 768, 12, 3072, 256, 4}}, {"tiny", {2, 64, 4, 256, 16, 1}}};

/// Tokens in which each follows from the one before, so that there is something to learn.
class batches {
 public:
  explicit batches(sizes const& z) : text(static_cast<std::size_t>(z.batch * z.length)), next(text.size()) {}
  void draw() {
    for (std::int32_t& t : text) t = static_cast<std::int32_t>(random_() % 64);
    for (std::size_t i = 0; i < text.size(); ++i) next[i] = text[i] * 3 % 64;
  }
  std::vector<std::int32_t> text, next;

 private:
  std::mt19937 random_{1};
};

}  // namespace lm
