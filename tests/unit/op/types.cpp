// SPDX-License-Identifier: Apache-2.0
// What the compiler knows of a result before anything runs: dtype and dims of every operation; and that the common
// headers of mathematics and algorithms take nothing away from it.
//
// sample
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/activation.hpp"
#include "meshtensor/op/gradient.hpp"
#include "meshtensor/op/one_hot.hpp"
#include "meshtensor/op/rules.hpp"
#include "meshtensor/op/slice_at.hpp"
#include "meshtensor/op/softmax.hpp"
#include "meshtensor/tensor/layout.hpp"

namespace {

using namespace meshtensor;  // NOLINT: that this is possible is what is tested

inline constexpr struct batch_dim : dim<"batch"> {} batch;
inline constexpr struct length_dim : dim<"length", 4> {} length;
inline constexpr struct memory_dim : dim<"memory", 4> {} memory;
inline constexpr struct heads_dim : dim<"heads", 2> {} heads;
inline constexpr struct head_dim : dim<"head", 3> {} head;
inline constexpr struct joined_dim : dim<"joined", heads * head> {} joined;
inline constexpr struct vocab_dim : dim<"vocab", 11> {} vocab;
inline constexpr struct part_dim : dim<"part", 2> {} part;
inline constexpr struct both_dim : dim<"both", length + part> {} both;

template <class H, dtype T, class... D>
constexpr void is(H const&, dtype_constant<T>, D...) {
  static_assert(std::is_same_v<H, tensor<T, D...>>);
}
template <class H, dtype T>
constexpr void is_any(H const&, dtype_constant<T>) {
  static_assert(std::is_same_v<H, any_tensor<T>>);
}

struct everything {
  constexpr void operator()(scope auto s) const {
    auto const x = s.input("x", f32, batch, length, heads, head);
    auto const w = s.parameter("w", heads, head, vocab);
    auto const chosen = s.input("chosen", i32, batch, length);

    auto const y = einsum(x, w, to(batch, length, vocab));
    is(y, f32, batch, length, vocab);
    is(einsum(x, to()), f32);
    is(einsum(x, y, w, w, to(vocab, batch)), f32, vocab, batch);

    is(sum(x), f32);
    is(sum(x, heads), f32, batch, length, head);
    is(sum(x, head, batch, length, heads), f32);
    is(mean(x, heads, batch), f32, length, head);
    is(max(x, length), f32, batch, heads, head);
    is(min(x), f32);
    is(any(x < 0, head), boolean, batch, length, heads);
    is(all(x < y), boolean);
    is(argmax(y, vocab), i64, batch, length);
    is(logsumexp(y, vocab), f32, batch, length);
    is(softmax(y, vocab), f32, batch, length, vocab);
    is(log_softmax(y, vocab), f32, batch, length, vocab);

    auto const z = rename(x, length, memory);
    is(z, f32, batch, memory, heads, head);
    auto const scores = einsum(x, z, to(batch, heads, length, memory));
    is(causal(scores, length, memory), f32, batch, heads, length, memory);
    is(transpose(y, to(vocab, batch, length)), f32, vocab, batch, length);
    is(broadcast(chosen, to(vocab, batch, length)), i32, vocab, batch, length);
    auto const m = merge(x, to(heads, head), joined);
    is(m, f32, batch, length, joined);
    is(merge(x, to(head, heads), joined), f32, batch, length, joined);
    is(split(m, joined, to(heads, head)), f32, batch, length, heads, head);
    auto const p = slice(y, length, part, 1);
    is(p, f32, batch, part, vocab);
    is(pad(p, part, length, 0), f32, batch, length, vocab);
    is(concat(y, length, p, part, both), f32, batch, both, vocab);
    is(concat(chosen, length, slice(chosen, length, part, 0), part, both), i32, batch, both);

    is(put(y, p, length, iota(s, part, i32)), f32, batch, length, vocab);
    is(put(x, sum(x, length), length, argmax(sum(x, head), length)), f32, batch, length, heads, head);
    auto const start = argmax(sum(y, vocab), length);
    is(slice(x, length, part, start), f32, batch, part, heads, head);
    is(slice(w, vocab, part, chosen), f32, heads, head, part, batch, length);
    is(put(y, p, length, part, start), f32, batch, length, vocab);
    is(put(sum(y, vocab), p, length, part, sum(start)), f32, batch, length, vocab);
    is(put(sum(y, vocab, batch), p, length, part, start), f32, length, vocab);
    is(put(sum(y, vocab), sum(y, length), length, 0), f32, batch, length, vocab);

    is(gather(w, chosen, vocab), f32, batch, length, heads, head);
    is(scatter_add(x, chosen, vocab, to(heads, vocab, head)), f32, heads, vocab, head);
    is(grouped_einsum(x, w, chosen, vocab, to(batch, length, heads)), f32, batch, length, heads);
    is(grouped_einsum(x, x, chosen, vocab, to(vocab, head)), f32, vocab, head);
    is(one_hot(chosen, vocab, bf16), bf16, batch, length, vocab);
    is(iota(s, vocab, u8), u8, vocab);
    is(uniform(s / "random", f64, to(batch)), f64, batch);
    is(normal(s / "random", bf16, to(batch, vocab)), bf16, batch, vocab);
    is(bernoulli(s / "random", 0.5, to(batch)), boolean, batch);

    is(gelu(y) + gelu_tanh(y) * silu(y) - softsign(y), f32, batch, length, vocab);
    is(abs(y) + sqrt(exp(y)) + floor(log(y)) + power(y, 2) + pow(2, y) + maximum(y, 0), f32, batch, length, vocab);
    is(select(any(y < 0, vocab), y, 1), f32, batch, length, vocab);
    is(select(any(y < 0, batch), 1, y), f32, batch, length, vocab);  // in the order of the values

    // What a result's dims are is known as soon as `to` says it.
    any_tensor<f32> const a = x;
    is_any(sum(a, heads), f32);
    is_any(rename(a, length, memory), f32);
    is_any(softmax(a, head), f32);
    is_any(gradient(sum(a * a), a), f32);
    is_any(gather(w, any_tensor<i32>(chosen), vocab), f32);
    is_any(slice(a, length, part, start), f32);
    is_any(put(a, slice(a, length, part, start), length, part, start), f32);
    is(sum(a), f32);
    is(einsum(a, w, to(batch, length, vocab)), f32, batch, length, vocab);
    is(grouped_einsum(a, w, chosen, vocab, to(batch, head)), f32, batch, head);
    is(transpose(a, to(heads, head, batch, length)), f32, heads, head, batch, length);

    // The C library's functions and the algorithms are what they were.
    is(x * std::max(1.0, 2.0) + std::min(1, 2), f32, batch, length, heads, head);
    static_assert(std::is_same_v<decltype(sqrt(2.0)), double> && std::is_same_v<decltype(exp(1.0)), double>);
  }
};

constexpr module traced = trace<everything>();

/// Dims and axes by the names that a struct of the library might take for itself.
namespace own_names {
inline constexpr struct label : dim<"label", 3> {} label;
inline constexpr struct rule : dim<"rule"> {} rule;
inline constexpr struct extent : axis<"extent", 2> {} extent;
inline constexpr struct name : axis<"name"> {} name;
struct workers : mesh<extent, name> {};
struct rules : layout<shard<label, extent>, shard<rule, name>> {};
static_assert(workers::shape.count == 2 && layout_type<rules> && rules::sharding_rules.count == 2);

struct sums {
  constexpr void operator()(scope auto s) const {
    auto const x = s.input("x", f32, rule, label);
    is(sum(x, label), f32, rule);
    is(one_hot(argmax(x, label), label, f32), f32, rule, label);
  }
};
static_assert(trace<sums>().node_count > 0);
}  // namespace own_names

constexpr int first_wrong() {
  for (int i = 0; i < traced.node_count; ++i)
    if (verify_node(traced, traced.nodes[i]) != nullptr) return i;
  return -1;
}
static_assert(first_wrong() == -1);
static_assert(find_entry(traced, "everything") == 0);

}  // namespace

TEST_CASE("ordinary calls stay what they were") {
  using std::max;
  using std::min;
  CHECK(max(1, 2) + min(1, 2) == 3);
  int numbers[] = {1, 2, 3};
  std::iota(numbers, numbers + 3, 5);
  CHECK(std::any_of(numbers, numbers + 3, [](int n) { return n == 7; }));
  CHECK(exp(0.0) + sqrt(4.0) + log(1.0) + abs(-1) == 4);
}
