// SPDX-License-Identifier: Apache-2.0
// Error sentences for operands that an operation does not accept, with their types. The compiler names the line.
#pragma once

#include <iosfwd>
#include <string_view>
#include <tuple>

#include "meshtensor/tensor/tensor.hpp"

namespace meshtensor {

template <class S>
concept scope = requires { typename S::is_scope; };

namespace detail {

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

/// The first tensor among the arguments of a rejected call. It serves as the result, so that compilation goes on.
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

/// The error sentence of an operation whose constraint failed, with the types of its operands. An example is
/// `if constexpr (!has_dim<H, D>) static_assert(is_valid<wrong<"T01 softmax: the operand lacks the dim", H, D>>);`
template <literal Words, class... Facts>
inline constexpr type_finding wrong = [] {
  diagnostic d{};
  d << std::string_view(Words.at);
  int count = 0;
  [[maybe_unused]] auto const add = [&]<class Fact>(Fact*) {
    if constexpr (!std::is_same_v<Fact, none_given>) d << (count++ == 0 ? " (" : ", "), add_fact<Fact>(d);
  };
  (add(static_cast<Facts*>(nullptr)), ...);
  if (count != 0) d << ")";
  return type_finding{d};
}();

/// The error sentence of a fault that an operation's `infer` has found in types. `F` says which operands and which dims
/// among the attributes are facts of the sentence.
template <auto const& F, class AttributeDims, class... H>
constexpr type_finding fault_of_types() {
  diagnostic d{};
  if constexpr (F.fault != nullptr) d << std::string_view(F.fault);
  else return {d};
  int count = 0, k = 0;
  ((void)((F.operands_at_fault >> k++ & 1u) != 0 ? add_fact<H>(d << (count++ == 0 ? " (" : ", ")) : d), ...);
  [&]<class... D>(dims<D...>*) {
    int a = 0;
    ((void)((F.attributes_at_fault >> a++ & 1u) != 0 ? add_fact<D>(d << (count++ == 0 ? " (" : ", ")) : d), ...);
  }(static_cast<AttributeDims*>(nullptr));
  if (count != 0) d << ")";
  return {d};
}

/// An argument of a refused call. The line of a call is not such an argument, because operations of the library pass
/// their own line on.
template <class A>
concept argument = !std::is_base_of_v<line, A>;
/// Whether an argument that may be missing is one that a parameter of type `T` takes.
template <class A, class T>
inline constexpr bool is_given_as = std::is_same_v<A, none_given> || std::is_convertible_v<A, T>;

/// The same error as the type of the reason for which a call is refused (tensor/call.hpp).
template <literal Words, class... Facts>
using refusal = decltype(error_of<wrong<Words, Facts...>>());
template <literal Words, class... Facts>
struct refusal_of {
  using type = refusal<Words, Facts...>;
};

/// The last parameter of an overload that takes arguments that no other overload takes, so that every call of it is
/// refused. The sentence is made only for a call, because clang looks at the types of parameters before it looks at
/// constraints.
template <literal Words, class... Facts>
struct refused_call {
  template <class Reason = refusal<Words, Facts...>>
  MESHTENSOR_REFUSES constexpr refused_call(std::source_location const& = std::source_location::current()) {
    static_assert(is_said<Reason>, "meshtensor refuses this call");
  }
};

/// Like `refused_call`, for an overload that rejects several mistakes. `Code::value` is the code of the mistake. `Code`
/// is a type, so that the sentence is made only for a call here, too.
template <class Code, literal Words, class... Facts>
struct refused_call_with {
  template <class Reason = refusal<with_code<Code, Words>, Facts...>>
  MESHTENSOR_REFUSES constexpr refused_call_with(std::source_location const& = std::source_location::current()) {
    static_assert(is_said<Reason>, "meshtensor refuses this call");
  }
};

}  // namespace detail

/// Rejects printing a tensor.
template <class C, class Traits, handle H>
constexpr std::basic_ostream<C, Traits>& operator<<(std::basic_ostream<C, Traits>& out, H const&) {
  static_assert(
      is_valid<detail::wrong<"T27 a tensor has no value while the program is traced: s.watch(\"y\", y) lets one look "
                             "at it in each step, mt::eager computes at once",
                             H>>);
  return out;
}

}  // namespace meshtensor
