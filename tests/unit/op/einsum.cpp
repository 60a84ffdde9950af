// SPDX-License-Identifier: Apache-2.0
// Products that are summed over the dims that the result lacks.
#include "meshtensor/op/einsum.hpp"

#include "unit/op/values.hpp"

using namespace laws;
using mt::to;

namespace {
constexpr mt::shape last_of(mt::shape const&, mt::shape const&, mt::shape const& result) { return result; }

struct product {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, a, b);
    auto const y = s.input("y", mt::f64, c, b);
    auto const z = s.input("z", mt::f64, a);
    s.output("product", einsum(x, y, to(c, a)));
    s.output("three", einsum(z, y, x, to(c)));
    s.output("outer", einsum(x, y, to(b, c, a)));
  }
};
}  // namespace

TEST_CASE("einsum is a sum over all indices that the result does not name") {
  trial::program p = trial::program::of<product>();
  p.fill_at_random(-1, 1);
  mt::blocks const r = p.run();
  auto const x = [&](int i, int j) { return p.inputs.at("x").number_at(i * 3 + j); };
  auto const y = [&](int k, int j) { return p.inputs.at("y").number_at(k * 3 + j); };
  auto const z = [&](int i) { return p.inputs.at("z").number_at(i); };
  for (int k = 0; k < 4; ++k) {
    double three = 0;
    for (int i = 0; i < 2; ++i) {
      double product = 0;
      for (int j = 0; j < 3; ++j) {
        product += x(i, j) * y(k, j);
        three += x(i, j) * y(k, j) * z(i);
        CHECK(r.at("outer").number_at((j * 4 + k) * 2 + i) == x(i, j) * y(k, j));
      }
      CHECK(r.at("product").number_at(k * 2 + i) == doctest::Approx(product));
    }
    CHECK(r.at("three").number_at(k) == doctest::Approx(three));
  }
}

TEST_CASE("laws") {
  hold("matrix product", [](auto, auto x, auto y, auto... more) { return einsum(x, y, to(a, c, more...)); });
  hold("product without a sum", [](auto, auto x, auto y, auto... more) { return einsum(y, x, to(c, a, b, more...)); });
  hold("dims of one operand are summed, in an einsum that is not a program's own",
       [](auto, auto x, auto y, auto... more) {
         return mt::detail::einsum_by<last_of, mt::dims<std::remove_cv_t<decltype(b)>, decltype(more)...>>(x, y);
       });
  hold("three operands", [](auto, auto x, auto y, auto... more) { return einsum(x, y, x, to(c, more...)); });
  hold_for_one("one operand", [](auto, auto x, auto, auto... more) { return einsum(x, to(b, more...)); });
  hold_for_one("one operand twice", [](auto, auto x, auto, auto... more) { return einsum(x, x, to(a, more...)); });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded("matrix product", [](auto, auto x, auto y, auto...) { return einsum(x, y, to(a, c)); }, "a");
  hold_sharded("matrix product", [](auto, auto x, auto y, auto...) { return einsum(x, y, to(a, c)); }, "b");
  hold_sharded("matrix product", [](auto, auto x, auto y, auto...) { return einsum(x, y, to(a, c)); }, "c");
}
