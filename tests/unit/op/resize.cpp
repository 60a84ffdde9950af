// SPDX-License-Identifier: Apache-2.0
// Tensors of other sizes, as PyTorch interpolates.
#include "meshtensor/op/resize.hpp"

#include "unit/op/trial.hpp"
#include "unit/op/values.hpp"

using namespace laws;

namespace {
inline constexpr struct joined_dim : mt::dim<"joined", b + part> {} joined;
inline constexpr struct ends_dim : mt::dim<"ends", 2> {} ends;
inline constexpr struct fifty_dim : mt::dim<"fifty", 50> {} fifty;
struct between_ends {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", resize(s.input("x", mt::f64, ends), ends, fifty, mt::interpolation::corners));
  }
};
}  // namespace

TEST_CASE("both ends stay in their places, to the bit") {
  trial::program p = trial::program::of<between_ends>({});
  p.fill("x", {1e8, 1});
  numbers const y = trial::numbers_of(p.run().at("y"));
  CHECK(y.front() == 1e8);
  CHECK(y.back() == 1);
}

TEST_CASE("values") {
  using mt::interpolation;
  numbers const x = {1, 4, 9, 16, 25, 36};
  CHECK(of([](auto, auto v) { return resize(v, b, part); }, x) == numbers{1, 4, 16, 25});
  CHECK(of([](auto, auto v) { return resize(v, b, joined); }, x) == numbers{1, 1, 4, 4, 9, 16, 16, 25, 25, 36});
  CHECK(same(of([](auto, auto v) { return resize(v, b, joined, interpolation::linear); }, x),
             {1, 2.2, 4, 7, 9, 16, 19.6, 25, 31.6, 36}, 1e-12));
  CHECK(same(of([](auto, auto v) { return resize(v, b, joined, interpolation::corners); }, x),
             {1, 2.5, 4, 6.5, 9, 16, 20.5, 25, 30.5, 36}, 1e-12));
  CHECK(same(of([](auto, auto v) { return resize(v, b, part, interpolation::linear); }, x), {1.75, 7.75, 18.25, 33.25},
             1e-12));
  CHECK(of([](auto, auto v) { return resize(v, b, first, interpolation::corners); }, x) == numbers{1, 16});
  CHECK(of([](auto, auto v) { return gradient(sum(resize(v, b, joined)), v); }, x) == numbers{2, 2, 1, 2, 2, 1});
}

TEST_CASE("infinities, and elements whose difference overflows") {
  using mt::interpolation;
  auto const linear = [](auto, auto v) { return resize(v, b, joined, interpolation::linear); };
  auto const corners = [](auto, auto v) { return resize(v, b, joined, interpolation::corners); };
  numbers const x = {-inf, -inf, 1, inf, 2, 2};
  CHECK(of(linear, x) == numbers{-inf, -inf, -inf, -inf, 1, inf, inf, 2, 2, 2});
  CHECK(of(corners, x) == numbers{-inf, -inf, -inf, -inf, 1, inf, inf, 2, 2, 2});
  double const most = std::numeric_limits<double>::max();
  CHECK(of(corners, {most, most, -most, 0, 0, 0}) == numbers{most, most, most, 0, -most, 0, 0, 0, 0, 0});
  CHECK(of([](auto, auto v) { return gradient(sum(resize(v, b, joined, interpolation::corners)), v); }, x) ==
        numbers{1.5, 2, 1.5, 1.5, 2, 1.5});
}

TEST_CASE("gradients, and parts of a sharded dim") {
  using mt::interpolation;
  auto const linear = [](auto, auto x, auto...) { return resize(x, b, joined, interpolation::linear); };
  auto const corners = [](auto, auto x, auto...) { return resize(x, b, part, interpolation::corners); };
  hold_for_one("linear", linear);
  hold_for_one("corners", corners);
  for (char const* dim : {"a", "b"}) {
    hold_sharded("linear", linear, dim);
    hold_sharded("corners", corners, dim);
  }
}
