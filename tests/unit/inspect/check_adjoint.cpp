// SPDX-License-Identifier: Apache-2.0
// `check_adjoint` finds gradients that are not the derivative of the outputs, and nothing where they are.
//
// passes: start-up
#include "meshtensor/inspect/check_adjoint.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "meshtensor/inspect/checker.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct width : mt::dim<"width", 6> {} width;
inline constexpr struct inner : mt::dim<"inner", 4> {} inner;
inline constexpr struct blocks : mt::dim<"blocks", 3> {} blocks;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>> {};

std::vector<float> some_x() {
  std::vector<float> x(30);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 19) / 10 - 0.9f;
  return x;
}

/// y², whose own gradient is too large by `Error` thousandths.
template <int Error>
inline constexpr auto square = [](auto const& x) {
  return mt::composite_with_gradient(
      "square", [](auto const& a) { return a * a; },
      [](auto const& a, auto const&, auto const& dy) { return a * dy * (2 + Error * 0.001); }, x);
};

/// A step of training with loops, random numbers, examples by themselves and integers.
template <int Error>
struct network {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, width);
    auto const y = mt::repeat(s / "blocks", blocks, x, [](mt::scope auto r, auto h) {
      auto const up = relu(einsum(h, r.parameter("up", width, inner), to(batch, inner)));
      auto const kept = mt::nn::dropout(r / "drop", up, 0.25);
      return h + square<Error>(einsum(kept, r.parameter("down", inner, width), to(batch, width)));
    });
    auto const each = mt::map(s / "examples", batch, y, [](mt::scope auto m, auto one) {
      return mt::cond(
          m / "side", sum(one) > 0, [&](auto) { return sum(one * one); }, [&](auto) { return sum(sin(one)); });
    });
    auto const label = s.input("label", mt::i32, batch);
    auto const loss = mean(each * mt::cast<mt::f32>(label));
    mt::adam{}.minimize(s / "optimizer", loss);
    s.output("loss", loss), s.output("y", y), s.output("twice", label * 2);
  }
};
struct stopped {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, width);
    auto const w = s.parameter("w", width, mt::ones);
    s.output("y", x * w + stop_gradient(x) * 0.5);
  }
};
struct without_floats {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, width);
    s.output("y", x > 0);
  }
};

template <class Program>
mt::adjoint_result tested() {
  std::vector<std::int32_t> const labels{1, -2, 3, 1, 0};
  if constexpr (std::is_same_v<Program, stopped> || std::is_same_v<Program, without_floats>)
    return mt::check_adjoint<Program, mesh, layout>(batch(5), data(1), mt::feed<"x">(some_x()));
  else
    return mt::check_adjoint<Program, mesh, layout>(batch(5), data(2), mt::feed<"x">(some_x()),
                                                    mt::feed<"label">(labels));
}

}  // namespace

TEST_CASE("gradients of loops, branches, examples and random numbers are derivatives of the outputs") {
  mt::adjoint_result const r = tested<network<0>>();
  CHECK(r.difference == "");
  CHECK(r.compared == 3);  // x and two parameters; the optimizer's states have no part in an output
  CHECK(text_of(r) == "all 3 gradients agree with differences of the outputs");
}

TEST_CASE("a composite whose own gradient is a thousandth too large is found") {
  mt::adjoint_result const r = tested<network<1>>();
  CHECK(!r.agrees());
  INFO(text_of(r));
  CHECK(r.difference.find("is not the derivative of the outputs: ⟨J v, u⟩ = ") != std::string::npos);
}

TEST_CASE("the sentence names the tensor and its line, and only its gradient fails") {
  mt::adjoint_result const r = tested<stopped>();
  INFO(text_of(r));
  CHECK(r.difference.starts_with("the gradient by the input 'x' (check_adjoint.cpp:"));
  CHECK(r.compared == 1);
}

TEST_CASE("a program without a gradient is refused") {
  CHECK_THROWS_WITH_AS(tested<without_floats>(), doctest::Contains("R88"), mt::error);
}
