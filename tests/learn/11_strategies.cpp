// SPDX-License-Identifier: Apache-2.0
// Lesson 11. You learn to write the known strategies of parallel training as layouts of one program: data, tensor,
// sequence and context parallelism, and the stages of ZeRO. They train the same decoder with the same losses. However,
// they differ in memory and in collectives.
// passes: start-up
#include <doctest/doctest.h>

#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

namespace lesson {
inline constexpr struct batch : mt::dim<"batch", 8> {} batch;
inline constexpr struct length : mt::dim<"length", 8> {} length;
inline constexpr struct memory : mt::dim<"memory", 8> {} memory;  // like length, but for keys and values
inline constexpr struct vocab : mt::dim<"vocab", 16> {} vocab;
inline constexpr struct d_model : mt::dim<"d_model", 8> {} d_model;
inline constexpr struct heads : mt::dim<"heads", 4> {} heads;
inline constexpr struct d_head : mt::dim<"d_head", 4> {} d_head;
inline constexpr struct d_ff : mt::dim<"d_ff", 32> {} d_ff;
inline constexpr struct layers : mt::dim<"layers", 4> {} layers;

// The program is a small language model: a Transformer decoder of four layers. A block consists of attention and of two
// linear layers, each behind a norm and with a residual connection.
inline constexpr mt::layer feed_forward = [](mt::scope auto s, auto x) {
  return mt::nn::linear(s / "down", gelu(mt::nn::linear(s / "up", x, d_model, d_ff)), d_ff, d_model);
};
inline constexpr mt::layer block = [](mt::scope auto s, auto x) {
  using namespace mt::nn;
  auto a = x + causal_attention(s / "attention", layer_norm(s / "norm_1", x, d_model), length, memory, d_model, heads,
                                d_head);
  return a + feed_forward(s / "feed_forward", layer_norm(s / "norm_2", a, d_model));
};
// A step embeds the text, runs the decoder, and compares the logits with the next token at each position.
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

// Without rules, every rank holds a copy of everything and computes the whole step.
struct one_copy_each : mt::layout<> {};
// Data parallelism (DP): every rank computes a part of the batch. Elsewhere, this is `hvd.allreduce` of Horovod,
// `DistributedDataParallel` of PyTorch, or `MirroredStrategy` of `tf.distribute`.
struct data_parallel : mt::layout<mt::shard<batch, ranks>> {};
// ZeRO 1 and 2: the optimizer's state is sharded, too. The gradients are reduced and scattered in one step, so each
// rank keeps only its part of them.
struct zero_2 : mt::layout<mt::shard<batch, ranks>, mt::in<"optimizer", mt::shard<d_model, ranks>>> {};
// ZeRO 3, or fully sharded data parallelism (FSDP): every rank keeps the parameters of some layers, and the other ranks
// receive them when they need them.
struct zero_3 : mt::layout<mt::shard<batch, ranks>, mt::shard<layers, ranks>> {};
// Tensor parallelism (TP): the ranks share the heads, the inner dim of the feed-forward layers and the vocabulary, as
// in Shoeybi et al., arXiv:1909.08053.
struct tensor_parallel : mt::layout<mt::shard<heads, ranks>, mt::shard<d_ff, ranks>, mt::shard<vocab, ranks>> {};
// Sequence parallelism (SP): the products are sharded as in TP. Between them, the ranks share the sequence instead of
// repeating the same work, as in Korthikanti et al., arXiv:2205.05198. A rule for an inner scope overrides a rule for
// an outer scope, so the sequence is whole inside attention and feed-forward layers.
struct sequence_parallel
    : mt::layout<mt::shard<heads, ranks>, mt::shard<d_ff, ranks>, mt::shard<vocab, ranks>,
                 mt::in<"decoder", mt::shard<length, ranks>>, mt::in<"attention", mt::replicate<length>>,
                 mt::in<"feed_forward", mt::replicate<length>>> {};
// Context parallelism (CP): every rank computes a part of the sequence. Attention gathers the keys and values, because
// each position needs those of all earlier positions.
struct context_parallel : mt::layout<mt::shard<length, ranks>> {};

// `loss` is that of the last step. `variable_bytes` is the size of the parameters and of the optimizer's state on one
// rank, and `traffic` counts the collectives of one step.
struct outcome {
  float loss;
  std::int64_t variable_bytes;
  mt::step_traffic traffic;
};
// Trains five steps under a layout. In each text, every token is the previous one plus 5, modulo 16.
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
  CHECK(alone.loss < 2.7f);  // guessing among 16 tokens gives log(16) = 2.77

  // Copies need no collectives. DP needs only all-reduces, namely of the gradients and of the loss. Each rank still
  // holds all variables.
  CHECK(alone.traffic.collectives() == 0);
  CHECK(dp.traffic.all_reduces == dp.traffic.collectives());
  CHECK(dp.variable_bytes == alone.variable_bytes);

  // ZeRO 2 reduces and scatters the gradients, and gathers the updated parameters. The variables are the parameters and
  // the two means of Adam. Four ranks share the means, so about (1 + 1/4 + 1/4) / 3 = 0.5 of the bytes remain.
  CHECK(z2.traffic.reduce_scatters > 0);
  CHECK(z2.traffic.all_gathers > 0);
  CHECK(z2.variable_bytes < alone.variable_bytes * 6 / 10);
  // ZeRO 3 divides all variables of the layers by four, but not the other variables, such as the embedding.
  CHECK(z3.variable_bytes < alone.variable_bytes * 45 / 100);

  // TP divides most variables among the ranks. Each rank computes with its own part, so there are no all-gathers.
  CHECK(tp.variable_bytes < alone.variable_bytes / 2);
  CHECK(tp.traffic.all_gathers == 0);
  // In SP, reduce-scatters take the place of all-reduces of TP. The variables are sharded in the same way.
  CHECK(sp.traffic.reduce_scatters > 0);
  CHECK(sp.traffic.all_reduces < tp.traffic.all_reduces + sp.traffic.reduce_scatters);
  CHECK(sp.variable_bytes == tp.variable_bytes);

  // CP gathers the keys and values. It saves hardly any bytes of variables, because the position embeddings are the
  // only parameter that has the dim `length`.
  CHECK(cp.traffic.all_gathers > 0);
  CHECK(cp.variable_bytes > dp.variable_bytes * 9 / 10);
}
