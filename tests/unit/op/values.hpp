// SPDX-License-Identifier: Apache-2.0
// Runs operations on x [a, b] with six elements, to compare results number by number.
#pragma once

#include <algorithm>
#include <limits>

#include "meshtensor/op/elementwise.hpp"
#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/reduce.hpp"
#include "unit/op/laws.hpp"

namespace laws {

using numbers = std::vector<double>;

inline constexpr struct d_dim : mt::dim<"d", 3> {} d;
inline constexpr struct row_dim : mt::dim<"row", 3> {} row;
inline constexpr struct first_dim : mt::dim<"first", 1> {} first;
inline constexpr struct part_dim : mt::dim<"part", 2> {} part;
inline constexpr struct wide_dim : mt::dim<"wide", 6> {} wide;

inline numbers const one_to_six = {1, 2, 3, 4, 5, 6};
inline double const inf = std::numeric_limits<double>::infinity(), no_number = std::nan("");

template <class F, mt::dtype T>
void apply_to_x(scope s) {
  s.output("result", F{}(s, s.input("x", mt::dtype_constant<T>{}, a, b)));
}
/// f(s, x) for x [a, b] with these elements. The lambda captures nothing, because its type is the program.
template <mt::dtype T = mt::dtype::f64, class F>
numbers of(F, numbers const& x) {
  return result_of(apply_to_x<F, T>, x);
}

/// An operation that only moves elements gives the same numbers in every dtype.
template <class F>
void hold_in_every_dtype(char const* what, F f) {
  INFO(std::string(what));
  numbers const x = {1, 0, 1, 1, 0, 0}, wanted = of(f, x);
  CHECK(of<mt::dtype::f32>(f, x) == wanted);
  CHECK(of<mt::dtype::bf16>(f, x) == wanted);
  CHECK(of<mt::dtype::i64>(f, x) == wanted);
  CHECK(of<mt::dtype::i32>(f, x) == wanted);
  CHECK(of<mt::dtype::u8>(f, x) == wanted);
  CHECK(of<mt::dtype::boolean>(f, x) == wanted);
}

/// Off by no more than the tolerance; a nan equals a nan.
inline bool same(numbers const& got, numbers const& wanted, double tolerance = 0) {
  return std::ranges::equal(got, wanted, [&](double p, double q) {
    return p == q || (std::isnan(p) && std::isnan(q)) || std::abs(p - q) <= tolerance;
  });
}
/// The gradient by x of y, of which elements at 0, 1 and 2 of b are weighed by 1, 2 and 3.
constexpr auto derivative_of(auto s, auto x, auto const& y) {
  return gradient(sum(y * (mt::cast<mt::f64>(mt::iota(s, b, mt::i32)) + 1)), x);
}
/// 0, 2 for a = 0, 1: indices of b. If b is shorter than three, one of them is out of range.
constexpr auto rows(auto s) { return mt::iota(s, a, mt::i32) * 2; }
/// 0 as a tensor without dims.
constexpr auto zero(auto s) {
  auto const place = mt::iota(s, first, mt::i32);
  return sum(place);
}

}  // namespace laws
