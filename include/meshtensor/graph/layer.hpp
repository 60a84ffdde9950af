// SPDX-License-Identifier: Apache-2.0
// Layers: parts of a model as objects, whose nodes belong to the scope with which they are called.
#pragma once

#include <tuple>
#include <utility>

#include "meshtensor/base/config.hpp"
#include "meshtensor/tensor/wrong.hpp"

namespace meshtensor {

namespace detail {
/// The fault in the arguments of a layer, or no_error. The layer's function may check their types itself in
/// `finding<Args…>()`. If it has a `static constexpr literal usage`, this is the sentence for all other wrong
/// arguments.
template <class F, class... Args>
requires(!scope<typename nth<0, Args..., F>::type>)
consteval auto layer_finding() {
  return refusal<"T17 a layer is called with a scope first: part(s / \"name\", x)", Args...>{};
}
template <class F, scope S, class... Args>
consteval auto layer_finding() {
  constexpr bool finds = [] {
    if constexpr (requires { F::template finding<Args...>(); })
      return !nothing_found<decltype(F::template finding<Args...>())>;
    else return false;
  }();
  if constexpr (finds) return F::template finding<Args...>();
  else if constexpr (takes<F, S, Args...>) return no_error{};
  else if constexpr (requires { F::usage; }) return refusal<F::usage, Args...>{};
  else return refusal<"T18 a layer is called with other arguments than its function takes, a scope and", Args...>{};
}
/// The result of a call that was refused: the first tensor among its arguments.
template <class... Args>
constexpr auto given_up_layer(Args const&...) {
  return no_result{};
}
template <class First, class... More>
constexpr auto given_up_layer(First const& first, More const&... more) {
  if constexpr (scope<First>) first.graph_builder().give_up();
  if constexpr (handle<First>) return first.owner->give_up(), first;
  else return given_up_layer(more...);
}
/// The same result, but a tuple if the layer has several results.
template <class F, class... Args>
constexpr auto given_up_results(Args const&... args) {
  auto const one = given_up_layer(args...);
  if constexpr (requires { F::result_count; })
    return []<std::size_t... I>(auto const& same, std::index_sequence<I...>) {
      return std::tuple{(static_cast<void>(I), same)...};
    }(one, std::make_index_sequence<F::result_count>{});
  else return one;
}

/// The call of a layer. If `IsOfLibrary`, its nodes report the line of the scope with which it was called.
template <class F, bool IsOfLibrary>
struct callable_layer {
  F body;
  template <class... Args>
  requires nothing_found<decltype(layer_finding<F, Args...>())>
  constexpr auto operator()(Args const&... args) const {
    return called(args...);
  }
  /// Rejects wrong arguments.
  template <class... Args, class Reason = decltype(layer_finding<F, Args...>())>
  requires(!nothing_found<Reason>)
  MESHTENSOR_REFUSES constexpr auto operator()(Args const&... args) const {
    static_assert(is_said<Reason>, "meshtensor refuses this call");
    return given_up_results<F>(args...);
  }

 private:
  template <scope S, class... Args>
  constexpr auto called(S const& s, Args const&... args) const {
    auto const here = s.enter(IsOfLibrary);
    return body(s, args...);
  }
};

}  // namespace detail

/// A part of a model as an object, for example `inline constexpr mt::layer attention = [](mt::scope auto s, auto x)
/// {…};`. It is called with a scope of its own: `attention(s / "attention", x)`. The nodes that it traces belong to
/// that scope, for layouts and for errors.
template <class F>
struct layer : detail::callable_layer<F, false> {
  constexpr layer(F f) : detail::callable_layer<F, false>{f} {}  // NOLINT: a function is a layer
};

/// A layer of the library. Its nodes report the line of the scope with which it was called.
template <class F>
struct library_layer : detail::callable_layer<F, true> {
  constexpr library_layer(F f) : detail::callable_layer<F, true>{f} {}  // NOLINT: a function is a layer
};

}  // namespace meshtensor
