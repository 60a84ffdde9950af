// SPDX-License-Identifier: Apache-2.0
// Operations composed of others: all nodes that they trace carry the line that called them.
#pragma once

#include "meshtensor/op/elementwise.hpp"

namespace meshtensor::detail {

/// While it lives, every node carries the line `where`, or that of the layer around it. If the operation has a name,
/// reports call these nodes by it, or by that of the operation around it.
struct composed {
  builder& b;
  bool held;
  id called;
  constexpr composed(builder* owner, line const& where, name const& label = {})
      : b(*owner), held(b.site_is_held), called(b.called) {
    if (called == 0 && !label.empty()) b.called = static_cast<id>(b.intern(label) + 1);
    if (held) return;
    b.site = b.add_site(where.file, where.number);
    b.site_is_held = true;
  }
  constexpr ~composed() { b.site_is_held = held, b.called = called; }
  composed(composed const&) = delete;
};

/// A number as a tensor without dims, which is made once so that many operations can use it.
template <dtype T>
constexpr tensor<T> as_tensor(builder& b, number const& n) {
  return {&b, constant(b, n, T)};
}

/// `x` summed over the dims that `like` lacks, in the order of `like`: the gradient of an operand that was broadcast.
template <handle X, handle Like>
constexpr handle_t<X::type, typename Like::dim_list> summed_like(X const& x, Like const& like) {
  builder& b = *x.owner;
  return {&b, sum_to(b, x.id, b.m.values[like.id].dims)};
}

}  // namespace meshtensor::detail

namespace meshtensor {

/// `x` summed over the dims that `like` lacks, in the order of `like`: the cotangent of an operand that was broadcast.
///
/// dims    those of `like`. `x` must have them all
/// errors  T01 `x` lacks a dim of `like`
template <handle X, handle Like>
constexpr auto sum_like(X const& x, Like const& like, line const& where = {}) {
  detail::composed const here(detail::owner_of(x, like), where);
  return detail::summed_like(x, like);
}

}  // namespace meshtensor
