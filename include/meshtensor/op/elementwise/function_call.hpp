// SPDX-License-Identifier: Apache-2.0
// The call of a scalar function of tensors and numbers: the errors that its types show, and the node that it adds.
#pragma once

#include "meshtensor/op/detail/arithmetic.hpp"
#include "meshtensor/op/detail/record.hpp"

namespace meshtensor {

/// Whether scalar functions of operands of these types are computed at once, as those of arrays are
/// (eager/array_operations/elementwise.hpp).
template <class... T>
inline constexpr bool are_computed_at_once = false;

/// The operands of a scalar function: tensors of a program and numbers beside them, or arrays and numbers.
template <class... T>
concept elementwise_operands = ((operand_like<T> && ...) && (handle<T> || ...)) || are_computed_at_once<T...>;

namespace detail {
template <function F>
struct inference_of_function : elementwise_inference {
  static constexpr void infer(inference& i) {
    i.function = static_cast<std::uint8_t>(F);
    elementwise_inference::infer(i);
  }
};
template <function F, class... H>
struct function_finding {
  using type = no_error;  // the types show none
};
template <function F, operand_like... H>
requires(handle<H> || ...) && (!is_any<dims_of_t<H>> && ...)
struct function_finding<F, H...> {
  using types = typed_inference<inference_of_function<F>, dims<>, H...>;
  static consteval auto found() {
    if constexpr (types::fails) return error_of<types::finding>();
    else return no_error{};
  }
  using type = decltype(found());
};
/// The line of a call of a scalar function. It refuses the call if the function does not take these operands.
template <function F, class... H>
using line_of = checked_line<typename function_finding<F, H...>::type>;
}  // namespace detail

/// A scalar function, applied to every element. Operands broadcast by name, and numbers take the dtype of the tensors.
/// For integers, `/` truncates, `%` has the sign of the divisor, a divisor of 0 gives 0, and overflow wraps around.
///
/// dims    the dims of all operands, in order of first appearance
/// layout  each dim keeps its axes. Partial sums pass through linear functions
/// grad    the function's derivative, summed over broadcast dims
/// errors  T02 the operands' dtypes differ: cast one of them
template <function F, operand_like... H>
constexpr auto elementwise(fn<F>, line const& where, H const&... operands) {
  return detail::record<detail::inference_of_function<F>>(
      where,
      [&](builder& b) {
        constexpr dtype type = detail::common_type<H...>();
        value_id const inside[] = {detail::value_of(b, operands, type)...};  // in this order with every compiler
        return elementwise(b, F, inside);
      },
      operands...);
}

/// `elementwise` for a call whose line parameter has already refused operands that the function does not take.
template <function F, operand_like... H>
constexpr auto elementwise_at(fn<F> f, line const& where, H const&... operands) {
  if constexpr (nothing_found<typename detail::function_finding<F, H...>::type>)
    return elementwise(f, where, operands...);
  else if constexpr (is_comparison(F))
    return detail::given_up<dtype::boolean, typename decltype(detail::first_handle(operands...))::dim_list>(
        operands...);
  else return detail::given_up(operands...);
}

namespace detail {
inline constexpr literal not_of_numbers =
    "T29 numbers have + - * /, sqrt, rsqrt, exp, log, cos, pow, maximum and minimum: full(s, n, mt::f32) is a tensor, "
    "which has the other functions, too";
}  // namespace detail

}  // namespace meshtensor
