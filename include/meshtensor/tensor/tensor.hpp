// SPDX-License-Identifier: Apache-2.0
// Tensor handles. A handle names a value of a graph, and its type has the dtype and dims.
#pragma once

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/base/function.hpp"
#include "meshtensor/tensor/call.hpp"
#include "meshtensor/tensor/number.hpp"
#include "meshtensor/tensor/shape.hpp"

namespace meshtensor {

struct builder;

/// A tensor of a program, as operations take and return it. It has no elements of its own. It names a value of the
/// graph, and its type has the dtype and the dims.
template <class T>
concept handle = requires { typename T::is_handle; };
/// A tensor, or a number that takes the dtype of the other operand.
template <class T>
concept operand_like = handle<T> || number_like<T>;

/// A scalar function as an argument.
template <function F>
struct fn {};

namespace detail {
/// The error of a scalar function that does not take these operands, as `type` (op/elementwise.hpp).
template <function F, class... H>
struct function_finding;
}  // namespace detail

/// The operators of a handle. Operands broadcast by name, and a number takes the handle's dtype. Argument-dependent
/// lookup finds the operators only for handles, so they do not clash with other operators in a user's namespace.
template <class Self>
struct arithmetic {
 private:
  /// The handle among the operands of a function, with its line and the error in their types, if there is one.
  template <function F, class... H>
  using operand_of = at<Self, typename detail::function_finding<F, H...>::type>;

