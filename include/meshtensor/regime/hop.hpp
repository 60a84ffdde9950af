// SPDX-License-Identifier: Apache-2.0
// One round of a topology inside a program: each worker keeps a share of its value and gets shares of others'.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <span>

#include "meshtensor/op/call.hpp"
#include "meshtensor/op/elementwise/cast.hpp"
#include "meshtensor/op/full.hpp"
#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/permute.hpp"
#include "meshtensor/regime/facts.hpp"

namespace meshtensor {
namespace detail {

/// Throws the error of a topology for n workers. It looks once for each n, because the cost grows with n.
/// errors G49
template <topology T>
void require_topology(std::int64_t n) {
  static std::atomic<std::int64_t> checked{0};
  if (checked.load(std::memory_order_relaxed) == n) return;
  raise(check_topology<T>(static_cast<int>(n)));
  checked.store(n, std::memory_order_relaxed);
}

/// A name for a topology. It ends in digits that depend on the messages, so that programs with topologies that differ
/// have fingerprints that differ. In a name of a state, all compilers spell the topology alike, so it has no template
/// arguments.
template <topology T>
constexpr name label_of(bool of_state = false) {
  std::uint64_t key = 0;
  for (int n = 1; n < 9; ++n)
    for (int round = 0; round < 4; ++round)
      each_message<T>(n, round, [&](int worker, edge const& e) {
        key = scrambled(key, static_cast<std::uint64_t>(worker * 64 + e.source));
        key = scrambled(key, static_cast<std::uint64_t>(e.weight * 0x1p52));
      });
  diagnostic d{};
  letters const spelled(topology_name<T>());
  std::string_view const all = spelled;
  d << all.substr(0, of_state ? std::min<std::size_t>(all.find('<'), 20) : 20) << (of_state ? "_" : "/")
    << static_cast<long long>(key >> 32);
  return name::of(d.view());
}

/// The worker whose message comes in a slot, or -1. The operands are workers, the round, the number of workers and the
/// slot.
template <topology T>
struct source_in_slot {
  static constexpr name label = label_of<T>();
  static constexpr dtype type = dtype::i32;
  static void run(std::span<std::int64_t const> worker, std::span<std::int64_t const> round,
                  std::span<std::int64_t const> workers, std::span<std::int64_t const> slot,
                  std::span<std::int32_t> source) {
    for (std::size_t i = 0; i < source.size(); ++i) {
      require_topology<T>(workers[i]);
      int const n = static_cast<int>(workers[i]), own = static_cast<int>(worker[i]);
      source[i] = T::incoming(n, round[i], own, static_cast<int>(slot[i])).source;
    }
  }
};
/// The weight of the message in a slot or, if the slot is -1, of the worker's own value.
template <topology T>
struct weight_in_slot {
  static constexpr name label = label_of<T>();
  static constexpr dtype type = dtype::f64;
  static void run(std::span<std::int64_t const> worker, std::span<std::int64_t const> round,
                  std::span<std::int64_t const> workers, std::span<std::int64_t const> slot, std::span<double> weight) {
    for (std::size_t i = 0; i < weight.size(); ++i) {
      int const n = static_cast<int>(workers[i]), own = static_cast<int>(worker[i]), at = static_cast<int>(slot[i]);
      weight[i] = at < 0 ? T::kept(n, round[i], own) : T::incoming(n, round[i], own, at).weight;
    }
  }
};

/// The number of slots, for a dim of workers.
template <topology T, dim_type D>
constexpr int slots_along() {
  if constexpr (D::dim_rule.kind == extent_rule::fixed) {
    return T::slots(static_cast<int>(D::dim_rule.value));
  } else {
    static_assert(!slots_vary<T>(),
                  "meshtensor G49: hop: the number of messages in a round depends on the number of workers: declare "
                  "the dim of the workers with its extent");
    return slots_vary<T>() ? 1 : T::slots(1);
  }
}
inline constexpr int most_checked_workers = 64;
template <topology T, dim_type D>
inline constexpr type_finding topology_finding = [] {
  if constexpr (D::dim_rule.kind == extent_rule::fixed)
    if constexpr (D::dim_rule.value <= most_checked_workers)
      return type_finding{check_topology<T>(static_cast<int>(D::dim_rule.value))};
  return type_finding{};
}();

}  // namespace detail

/// A round of a topology along a dim of workers: made once in a step, and used for any number of tensors.
template <topology T, dim_type D>
class topology_round {
 public:
  static constexpr int slots = detail::slots_along<T, D>();

