// SPDX-License-Identifier: Apache-2.0
// Tensors side by side along a new dim, and a tensor as its slices.
#include "meshtensor/op/stack.hpp"

#include "meshtensor/op/reduce.hpp"
#include "unit/op/values.hpp"

using namespace laws;

TEST_CASE("values of stack and unstack") {
  CHECK(of([](auto, auto v) { return stack(std::tuple(v, v * 10), part); }, one_to_six) ==
        numbers{1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
  CHECK(of([](auto, auto v) { return stack(std::tuple(sum(v, b), v), part); }, one_to_six) ==
        numbers{6, 6, 6, 15, 15, 15, 1, 2, 3, 4, 5, 6});
  CHECK(of([](auto, auto v) { return stack({v, v * 10}, part); }, one_to_six) ==
        numbers{1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
  CHECK(of(
            [](auto, auto v) {
              auto const [x, y, z] = unstack(v, b);
              return x + y * 10 + z * 100;
            },
            one_to_six) == numbers{321, 654});
}

TEST_CASE("laws of stack and unstack") {
  hold("stack", [](auto, auto x, auto y, auto...) { return stack(std::tuple(x, y), part); });
  hold_for_one("stack of one tensor twice",
               [](auto, auto x, auto, auto...) { return stack(std::tuple(x, x * x), part); });
  hold_for_one("unstack", [](auto, auto x, auto, auto...) {
    auto const [one, two, three] = unstack(x * x, b);
    return one * two - three;
  });
}

TEST_CASE("dtypes") {
  hold_in_every_dtype("stack", [](auto, auto x) { return stack(std::tuple(x, x), part); });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded("stack", [](auto, auto x, auto y, auto...) { return stack(std::tuple(x, y), part); }, "b");
  hold_sharded("stack", [](auto, auto x, auto y, auto...) { return stack(std::tuple(x, y), part); }, "c");
}
