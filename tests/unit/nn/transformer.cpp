// SPDX-License-Identifier: Apache-2.0
// A decoder Transformer with its whole training step, traced by the compiler.
// sample
#include <doctest/doctest.h>

#include <cstring>

#include "meshtensor/graph/trace.hpp"
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/rules.hpp"

namespace mt = meshtensor;

namespace transformer {
using mt::to;
using namespace mt::nn;

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct length : mt::dim<"length", 128> {} length;
inline constexpr struct memory : mt::dim<"memory", 128> {} memory;
inline constexpr struct d_model : mt::dim<"d_model", 512> {} d_model;
inline constexpr struct heads : mt::dim<"heads", 8> {} heads;
inline constexpr struct d_head : mt::dim<"d_head", 64> {} d_head;
inline constexpr struct d_ff : mt::dim<"d_ff", 2048> {} d_ff;
inline constexpr struct layers : mt::dim<"layers", 2> {} layers;
inline constexpr struct vocab : mt::dim<"vocab", 256> {} vocab;

// 3.2.1: softmax(Q Kᵀ / √d_head) V, for every head
inline constexpr mt::layer attention = [](mt::scope auto s, auto x) {
  auto y = rename(x, length, memory);
  auto q = einsum(x, s.parameter("query", d_model, heads, d_head), to(batch, heads, length, d_head));
  auto k = einsum(y, s.parameter("key", d_model, heads, d_head), to(batch, heads, memory, d_head));
  auto v = einsum(y, s.parameter("value", d_model, heads, d_head), to(batch, heads, memory, d_head));

  auto scores = einsum(q, k, to(batch, heads, length, memory)) / sqrt(extent(d_head));
  auto weights = softmax(causal(scores, length, memory), memory);
  auto mixed = einsum(weights, v, to(batch, heads, length, d_head));
  return einsum(mixed, s.parameter("out", heads, d_head, d_model), to(batch, length, d_model));
};

inline constexpr mt::layer block = [](mt::scope auto s, auto x) {
  auto a = x + attention(s / "attention", layer_norm(s / "norm_1", x, d_model));
  return a + feed_forward(s / "feed_forward", layer_norm(s / "norm_2", a, d_model), d_model, d_ff);
};

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto text = s.input("text", mt::i32, batch, length);
    auto next = s.input("next", mt::i32, batch, length);
    auto x = embed(s / "tokens", text, vocab, d_model) + s.parameter("positions", length, d_model);
    x = repeat(s / "decoder", layers, x, block);
    auto loss = mean(cross_entropy(linear(s / "logits", x, d_model, vocab), next, vocab));
    mt::adam{.learning_rate = s.number("learning_rate", 1e-3)}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

constexpr auto traced = mt::trace<train_step>();

constexpr bool verified() {
  for (int i = 0; i < traced.node_count; ++i)
    if (mt::verify_node(traced, traced.nodes[i]) != nullptr) return false;
  return true;
}
static_assert(verified());

}  // namespace transformer

TEST_CASE("the compiler has traced the whole training step") {
  mt::module const& m = transformer::traced;
  CHECK(mt::find_entry(m, mt::type_name<transformer::train_step>()) == 0);
  CHECK(m.node_count < 600);  // two layers are one region; depth adds nothing
  int reads = 0, writes = 0, repeats = 0, gradients = 0;
  for (int i = 0; i < m.node_count; ++i) {
    reads += m.nodes[i].kind == mt::primitive::read;
    writes += m.nodes[i].kind == mt::primitive::write;
    repeats += m.nodes[i].kind == mt::primitive::repeat;
    gradients += m.nodes[i].kind == mt::primitive::gradient;
  }
  CHECK(reads == 16 * 3);  // parameters, each with two moments
  CHECK(writes == reads);
  CHECK(repeats == 1);
  CHECK(gradients == 1);
}

TEST_CASE("every node has a line of the program") {
  mt::module const& m = transformer::traced;
  for (int i = 0; i < m.node_count; ++i) {
    mt::site_row const& site = m.sites[m.nodes[i].site];
    CHECK(std::strcmp(site.file, __FILE__) == 0);
  }
}
