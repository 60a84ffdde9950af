// SPDX-License-Identifier: Apache-2.0
// A replica whose means and hops send compressed messages.
#pragma once

#include "meshtensor/regime/compressor.hpp"
#include "meshtensor/regime/wrapped_replica.hpp"

namespace meshtensor::detail {

/// Whether a topology has the same messages in each round.
template <topology T, dim_type D>
constexpr bool is_alike_in_each_round() {
  if constexpr (D::dim_rule.kind == extent_rule::fixed) return T::period(static_cast<int>(D::dim_rule.value)) == 1;
  bool all = true;
  for (int n = 1; n <= most_checked_workers; ++n) all = all && T::period(n) == 1;
  return all;
}

/// A round of a topology in which replicas send changes of their public copies.
template <class C, class Replica, class Hop>
struct compressing_hop {
  Replica const& one;
  Hop send;
  tensor<dtype::f64> step;

  /// A value that is sent whole, such as the weight of push-sum. It takes the same step as parameters do.
  template <handle X>
  constexpr X operator()(X const& x) const {
    return x + cast<X::type>(step) * (send(x) - x);
  }
  template <handle X>
  constexpr X operator()(X const& x, X const& parameter) const {
    builder& b = one.scope.graph_builder();
    shape const dims = b.m.values[x.id].dims;
    if (dims.count == 0) return (*this)(x);
    auto const& s = one.scope;
    // Copies that do not know each other would be wrong for ever, so all begin again with another number of replicas.
    auto const copy = s.state_like("public_copy", parameter, merge_rule::restart);
    auto const neighbours = s.state_like("neighbours", parameter, merge_rule::restart);
    auto const message = C::encode(s, X(x - copy), s.path_for(parameter));
    auto const own_change = C::template decode<X::type>(b, message, dims, {});
    X all = own_change * weight<X::type>(b, -1);
    for (int slot = 0; slot < Hop::slots; ++slot) {
      auto arrived = message;
      std::apply([&](auto&... part) { ((part = arriving(part, slot)), ...); }, arrived.sent);
      all = all + C::template decode<X::type>(b, arrived, dims, {}) * weight<X::type>(b, slot);
    }
    X const next_copy = copy + own_change, next_neighbours = neighbours + all;
    s.update(copy, next_copy), s.update(neighbours, next_neighbours);
    return x + cast<X::type>(step) * (next_neighbours - next_copy);
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

template <class C, class Replica>
class compressing_replica;
template <class C>
struct compressing_replicas {
  template <class Replica>
  static constexpr auto of(Replica const& r) {
    return compressing_replica<C, Replica>(r);
  }
};

/// A replica as a policy inside of `compressed` sees it.
template <class C, class Replica>
class compressing_replica : public wrapped_replica<Replica, compressing_replicas<C>> {
 public:
  static constexpr bool compresses = true;
  using wrapped_replica<Replica, compressing_replicas<C>>::wrapped_replica;
  using Replica::mean;

  template <handle X>
  constexpr X mean(X const& x, X const& parameter) const {
    builder& b = this->scope.graph_builder();
    shape const dims = b.m.values[x.id].dims;
    if (dims.count == 0) return mean(x);
    auto const residual = this->scope.state_like("residual", parameter);
    X const whole = x + residual;
    auto message = C::encode(this->scope, whole, this->scope.path_for(parameter));
    this->scope.update(residual, whole - C::template decode<X::type>(b, message, dims, {}));
    if constexpr (C::is_linear) {
      std::apply([&](auto&... part) { ((part = mean(part)), ...); }, message.sent);
      return C::template decode<X::type>(b, message, dims, {});
    } else {
      dim_id const all = b.dim_like(dim_of(b, this->along_));
      std::apply([&](auto&... part) { ((part = this->gathered(part, all)), ...); }, message.sent);
      shape const outer = shape{}.add(all);
      return {&b, meshtensor::mean(b, C::template decode<X::type>(b, message, dims, outer).id, outer)};
    }
  }
  template <handle Start>
  constexpr Start mean_from(Start const& start, updated_parameter<Replica::type> const& p) const {
    return start + mean(Start(p.after - start), p.before);
  }
  template <topology T>
  constexpr auto hop() const {
    static_assert(
        is_alike_in_each_round<T, decltype(this->along_)>(),
        "meshtensor G49: compressed: replicas know the parameters of their neighbours from all messages so far, "
        "so the topology must have the same messages in each round, as mt::ring or mt::exponential has");
    auto const send = Replica::template hop<T>();
    using hop_type = std::remove_const_t<decltype(send)>;
    auto const step = full(this->scope, this->scope.number("consensus_step", C::consensus_step), f64);
    return compressing_hop<C, Replica, hop_type>{*this, send, step};
  }
};

}  // namespace meshtensor::detail