  template <scope S>
  constexpr topology_round(S const& s, D along, number const& round)
      : along_(detail::dim_of(s.graph_builder(), along)) {
    builder& b = s.graph_builder();
    auto const now = full(s, round, i64), all = full(s, extent(along), i64);
    auto const worker = iota(s, along, i64);
    // Every rank has all sources, because no layout shards this dim.
    any_tensor<dtype::i64> const again{&b, meshtensor::iota(b, b.dim_like(along_), dtype::i64)};
    kept_ = detail::record_call<detail::weight_in_slot<T>>(worker, now, all, full(s, -1, i64)).id;
    for (int k = 0; k < slots; ++k) {
      auto const at = static_cast<std::size_t>(k);
      auto const slot = full(s, k, i64);
      sources_[at] = detail::record_call<detail::source_in_slot<T>>(again, now, all, slot).id;
      weights_[at] = detail::record_call<detail::weight_in_slot<T>>(worker, now, all, slot).id;
    }
  }

  /// The value of each worker after the round: the sum of the share that it keeps and the shares that it receives.
  template <handle X>
  constexpr X operator()(X const& x, line const& where = {}) const {
    detail::recording r(x.owner, where);
    return detail::rewrapped(r.b, x, slots == 0 ? kept(x).id : add(r.b, kept(x).id, received(x).id));
  }
  /// The share of its value that each worker keeps.
  template <handle X>
  constexpr X kept(X const& x, line const& where = {}) const {
    static_assert(is_float(X::type), "meshtensor T04: hop: shares of values need a tensor of floats: cast it");
    static_assert(has_dim<X, D>, "meshtensor T01: hop: the tensor lacks the dim of the workers");
    detail::recording r(x.owner, where);
    return detail::rewrapped(r.b, x, share(r.b, x.id, kept_));
  }
  /// The sum of the shares that each worker receives.
  template <handle X>
  constexpr X received(X const& x, line const& where = {}) const {
    detail::recording r(x.owner, where);
    value const of = r.b.m.values[x.id];
    if (slots == 0) return detail::rewrapped(r.b, x, broadcast(r.b, constant(r.b, 0, of.type), of.dims));
    value_id all{};
    for (int slot = 0; slot < slots; ++slot) {
      auto const at = static_cast<std::size_t>(slot);
      value_id const one = share(r.b, permute(r.b, x.id, sources_[at], along_), weights_[at]);
      all = slot == 0 ? one : add(r.b, all, one);
    }
    return detail::rewrapped(r.b, x, all);
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
    return multiply(b, x, cast(b, weight, b.m.values[x].type));
  }

  dim_id along_;
  value_id kept_{};
  std::array<value_id, slots == 0 ? 1 : slots> sources_{}, weights_{};
};

/// One round of a topology among the workers that a dim counts. For example, half of each value goes to another worker,
/// another one in each step:
///
///     auto const send = mt::hop<mt::one_peer_exponential>(s, replica, s.step());
///     auto const mixed = send(x);    // send.kept(x) + send.received(x)
///
/// dims    those of the tensor, which has the dim of the workers
/// layout  if the dim is sharded, each rank sends one message to each rank whose workers receive from its own
/// grad    that of `permute`
/// errors  G49 values are lost or multiplied, some workers are never connected, or public copies do not follow the
///         messages. The compiler checks up to 64 workers, and the first step checks more
template <topology T, scope S, dim_type D>
constexpr topology_round<T, D> hop(S const& s, D along, number const& round, line const& where = {}) {
  static_assert(is_valid<detail::topology_finding<T, D>>);
  detail::recording r(&s.graph_builder(), where);
  return topology_round<T, D>(s, along, round);
}

}  // namespace meshtensor
