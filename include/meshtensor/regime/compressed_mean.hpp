// SPDX-License-Identifier: Apache-2.0
// A mean over replicas whose messages are compressed twice: each replica owns a part of the elements, gets that part of
// all others, and sends the mean of the part to all.
#pragma once

#include "meshtensor/op/detail/arithmetic.hpp"
#include "meshtensor/regime/compressor.hpp"
#include "meshtensor/regime/wrapped_replica.hpp"

namespace meshtensor::detail {

/// The elements of a parameter, cut into as many parts as there are replicas. The last parts may lack elements, in
/// whose place they have zeros.
class parts_of_owners {
 public:
  dim_id const owner;    // counts the parts
  dim_id const element;  // counts the elements of a part

  constexpr parts_of_owners(builder& b, shape const& dims, dim_id replicas)
      : owner(b.dim_like(replicas)),
        element(own_dim(b, {dim_row::quotient, no_id, flat_dim(b, dims), replicas, 0}, "owned")),
        dims_(dims) {}

  template <handle X>
  constexpr X cut(builder& b, X const& x) const {
    return {&b, gather(b, flattened(b, x.id, dims_), position(b), flat_dim(b, dims_))};
  }
  template <handle X>
  constexpr X joined(builder& b, X const& parts) const {
    dim_id const all = flat_dim(b, dims_);
    return {&b, unflattened(b, scatter_add(b, parts.id, position(b), all, shape{}.add(all)), dims_)};
  }

 private:
  constexpr value_id position(builder& b) const {
    value_id const first = multiply(b, iota(b, owner, dtype::i64), extent_of(b, element, dtype::i64));
    return add(b, first, iota(b, element, dtype::i64));
  }

  shape dims_;
};

/// The compressor for means of parts.
template <class C>
struct compressor_of_means {
  using type = C;
};
template <class C>
requires requires { typename C::of_means; }
struct compressor_of_means<C> {
  using type = typename C::of_means;
};

/// A mean of changes of a parameter, for a compressor that is not linear.
///
/// A replica owes the elements that its messages have left out, and adds them to its next change, so everything arrives
/// in the end. It owes elements of other owners' parts, which its first message has left out. It also owes elements of
/// its own part, which its second message has left out of the mean, times the number of replicas. Nothing is left out
/// of the first message to itself. The mean of all residuals is the part that the mean lacks. Therefore a resume with
/// another number of replicas may give each of them this mean.
template <class C, class Replica, handle X>
constexpr X compressed_mean(Replica const& r, X const& x, X const& parameter) {
  constexpr dtype T = X::type;
  builder& b = r.scope.graph_builder();
  shape const dims = b.m.values[x.id].dims;
  parts_of_owners const parts(b, dims, r.replica_dim());
  shape const part = shape{}.add(parts.element), by_owner = shape{}.add(parts.owner);
  dim_id const sender = b.dim_like(parts.owner);
  path_id const path = r.scope.path_for(parameter);
  auto const count = cast<T>(full(r.scope, r.count(), f64));

  X const residual = r.scope.state_like("residual", parameter);
  X const whole = parts.cut(b, X(x + residual));
  auto message = C::encode(r.scope, whole, path, part);
  X const left = whole - C::template decode<T>(b, message, part, by_owner);
  X const own_left(&b, gather(b, left.id, r.index().id, parts.owner, {}, looks_into::whole_table));
  std::apply([&](auto&... one) { ((one = r.sent_to_owners(one, parts.owner, sender)), ...); }, message.sent);
  shape const by_sender = shape{}.add(sender);
  X const arrived(&b, meshtensor::mean(b, C::template decode<T>(b, message, part, by_sender).id, by_sender));
  X const mean = arrived + own_left / count;

  using second = typename compressor_of_means<C>::type;
  auto of_mean = second::encode(r.scope, mean, path, part);
  X const owed = (mean - second::template decode<T>(b, of_mean, part, {})) * count;
  value_id const is_own = elementwise(b, function::equal, iota(b, parts.owner, dtype::i64), r.index().id);
  r.scope.update(residual, parts.joined(b, X(&b, select(b, is_own, owed.id, left.id))));
  std::apply([&](auto&... one) { ((one = r.gathered(one, parts.owner)), ...); }, of_mean.sent);
  return parts.joined(b, second::template decode<T>(b, of_mean, part, by_owner));
}

}  // namespace meshtensor::detail
