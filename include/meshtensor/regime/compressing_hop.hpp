// SPDX-License-Identifier: Apache-2.0
// A round of a topology in which replicas send compressed changes of public copies.
#pragma once

#include "meshtensor/regime/compressor.hpp"
#include "meshtensor/regime/wrapped_replica.hpp"

namespace meshtensor::detail {

/// Whether a topology has one public copy for any number of workers, because its rounds are all alike.
template <topology T>
inline constexpr bool has_one_copy = [] {
  bool all = true;
  for (int n = 1; n <= most_checked_workers; ++n) all = all && copies_of<T>(n) == 1;
  return all;
}();
/// The number of public copies for a dim of workers, or 0 if the topology or the dim does not say it.
template <topology T, dim_type D>
constexpr int copies_along() {
  if constexpr (has_one_copy<T>) return 1;
  else if constexpr (D::dim_rule.kind != extent_rule::fixed) return 0;
  else return copies_of<T>(static_cast<int>(D::dim_rule.value));
}

/// The public copy that a worker changes in a round. The operands are the worker, the round and the number of workers.
template <topology T>
struct copy_in_round {
  static constexpr name label = label_of<T>();
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
  static constexpr bool has_dim = !has_one_copy<T>;
  dim_id along{};
  value_id which{};

  template <class Replica>
  constexpr explicit public_copies(Replica const& r) {
    if constexpr (has_dim) {
      builder& b = r.scope.graph_builder();
      along = b.dim(name("public_copies"), extent_rule(count));
      which = record_call<copy_in_round<T>>(any_tensor<dtype::i64>(r.index()),
                                            any_tensor<dtype::i64>(full(r.scope, r.round(), i64)),
                                            any_tensor<dtype::i64>(full(r.scope, r.count(), i64)))
                  .id;
    }
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
    X const own_copies = s.state_like("public_copy", parameter, of_all, merge_rule::restart);
    X const neighbours = s.state_like("neighbours", parameter, of_all, merge_rule::restart);
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
