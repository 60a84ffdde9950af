// SPDX-License-Identifier: Apache-2.0
// Tensors that are one number everywhere, and numbers as outputs.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {

constexpr struct batch : mt::dim<"batch", 5> {} batch;
constexpr struct width : mt::dim<"width", 4> {} width;
constexpr struct data : mt::axis<"data", 2> {} data;
constexpr struct model : mt::axis<"model", 2> {} model;
struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<width, model>> {};

struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, width);
    auto const rate = s.number("rate", 0.25);
    auto const weight = s.parameter("weight", width, mt::ones);
    auto const filled = full(s, rate * 2, mt::f32, to(width, batch));
    auto const loss = sum(x * filled * weight) + full(s, 8, mt::f32);
    s.output("filled", filled);
    s.output("integers", full(s, -3, mt::i32, to(batch)));
    s.output("infinite", full(s, std::numeric_limits<double>::infinity(), mt::f32, to(width)));
    s.output("loss", loss);
    s.output("by_weight", mt::gradient(loss, weight));
    s.output("rate", rate * 2);
    s.output("steps", s.step());
    s.output("half", 0.5);
  }
};

template <class Mesh, class Layout>
void fills() {
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<program, Mesh, Layout> step(weights);
  std::vector<float> x(20, 0.0f);
  x[0] = std::numeric_limits<float>::infinity();
  for (int k = 0; k < 3; ++k) {
    double const rate = k == 2 ? 0.75 : 0.25;
    auto result = step(mt::feed<"x">(x), mt::set<"rate">(rate));
    for (float const each : result.template get<"filled">().gather()) CHECK(each == static_cast<float>(rate * 2));
    for (std::int32_t const each : result.template get<"integers">().gather()) CHECK(each == -3);
    for (float const each : result.template get<"infinite">().gather()) CHECK(std::isinf(each));
    double const shown = result.template get<"rate">(), steps = result.template get<"steps">();
    CHECK(shown == rate * 2);
    CHECK(steps == k);
    CHECK(static_cast<double>(result.template get<"half">()) == 0.5);
    auto const by_weight = result.template get<"by_weight">().gather();
    CHECK((std::isinf(by_weight.data()[0]) && by_weight.data()[1] == 0));
    CHECK(static_cast<float>(result.template get<"loss">()) == std::numeric_limits<float>::infinity());
  }
}

}  // namespace

TEST_CASE("a tensor is one number everywhere, whatever is beside it") {
  fills<mt::mesh<>, mt::layout<>>();
  fills<mesh, mt::layout<>>();
  fills<mesh, layout>();
}
