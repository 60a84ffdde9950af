// SPDX-License-Identifier: Apache-2.0
// A replica whose means and hops send compressed messages.
#pragma once

#include <tuple>
#include <type_traits>

#include "meshtensor/op/full.hpp"
#include "meshtensor/regime/compressed_mean.hpp"
#include "meshtensor/regime/compressing_hop.hpp"
#include "meshtensor/regime/wrapped_replica.hpp"

namespace meshtensor::detail {

/// The kind of changes of which a policy takes means. Both kinds may occur in one step, so each has its own residual.
enum class compressed_change { gradient, parameter };

template <class C, compressed_change Of, class Replica>
class compressing_replica;
template <class C, compressed_change Of>
struct compressing_replicas {
  template <class Replica>
  static constexpr auto of(Replica const& r) {
    return compressing_replica<C, Of, Replica>(r);
  }
};

/// A replica as a policy inside of `compressed` sees it.
template <class C, compressed_change Of, class Replica>
class compressing_replica : public wrapped_replica<Replica, compressing_replicas<C, Of>> {
 public:
  static constexpr bool compresses = true;
  using wrapped_replica<Replica, compressing_replicas<C, Of>>::wrapped_replica;
  using Replica::mean;

  template <handle X>
  constexpr X mean(X const& x, X const& parameter) const {
    builder& b = this->scope.graph_builder();
    shape const dims = b.m.values[x.id].dims;
    if (dims.count == 0) return mean(x);
    name const label = Of == compressed_change::gradient ? name("residual") : name("residual_of_change");
    if constexpr (C::is_linear) {
      auto const residual = this->scope.state_like(label, parameter);
      X const whole = x + residual;
      auto message = C::encode(this->scope, whole, this->scope.path_for(parameter), dims);
      this->scope.update(residual, whole - C::template decode<X::type>(b, message, dims, {}));
      std::apply([&](auto&... part) { ((part = mean(part)), ...); }, message.sent);
      return C::template decode<X::type>(b, message, dims, {});
    } else {
      return compressed_mean<C>(static_cast<Replica const&>(*this), label, x, parameter);
    }
  }
  template <handle Start>
  constexpr Start mean_from(Start const& start, updated_parameter<Replica::type> const& p) const {
    require_common_start<Replica>();
    return start + mean(Start(p.after - start), p.before);
  }
  template <topology T>
  constexpr auto hop() const {
    return hop<T>(this->round());
  }
  template <topology T>
  constexpr auto hop(number const& round) const {
    using dim = std::remove_const_t<decltype(this->along_)>;
    constexpr bool has_extent = dim::dim_rule.kind == extent_rule::fixed;
    constexpr bool says_copies = has_extent ? copies_along<T, dim>() > 0 : ever_says_copies<T>;
    static_assert(!says_copies || has_extent || has_one_copy<T>,
                  "meshtensor G49: compressed: the number of public copies of a replica depends on the number of "
                  "replicas, because the rounds of the topology differ: declare the dim of the replicas with its "
                  "extent");
    static_assert(says_copies,
                  "meshtensor G49: compressed: replicas know the parameters of their neighbours from all messages so "
                  "far, so the topology must have a period, as mt::one_peer_exponential has, or name its public "
                  "copies by copies(n) and copy(n, round, worker), as mt::random_matching does");
    auto const send = Replica::template hop<std::conditional_t<has_extent, T, one_copy<T>>>(round);
    using hop_type = std::remove_const_t<decltype(send)>;
    using copies_type = public_copies<T, dim>;
    auto const step = full(this->scope, this->scope.number("consensus_step", C::consensus_step), f64);
    return compressing_hop<C, Replica, hop_type, copies_type>{*this, send, copies_type(*this, round), step};
  }
};

}  // namespace meshtensor::detail
