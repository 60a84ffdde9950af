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
    return x + cast<X::type>(step) * (send(x) - x);
  }
  template <handle X>
  constexpr X operator()(X const& x, X const& parameter) const {
    builder& b = one.scope.graph_builder();
    shape const dims = b.m.values[x.id].dims, of_all = copies.dims_of(dims);
    if (dims.count == 0) return (*this)(x);
    auto const& s = one.scope;
    // Copies that do not know each other would be wrong for ever, so all begin again with another number of replicas.
    // The sums of neighbours belong to one topology, so each has its own.
    named_here own_part("topology");
    own_part.label = Copies::of_topology;
    auto const own_states = s / own_part;
    X const own_copies = own_states.state_like("public_copy", parameter, of_all, merge_rule::restart);
    X const neighbours = own_states.state_like("neighbours", parameter, of_all, merge_rule::restart);
    X const copy = copies.chosen(b, own_copies);
    auto const message = C::encode(s, X(x - copy), s.path_for(parameter), dims);
    X const own_change = C::template decode<X::type>(b, message, dims, {});
    X all = own_change * weight<X::type>(b, -1);
    for (int slot = 0; slot < Hop::slots; ++slot) {
      auto arrived = message;
      std::apply([&](auto&... part) { ((part = arriving(part, slot)), ...); }, arrived.sent);
      all = all + C::template decode<X::type>(b, arrived, dims, {}) * weight<X::type>(b, slot);
    }
    s.update(own_copies, copies.changed(b, own_copies, own_change));
    s.update(neighbours, copies.changed(b, neighbours, all));
    X const of_neighbours = copies.chosen(b, neighbours);
    return x + cast<X::type>(step) * (X(of_neighbours + all) - X(copy + own_change));
  }

 private:
  template <handle X>
  constexpr X arriving(X const& x, int slot) const {
    return own(send.round.arriving(across(x, send.along), slot), send.along);
  }
  template <dtype T>
  constexpr any_tensor<T> weight(builder& b, int slot) const {
    return cast<T>(own(any_tensor<dtype::f64>(&b, send.round.weight(slot)), send.along));
  }
};

}  // namespace meshtensor::detail
