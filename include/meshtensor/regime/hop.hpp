// SPDX-License-Identifier: Apache-2.0
// One round of a topology inside a program: each worker keeps a share of its value and gets shares of others'.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <span>

#include "meshtensor/op/call.hpp"
#include "meshtensor/op/full.hpp"
#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/permute.hpp"
#include "meshtensor/regime/in_f64.hpp"
#include "meshtensor/regime/topology_label.hpp"
#include "meshtensor/regime/usable_topology.hpp"

namespace meshtensor {
namespace detail {

/// Throws the error of a topology for n workers. It looks once for each n, because the cost grows with n. `Workers` is
/// the number that the dim declares, or 0.
/// errors G49
template <topology T, int Workers>
void require_topology(std::int64_t n) {
  static std::atomic<std::int64_t> checked{0};
  if (checked.load(std::memory_order_relaxed) == n) return;
  if constexpr (Workers == 0) {
    int const slots = T::slots(static_cast<int>(n));
    diagnostic d{};
    if (slots != slots_of_any<T>)
      raise(d << "G49 the topology " << topology_name<T>() << " of " << n << " replicas: slots(" << n << ") is "
              << slots << ", but of fewer replicas "
              << slots_of_any<T> << ": declare the dim of the replicas with its extent");
  }
  raise(check_topology<T>(static_cast<int>(n)));
  checked.store(n, std::memory_order_relaxed);
}

/// The worker whose message comes in a slot, or -1. The operands are workers, the round, the number of workers and the
/// slot.
template <topology T, int Workers>
struct source_in_slot {
  static constexpr name label = label_of<T, Workers>();
  static constexpr dtype type = dtype::i32;
  static void run(std::span<std::int64_t const> worker, std::span<std::int64_t const> round,
                  std::span<std::int64_t const> workers, std::span<std::int64_t const> slot,
                  std::span<std::int32_t> source) {
    for (std::size_t i = 0; i < source.size(); ++i) {
      require_topology<T, Workers>(workers[i]);
      int const n = static_cast<int>(workers[i]), own = static_cast<int>(worker[i]);
      source[i] = T::incoming(n, round[i], own, static_cast<int>(slot[i])).source;
    }
  }
};
/// The weight of the message in a slot or, if the slot is -1, of the worker's own value.
template <topology T, int Workers>
struct weight_in_slot {
  static constexpr name label = label_of<T, Workers>();
  static constexpr dtype type = dtype::f64;
  static void run(std::span<std::int64_t const> worker, std::span<std::int64_t const> round,
                  std::span<std::int64_t const> workers, std::span<std::int64_t const> slot, std::span<double> weight) {
    for (std::size_t i = 0; i < weight.size(); ++i) {
      require_topology<T, Workers>(workers[i]);
      int const n = static_cast<int>(workers[i]), own = static_cast<int>(worker[i]), at = static_cast<int>(slot[i]);
      weight[i] = at < 0 ? T::kept(n, round[i], own) : T::incoming(n, round[i], own, at).weight;
    }
  }
};

/// The number of slots for a dim of workers, or -1 if it depends on their number, which the dim does not declare.
template <topology T, dim_type D>
constexpr int slots_along() {
  if constexpr (declared_workers<D> != 0) return T::slots(declared_workers<D>);
  else return slots_of_any<T>;
}
inline constexpr int most_checked_workers = 64;
template <topology T, dim_type D>
inline constexpr type_finding topology_finding = [] {
  diagnostic d{};
  if constexpr (declared_workers<D> != 0 && declared_workers<D> <= most_checked_workers)
    d = check_topology<T>(declared_workers<D>);
  else if constexpr (slots_along<T, D>() < 0)
    d << "G49 the topology " << topology_name<T>() << ": the number of messages in a round, slots(n), depends on the "
      << "number of replicas: declare the dim of the replicas with its extent";
  return type_finding{d};
}();
template <topology T, dim_type D>
using hop_finding = decltype(error_of<topology_finding<T, D>>());

}  // namespace detail

/// A round of a topology along a dim of workers: made once in a step, and used for any number of tensors.
template <topology T, dim_type D>
class topology_round {
 public:
  static constexpr int slots = std::max(0, detail::slots_along<T, D>());

  template <scope S>
  constexpr topology_round(S const& s, D along, number const& round)
      : along_(detail::dim_of(s.graph_builder(), along)) {
    using source_call = detail::source_in_slot<T, detail::declared_workers<D>>;
    using weight_call = detail::weight_in_slot<T, detail::declared_workers<D>>;
    builder& b = s.graph_builder();
    auto const now = full(s, round, i64), all = full(s, extent(along), i64);
    auto const worker = iota(s, along, i64);
    // Every rank has all sources, because no layout shards this dim.
    any_tensor<dtype::i64> const again{&b, meshtensor::iota(b, b.dim_like(along_), dtype::i64)};
    kept_ = detail::record_call<weight_call>(worker, now, all, full(s, -1, i64)).id;
    for (int k = 0; k < slots; ++k) {
      auto const at = static_cast<std::size_t>(k);
      auto const slot = full(s, k, i64);
      sources_[at] = detail::record_call<source_call>(again, now, all, slot).id;
      weights_[at] = detail::record_call<weight_call>(worker, now, all, slot).id;
    }
  }

