// SPDX-License-Identifier: Apache-2.0
// One where the position is the index, and zero elsewhere.
#include "meshtensor/op/one_hot.hpp"

#include "meshtensor/op/reduce.hpp"
#include "unit/op/values.hpp"

using namespace laws;

namespace {
template <mt::dtype T>
struct bytes_as_classes {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", sum(one_hot(s.input("x", mt::dtype_constant<T>{}, a), many, mt::i32), many));
  }
  static constexpr struct many_dim : mt::dim<"many", 300> {
  } many{};
};
}  // namespace

TEST_CASE("values") {
  CHECK(of<mt::dtype::i64>([](auto, auto x) { return one_hot(sum(x, b) - 6, c, mt::f32); }, {1, 2, 3, 3, 3, 3}) ==
        numbers{1, 0, 0, 0, 0, 0, 0, 1});
  CHECK(of<mt::dtype::i64>([](auto, auto x) { return one_hot(x, part, mt::i32); }, {0, 1, 2, -1, 1, 0}) ==
        numbers{1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0});
}

TEST_CASE("one_hot of bytes over more classes than a byte counts") {
  CHECK(trial::result_of<bytes_as_classes<mt::dtype::u8>>({44, 255}) == numbers{1, 1});
}

TEST_CASE("laws") {
  hold_without_gradient<uses::x>(
      "one_hot", [](auto, auto x, auto, auto...) { return one_hot(mt::cast<mt::dtype::i32>(x * 2), d, mt::f64); });
}
