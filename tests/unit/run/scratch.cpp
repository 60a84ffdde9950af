// SPDX-License-Identifier: Apache-2.0
// Executables of one store make what their steps make in one block: none sees what another one left there.
// passes: start-up
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct width : mt::dim<"width", 6> {} width;
inline constexpr struct inner : mt::dim<"inner", 8> {} inner;
inline constexpr struct layers : mt::dim<"layers", 3> {} layers;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>> {};

struct learn {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, width);
    auto const y = mt::repeat(s / "all", layers, x, [](mt::scope auto r, auto h) {
      auto const up = tanh(einsum(h, r.parameter("up", width, inner), to(batch, inner)));
      return h + einsum(up, r.parameter("down", inner, width), to(batch, width));
    });
    auto const loss = mean(y * y);
    mt::adam{.learning_rate = 0.01}.minimize(s / "optimizer", loss);
    s.output("y", y);
    s.output("loss", loss);
  }
};
using learning = mt::executable<learn, mesh, layout>;

std::vector<float> numbers(std::int64_t rows, int step) {
  std::vector<float> x(static_cast<std::size_t>(rows * 6));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = 0.1f * static_cast<float>((i * 7 + i % 5) % 19) - 0.3f * float(step);
  return x;
}

std::function<void()> inside;  // what the operation below does besides
struct twice {
  static void run(std::span<float const> x, std::span<float> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
    if (inside) inside();
  }
};
struct calling {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, width);
    s.output("y", mt::call<twice>(x + 1) * x);
  }
};
using called = mt::executable<calling, mesh, layout>;

void in_turns(mt::job const& job, int processors) {
  // The same steps by executables that are made for each of them, on memory that nothing else has been in.
  std::vector<std::int64_t> const rows{4, 32, 8, 4, 32, 8};
  mt::store weights(job, 3), others(job, 3);
  learning small(weights, batch(4), data(processors));
  learning large(weights, batch(32), data(processors)), middle(weights, batch(8), data(processors));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto& one = rows[i] == 4 ? small : rows[i] == 8 ? middle : large;
    auto const x = numbers(rows[i], static_cast<int>(i));
    one(mt::feed<"x">(x));
    learning alone(others, batch(rows[i]), data(processors));
    alone(mt::feed<"x">(x));
    CHECK(one.get<"loss">() == alone.get<"loss">());
    auto const y = one.gather<"y">(), wanted = alone.gather<"y">();
    CHECK(std::equal(y.data(), y.data() + y.size(), wanted.data()));
  }
  for (auto const& path : weights.names()) {
    INFO(path);
    auto const mine = weights.values().at(path).bytes();
    std::string a(static_cast<std::size_t>(mine), ' '), b = a;
    weights.copy_out(path, a.data()), others.copy_out(path, b.data());
    CHECK(a == b);
  }
}

}  // namespace

TEST_CASE("executables of several sizes take turns") {
  SUBCASE("one processor") { in_turns(mt::job::in_lockstep(), 1); }
  SUBCASE("in lockstep") { in_turns(mt::job::in_lockstep(), 4); }
  SUBCASE("threads") { in_turns(mt::job::as_threads(), 2); }
}

TEST_CASE("one block, of the largest") {
  auto const job = mt::job::in_lockstep();
  mt::store weights(job);
  learning large(weights, batch(64), data(1));
  std::byte const* const there = weights.steps().of(0);
  learning small(weights, batch(2), data(1));
  CHECK(weights.steps().of(0) == there);
  auto const& p = small.planned();
  for (int v = 0; v < small.graph().value_count; ++v)
    if (p.where[v] == mt::place::arena && p.root[v] == v)
      CHECK(small.running().held()[0].pointer(static_cast<mt::value_id>(v)) == there + p.offset[v]);
}

TEST_CASE("an executable that is made within a step, and a step within a step, are refused and leave it its memory") {
  auto const job = mt::job::in_lockstep();
  mt::store weights(job);
  called one(weights, batch(4), data(1));
  auto const x = numbers(4, 0);
  one(mt::feed<"x">(x));
  auto const wanted = one.gather<"y">();
  std::string said;
  inside = [&] {
    try {
      called const larger(weights, batch(4096), data(1));
    } catch (mt::error const& e) { said = e.what(); }
  };
  one(mt::feed<"x">(x));
  inside = nullptr;
  CHECK(said.starts_with("meshtensor R27: a store is asked for an executable "));
  auto const y = one.gather<"y">();
  CHECK(std::equal(y.data(), y.data() + y.size(), wanted.data()));
  called larger(weights, batch(4096), data(1));
  inside = [&] {
    auto const again = std::exchange(inside, nullptr);
    try {
      larger(mt::feed<"x">(numbers(4096, 0)));
    } catch (mt::error const& e) { said = e.what(); }
  };
  one(mt::feed<"x">(x));
  inside = nullptr;
  CHECK(said.starts_with("meshtensor R27: a store is asked for a step "));
  larger(mt::feed<"x">(numbers(4096, 0)));
  one(mt::feed<"x">(x));
  auto const after = one.gather<"y">();
  CHECK(std::equal(after.data(), after.data() + after.size(), wanted.data()));
}
