// SPDX-License-Identifier: Apache-2.0
// A range of a dim, with a step, backwards, or from where a tensor says.
#include "meshtensor/op/slice.hpp"

#include "meshtensor/op/argmax.hpp"
#include "meshtensor/op/pad.hpp"
#include "meshtensor/op/slice_at.hpp"
#include "unit/op/values.hpp"

using namespace laws;

namespace {
inline constexpr struct c_1_dim : mt::dim<"c_1", 2> {} c_1;

/// A slice as long as an open dim.
struct slice_of_open_extent {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", slice(s.input("x", mt::f64, a, b), b, some, s.input("start", mt::i64)));
  }
  static constexpr struct some_dim : mt::dim<"some"> {
  } some{};
};

/// A slice that starts at a tensor, and its gradient, are those of a slice at a number.
template <int At>
void same_as_at_a_number() {
  CHECK(of([](auto s, auto x) { return slice(x, b, part, At) - slice(x, b, part, zero(s) + At); }, one_to_six) ==
        numbers(4));
  CHECK(of(
            [](auto s, auto x) {
              auto const y = slice(x * x, b, part, At), z = slice(x * x, b, part, zero(s) + At);
              return gradient(sum(y * y), x) - gradient(sum(z * z), x);
            },
            one_to_six) == numbers(6));
}
}  // namespace

TEST_CASE("values") {
  CHECK(of([](auto, auto x) { return slice(x, b, part, 1); }, one_to_six) == numbers{2, 3, 5, 6});
  CHECK_THROWS_WITH_AS(of([](auto s, auto x) { return slice(x, b, part, s.number("at", 2)); }, one_to_six),
                       "meshtensor R10: a slice of 'b' from 2 on, 2 long, reaches beyond its extent, 3", mt::error);
}

TEST_CASE("values of slices with a step") {
  CHECK(of([](auto, auto x) { return slice(x, b, part, 0, 2); }, one_to_six) == numbers{1, 3, 4, 6});
  CHECK(of([](auto, auto x) { return slice(x, b, part, 2, -1); }, one_to_six) == numbers{3, 2, 6, 5});
  CHECK(of([](auto, auto x) { return slice(x, b, part, 2, -2); }, one_to_six) == numbers{3, 1, 6, 4});
  CHECK(of([](auto, auto x) { return slice(x, b, first, 1, 70); }, one_to_six) == numbers{2, 5});
  CHECK(of([](auto s, auto x) { return slice(x, b, part, s.step(), s.step() + 2.5); }, one_to_six) ==
        numbers{1, 3, 4, 6});  // known only when the step runs, rounded down
  CHECK(of([](auto, auto x) { return slice(pad(x, b, wide, 0, 9, 2), wide, row, 0, 2); }, one_to_six) == one_to_six);
  CHECK(of([](auto, auto x) { return gradient(sum(slice(x * x, b, part, 0, 2)), x); }, one_to_six) ==
        numbers{2, 0, 6, 8, 0, 12});
  CHECK_THROWS_WITH_AS(of([](auto s, auto x) { return slice(x, b, part, s.number("at", 1), 2); }, one_to_six),
                       "meshtensor R10: a slice of 'b' from 1 on in steps of 2, 2 long, reaches beyond its extent, 3",
                       mt::error);
  CHECK_THROWS_WITH_AS(of([](auto s, auto x) { return slice(x, b, part, s.number("at", 0), -1); }, one_to_six),
                       "meshtensor R10: a slice of 'b' from 0 on in steps of -1, 2 long, reaches beyond its extent, 3",
                       mt::error);
  char const* const none = "meshtensor R10: the step of a slice or a pad is 0: give another whole number";
  CHECK_THROWS_WITH_AS(of([](auto s, auto x) { return slice(x, b, first, 0, s.number("by", 0)); }, one_to_six), none,
                       mt::error);
  CHECK_THROWS_WITH_AS(of([](auto, auto x) { return slice(x, b, first, 0, 0); }, one_to_six),
                       doctest::Contains("S03: a slice of 'b' has the step 0"), mt::error);
}

