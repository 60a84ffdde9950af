// SPDX-License-Identifier: Apache-2.0
// One handle or a tuple of them: the operands and results of a region.
#pragma once

#include <tuple>

#include "meshtensor/op/detail/record.hpp"

namespace meshtensor::detail {

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;

/// Whether two operands have the same dims, in any order. If a type does not show its dims, they count as the same.
template <class A, class B>
inline constexpr bool may_have_same_dims = true;
template <dtype T, class... D, dtype U, class... E>
inline constexpr bool may_have_same_dims<tensor<T, D...>, tensor<U, E...>> =
    sizeof...(D) == sizeof...(E) && (has_dim_v<dims<E...>, D> && ...);

/// One handle or a tuple of handles, as a tuple.
template <class T>
constexpr auto as_tuple(T const& t) {
  if constexpr (is_tuple<T>) return t;
  else return std::tuple<T>(t);
}
/// Returns a tuple, or its only handle if `Like` is not a tuple.
template <class Like, class... T>
constexpr auto as_given(std::tuple<T...> const& t) {
  if constexpr (is_tuple<Like>) return t;
  else return std::get<0>(t);
}

template <class H>
constexpr H rewrapped(builder& b, H const&, value_id v) {
  return H(&b, v);
}

template <class... H>
constexpr id_list<> ids_of(std::tuple<H...> const& t) {
  id_list<> r{};
  std::apply([&](auto const&... h) { (r.add(h.id), ...); }, t);
  return r;
}

/// `v` with the dims of `like`, in its order. Reports T03 if its dims differ. `what` and `wanted` name both in the
/// sentence.
constexpr value_id aligned(builder& b, value_id v, shape const& like, char const* what = "the next carry of a loop",
                           char const* wanted = "the carry") {
  shape const dims = b.m.values[v].dims;
  if (!dims.includes(like) || !like.includes(dims)) {
    dtype const type = b.m.values[v].type;
    diagnostic d{};
    add_type(add_type(d << "T03 " << what << " is ", b.m, type, dims) << ", but " << wanted << " is ", b.m, type, like);
    bool const is_first_carry = dims.includes(like) && std::string_view(wanted) == "the carry";
    b.note(d << (is_first_carry
                     ? ": begin with a carry of all these dims, by broadcast(x, ...) or full(..., to(...)), or "
                       "reduce the next one"
                     : ": both have the same dims; sum over one, or rename one"));
  }
  return dims == like ? v : b.add(primitive::transpose, {b.use(v)}, b.m.values[v].type, like);
}

}  // namespace meshtensor::detail
