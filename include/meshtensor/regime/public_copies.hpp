// SPDX-License-Identifier: Apache-2.0
// The public copies of a replica: what its neighbours know of its parameters from all messages so far.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "meshtensor/op/call.hpp"
#include "meshtensor/op/detail/arithmetic.hpp"
#include "meshtensor/op/gather.hpp"
#include "meshtensor/op/scatter_add.hpp"
#include "meshtensor/regime/hop.hpp"

namespace meshtensor::detail {

/// Whether a topology has one public copy for any number of workers, because its rounds are all alike. It looks at a
/// few numbers, so `one_copy` says to the first step that others must have one copy too.
template <topology T>
inline constexpr bool has_one_copy = [] {
  bool all = true;
  for (int n = 1; n <= most_checked_workers; ++n) all = all && copies_of<T>(n) == 1;
  return all;
}();
/// Whether a topology says how many public copies there are, for some number of workers from 3 on.
template <topology T>
inline constexpr bool ever_says_copies = [] {
  bool any = false;
  for (int n = 3; n <= most_checked_workers; ++n) any = any || copies_of<T>(n) > 0;
  return any;
}();
/// The number of public copies for a dim of workers, or 0 if the topology or the dim does not say it.
template <topology T, dim_type D>
constexpr int copies_along() {
  if constexpr (D::dim_rule.kind == extent_rule::fixed) return copies_of<T>(static_cast<int>(D::dim_rule.value));
  else return has_one_copy<T> ? 1 : 0;
}

/// The public copy that a worker changes in a round. The operands are the worker, the round and the number of workers.
template <topology T, int Workers>
struct copy_in_round {
  static constexpr name label = label_of<T, Workers>();
  static constexpr dtype type = dtype::i64;
  static void run(std::span<std::int64_t const> worker, std::span<std::int64_t const> round,
                  std::span<std::int64_t const> workers, std::span<std::int64_t> copy) {
    for (std::size_t i = 0; i < copy.size(); ++i)
      copy[i] = copy_in<T>(static_cast<int>(workers[i]), round[i], static_cast<int>(worker[i]));
  }
};

/// The public copies of a replica. If there are several, they have a dim of their own, and a round changes one of them.
template <topology T, dim_type D>
struct public_copies {
  static constexpr int count = copies_along<T, D>() == 0 ? 1 : copies_along<T, D>();
  static constexpr bool has_dim = !has_one_copy<T> || count != 1;
  static constexpr name of_topology = label_of<T>(true);
  dim_id along{};
  value_id which{};

  template <class Replica>
  constexpr public_copies(Replica const& r, number const& round) {
    if constexpr (has_dim) {
      builder& b = r.scope.graph_builder();
      along = b.dim(dim_name(), extent_rule(count));
      which = record_call<copy_in_round<T, declared_workers<D>>>(any_tensor<dtype::i64>(r.index()),
                                                                 any_tensor<dtype::i64>(full(r.scope, round, i64)),
                                                                 any_tensor<dtype::i64>(full(r.scope, r.count(), i64)))
                  .id;
    }
  }
  /// The name of their dim, of which each topology has its own.
  static constexpr name dim_name() {
    letters const label(of_topology);
    diagnostic d{};
    std::string_view const all = label;
    d << "copies_" << all.substr(0, std::min<std::size_t>(all.rfind('_'), 14)) << all.substr(all.rfind('_'));
    return name::of(d.view());
  }
  /// The dims of all copies of a parameter with these dims.
  constexpr shape dims_of(shape const& one) const {
    shape all{};
    if (has_dim) all.add(along);
    for (int i = 0; i < one.count; ++i) all.add(one.at[i]);
    return all;
  }
  /// The copy of the round.
  template <handle X>
  constexpr X chosen(builder& b, X const& all) const {
    if (!has_dim) return all;
    return {&b, gather(b, all.id, which, along, {}, looks_into::whole_table)};
  }
  /// All copies, of which that of the round has changed.
  template <handle X>
  constexpr X changed(builder& b, X const& all, X const& change) const {
    if (!has_dim) return all + change;
    return {&b, add(b, all.id, scatter_add(b, change.id, which, along, b.m.values[all.id].dims))};
  }
};

}  // namespace meshtensor::detail
