// SPDX-License-Identifier: Apache-2.0
// Arrays: extents from types, from numbers and from data; elements by named index; other orders; text.
#include <doctest/doctest.h>

#include "meshtensor/array/array_text.hpp"
#include "meshtensor/array/xtensor.hpp"
#include "support/sanitized.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct length_dim : mt::dim<"length"> {} length;
inline constexpr struct pixels_dim : mt::dim<"pixels", 3> {} pixels;

template <class F>
std::string code_of(F const& f) {
  try {
    f();
  } catch (mt::error const& e) { return e.code() + ": " + e.what(); }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("extents come from the types, from numbers, and one from the elements") {
  CHECK(mt::array<float, pixels>().extent(pixels) == 3);
  CHECK(mt::array<float, batch, pixels>(batch(4)).size() == 12);
  CHECK(mt::array<float, batch, pixels>({1, 2, 3, 4, 5, 6}).extent(batch) == 2);
  std::vector<std::int32_t> const labels{5, 1, 2};
  mt::array<std::int32_t, batch> const a(labels);
  CHECK(std::vector<std::int32_t>(a.begin(), a.end()) == labels);
  CHECK(mt::array<double>({2.5}).item() == 2.5);
  CHECK(mt::array<bool, batch>({true, false, true})(batch(2)));
}

TEST_CASE("elements are named by index, in any order") {
  mt::array<float, batch, pixels> a({1, 2, 3, 4, 5, 6});
  CHECK(a(batch(1), pixels(0)) == 4);
  CHECK(a(pixels(2), batch(0)) == 3);
  a(pixels(2), batch(0)) = 7;
  CHECK(a.xtensor()(0, 2) == 7);
}

TEST_CASE("what an array that goes away gives stays") {
  auto const made = [] { return mt::array<float, batch, pixels>({1, 2, 3, 4, 5, 6}); };
  static_assert(!std::is_reference_v<decltype(made().xtensor())> && !std::is_reference_v<decltype(made().dims())>);
  float total = 0;
  for (float e : made().xtensor()) total += e;
  std::int64_t extents = 1;
  for (auto const& d : made().dims()) extents *= d.extent;
  CHECK(total == 21);
  CHECK(extents == 6);
}

TEST_CASE("what does not fit is said") {
  mt::array<float, batch, pixels> const a(batch(2));
  using two_open = mt::array<float, batch, length>;
  CHECK(code_of([&] { mt::array<float, batch>{}; }).starts_with("S11: "));
  CHECK(code_of([&] { two_open({1, 2, 3}); }).starts_with("S11: "));
  CHECK(code_of([&] { mt::array<float, pixels>(pixels(4)); }).starts_with("S10: "));
  CHECK(code_of([&] { mt::array<float, pixels>(batch(4)); }).starts_with("S15: "));
  CHECK(code_of([&] { mt::array<float, batch, pixels>(batch(std::int64_t{1} << 62)); }) ==
        "S17: meshtensor S17: the dim 'batch' cannot have the extent 4611686018427387904: an array has at most 2^56 "
        "elements");
  CHECK(code_of([&] { mt::array<float, pixels>({1, 2}); }).starts_with("R11: "));
  CHECK(code_of([&] { two_open({1, 2, 3}, batch(2)); }).starts_with("R11: "));
  CHECK(code_of([&] { a(batch(0)); }).starts_with("R49: "));
  CHECK(code_of([&] { a(batch(0), pixels(3)); }) == "R48: meshtensor R48: index 3 lies outside of dim 'pixels' (3)");
  CHECK(code_of([&] { a(batch(0), batch(1)); }).starts_with("R49: "));
  std::vector<mt::name> const twice{mt::name("batch"), mt::name("batch")};
  CHECK(code_of([&] { a.ordered(twice); }) ==
        "R12: meshtensor R12: an array [batch=2, pixels=3] cannot be ordered as [batch=2, batch=2]");
  CHECK(code_of([&] { a.item(); }) == "R57: meshtensor R57: an array [batch=2, pixels=3] has more than one element");
  CHECK(code_of([&] { a(batch(0), length(0)); }) ==
        "R12: meshtensor R12: an array [batch=2, pixels=3] has no dim 'length'");
  CHECK(code_of([&] { mt::array<float, batch, length>{mt::any_array<float>(a)}; }).starts_with("R12: "));
}

TEST_CASE("the same dims may stand in another order") {
  mt::array<float, batch, pixels> const a({1, 2, 3, 4, 5, 6});
  mt::array<float, pixels, batch> const transposed = a;
  CHECK(std::vector<float>(transposed.begin(), transposed.end()) == std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(mt::array<float, batch, pixels>(transposed) == a);
  CHECK(!(transposed == mt::any_array<float>(a)));
  mt::array<float, batch, pixels> other = a;
  other(batch(0), pixels(0)) = 9;
  CHECK(!(other == a));
}

TEST_CASE("xtensor expressions of the same shape are taken") {
  mt::array<double, batch, pixels> const a({1, 2, 3, 4, 5, 6});
  mt::array<double, batch, pixels> b(batch(2));
  b.assign(2 * a.xtensor() + 1);
  CHECK(b(batch(1), pixels(2)) == 13);
  CHECK_THROWS_AS(b.assign(xt::xarray<double>(std::vector<std::size_t>{2, 2})), mt::error);
}

TEST_CASE("text") {
  CHECK(text_of(mt::array<float, batch, pixels>({1, 2.5, 3, 4, 5, -6})) ==
        "f32[batch=2, pixels=3]\n[[1, 2.5, 3],\n [4, 5, -6]]");
  CHECK(text_of(mt::array<std::uint8_t>({7})) == "u8[]\n7");
  CHECK(text_of(mt::array<bool, batch>({true, false})) == "bool[batch=2]\n[true, false]");
  CHECK(text_of(mt::array<mt::bf16_t, batch>({1.5f})) == "bf16[batch=1]\n[1.5]");
  std::vector<std::int64_t> const many{0, 1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(text_of(mt::array<std::int64_t, batch>(many)) == "i64[batch=9]\n[0, 1, 2, ..., 6, 7, 8]");
}

TEST_CASE("an array that is larger than the memory is refused with its bytes") {
  if (meshtensor_test::is_sanitized) return;
  auto const said = code_of([] { mt::array<float, batch, pixels> const a(batch(std::int64_t{1} << 50)); });
  CHECK(
      said.starts_with("M10: meshtensor M10: an array of 3377699720527872 elements has 13.5 PB, but the "
                       "system has "));
  CHECK(said.ends_with(" left: make it smaller, or have each rank hold its part alone, as feed_local and local() do"));
}
