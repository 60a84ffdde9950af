// SPDX-License-Identifier: Apache-2.0
// Attention: the composite against its own definition in plain operations, and gradients against finite differences.
#include "unit/nn/network.hpp"

#include "meshtensor/nn/attention.hpp"

using namespace small_network;
using mt::to;

namespace {

constexpr auto plain_softmax(auto x, auto along) {
  auto const e = exp(x - stop_gradient(max(x, along)));
  return e / sum(e, along);
}

template <bool Causal>
struct plain_body {
  constexpr auto operator()(mt::scope auto s, auto x) const {
    auto const y = rename(x, length, memory);
    auto const q = einsum(x, s.parameter("query", model, heads, head), to(batch, heads, length, head));
    auto const k = einsum(y, s.parameter("key", model, heads, head), to(batch, heads, memory, head));
    auto const v = einsum(y, s.parameter("value", model, heads, head), to(batch, heads, memory, head));
    auto const scores = einsum(q, k, to(batch, heads, length, memory)) / sqrt(extent(head));
    auto const visible = [&] {
      if constexpr (!Causal) return scores;
      else return select(iota(s, memory, mt::i64) <= iota(s, length, mt::i64), scores, -1e30);
    }();
    auto const accumulated = einsum(plain_softmax(visible, memory), v, to(batch, heads, length, head));
    return einsum(accumulated, s.parameter("out", heads, head, model), to(batch, length, model));
  }
};
inline constexpr mt::layer plain_attention = plain_body<false>{};
inline constexpr mt::layer plain_causal_attention = plain_body<true>{};

auto const attending = [](auto s, auto x, auto) {
  return mt::nn::attention(s / "attention", x, length, memory, model, heads, head);
};
auto const attending_causally = [](auto s, auto x, auto) {
  return mt::nn::causal_attention(s / "attention", x, length, memory, model, heads, head);
};

// Every text may see its first position, and where its number says so others.
constexpr auto open_to(auto s, auto chosen) {
  return rename(chosen, length, memory) < 4 || iota(s, memory, mt::i64) < 1;
}
struct plain_masked_body {
  constexpr auto operator()(mt::scope auto s, auto x, auto chosen) const {
    auto const y = rename(x, length, memory);
    auto const q = einsum(x, s.parameter("query", model, heads, head), to(batch, heads, length, head));
    auto const k = einsum(y, s.parameter("key", model, heads, head), to(batch, heads, memory, head));
    auto const v = einsum(y, s.parameter("value", model, heads, head), to(batch, heads, memory, head));
    auto const scores = einsum(q, k, to(batch, heads, length, memory)) / sqrt(extent(head));
    auto const visible = select(open_to(s, chosen), scores, -1e30);
    auto const accumulated = einsum(plain_softmax(visible, memory), v, to(batch, heads, length, head));
    return einsum(accumulated, s.parameter("out", heads, head, model), to(batch, length, model));
  }
};
inline constexpr mt::layer plain_masked_attention = plain_masked_body{};
auto const attending_to_some = [](auto s, auto x, auto chosen) {
  return mt::nn::attention(s / "attention", x, length, memory, model, heads, head, open_to(s, chosen));
};

}  // namespace

TEST_CASE("attention to some positions") {
  check_gradients("masked attention", attending_to_some);
  check_same("masked attention", attending_to_some,
             [](auto s, auto x, auto chosen) { return plain_masked_attention(s / "attention", x, chosen); });
}

namespace {
auto const keys_of = [](auto s, auto x) {
  return rename(x * s.parameter("scale", model, mt::normal(1)), length, memory);
};
}  // namespace

TEST_CASE("attention to some and attention to others is attention to all") {
  auto const in_two = [](auto s, auto x, auto chosen) {
    auto const y = keys_of(s, x);
    auto const [first, sum_of_first] =
        mt::nn::attention_with_log_sum(x, y, y * y, length, memory, model, open_to(s, chosen));
    auto const [second, sum_of_second] =
        mt::nn::attention_with_log_sum(x, y, y * y, length, memory, model, !open_to(s, chosen));
    auto const one = exp(sum_of_first), other = exp(sum_of_second);
    return (one * first + other * second) / (one + other);
  };
  check_gradients("attention in two", in_two);
  check_same("attention in two", in_two, [](auto s, auto x, auto) {
    auto const y = keys_of(s, x);
    auto const [all, sum_of_all] = mt::nn::attention_with_log_sum(x, y, y * y, length, memory, model);
    auto const scores = einsum(x, y, to(batch, length, memory)) / sqrt(extent(model));
    return all + sum_of_all - logsumexp(scores, memory);
  });
}

TEST_CASE("attention") {
  check_gradients("attention", attending);
  check_same("attention", attending, [](auto s, auto x, auto) { return plain_attention(s / "attention", x); });
}

TEST_CASE("causal attention") {
  check_gradients("causal attention", attending_causally);
  check_same("causal attention", attending_causally,
             [](auto s, auto x, auto) { return plain_causal_attention(s / "attention", x); });
}