  /// The value of each worker after the round: the sum of the share that it keeps and the shares that it receives.
  template <handle X>
  constexpr X operator()(X const& x, line const& where = {}) const {
    detail::recording r(x.owner, where);
    return rounded(x, sum(x));
  }
  /// The same in f64, before it is rounded to the dtype of the tensor.
  template <handle X>
  constexpr any_tensor<dtype::f64> sum(X const& x) const {
    builder& b = *x.owner;
    any_tensor<dtype::f64> const own = kept_share(x);
    return slots == 0 ? own : any_tensor<dtype::f64>(&b, add(b, own.id, received_shares(x).id));
  }
  /// The share of its value that each worker keeps.
  template <handle X>
  constexpr X kept(X const& x, line const& where = {}) const {
    detail::recording r(x.owner, where);
    return rounded(x, kept_share(x));
  }
  /// The sum of the shares that each worker receives.
  template <handle X>
  constexpr X received(X const& x, line const& where = {}) const {
    detail::recording r(x.owner, where);
    return rounded(x, received_shares(x));
  }
  /// A round in which values count by the weights of their workers, as in push-sum. Its sums are means of values, so
  /// equal values stay equal. `weights` are those of the workers after the round.
  struct of_means;
  template <handle W>
  constexpr of_means weighted(W const& w) const {
    builder& b = *w.owner;
    topology_round means = *this;
    value_id all = means.kept_ = share(b, w.id, kept_);
    for (int slot = 0; slot < slots; ++slot) {
      auto const at = static_cast<std::size_t>(slot);
      means.weights_[at] = share(b, permute(b, w.id, sources_[at], along_), weights_[at]);
      all = add(b, all, means.weights_[at]);
    }
    means.kept_ = divide(b, means.kept_, all);
    for (int slot = 0; slot < slots; ++slot) {
      auto const at = static_cast<std::size_t>(slot);
      means.weights_[at] = divide(b, means.weights_[at], all);
    }
    return {means, {&b, all}};
  }
  /// The value that comes to each worker in a slot, without its weight, or zeros if no message comes.
  template <handle X>
  constexpr X arriving(X const& x, int slot) const {
    builder& b = *x.owner;
    return detail::rewrapped(b, x, permute(b, x.id, sources_[static_cast<std::size_t>(slot)], along_));
  }
  /// The weight of what comes to each worker in a slot or, if the slot is -1, of what it keeps. It is an f64.
  constexpr value_id weight(int slot) const { return slot < 0 ? kept_ : weights_[static_cast<std::size_t>(slot)]; }

 private:
  static constexpr value_id share(builder& b, value_id x, value_id weight) {
    return multiply(b, cast(b, x, dtype::f64), weight);
  }
  template <handle X>
  static constexpr X rounded(X const& x, any_tensor<dtype::f64> const& computed) {
    return detail::rewrapped(*x.owner, x, detail::rounded_like(*x.owner, x.id, computed.id));
  }
  template <handle X>
  constexpr any_tensor<dtype::f64> kept_share(X const& x) const {
    static_assert(is_float(X::type), "meshtensor T04: hop: shares of values need a tensor of floats: cast it");
    static_assert(has_dim<X, D>, "meshtensor T01: hop: the tensor lacks the dim of the replicas");
    return {x.owner, share(*x.owner, x.id, kept_)};
  }
  template <handle X>
  constexpr any_tensor<dtype::f64> received_shares(X const& x) const {
    builder& b = *x.owner;
    if (slots == 0) return {&b, broadcast(b, constant(b, 0, dtype::f64), b.m.values[x.id].dims)};
    value_id all{};
    for (int slot = 0; slot < slots; ++slot) {
      auto const at = static_cast<std::size_t>(slot);
      value_id const one = share(b, permute(b, x.id, sources_[at], along_), weights_[at]);
      all = slot == 0 ? one : add(b, all, one);
    }
    return {&b, all};
  }

  dim_id along_;
  value_id kept_{};
  std::array<value_id, slots == 0 ? 1 : slots> sources_{}, weights_{};
};
template <topology T, dim_type D>
struct topology_round<T, D>::of_means {
  topology_round round;
  any_tensor<dtype::f64> weights;
};

/// One round of a topology among the workers that a dim counts. For example, half of each value goes to another worker,
/// another one in each step:
///
///     auto const send = mt::hop<mt::one_peer_exponential>(s, replica, s.step());
///     auto const mixed = send(x);    // send.kept(x) + send.received(x)
///
/// Shares are f64, and so are sums of them, which are rounded once. A message has the dtype of the tensor.
///
/// dims    those of the tensor, which has the dim of the workers
/// layout  if the dim is sharded, each rank sends one message to each rank whose workers receive from its own
/// grad    that of `permute`
/// errors  G49 values are lost or multiplied, some workers are never connected, the number of messages depends on an
///         extent that the dim does not declare, or a period or public copies do not follow the messages. The compiler
///         checks up to 64 workers, and the first step checks more
template <topology T, scope S, dim_type D>
constexpr topology_round<T, D> hop(S const& s, D along, number const& round,
                                   checked_line<detail::hop_finding<T, D>> const& where = {}) {
  if constexpr (!nothing_found<detail::hop_finding<T, D>>) s.graph_builder().give_up();
  detail::recording r(&s.graph_builder(), where);
  return topology_round<T, D>(s, along, round);
}
/// Rejects a type that is no topology.
template <class T, scope S, dim_type D>
requires(!topology<T>)
constexpr auto hop(S const& s, D along, number const& round,
                   checked_line<decltype(detail::error_of<detail::topology_members<T>>())> const& where = {}) {
  s.graph_builder().give_up();
  detail::recording r(&s.graph_builder(), where);
  return topology_round<directed_ring, D>(s, along, round);
}

}  // namespace meshtensor
