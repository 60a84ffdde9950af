// SPDX-License-Identifier: Apache-2.0
// A mean over replicas whose messages are compressed twice: each replica owns a part of the elements, gets that part of
// all others, and sends the mean of the part to all.
#pragma once

#include <tuple>

#include "meshtensor/op/detail/arithmetic.hpp"
#include "meshtensor/op/gather.hpp"
#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/scatter_add.hpp"
#include "meshtensor/regime/compressor.hpp"
#include "meshtensor/regime/wrapped_replica.hpp"

namespace meshtensor::detail {

/// The dim along which a parameter is cut among replicas. It is the shortest dim that gives each part 64 indices or
/// more, because a model axis rather shards a longer one. Otherwise it is the dim that needs the least padding. A
/// number of replicas that is given at start-up counts as 64.
constexpr dim_id dim_to_cut(builder const& b, shape const& dims, dim_id replicas) {
  dim_row const& parts = b.m.dims[replicas];
  double const count = parts.kind == dim_row::fixed ? static_cast<double>(parts.value) : 64;
  double least = 0;
  dim_id best = no_id;
  for (int i = 0; i < dims.count; ++i) {
    auto const d = static_cast<dim_id>(dims.at[i]);
    dim_row const& row = b.m.dims[d];
    double const extent = row.kind == dim_row::fixed ? static_cast<double>(row.value) : 1e12;
    double const part = static_cast<double>(static_cast<std::int64_t>((extent + count - 1) / count));
    double const cost = extent >= 64 * count ? 1 - 1 / extent : part * count / extent;
    if (best != no_id && cost >= least) continue;
    least = cost, best = d;
  }
  return best;
}

/// A parameter that is cut into as many parts as there are replicas. The last parts are padded with zeros. If the
/// compressor keeps the layout, the parameter is cut along one dim. Otherwise it is one list of elements.
template <class C>
class replica_parts {
 public:
  dim_id const owner;  // counts the parts
  shape part{};        // the dims of a part

  constexpr replica_parts(builder& b, shape const& dims, dim_id replicas) : owner(b.dim_like(replicas)), dims_(dims) {
    cut_ = keeps_layout<C> ? dim_to_cut(b, dims, replicas) : flat_dim(b, dims);
    whole_ = keeps_layout<C> ? b.dim_like(cut_) : cut_;
    index_ = own_dim(b, {dim_row::quotient, no_id, cut_, replicas, 0}, "owned");
    if constexpr (!keeps_layout<C>) part.add(index_), joined_.add(whole_);
    else
      for (int i = 0; i < dims.count; ++i) {
        bool const is_cut = dims.at[i] == cut_;
        part.add(is_cut ? index_ : static_cast<dim_id>(dims.at[i]));
        joined_.add(is_cut ? whole_ : static_cast<dim_id>(dims.at[i]));
      }
  }
  template <handle X>
  constexpr X cut(builder& b, X const& x) const {
    value_id const all = keeps_layout<C> ? rename(b, x.id, cut_, whole_) : flattened(b, x.id, dims_);
    return {&b, gather(b, all, position(b), whole_)};
  }
  template <handle X>
  constexpr X joined(builder& b, X const& parts) const {
    value_id const all = scatter_add(b, parts.id, position(b), whole_, joined_);
    return {&b, keeps_layout<C> ? rename(b, all, whole_, cut_) : unflattened(b, all, dims_)};
  }

 private:
  constexpr value_id position(builder& b) const {
    value_id const first = multiply(b, iota(b, owner, dtype::i64), extent_of(b, index_, dtype::i64));
    return add(b, first, iota(b, index_, dtype::i64));
  }

  shape dims_, joined_{};             // of the parameter, and of its joined parts
  dim_id cut_{}, whole_{}, index_{};  // the dim that is cut, the same without a layout, and the indices of a part
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

/// A mean of changes of a parameter, for a compressor that is not linear. `residual` is the name of the state.
///
/// The residual of a replica has the elements that its messages have left out, and is added to its next change. In the
/// parts of other owners, these are elements that its first message has left out. In its own part, they are elements
/// that its second message has left out of the mean, times the number of replicas. Nothing is left out of the first
/// message to itself. The mean of all residuals is the part that the mean lacks. Therefore a resume with another number
/// of replicas may give each of them this mean.
template <class C, class Replica, handle X>
constexpr X compressed_mean(Replica const& r, name const& residual_name, X const& x, X const& parameter) {
  constexpr dtype T = X::type;
  builder& b = r.scope.graph_builder();
  replica_parts<C> const parts(b, b.m.values[x.id].dims, r.replica_dim());
  shape const by_owner = shape{}.add(parts.owner);
  dim_id const sender = b.dim_like(parts.owner);
  path_id const path = r.scope.path_for(parameter);
  auto const count = cast<T>(full(r.scope, r.count(), f64));

  X const residual = r.scope.state_like(residual_name, parameter);
  X const whole = parts.cut(b, X(x + residual));
  auto message = C::encode(r.scope, whole, path, parts.part);
  X const left_out = whole - C::template decode<T>(b, message, parts.part, by_owner);
  X const own_left_out(&b, gather(b, left_out.id, r.index().id, parts.owner, {}, looks_into::whole_table));
  std::apply([&](auto&... one) { ((one = r.sent_to_owners(one, parts.owner, sender)), ...); }, message.sent);
  shape const by_sender = shape{}.add(sender);
  X const arrived(&b, meshtensor::mean(b, C::template decode<T>(b, message, parts.part, by_sender).id, by_sender));
  X const mean = arrived + own_left_out / count;

  using second = typename compressor_of_means<C>::type;
  auto of_mean = second::encode(r.scope, mean, path, parts.part);
  X const left_out_of_mean = (mean - second::template decode<T>(b, of_mean, parts.part, {})) * count;
  value_id const is_own = elementwise(b, function::equal, iota(b, parts.owner, dtype::i64), r.index().id);
  r.scope.update(residual, parts.joined(b, X(&b, select(b, is_own, left_out_of_mean.id, left_out.id))));
  std::apply([&](auto&... one) { ((one = r.gathered(one, parts.owner)), ...); }, of_mean.sent);
  return parts.joined(b, second::template decode<T>(b, of_mean, parts.part, by_owner));
}

}  // namespace meshtensor::detail
