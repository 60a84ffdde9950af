// SPDX-License-Identifier: Apache-2.0
// A borrowed reference to a callable: functions that take one are compiled once for all callables.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

namespace meshtensor {

template <class Signature>
class function_ref;

/// Refers to a callable object. It must not outlive that object, so it is only for parameters.
template <class R, class... Args>
class function_ref<R(Args...)> {
 public:
  template <class F>
  requires(std::is_object_v<F> && !std::same_as<F, function_ref> && std::is_invocable_r_v<R, F const&, Args...>)
  function_ref(F const& f)  // NOLINT: a function is a reference to itself
      : f_(&f), call_([](void const* g, Args... args) -> R {
          return (*static_cast<F const*>(g))(std::forward<Args>(args)...);
        }) {}
  R operator()(Args... args) const { return call_(f_, std::forward<Args>(args)...); }

 private:
  void const* f_;
  R (*call_)(void const*, Args...);
};

}  // namespace meshtensor