 public:
  template <operand_like B>
  friend constexpr auto operator+(operand_of<function::add, Self, B> a, B const& b) {
    return elementwise_at(fn<function::add>{}, a.where, a.operand, b);
  }
  template <operand_like B>
  friend constexpr auto operator-(operand_of<function::subtract, Self, B> a, B const& b) {
    return elementwise_at(fn<function::subtract>{}, a.where, a.operand, b);
  }
  template <operand_like B>
  friend constexpr auto operator*(operand_of<function::multiply, Self, B> a, B const& b) {
    return elementwise_at(fn<function::multiply>{}, a.where, a.operand, b);
  }
  template <operand_like B>
  friend constexpr auto operator/(operand_of<function::divide, Self, B> a, B const& b) {
    return elementwise_at(fn<function::divide>{}, a.where, a.operand, b);
  }
  template <operand_like B>
  friend constexpr auto operator%(operand_of<function::modulo, Self, B> a, B const& b) {
    return elementwise_at(fn<function::modulo>{}, a.where, a.operand, b);
  }
  template <number_like B>
  friend constexpr auto operator==(operand_of<function::equal, Self, B> a, B const& b) {
    return elementwise_at(fn<function::equal>{}, a.where, a.operand, b);
  }
  template <number_like B>
  friend constexpr auto operator!=(operand_of<function::not_equal, Self, B> a, B const& b) {
    return elementwise_at(fn<function::not_equal>{}, a.where, a.operand, b);
  }
  // Comparisons of two handles take them without the conversion to `at`, because the conversion would make x == y
  // ambiguous with y == x. Therefore the node gets the line of the node before it.
  template <handle B>
  friend constexpr auto operator==(Self const& a, B const& b) {
    return elementwise(fn<function::equal>{}, line::unknown(), a, b);
  }
  template <handle B>
  friend constexpr auto operator!=(Self const& a, B const& b) {
    return elementwise(fn<function::not_equal>{}, line::unknown(), a, b);
  }
  template <operand_like B>
  friend constexpr auto operator<(operand_of<function::less, Self, B> a, B const& b) {
    return elementwise_at(fn<function::less>{}, a.where, a.operand, b);
  }
  template <operand_like B>
  friend constexpr auto operator<=(operand_of<function::less_equal, Self, B> a, B const& b) {
    return elementwise_at(fn<function::less_equal>{}, a.where, a.operand, b);
  }
  template <operand_like B>
  friend constexpr auto operator>(operand_of<function::less, B, Self> a, B const& b) {
    return elementwise_at(fn<function::less>{}, a.where, b, a.operand);
  }
  template <operand_like B>
  friend constexpr auto operator>=(operand_of<function::less_equal, B, Self> a, B const& b) {
    return elementwise_at(fn<function::less_equal>{}, a.where, b, a.operand);
  }
  template <handle B>
  friend constexpr auto operator&&(operand_of<function::logical_and, Self, B> a, B const& b) {
    return elementwise_at(fn<function::logical_and>{}, a.where, a.operand, b);
  }
  template <handle B>
  friend constexpr auto operator||(operand_of<function::logical_or, Self, B> a, B const& b) {
    return elementwise_at(fn<function::logical_or>{}, a.where, a.operand, b);
  }
  template <number_like A>
  friend constexpr auto operator+(A const& a, operand_of<function::add, A, Self> b) {
    return elementwise_at(fn<function::add>{}, b.where, a, b.operand);
  }
  template <number_like A>
  friend constexpr auto operator-(A const& a, operand_of<function::subtract, A, Self> b) {
    return elementwise_at(fn<function::subtract>{}, b.where, a, b.operand);
  }
  template <number_like A>
  friend constexpr auto operator*(A const& a, operand_of<function::multiply, A, Self> b) {
    return elementwise_at(fn<function::multiply>{}, b.where, a, b.operand);
  }
  template <number_like A>
  friend constexpr auto operator/(A const& a, operand_of<function::divide, A, Self> b) {
    return elementwise_at(fn<function::divide>{}, b.where, a, b.operand);
  }
  template <std::same_as<Self> H = Self>  // a template, because the handle is not complete here
  friend constexpr auto operator-(operand_of<function::negate, H> a) {
    return elementwise_at(fn<function::negate>{}, a.where, a.operand);
  }
  // This operator does without the conversion to `at`, because `!` would be ambiguous with the conversion to bool
  // (unlike_arrays).
  friend constexpr auto operator!(Self const& a) {
    return elementwise(fn<function::logical_not>{}, line::unknown(), a);
  }
};

/// Stands for an iterator over a tensor. Such iterators do not exist.
struct no_iterator {
  constexpr bool operator!=(no_iterator const&) const { return false; }
  constexpr no_iterator& operator++() { return *this; }
  constexpr detail::no_result operator*() const { return {}; }
};

namespace detail {
// Types other than numbers get no sentence, because a tuple asks for the conversion to each type that it may hold.
template <class B, bool IsNumber = std::is_arithmetic_v<B>, bool IsBool = std::is_same_v<B, bool>>
struct value_refusal {
  using type = no_error;
};
template <class B>
struct value_refusal<B, true, false> : refusal_of<is_no_number, B> {};
template <class B>
struct value_refusal<B, true, true> : refusal_of<is_not_known, B> {};
}  // namespace detail

/// Members that tensors of other libraries have. Each of them is an error that names the replacement.
struct unlike_arrays {
  template <class B, class Reason = typename detail::value_refusal<B>::type>
  requires std::is_arithmetic_v<B>
  MESHTENSOR_REFUSES explicit constexpr operator B() const {  // for `if (sum(x) > 0)` and `float(sum(x))`
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return {};
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_no_shape, A...>::type>
  MESHTENSOR_REFUSES constexpr auto view(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class A, std::size_t N, class Reason = typename detail::refusal_of<detail::has_no_shape, A>::type>
  MESHTENSOR_REFUSES constexpr auto view(A const (&)[N]) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_no_shape, A...>::type>
  MESHTENSOR_REFUSES constexpr auto reshape(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class A, std::size_t N, class Reason = typename detail::refusal_of<detail::has_no_shape, A>::type>
  MESHTENSOR_REFUSES constexpr auto reshape(A const (&)[N]) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_no_shape, A...>::type>
  MESHTENSOR_REFUSES constexpr auto flatten(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_no_shape, A...>::type>
  MESHTENSOR_REFUSES constexpr auto squeeze(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_no_shape, A...>::type>
  MESHTENSOR_REFUSES constexpr auto unsqueeze(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::is_cast, A...>::type>
  MESHTENSOR_REFUSES constexpr auto to(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::is_cast, A...>::type>
  MESHTENSOR_REFUSES constexpr auto astype(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::needs_no_transpose, A...>::type>
  MESHTENSOR_REFUSES constexpr auto permute(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::needs_no_transpose, A...>::type>
  MESHTENSOR_REFUSES constexpr auto transpose(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::needs_no_transpose, A...>::type>
  MESHTENSOR_REFUSES constexpr auto t(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_extents, A...>::type>
  MESHTENSOR_REFUSES constexpr auto size(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_extents, A...>::type>
  MESHTENSOR_REFUSES constexpr auto shape(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_extents, A...>::type>
  MESHTENSOR_REFUSES constexpr auto numel(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_functions, A...>::type>
  MESHTENSOR_REFUSES constexpr auto sum(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_functions, A...>::type>
  MESHTENSOR_REFUSES constexpr auto mean(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_functions, A...>::type>
  MESHTENSOR_REFUSES constexpr auto max(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_functions, A...>::type>
  MESHTENSOR_REFUSES constexpr auto min(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_functions, A...>::type>
  MESHTENSOR_REFUSES constexpr auto softmax(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_functions, A...>::type>
  MESHTENSOR_REFUSES constexpr auto relu(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_functions, A...>::type>
  MESHTENSOR_REFUSES constexpr auto tanh(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_functions, A...>::type>
  MESHTENSOR_REFUSES constexpr auto exp(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_functions, A...>::type>
  MESHTENSOR_REFUSES constexpr auto matmul(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_functions, A...>::type>
  MESHTENSOR_REFUSES constexpr auto argmax(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_no_value, A...>::type>
  MESHTENSOR_REFUSES constexpr auto item(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_no_value, A...>::type>
  MESHTENSOR_REFUSES constexpr auto numpy(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_no_value, A...>::type>
  MESHTENSOR_REFUSES constexpr auto data(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_no_value, A...>::type>
  MESHTENSOR_REFUSES constexpr auto tolist(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_no_value, A...>::type>
  MESHTENSOR_REFUSES constexpr auto cpu(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_no_tape, A...>::type>
  MESHTENSOR_REFUSES constexpr auto backward(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_no_tape, A...>::type>
  MESHTENSOR_REFUSES constexpr auto grad(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_no_tape, A...>::type>
  MESHTENSOR_REFUSES constexpr auto requires_grad_(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class... A, class Reason = typename detail::refusal_of<detail::has_no_tape, A...>::type>
  MESHTENSOR_REFUSES constexpr auto detach(A const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class A = detail::no_argument, class Reason = typename detail::refusal_of<detail::has_no_rows, A>::type>
  MESHTENSOR_REFUSES constexpr no_iterator begin() const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return {};
  }
  constexpr no_iterator end() const { return {}; }
  template <class A, class Reason = typename detail::refusal_of<detail::is_not_indexed, A>::type>
  MESHTENSOR_REFUSES constexpr auto operator[](A const&) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class A, class Reason = typename detail::refusal_of<detail::is_not_changed, A>::type>
  MESHTENSOR_REFUSES constexpr auto operator+=(A const&) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class A, class Reason = typename detail::refusal_of<detail::is_not_changed, A>::type>
  MESHTENSOR_REFUSES constexpr auto operator-=(A const&) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class A, class Reason = typename detail::refusal_of<detail::is_not_changed, A>::type>
  MESHTENSOR_REFUSES constexpr auto operator*=(A const&) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
  template <class A, class Reason = typename detail::refusal_of<detail::is_not_changed, A>::type>
  MESHTENSOR_REFUSES constexpr auto operator/=(A const&) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return 0;
  }
};

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
  static_assert(detail::are_distinct<D...>(), "meshtensor T07: a tensor has one dim twice: give one another name");
  static_assert(sizeof...(D) <= max_dims_of_one, "meshtensor T07: a tensor has at most 8 dims");
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
