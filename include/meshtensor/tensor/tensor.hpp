// SPDX-License-Identifier: Apache-2.0
// Tensor handles. A handle names a value of a graph, and its type has the dtype and dims.
#pragma once

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/tensor/arithmetic.hpp"
#include "meshtensor/tensor/shape.hpp"
#include "meshtensor/tensor/unlike_arrays.hpp"

namespace meshtensor {

struct builder;

/// The dims of a handle whose dims are known only while tracing.
struct any_dims {};

namespace detail {
template <dim_type... D>
constexpr bool are_distinct() {
  name const all[] = {D::dim_name..., name{}};
  for (std::size_t i = 0; i < sizeof...(D); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (all[i] == all[k]) return false;
  return true;
}
}  // namespace detail

/// A tensor of the graph with dtype `T` and dims `D…`. Scopes and operations return it. It is passed by value.
template <dtype T, dim_type... D>
struct tensor : arithmetic<tensor<T, D...>>, unlike_arrays {
  static_assert(detail::are_distinct<D...>(), "meshtensor T42: a tensor has one dim twice: give one another name");
  static_assert(sizeof...(D) <= max_dims_of_one, "meshtensor T07: a tensor has at most 10 dims");
  using is_handle = void;
  using dim_list = dims<D...>;
  static constexpr dtype type = T;
  builder* owner;
  value_id id;
  constexpr tensor(builder* b, value_id i) : owner(b), id(i) {}
};

/// A tensor whose dims are values instead of types. An optimizer needs it to loop over the parameters of a program.
template <dtype T>
struct any_tensor : arithmetic<any_tensor<T>>, unlike_arrays {
  using is_handle = void;
  using dim_list = any_dims;
  static constexpr dtype type = T;
  builder* owner;
  value_id id;
  constexpr any_tensor(builder* b, value_id i) : owner(b), id(i) {}
  template <dim_type... D>
  constexpr any_tensor(tensor<T, D...> const& t) : owner(t.owner), id(t.id) {}  // NOLINT
};

namespace detail {

template <dtype T, class List>
struct handle_for;
template <dtype T>
struct handle_for<T, any_dims> {
  using type = any_tensor<T>;
};
template <dtype T, class... D>
struct handle_for<T, dims<D...>> {
  using type = tensor<T, D...>;
};

template <class>
inline constexpr bool is_any = false;
template <>
inline constexpr bool is_any<any_dims> = true;

template <auto Rule, bool Any, class... Lists>
struct dims_under {
  using type = any_dims;
};
template <auto Rule, class... Lists>
struct dims_under<Rule, false, Lists...> {
  using type = ruled_t<Rule, Lists...>;
};

}  // namespace detail

/// The handle type with dtype `T` and a list of dims.
template <dtype T, class List>
using handle_t = typename detail::handle_for<T, List>::type;

/// The dims of a result, by a shape rule. If the dims of any operand are known only while tracing, so are these.
template <auto Rule, class... Lists>
using result_dims_t = typename detail::dims_under<Rule, (detail::is_any<Lists> || ...), Lists...>::type;

/// Whether the operand has this dim. The name reads as English in the compiler's error.
template <class H, class D>
concept has_dim = detail::is_any<typename H::dim_list> || has_dim_v<typename H::dim_list, D>;
template <class A, class B>
concept same_dtype_as = A::type == B::type;
template <class H>
concept of_float = is_float(H::type);
template <class H>
concept of_bool = H::type == dtype::boolean;
template <class H>
concept of_integer = !is_float(H::type) && H::type != dtype::boolean;

}  // namespace meshtensor
