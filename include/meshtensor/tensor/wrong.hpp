// SPDX-License-Identifier: Apache-2.0
// Error sentences for operands that an operation does not accept, with their types. The compiler names the line.
#pragma once

#include <iosfwd>
#include <string_view>
#include <tuple>

#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/tensor/tensor.hpp"

namespace meshtensor {

template <class S>
concept scope = requires { typename S::is_scope; };

namespace detail {

/// A text as a template argument.
template <std::size_t Size>
struct literal {
  char at[Size];
  constexpr literal() : at{} {}
  consteval literal(char const (&words)[Size]) : at{} {  // NOLINT: a literal is one
    for (std::size_t i = 0; i < Size; ++i) at[i] = words[i];
  }
};

template <literal... Parts>
inline constexpr auto joined_words = [] {
  literal<((sizeof(Parts.at) - 1) + ... + 1)> all;
  std::size_t size = 0;
  auto const add = [&](std::string_view part) {
    for (char c : part) all.at[size++] = c;
  };
  (add(Parts.at), ...);
  return all;
}();

template <class>
inline constexpr bool is_several = false;
template <class... T>
inline constexpr bool is_several<std::tuple<T...>> = true;
template <class>
inline constexpr bool is_to = false;
template <class... D>
inline constexpr bool is_to<to_dims<D...>> = true;
template <class>
inline constexpr bool is_dtype = false;
template <dtype T>
inline constexpr bool is_dtype<dtype_constant<T>> = true;

/// Adds a type to a sentence: `f32[batch, out]` for a handle, the name for a dim.
template <class Fact>
constexpr diagnostic& add_fact(diagnostic& d) {
  if constexpr (std::is_same_v<Fact, bool>) return d << "a condition";
  else if constexpr (dim_type<Fact>) return d << "'" << Fact::dim_name << "'";
  else if constexpr (number_like<Fact>) return d << "a number";
  else if constexpr (scope<Fact>) return d << "a scope";
  else if constexpr (is_several<Fact>)
    return []<class... T>(diagnostic& all, std::tuple<T...>*) -> diagnostic& {
      all << "a tuple (";
      int count = 0;
      ((all << (count++ == 0 ? "" : ", "), add_fact<T>(all)), ...);
      return all << ")";
    }(d, static_cast<Fact*>(nullptr));
  else if constexpr (is_dtype<Fact>) return d << "the dtype " << text_of(Fact::value);
  else if constexpr (std::is_same_v<Fact, dtype>) return d << "a value of mt::dtype";
  else if constexpr (is_to<Fact>)
    return []<class... D>(diagnostic& all, to_dims<D...>*) -> diagnostic& {
      all << "to(";
      int count = 0;
      ((all << (count++ == 0 ? "" : ", ") << D::dim_name), ...);
      return all << ")";
    }(d, static_cast<Fact*>(nullptr));
  else if constexpr (!handle<Fact>) return d << "something else";
  else if constexpr (is_any<typename Fact::dim_list>)
    return d << text_of(Fact::type) << " of dims that the trace knows";
  else
    return []<class... D>(diagnostic& all, dims<D...>*) -> diagnostic& {
      all << text_of(Fact::type) << "[";
      int count = 0;
      ((all << (count++ == 0 ? "" : ", ") << D::dim_name), ...);
      return all << "]";
    }(d, static_cast<typename Fact::dim_list*>(nullptr));
}

/// The first tensor among the arguments of a rejected call: the result that lets compilation go on.
template <class First, class... More>
constexpr auto first_handle(First const& first, More const&... more) {
  if constexpr (handle<First>) return first;
  else return first_handle(more...);
}

struct type_finding {
  diagnostic report;
};
/// Whether a function takes arguments of these types. This check also evaluates its static_asserts.
template <class F, class... Args>
inline constexpr bool takes = requires(F const& f, Args const&... args) { f(args...); };

/// The error sentence of an operation whose constraint failed, with the types of its operands: `if constexpr
/// (!has_dim<H, D>) static_assert(is_valid<wrong<"T01 softmax: the operand lacks the dim", H, D>>);`
template <literal Words, class... Facts>
inline constexpr type_finding wrong = [] {
  diagnostic d{};
  d << std::string_view(Words.at);
  int count = 0;
  ((d << (count++ == 0 ? " (" : ", "), add_fact<Facts>(d)), ...);
  if (count != 0) d << ")";
  return type_finding{d};
}();

/// The error sentence of a fault that an operation's `infer` has found in types: `F` names the operands and the dims
/// among the attributes that belong to the facts.
template <auto const& F, class AttributeDims, class... H>
constexpr type_finding fault_of_types() {
  diagnostic d{};
  if (F.fault == nullptr) return {d};
  d << std::string_view(F.fault);
  int count = 0, k = 0;
  ((void)((F.operands_at_fault >> k++ & 1u) != 0 ? add_fact<H>(d << (count++ == 0 ? " (" : ", ")) : d), ...);
  [&]<class... D>(dims<D...>*) {
    int a = 0;
    ((void)((F.attributes_at_fault >> a++ & 1u) != 0 ? add_fact<D>(d << (count++ == 0 ? " (" : ", ")) : d), ...);
  }(static_cast<AttributeDims*>(nullptr));
  if (count != 0) d << ")";
  return {d};
}

}  // namespace detail

/// Rejects printing a tensor.
template <class C, class Traits, handle H>
constexpr std::basic_ostream<C, Traits>& operator<<(std::basic_ostream<C, Traits>& out, H const&) {
  static_assert(
      is_valid<detail::wrong<"T10 a tensor has no value while the program is traced: s.watch(\"y\", y) lets one look "
                             "at it in each step, mt::eager computes at once",
                             H>>);
  return out;
}

template <class B>
requires std::is_arithmetic_v<B>
constexpr unlike_arrays::operator B() const {
  if constexpr (std::is_same_v<B, bool>)
    static_assert(is_valid<detail::wrong<"T10 a tensor has no value while the program is traced: select(condition, a, "
                                         "b) chooses for each element, maximum(a, b) and minimum(a, b) the one or the "
                                         "other, mt::cond takes one of two branches",
                                         B>>);
  else
    static_assert(is_valid<detail::wrong<"T10 a tensor has no value while the program is traced: s.output(\"y\", y) "
                                         "gives it out, and a step has it by name; cast(y, mt::f32) changes its "
                                         "dtype",
                                         B>>);
  return {};
}
namespace detail {

/// Reports a member that only other libraries' tensors have.
template <literal Words, class... A>
constexpr int refused() {
  static_assert(is_valid<wrong<Words, A...>>);
  return 0;
}

inline constexpr literal has_no_shape =
    "T10 a tensor has no shape to change: split, merge, rename, slice and broadcast change its dims "
    "by name";
inline constexpr literal needs_no_transpose =
    "T10 dims are matched by name, so tensors are seldom transposed: transpose(x, mt::to(b, a)) does "
    "it";
inline constexpr literal has_extents =
    "T10 the extent of a dim is a number, extent(batch): it may be known at start-up only";
inline constexpr literal has_functions =
    "T10 operations are functions: sum(x, batch), softmax(x, vocab), einsum(x, w, mt::to(batch, "
    "out))";
inline constexpr literal has_no_value =
    "T10 a tensor has no value while the program is traced: s.output(\"y\", y) gives it out, and a "
    "step has it by name";
inline constexpr literal is_cast =
    "T10 operations are functions: cast(x, mt::f32) changes the dtype; where a tensor is kept, the layout says";
inline constexpr literal no_number_is_known =
    "T10 a number has no value while the program is traced: maximum and minimum take numbers, and full(s, n, mt::f64) "
    "is a tensor that can be compared";
inline constexpr literal has_no_tape =
    "T10 gradients are part of the program: gradient(loss, w), or mt::sgd{}.minimize(s / "
    "\"optimizer\", loss); stop_gradient(x) ends them";
inline constexpr literal has_no_rows =
    "T10 a tensor has no elements to loop over: operations take all of them, mt::scan goes along a dim";
inline constexpr literal is_not_indexed =
    "T10 elements are not indexed: slice(x, dim, part, first) takes a part, gather(x, index, dim) "
    "the rows of an index";

}  // namespace detail

template <class... A>
constexpr auto unlike_arrays::view(A const&...) const {
  return detail::refused<detail::has_no_shape, A...>();
}
template <class... A>
constexpr auto unlike_arrays::reshape(A const&...) const {
  return detail::refused<detail::has_no_shape, A...>();
}
template <class A, std::size_t N>
constexpr auto unlike_arrays::view(A const (&)[N]) const {
  return detail::refused<detail::has_no_shape, A>();
}
template <class A, std::size_t N>
constexpr auto unlike_arrays::reshape(A const (&)[N]) const {
  return detail::refused<detail::has_no_shape, A>();
}
template <class... A>
constexpr auto unlike_arrays::to(A const&...) const {
  return detail::refused<detail::is_cast, A...>();
}
template <class... A>
constexpr auto unlike_arrays::astype(A const&...) const {
  return detail::refused<detail::is_cast, A...>();
}
template <class... A>
constexpr auto unlike_arrays::flatten(A const&...) const {
  return detail::refused<detail::has_no_shape, A...>();
}
template <class... A>
constexpr auto unlike_arrays::squeeze(A const&...) const {
  return detail::refused<detail::has_no_shape, A...>();
}
template <class... A>
constexpr auto unlike_arrays::unsqueeze(A const&...) const {
  return detail::refused<detail::has_no_shape, A...>();
}
template <class... A>
constexpr auto unlike_arrays::permute(A const&...) const {
  return detail::refused<detail::needs_no_transpose, A...>();
}
template <class... A>
constexpr auto unlike_arrays::transpose(A const&...) const {
  return detail::refused<detail::needs_no_transpose, A...>();
}
template <class... A>
constexpr auto unlike_arrays::t(A const&...) const {
  return detail::refused<detail::needs_no_transpose, A...>();
}
template <class... A>
constexpr auto unlike_arrays::size(A const&...) const {
  return detail::refused<detail::has_extents, A...>();
}
template <class... A>
constexpr auto unlike_arrays::shape(A const&...) const {
  return detail::refused<detail::has_extents, A...>();
}
template <class... A>
constexpr auto unlike_arrays::numel(A const&...) const {
  return detail::refused<detail::has_extents, A...>();
}
template <class... A>
constexpr auto unlike_arrays::sum(A const&...) const {
  return detail::refused<detail::has_functions, A...>();
}
template <class... A>
constexpr auto unlike_arrays::mean(A const&...) const {
  return detail::refused<detail::has_functions, A...>();
}
template <class... A>
constexpr auto unlike_arrays::max(A const&...) const {
  return detail::refused<detail::has_functions, A...>();
}
template <class... A>
constexpr auto unlike_arrays::min(A const&...) const {
  return detail::refused<detail::has_functions, A...>();
}
template <class... A>
constexpr auto unlike_arrays::softmax(A const&...) const {
  return detail::refused<detail::has_functions, A...>();
}
template <class... A>
constexpr auto unlike_arrays::relu(A const&...) const {
  return detail::refused<detail::has_functions, A...>();
}
template <class... A>
constexpr auto unlike_arrays::tanh(A const&...) const {
  return detail::refused<detail::has_functions, A...>();
}
template <class... A>
constexpr auto unlike_arrays::exp(A const&...) const {
  return detail::refused<detail::has_functions, A...>();
}
template <class... A>
constexpr auto unlike_arrays::matmul(A const&...) const {
  return detail::refused<detail::has_functions, A...>();
}
template <class... A>
constexpr auto unlike_arrays::argmax(A const&...) const {
  return detail::refused<detail::has_functions, A...>();
}
template <class... A>
constexpr auto unlike_arrays::item(A const&...) const {
  return detail::refused<detail::has_no_value, A...>();
}
template <class... A>
constexpr auto unlike_arrays::numpy(A const&...) const {
  return detail::refused<detail::has_no_value, A...>();
}
template <class... A>
constexpr auto unlike_arrays::data(A const&...) const {
  return detail::refused<detail::has_no_value, A...>();
}
template <class... A>
constexpr auto unlike_arrays::tolist(A const&...) const {
  return detail::refused<detail::has_no_value, A...>();
}
template <class... A>
constexpr auto unlike_arrays::cpu(A const&...) const {
  return detail::refused<detail::has_no_value, A...>();
}
template <class... A>
constexpr auto unlike_arrays::backward(A const&...) const {
  return detail::refused<detail::has_no_tape, A...>();
}
template <class... A>
constexpr auto unlike_arrays::grad(A const&...) const {
  return detail::refused<detail::has_no_tape, A...>();
}
template <class... A>
constexpr auto unlike_arrays::requires_grad_(A const&...) const {
  return detail::refused<detail::has_no_tape, A...>();
}
template <class... A>
constexpr auto unlike_arrays::detach(A const&...) const {
  return detail::refused<detail::has_no_tape, A...>();
}
template <class A>
constexpr no_iterator unlike_arrays::begin() const {
  detail::refused<detail::has_no_rows, A>();
  return {};
}
template <class A>
constexpr no_iterator unlike_arrays::end() const {
  detail::refused<detail::has_no_rows, A>();
  return {};
}
template <class A>
constexpr auto unlike_arrays::operator[](A const&) const {
  return detail::refused<detail::is_not_indexed, A>();
}
template <class B>
constexpr bool number::operator==(B const&) const {
  return detail::refused<detail::no_number_is_known, number, B>() != 0;
}
template <class B>
constexpr bool number::operator<(B const&) const {
  return detail::refused<detail::no_number_is_known, number, B>() != 0;
}
template <class B>
constexpr bool number::operator>(B const&) const {
  return detail::refused<detail::no_number_is_known, number, B>() != 0;
}
template <class B>
constexpr bool number::operator<=(B const&) const {
  return detail::refused<detail::no_number_is_known, number, B>() != 0;
}
template <class B>
constexpr bool number::operator>=(B const&) const {
  return detail::refused<detail::no_number_is_known, number, B>() != 0;
}
template <class A>
constexpr auto unlike_arrays::operator+=(A const&) const {
  return detail::refused<
      "T10 a tensor is not changed in place: x = x + y makes another one, s.update(w, next) replaces a "
      "parameter or state",
      A>();
}
template <class A>
constexpr auto unlike_arrays::operator-=(A const&) const {
  return detail::refused<
      "T10 a tensor is not changed in place: x = x - y makes another one, s.update(w, next) replaces a "
      "parameter or state",
      A>();
}
template <class A>
constexpr auto unlike_arrays::operator*=(A const&) const {
  return detail::refused<
      "T10 a tensor is not changed in place: x = x * y makes another one, s.update(w, next) replaces a "
      "parameter or state",
      A>();
}
template <class A>
constexpr auto unlike_arrays::operator/=(A const&) const {
  return detail::refused<
      "T10 a tensor is not changed in place: x = x / y makes another one, s.update(w, next) replaces a "
      "parameter or state",
      A>();
}

}  // namespace meshtensor
