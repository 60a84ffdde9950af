// SPDX-License-Identifier: Apache-2.0
// The laws of cumulative sums, of sorting, of shifts and of stacking.
#include "unit/op/laws.hpp"

#include "meshtensor/op/cumulative_sum.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/shift.hpp"
#include "meshtensor/op/sort.hpp"
#include "meshtensor/op/stack.hpp"

using namespace laws;

namespace {
inline constexpr struct pair_dim : mt::dim<"pair", 2> {} pair;
}  // namespace

TEST_CASE("cumulative_sum") {
  hold_for_one("along the last dim", [](auto, auto x, auto, auto...) { return cumulative_sum(x, b); });
  hold_for_one("along the first dim", [](auto, auto x, auto, auto...) { return cumulative_sum(x * x, a); });
  hold_for_one("without the element itself",
               [](auto, auto x, auto, auto...) { return cumulative_sum(x, b, {.exclusive = true}); });
  hold_for_one("from the end", [](auto, auto x, auto, auto...) { return cumulative_sum(x, b, {.reverse = true}); });
  hold("of what is broadcast",
       [](auto, auto x, auto y, auto...) { return cumulative_sum(x * y, b, {.exclusive = true, .reverse = true}); });
}

TEST_CASE("sort") {
  hold_without_gradient<uses::x>("argsort", [](auto, auto x, auto, auto...) { return argsort(x, b); });
  hold_for_one("in ascending order", [](auto, auto x, auto, auto...) { return std::get<0>(sort(x, b)); });
  hold_for_one("in descending order",
               [](auto, auto x, auto, auto...) { return std::get<0>(sort(x * x, a, mt::sort_order::descending)); });
  hold("of what is broadcast", [](auto, auto x, auto y, auto...) { return std::get<0>(sort(x * y, b)); });
}

TEST_CASE("roll, shift and reverse") {
  hold_for_one("roll", [](auto, auto x, auto, auto...) { return roll(x * x, b, 1); });
  hold_for_one("roll by more than there is", [](auto, auto x, auto, auto...) { return roll(x, a, -7); });
  hold_for_one("shift", [](auto, auto x, auto, auto...) { return shift(x, b, 1, 2.5); });
  hold_for_one("shift to the other side", [](auto, auto x, auto, auto...) { return shift(x * x, a, -1); });
  hold("reverse", [](auto, auto x, auto y, auto...) { return reverse(x * y, b); });
}

TEST_CASE("stack and unstack") {
  hold("stack", [](auto, auto x, auto y, auto...) { return stack(std::tuple(x, y), pair); });
  hold_for_one("stack of one tensor twice",
               [](auto, auto x, auto, auto...) { return stack(std::tuple(x, x * x), pair); });
  hold_for_one("unstack", [](auto, auto x, auto, auto...) {
    auto const [first, second, third] = unstack(x * x, b);
    return first * second - third;
  });
}
