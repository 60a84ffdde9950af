// SPDX-License-Identifier: Apache-2.0
// A round of a topology in which replicas send compressed changes of public copies.
#pragma once

#include <tuple>

#include "meshtensor/op/detail/arithmetic.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/elementwise/cast.hpp"
#include "meshtensor/regime/compressor.hpp"
#include "meshtensor/regime/public_copies.hpp"

namespace meshtensor::detail {

/// A round of a topology in which replicas send changes of their public copies.
template <class C, class Replica, class Hop, class Copies>
struct compressing_hop {
  Replica const& one;
  Hop send;
  Copies copies;
  tensor<dtype::f64> step;

  /// A value that is sent whole, such as the weight of push-sum. It takes the same step as parameters do.
  template <handle X>
  constexpr X operator()(X const& x) const {
    auto const before = in_f64(x);
    return X(x.owner, cast<X::type>(before + step * (in_f64(send(x)) - before)).id);
  }
  template <handle X>
  constexpr X operator()(X const& x, X const& parameter) const {
    builder& b = one.scope.graph_builder();
    shape const dims = b.m.values[x.id].dims, of_all = copies.dims_of(dims);
    if (dims.count == 0) return (*this)(x);
    auto const& s = one.scope;
    // Copies that do not know each other would be wrong for ever, so all begin again with another number of replicas.
    // The weights of neighbours belong to one topology, so each has its own.
    named_here own_part("topology");
    own_part.label = Copies::of_topology;
    auto const own_states = s / own_part;
    // Both are sums over all rounds. An error of a difference moves the sum of parameters in every later round, so it
    // has twice the bits of a parameter.
    constexpr dtype of_copies = accumulator_of(X::type), of_differences = of_copies == X::type ? dtype::f64 : of_copies;
    auto const own_copies =
        own_states.state_like("public_copy", any_tensor<of_copies>(&b, parameter.id), of_all, merge_rule::restart);
    auto const differences =
        own_states.state_like("difference", any_tensor<of_differences>(&b, parameter.id), of_all, merge_rule::restart);
    auto const copy = copies.chosen(b, own_copies);
    X const left = X(&b, cast<X::type>(in_f64(x) - in_f64(copy)).id);
    auto const message = C::encode(s, left, s.path_for(parameter), dims);
    X const own_change = C::template decode<X::type>(b, message, dims, {});
    any_tensor<dtype::f64> all = in_f64(own_change) * (weight(b, -1) - 1);
    for (int slot = 0; slot < Hop::slots; ++slot) {
      auto arrived = message;
      std::apply([&](auto&... part) { ((part = arriving(part, slot)), ...); }, arrived.sent);
      all = all + in_f64(C::template decode<X::type>(b, arrived, dims, {})) * weight(b, slot);
    }
    s.update(own_copies, copies.changed(b, own_copies, rounded<of_copies>(own_change)));
    auto const change = rounded<of_differences>(all);
    s.update(differences, copies.changed(b, differences, change));
    auto const way = in_f64(copies.chosen(b, differences)) + in_f64(change);
    return X(&b, cast<X::type>(in_f64(x) + step * way).id);
  }

 private:
  template <handle X>
  constexpr X arriving(X const& x, int slot) const {
    return own(send.round.arriving(across(x, send.along), slot), send.along);
  }
  constexpr any_tensor<dtype::f64> weight(builder& b, int slot) const {
    return own(any_tensor<dtype::f64>(&b, send.round.weight(slot)), send.along);
  }
  template <dtype T, handle X>
  static constexpr any_tensor<T> rounded(X const& x) {
    return {x.owner, cast(*x.owner, x.id, T)};
  }
};

}  // namespace meshtensor::detail
