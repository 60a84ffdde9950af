// SPDX-License-Identifier: Apache-2.0
// Chooses one of two values for each element, by a condition.
#pragma once

#include "meshtensor/op/elementwise/derivative.hpp"
#include "meshtensor/op/elementwise/function_call.hpp"

namespace meshtensor {

/// `yes` where `condition` holds, `no` elsewhere. A value that is not chosen has no effect, not even if it is a NaN.
///
/// dims    those of `yes`, then other dims of `no` and `condition`
template <handle C, operand_like A, operand_like B>
requires(handle<A> || handle<B>)
constexpr auto select(C const& condition, A const& yes, B const& no,
                      detail::line_of<function::select, C, A, B> const& where = {}) {
  return detail::record<detail::inference_of_function<function::select>>(
      where,
      [&](builder& b) {
        constexpr dtype type = detail::common_type<A, B>();
        value_id const first = detail::value_of(b, yes, type), second = detail::value_of(b, no, type);
        return select(b, condition.id, first, second);
      },
      condition, yes, no);
}
template <>
struct derivative<function::select> {
  static constexpr void give(differentiated_function const& f) {
    f.give(1, [&] { return select(f.b, {f.x(), f.dy, f.number(0)}); });
    f.give(2, [&] { return select(f.b, {f.x(), f.number(0), f.dy}); });
  }
};

namespace detail {
/// Whether these are a condition and two values, without a fourth argument.
template <class C, class A, class B, class D>
inline constexpr bool is_choice = handle<C> && operand_like<A> && operand_like<B> && std::is_same_v<D, none_given>;
}  // namespace detail
/// Rejects two numbers as the values, because they have no dtype.
template <handle C, number_like A, number_like B>
constexpr auto select(C const& condition, A const&, B const&,
                      detail::refused_call<"T29 select: one of the two values is a tensor, the other takes its dtype: "
                                           "cast(condition, mt::f32) is 1 where it holds, 0 elsewhere",
                                           C, A, B> const& = {}) {
  return detail::given_up(condition);
}
/// Rejects a condition that is no tensor.
template <detail::argument C, detail::argument A = detail::none_given, detail::argument B = detail::none_given,
          detail::argument D = detail::none_given>
requires((handle<C> || handle<A> || handle<B> || handle<D>) && !detail::is_choice<C, A, B, D>)
constexpr auto select(C const& condition, A const& a = {}, B const& b = {}, D const& d = {},
                      detail::refused_call_with<detail::code_if<handle<C>, "T37", "T28">,
                                                "select takes a tensor of bools, then two values: select(x > 0, x, 0); "
                                                "by what C++ knows, C++ chooses: known ? x : y",
                                                C, A, B, D> const& = {}) {
  return detail::given_up(condition, a, b, d);
}
/// Rejects the name that other libraries have for select.
template <detail::argument C, detail::argument A = detail::none_given, detail::argument B = detail::none_given>
requires(handle<C> || handle<A> || handle<B>)
constexpr auto where(
    C const& c, A const& a = {}, B const& b = {},
    detail::refused_call<"T35 a choice for each element is select(condition, a, b)", C, A, B> const& = {}) {
  return detail::given_up(c, a, b);
}

}  // namespace meshtensor
