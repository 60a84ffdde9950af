// SPDX-License-Identifier: Apache-2.0
// Casts tensors to another dtype.
#pragma once

#include "meshtensor/op/detail/record.hpp"
#include "meshtensor/op/elementwise/derivative.hpp"

namespace meshtensor {

/// The same values in another dtype. A cast to floats rounds to nearest even. A cast of floats to integers rounds
/// towards zero and gives the nearest integer that the dtype holds, and NaN becomes 0. Integers wrap around.
template <dtype To, handle H>
constexpr auto cast(H const& x, line const& where = {}) {
  detail::recording r(x.owner, where);
  return detail::wrap<To, typename H::dim_list>(r.b, cast(r.b, x.id, To));
}
template <>
struct derivative<function::cast> {
  static constexpr void give(differentiated_function const& f) {
    f.give(0, [&] { return cast(f.b, f.dy, f.b.m.values[f.operand(0)].type); });
  }
};

/// `cast` with the dtype as an argument: `cast(x, mt::f32)`.
template <dtype To, handle H>
constexpr auto cast(H const& x, dtype_constant<To>, line const& where = {}) {
  return cast<To>(x, where);
}

/// Rejects a type of C++ in the place of a dtype.
template <class To, handle H>
constexpr auto cast(
    H const& x,
    detail::refused_call<"T24 cast takes a dtype, not a type of C++: mt::cast<mt::f32>(x)", H> const& = {}) {
  return detail::given_up(x);
}
/// Rejects other arguments, for example the dtype before the tensor, or a dtype that is not a constant.
template <detail::argument A, detail::argument B = detail::none_given, detail::argument C = detail::none_given>
requires(handle<A> ? !detail::is_dtype<B> : handle<B>)
constexpr auto cast(
    A const& a, B const& b = {}, C const& = {},
    detail::refused_call_with<detail::code_if<handle<A>, "T24", "T37">,
                              "cast takes a tensor, then a dtype: cast(x, mt::f32)", A, B, C> const& = {}) {
  return detail::given_up(a, b);
}
/// Rejects a number, because it takes the dtype of the tensor beside it.
template <dtype To, number_like N>
constexpr number cast(N const& n,
                      detail::refused_call<"T29 a number takes the dtype of the tensor beside it: leave the "
                                           "cast out, or make a tensor of it, full(s, n, mt::f32)",
                                           N> const& = {}) {
  return n;
}

}  // namespace meshtensor
