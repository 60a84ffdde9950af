// SPDX-License-Identifier: Apache-2.0
// Refuses members that tensors of other libraries have, each with a sentence that names the replacement.
#pragma once

#include <cstddef>
#include <type_traits>

#include "meshtensor/base/config.hpp"
#include "meshtensor/tensor/call.hpp"
#include "meshtensor/tensor/literal.hpp"

namespace meshtensor {

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
  template <class A = detail::none_given, class Reason = typename detail::refusal_of<detail::has_no_rows, A>::type>
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

}  // namespace meshtensor
