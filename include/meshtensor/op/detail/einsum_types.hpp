// SPDX-License-Identifier: Apache-2.0
// The types of an einsum: errors that the operands and the dims of the result show, and the dims of partial products.
#pragma once

#include "meshtensor/op/detail/record.hpp"
#include "meshtensor/tensor/wrong.hpp"

namespace meshtensor::detail {

template <class D, class... H>
concept dim_of_any = (has_dim<H, D> || ...);

/// The dims that only one operand has, and that the result lacks.
struct lone_dims_rule {
  template <class... Operands>
  constexpr shape operator()(shape const& result, Operands const&... operands) const {
    shape lone{};
    auto const look = [&](shape const& own) {
      for (int i = 0; i < own.count; ++i) {
        bool const is_lone = (static_cast<int>(operands.has(own.at[i])) + ...) == 1 && !result.has(own.at[i]);
        if (is_lone && lone.count < shape::capacity) lone.add(own.at[i]);
      }
    };
    (look(operands), ...);
    return lone;
  }
};
inline constexpr literal sums_lone_dims =
    "T01 einsum: one operand alone has a dim that the result lacks, so einsum would sum it: name it in to, or write "
    "sum where that is meant";
template <class... H, class... D>
consteval auto lone_dims_finding(dims<D...>) {
  if constexpr (sizeof...(D) == 0) return no_error{};
  else return refusal<sums_lone_dims, H..., D...>{};
}

/// The first error that the types of a product with the dims of `to` show, or `no_error`.
template <class... H, class... D>
consteval auto einsum_finding(to_dims<D...>) {
  constexpr dtype type = common_type<H...>();
  if constexpr (!((H::type == type) && ...))
    return refusal<"T02 the dtypes of the operands differ: cast one of them", H...>{};
  else if constexpr (type == dtype::boolean) return refusal<"T04 arithmetic on bool: cast the operand", H...>{};
  else if constexpr (!(dim_of_any<D, H...> && ...))
    return refusal<"T01 einsum: no operand has a dim that the result names", H..., D...>{};
  else if constexpr (sizeof...(H) == 1 || (is_any<typename H::dim_list> || ...)) return no_error{};
  else return lone_dims_finding<H...>(ruled_t<lone_dims_rule{}, dims<D...>, typename H::dim_list...>{});
}
/// The line of a call of einsum. It refuses the call if the types show an error.
template <class To, class... H>
using einsum_line = checked_line<decltype(einsum_finding<H...>(To{}))>;

/// The dims of the first four operands that any other operand, or the result, has.
struct needed_rule {
  template <class... Others>
  constexpr shape operator()(shape const& a, shape const& b, shape const& c, shape const& e,
                             Others const&... others) const {
    shape needed{};
    for (shape const* own : {&a, &b, &c, &e})
      for (int i = 0; i < own->count; ++i)
        if (!needed.has(own->at[i]) && (others.has(own->at[i]) || ...)) needed.add(own->at[i]);
    return needed;
  }
};
template <class T>
struct dims_among {  // of an argument of einsum, if it has any
  using type = dims<>;
};
template <handle H>
struct dims_among<H> {
  using type = typename H::dim_list;
};
template <dim_type... D>
struct dims_among<to_dims<D...>> {
  using type = dims<D...>;
};
/// The first error of a call that names tensors and then the dims of their product, or `no_error`.
template <class... H>
struct handles {};
template <class T>
struct among {};
template <class... H, class First, class... More>
consteval auto finding_of_many(handles<H...>, among<First>, among<More>... more) {
  if constexpr (handle<First>) return finding_of_many(handles<H..., First>{}, more...);
  else if constexpr (is_to<First>) return einsum_finding<H...>(First{});
  else return no_error{};
}
template <class T>
inline constexpr bool names_dims = false;
template <class... D>
inline constexpr bool names_dims<to_dims<D...>> = true;

}  // namespace meshtensor::detail