TEST_CASE("no position sees those after it") {
  trial::program p = of(attending_causally);
  auto const before = p.run();
  p = of(attending_causally);
  mt::block& x = p.inputs.at("x");
  for (int e = 0; e < 4; ++e) x.set(2 * 4 + e, 100);  // the last position of the first text
  auto const after = p.run();
  for (int i = 0; i < 2 * 4; ++i) CHECK(before.at("made").number_at(i) == after.at("made").number_at(i));
  CHECK(before.at("made").number_at(2 * 4) != after.at("made").number_at(2 * 4));
}

TEST_CASE("attention to another sequence") {
  check_gradients("cross attention", [](auto s, auto x, auto) {
    auto const other = rename(x * x, length, memory);
    return mt::nn::cross_attention(s / "attention", x, other, length, memory, model, heads, head);
  });
}

TEST_CASE("operands need not have the same other dims") {
  check_gradients("shared keys", [](auto s, auto x, auto) {
    auto const keys = rename(mean(x * s.parameter("scale", model, mt::ones), batch), length, memory);
    auto const values = rename(x * 2, length, memory);
    auto const accumulated = mt::nn::dot_product_attention(x, keys, values, length, memory, model);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(accumulated)>,
                                 mt::tensor<mt::f64, batch_dim, length_dim, model_dim>>);
    return accumulated;
  });
}

namespace {

/// Attention in bf16 to three positions whose scores are all 256.
struct sees_equal_keys {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::bf16, batch, length, model);
    auto const keys = s.input("keys", mt::bf16, batch, memory, model);
    auto const values = s.input("values", mt::bf16, batch, memory, model);
    auto const y = mt::nn::dot_product_attention(x, keys, values, length, memory, model);
    auto const [same, log_sum] = mt::nn::attention_with_log_sum(x, keys, values, length, memory, model);
    s.output("log_sum", log_sum);
    s.output("d_values", gradient(sum(mt::cast<mt::f32>(y)), values));
    auto const [d_keys, d_values] =
        gradient(sum(mt::cast<mt::f32>(log_sum)) + sum(mt::cast<mt::f32>(same)), keys, values);
    s.output("d_keys of both", d_keys), s.output("d_values of both", d_values);
  }
};

}  // namespace

TEST_CASE("the gradient of attention in bf16 has the weights of the result, however large the scores are") {
  trial::program p = trial::program::of<sees_equal_keys>();
  p.fill_at_random(-1, 1);
  auto const fill = [&](char const* label, double x) {
    mt::block& b = p.inputs.at(label);
    for (std::int64_t i = 0; i < b.size(); ++i) b.set(i, x);
  };
  fill("x", 8), fill("keys", 16), fill("values", 1);
  mt::blocks const r = p.run();
  for (auto const& [label, wanted] : std::map<std::string, double>{
           {"log_sum", 258}, {"d_values", 1}, {"d_values of both", 1}, {"d_keys of both", 4}}) {
    CAPTURE(label);
    mt::block const& found = r.at(label);
    for (std::int64_t i = 0; i < found.size(); ++i)
      CHECK(std::abs(found.number_at(i) - wanted) <= (label == "log_sum" ? 0 : 0.02 * wanted));
  }
}

namespace {

/// Attention of which the second text sees nothing, and with the logarithm of what it sees.
struct sees_nothing {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, batch, length, model);
    auto const keys = s.input("keys", mt::f64, batch, memory, model);
    auto const open = iota(s, batch, mt::i32) < 1 && iota(s, memory, mt::i32) < 2;
    auto const y = mt::nn::dot_product_attention(x, keys, keys, length, memory, model, open);
    auto const [same, log_sum] = mt::nn::attention_with_log_sum(x, keys, keys, length, memory, model, open);
    auto const loss = sum(y * (y * 0.5 + 1)) + sum(same * 0.5) + sum(exp(log_sum));  // e^-inf is 0
    auto const [dx, d_keys] = gradient(loss, x, keys);
    auto const along_x = sum(dx * x);
    s.output("ddx", gradient(along_x, x));
    s.output("y", y), s.output("same", same), s.output("log_sum", log_sum);
    s.output("dx", dx), s.output("d_keys", d_keys);
  }
};

}  // namespace

TEST_CASE("a query that sees nothing gets zeros, and its gradient is zero") {
  trial::program p = trial::program::of<sees_nothing>();
  p.fill_at_random(-1, 1);
  mt::blocks const r = p.run();
  for (auto const& [label, values] : r) {
    CAPTURE(label);
    std::int64_t const each = values.size() / 2;
    for (std::int64_t i = 0; i < values.size(); ++i) {
      double const v = values.number_at(i);
      bool const unseen = label == "d_keys" && i % 12 >= 8;  // the third position, which no query sees
      if (label == "log_sum" && i >= each) CHECK(v == -std::numeric_limits<double>::infinity());
      else CHECK((v == 0) == (i >= each || unseen));
    }
  }
}
