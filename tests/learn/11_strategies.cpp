// SPDX-License-Identifier: Apache-2.0
// Lesson 11. The strategies that papers and other systems name are layouts of one program: data, tensor, sequence and
// context parallelism, and the stages of ZeRO. Each trains the same decoder. They differ in memory and in collectives.
// passes: start-up
#include <doctest/doctest.h>

#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

namespace lesson {
inline constexpr struct batch : mt::dim<"batch", 8> {} batch;
inline constexpr struct length : mt::dim<"length", 8> {} length;
inline constexpr struct memory : mt::dim<"memory", 8> {} memory;
inline constexpr struct vocab : mt::dim<"vocab", 16> {} vocab;
inline constexpr struct d_model : mt::dim<"d_model", 8> {} d_model;
inline constexpr struct heads : mt::dim<"heads", 4> {} heads;
inline constexpr struct d_head : mt::dim<"d_head", 4> {} d_head;
inline constexpr struct d_ff : mt::dim<"d_ff", 32> {} d_ff;
inline constexpr struct layers : mt::dim<"layers", 4> {} layers;

inline constexpr mt::layer feed_forward = [](mt::scope auto s, auto x) {
  return mt::nn::linear(s / "down", gelu(mt::nn::linear(s / "up", x, d_model, d_ff)), d_ff, d_model);
};
inline constexpr mt::layer block = [](mt::scope auto s, auto x) {
  using namespace mt::nn;
  auto a = x + causal_attention(s / "attention", layer_norm(s / "norm_1", x, d_model), length, memory, d_model, heads,
                                d_head);
  return a + feed_forward(s / "feed_forward", layer_norm(s / "norm_2", a, d_model));
};
struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    using namespace mt::nn;
    auto text = s.input("text", mt::i32, batch, length);
    auto x = embed(s / "tokens", text, vocab, d_model) + s.parameter("positions", length, d_model);
    x = repeat(s / "decoder", layers, x, block);
    auto loss =
        mean(cross_entropy(linear(s / "logits", x, d_model, vocab), s.input("next", mt::i32, batch, length), vocab));
    mt::adam{.learning_rate = 0.01}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

inline constexpr struct ranks : mt::axis<"ranks", 4> {} ranks;
struct mesh : mt::mesh<ranks> {};

struct one_copy_each : mt::layout<> {};
// DP: every rank has a part of the batch. hvd.allreduce, DistributedDataParallel, tf.distribute's MirroredStrategy.
struct data_parallel : mt::layout<mt::shard<batch, ranks>> {};
// ZeRO 1 and 2: optimizer state in parts. Gradients are reduced and scattered at once, so they are in parts, too.
struct zero_2 : mt::layout<mt::shard<batch, ranks>, mt::in<"optimizer", mt::shard<d_model, ranks>>> {};
// ZeRO 3, FSDP: every rank keeps some layers, which are sent when they are needed.
struct zero_3 : mt::layout<mt::shard<batch, ranks>, mt::shard<layers, ranks>> {};
// TP: heads, the inner dim of the feed-forward layers and the vocabulary (Shoeybi et al., arXiv:1909.08053).
struct tensor_parallel : mt::layout<mt::shard<heads, ranks>, mt::shard<d_ff, ranks>, mt::shard<vocab, ranks>> {};
// SP: between these products the sequence is in parts (Korthikanti et al., arXiv:2205.05198).
struct sequence_parallel
    : mt::layout<mt::shard<heads, ranks>, mt::shard<d_ff, ranks>, mt::shard<vocab, ranks>,
                 mt::in<"decoder", mt::shard<length, ranks>>, mt::in<"attention", mt::replicate<length>>,
                 mt::in<"feed_forward", mt::replicate<length>>> {};
// CP: every rank has a part of the sequence; keys and values are gathered.
struct context_parallel : mt::layout<mt::shard<length, ranks>> {};

struct outcome {
  float loss;
  std::int64_t variable_bytes;
  mt::exchanged traffic;
};
template <class Layout>
outcome train() {
  auto job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<train_step, mesh, Layout> step(weights);
  mt::array<std::int32_t, batch, length> text, next;
  for (int b = 0; b < 8; ++b)
    for (int l = 0; l < 8; ++l)
      text(batch(b), length(l)) = (3 * b + 5 * l) % 16, next(batch(b), length(l)) = (3 * b + 5 * l + 5) % 16;
  float loss = 0;
  for (int i = 0; i < 5; ++i) loss = step(mt::feed<"text">(text), mt::feed<"next">(next)).template get<"loss">();
  return {loss, step.planned().variable_bytes, mt::traffic_of(step.graph(), step.planned())};
}
}  // namespace lesson
using namespace lesson;

TEST_CASE("strategies are layouts: the losses are equal, memory and collectives are not") {
  outcome const alone = train<one_copy_each>(), dp = train<data_parallel>(), z2 = train<zero_2>(), z3 = train<zero_3>();
  outcome const tp = train<tensor_parallel>(), sp = train<sequence_parallel>(), cp = train<context_parallel>();
  for (outcome const& o : {dp, z2, z3, tp, sp, cp}) CHECK(o.loss == doctest::Approx(alone.loss).epsilon(1e-5));
  CHECK(alone.loss < 2.7f);  // it begins at log(16) = 2.77

  CHECK(alone.traffic.collectives() == 0);
  CHECK(dp.traffic.all_reduces == dp.traffic.collectives());  // of gradients and of the loss, nothing else
  CHECK(dp.variable_bytes == alone.variable_bytes);

  CHECK(z2.traffic.reduce_scatters > 0);                       // of gradients
  CHECK(z2.traffic.all_gathers > 0);                           // of updated parameters
  CHECK(z2.variable_bytes < alone.variable_bytes * 6 / 10);    // of three parts, two are divided by four: 0.5
  CHECK(z3.variable_bytes < alone.variable_bytes * 45 / 100);  // the layers are divided by four, the rest is not

  CHECK(tp.variable_bytes < alone.variable_bytes / 2);
  CHECK(tp.traffic.all_gathers == 0);
  CHECK(sp.traffic.reduce_scatters > 0);  // in place of the all_reduces of TP
  CHECK(sp.traffic.all_reduces < tp.traffic.all_reduces + sp.traffic.reduce_scatters);
  CHECK(sp.variable_bytes == tp.variable_bytes);

  CHECK(cp.traffic.all_gathers > 0);                      // of keys and values
  CHECK(cp.variable_bytes > dp.variable_bytes * 9 / 10);  // positions alone are in parts
}
