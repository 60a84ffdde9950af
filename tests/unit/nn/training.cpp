// SPDX-License-Identifier: Apache-2.0
// A small decoder Transformer of the library's own layers: it learns, with dropout, and its gradient is that of its
// loss.
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/control.hpp"

#include "unit/op/trial.hpp"

namespace {

namespace mt = meshtensor;
using namespace mt::nn;

inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 6> {} length;
inline constexpr struct memory_dim : mt::dim<"memory", 6> {} memory;
inline constexpr struct d_model_dim : mt::dim<"d_model", 8> {} d_model;
inline constexpr struct heads_dim : mt::dim<"heads", 2> {} heads;
inline constexpr struct d_head_dim : mt::dim<"d_head", 4> {} d_head;
inline constexpr struct d_ff_dim : mt::dim<"d_ff", 16> {} d_ff;
inline constexpr struct layers_dim : mt::dim<"layers", 2> {} layers;
inline constexpr struct vocab_dim : mt::dim<"vocab", 7> {} vocab;

inline constexpr mt::layer block = [](mt::scope auto s, auto x) {
  auto const rate = s.number("dropout", 0.1);
  auto const normed = layer_norm(s / "norm_1", x, d_model);
  auto const attended = causal_attention(s / "attention", normed, length, memory, d_model, heads, d_head);
  auto const a = x + dropout(s / "drop_1", attended, rate);
  auto const b = feed_forward(s / "feed_forward", rms_norm(s / "norm_2", a, d_model), d_model, d_ff);
  return a + dropout(s / "drop_2", b, rate);
};

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const text = s.input("text", mt::u8, batch, length);
    auto const next = s.input("next", mt::u8, batch, length);
    auto const embedded = embed(s / "tokens", text, vocab, d_model);
    auto const start = embedded + s.parameter("positions", length, d_model);
    auto const x = repeat(s / "decoder", layers, start, block);
    auto const logits = linear(s / "logits", x, d_model, vocab);
    auto const loss = mean(cross_entropy(logits, next, vocab));
    auto const rate = warmup_cosine(s, s.number("learning_rate", 2e-2), 5, 120, 0.1);
    mt::adamw{.learning_rate = rate, .clip_norm = 1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

/// Texts that count: each letter is the one before it plus one, over and over.
void feed(trial::program& p, trial::stream& s) {
  mt::block &text = p.inputs.at("text"), &next = p.inputs.at("next");
  for (std::int64_t b = 0; b * 6 < text.size(); ++b) {
    int letter = static_cast<int>(s.between(0, 7));
    for (std::int64_t l = 0; l < 6; ++l) {
      text.set(b * 6 + l, letter);
      letter = (letter + 1 + static_cast<int>(l % 2)) % 7;
      next.set(b * 6 + l, letter);
    }
  }
}

template <class Program>
std::vector<double> losses(int steps) {
  trial::program p = trial::program::of<Program>({batch(4)});
  trial::stream s;
  std::vector<double> r;
  for (int i = 0; i < steps; ++i) {
    feed(p, s);
    r.push_back(p.run().at("loss").number_at(0));
  }
  return r;
}

}  // namespace

TEST_CASE("a Transformer learns to count") {
  auto const f32 = losses<train_step>(120);
  CHECK(f32[0] > 1);
  CHECK(f32[119] < 0.3);
  auto const f64 = losses<mt::precision<train_step, mt::dtype::f64>>(20);
  for (std::size_t i = 0; i < 20; ++i) CHECK(std::abs(f32[i] - f64[i]) < 1e-3);  // the same elements are dropped
  auto const again = losses<train_step>(20);
  for (std::size_t i = 0; i < 20; ++i) CHECK(again[i] == f32[i]);
}

TEST_CASE("mixed precision: parameters in f32, arithmetic in bf16") {
  auto const mixed = losses<mt::precision<train_step, mt::dtype::f32, mt::dtype::bf16>>(60);
  CHECK(mixed[0] > 1);
  CHECK(mixed[59] < mixed[0] - 0.5);
}