TEST_CASE("values of slices that start at a tensor") {
  CHECK(of([](auto s, auto x) { return slice(x, b, part, zero(s) + 1); }, one_to_six) == numbers{2, 3, 5, 6});
  CHECK(of([](auto s, auto x) { return slice(x, b, part, zero(s) + 7); }, one_to_six) == numbers{2, 3, 5, 6});
  CHECK(of([](auto s, auto x) { return slice(x, b, part, zero(s) - 4); }, one_to_six) == numbers{1, 2, 4, 5});
  CHECK(of([](auto s, auto x) { return slice(x, b, part, iota(s, a, mt::u8)); }, one_to_six) == numbers{1, 2, 5, 6});
  CHECK(of([](auto s, auto x) { return slice(x, b, part, iota(s, row, mt::i64)); }, one_to_six) ==
        numbers{1, 2, 2, 2, 3, 3, 4, 5, 5, 5, 6, 6});  // [a, part, row]
  CHECK(of<mt::dtype::boolean>([](auto s, auto x) { return slice(x, b, part, zero(s) + 1); }, {1, 0, 1, 0, 0, 1}) ==
        numbers{0, 1, 0, 1});
  CHECK(of<mt::dtype::u8>([](auto s, auto x) { return slice(x, b, part, zero(s) + 1); }, one_to_six) ==
        numbers{2, 3, 5, 6});
  using open = slice_of_open_extent;
  auto const as_long_as = [](int extent) {
    auto p = trial::program::of<open>({open::some(extent)});
    p.fill("x", one_to_six), p.fill("start", {1});
    mt::block const y = p.run().at("y");
    numbers all;
    for (std::int64_t i = 0; i < y.size(); ++i) all.push_back(y.number_at(i));
    return all;
  };
  CHECK(as_long_as(2) == numbers{2, 3, 5, 6});
  CHECK(as_long_as(3) == one_to_six);
  CHECK_THROWS_WITH_AS(as_long_as(4),
                       doctest::Contains("S03: a slice of 'b/again' (3) from 0 on, as long as 'some/again' (4), "
                                         "reaches beyond its ends: it needs 'b/again' to be at least 4"),
                       mt::error);
  same_as_at_a_number<0>();
  same_as_at_a_number<1>();
}

TEST_CASE("laws") {
  hold_for_one("slice", [](auto, auto x, auto, auto...) { return slice(x, b, part, 1); });
  hold_for_one("slice with a step", [](auto, auto x, auto, auto...) { return slice(x, b, part, 0, 2); });
  hold_for_one("slice backwards", [](auto, auto x, auto, auto...) { return slice(x, b, part, 2, -1); });
  hold_for_one("slice at a tensor", [](auto s, auto x, auto, auto...) { return slice(x, b, part, sum(rows(s))); });
  hold_for_one("slice at a start for each index, some out of range",
               [](auto s, auto x, auto, auto...) { return slice(x, b, part, rows(s) * 2 - 1); });
  hold_for_one("slice at several starts",
               [](auto s, auto x, auto, auto...) { return slice(x, b, part, iota(s, d, mt::i64)); });
  hold("slice at the start of another tensor",
       [](auto, auto x, auto y, auto...) { return slice(x * sum(y, c), a, c_1, argmax(y, c) % 2); });
}

TEST_CASE("dtypes") {
  hold_in_every_dtype("slice", [](auto, auto x) { return slice(x, b, part, 2, -1); });
  hold_in_every_dtype("slice at a tensor", [](auto s, auto x) { return slice(x, b, part, zero(s) + 1); });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded("slice", [](auto, auto x, auto, auto...) { return slice(x * x, b, part, 2, -1); }, "a");
  hold_sharded("slice", [](auto, auto x, auto, auto...) { return slice(x * x, b, part, 2, -1); }, "b");
  hold_sharded(
      "slice at a tensor", [](auto s, auto x, auto, auto...) { return slice(x * x, b, part, rows(s) * 2 - 1); }, "a");
  hold_sharded(
      "slice at a tensor", [](auto s, auto x, auto, auto...) { return slice(x * x, b, part, rows(s) * 2 - 1); }, "b");
}
