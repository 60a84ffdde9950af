// SPDX-License-Identifier: Apache-2.0
// A small Transformer that is trained on four processors: what it costs a compiler is held by
// tests/static/compile_cost.py. The numbers hold for g++ 12.
// operations: 6434653
// functions: 5818
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

namespace transformer {

inline constexpr struct batch : mt::dim<"batch", 4> {} batch;
inline constexpr struct length : mt::dim<"length", 8> {} length;
inline constexpr struct memory : mt::dim<"memory", 8> {} memory;
inline constexpr struct d_model : mt::dim<"d_model", 16> {} d_model;
inline constexpr struct d_ff : mt::dim<"d_ff", 32> {} d_ff;
inline constexpr struct heads : mt::dim<"heads", 4> {} heads;
inline constexpr struct d_head : mt::dim<"d_head", 4> {} d_head;
inline constexpr struct vocab : mt::dim<"vocab", 32> {} vocab;
inline constexpr struct layers : mt::dim<"layers", 2> {} layers;
inline constexpr struct data : mt::axis<"data", 2> {} data;
inline constexpr struct model : mt::axis<"model", 2> {} model;
struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<heads, model>, mt::shard<d_ff, model>> {};

inline constexpr mt::layer block = [](mt::scope auto s, auto x) {
  auto const h = mt::nn::rms_norm(s / "first_norm", x, d_model);
  auto const y = x + mt::nn::causal_attention(s / "attention", h, length, memory, d_model, heads, d_head);
  return y + mt::nn::feed_forward(s / "feed_forward", mt::nn::rms_norm(s / "norm", y, d_model), d_model, d_ff);
};

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const tokens = s.input("tokens", mt::i32, batch, length);
    auto const table = s.parameter("embedding", vocab, d_model);
    auto const x = mt::repeat(s / "blocks", layers, gather(table, tokens, vocab),
                              [](mt::scope auto r, auto h) { return block(r / "block", h); });
    auto const logits = einsum(x, table, mt::to(batch, length, vocab));
    auto const loss = mean(mt::nn::cross_entropy(logits, s.input("next", mt::i32, batch, length), vocab));
    mt::adam{}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

float train(mt::job const& job, mt::array<std::int32_t, batch, length> const& text) {
  mt::store weights(job);
  mt::executable<train_step, mesh, layout> step(weights);
  return step(mt::feed<"tokens">(text), mt::feed<"next">(text)).get<"loss">();
}

}  // namespace transformer
