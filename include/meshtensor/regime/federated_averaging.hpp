// SPDX-License-Identifier: Apache-2.0
// Federated averaging: in each period a random sample of the clients takes part in the mean, and each of these counts
// by the number of its examples.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "meshtensor/op/call.hpp"
#include "meshtensor/op/cumulative_sum.hpp"
#include "meshtensor/op/full.hpp"
#include "meshtensor/op/gather.hpp"
#include "meshtensor/regime/period_start.hpp"
#include "meshtensor/regime/random_topology.hpp"
#include "meshtensor/regime/wrapped_replica.hpp"

namespace meshtensor {
namespace detail {

/// The order in which clients are asked at the end of a period. It follows from the seed and the step alone.
inline random_order order_of_clients(std::int64_t count, std::int64_t last_step, std::int64_t seed) {
  return {count, scrambled(static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(last_step))};
}
/// The client that is asked at some place.
struct client_at_place {
  static constexpr name label = "client of federated averaging";
  static void run(std::span<std::int64_t const> place, std::span<std::int64_t const> count,
                  std::span<std::int64_t const> last_step, std::span<std::int64_t const> seed,
                  std::span<std::int64_t> client) {
    for (std::size_t i = 0; i < client.size(); ++i)
      client[i] = order_of_clients(count[i], last_step[i], seed[i])(place[i]);
  }
};
/// The place at which a client is asked.
struct place_of_client {
  static constexpr name label = "place in federated averaging";
  static void run(std::span<std::int64_t const> client, std::span<std::int64_t const> count,
                  std::span<std::int64_t const> last_step, std::span<std::int64_t const> seed,
                  std::span<std::int64_t> place) {
    for (std::size_t i = 0; i < place.size(); ++i)
      place[i] = order_of_clients(count[i], last_step[i], seed[i]).inverse(client[i]);
  }
};
/// The numbers of examples of clients, if each is a finite number of 0 or more.
struct checked_examples {
  static constexpr name label = "examples of federated averaging";
  static void run(std::span<double const> examples, std::span<std::int64_t const> client, std::span<double> checked) {
    for (std::size_t i = 0; i < checked.size(); ++i) {
      if (!(examples[i] >= 0 && examples[i] < std::numeric_limits<double>::infinity()))
        throw error("R96", {"federated averaging: client ", client[i],
                            " has a number of examples that is negative or not finite: set the state "
                            "'regime/examples' to numbers of 0 or more"});
      checked[i] = examples[i];
    }
  }
};
/// The number of examples of a whole sample, if there are any.
struct checked_sum_of_examples {
  static constexpr name label = "sum of federated averaging";
  static void run(std::span<double const> sum, std::span<double> checked) {
    for (std::size_t i = 0; i < checked.size(); ++i) {
      if (!(sum[i] > 0))
        throw error("R96", {"federated averaging: no client has examples, so there is no mean: set the state "
                            "'regime/examples' to a number above 0 for at least one client"});
      checked[i] = sum[i];
    }
  }
};

}  // namespace detail

/// A policy in which replicas are clients with data of their own. All take `Steps` steps alone. Then a random sample of
/// `Clients` clients takes part in a mean of parameters, in which each counts by the number of its examples, and all
/// clients get this mean. The steps of a client that does not take part are lost.
///
/// The state `regime/examples` has the number of examples of each client, and begins with 1 for each:
/// `weights.set("regime/examples", std::vector<double>{600, 50, 0, 350})`. The sample is drawn from the clients that
/// have examples. If fewer than `Clients` have some, all of these take part. The draw follows from `seed` and the step
/// that ends the period, so it is the same on all ranks and after a resume. A policy of one's own sets these numbers:
/// `struct mine : mt::federated_averaging<20, 10> { constexpr mine() { seed = 7; } };`.
///
/// layout  an all_reduce of the parameters and an all_gather of a number for each client in every step that ends a
///         period, and nothing in the others
/// state   examples, an f64 of each client. Inside `compressed` also `start`, like each parameter
/// errors  S23 no steps or no clients; R96 no client has examples, or one has a negative number of them
/// source  McMahan et al., arXiv:1602.05629, algorithm 1, with a number of clients in place of a fraction
template <int Steps, int Clients>
struct federated_averaging {
  static_assert(Steps > 0 && Clients > 0,
                "meshtensor S23: federated_averaging<steps, clients> has at least one step in a period, and at least "
                "one client in a sample");
  int period = Steps;
  int clients = Clients;  // that take part in a mean
  int seed = 1;           // of the draws

  template <class Replica>
  static constexpr bool keeps_start = Replica::compresses;
  template <class Replica>
  constexpr void keep_start(Replica const& r) const {
    if constexpr (Replica::compresses) detail::period_start::keep(r, period);
  }
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    if (!r.scope.graph_builder().expect(clients > 0, "S23 a sample of clients has at least one client")) return;
    keep_start(r);
    auto const examples = r.scope.state("examples", f64, ones, merge_rule::restart);
    r.when(r.ends(period), [&](auto const& one) {
      auto const weight = select(takes_part(one, examples), examples, 0);
      auto const share = weight / detail::record_call<detail::checked_sum_of_examples>(one.mean(weight));
      for (int i = 0; i < one.size(); ++i) average(one, one[i], share);
    });
  }

 private:
  /// Whether this client takes part in the mean of the period that ends. Clients are asked in a random order, and the
  /// first `clients` of those that have examples take part.
  template <class Replica, class Examples>
  constexpr any_tensor<dtype::boolean> takes_part(Replica const& r, Examples const& examples) const {
    builder& b = r.scope.graph_builder();
    using integers = any_tensor<dtype::i64>;
    integers const count(full(r.scope, r.count(), i64)), last_step(full(r.scope, r.round(), i64)),
        key(full(r.scope, seed, i64));
    any_tensor<dtype::f64> const all = r.gathered(any_tensor<dtype::f64>(examples));
    dim_id const by_client = static_cast<dim_id>(b.m.values[all.id].dims.at[0]), by_place = b.dim_like(by_client);
    integers const client(&b, iota(b, by_client, dtype::i64)), place(&b, iota(b, by_place, dtype::i64));
    auto const known = detail::record_call<detail::checked_examples>(all, client);
    auto const asked = detail::record_call<detail::client_at_place>(place, count, last_step, key);
    any_tensor<dtype::f64> const in_order(&b, gather(b, known.id, asked.id, by_client, {}, looks_into::whole_table));
    auto const has_some = in_order > 0;
    integers const before(&b,
                          cumulative_sum(b, cast<dtype::i64>(has_some).id, by_place, cumulative{.exclusive = true}));
    auto const is_taken = cast<dtype::i64>(has_some && before < clients);
    auto const mine = detail::record_call<detail::place_of_client>(integers(r.index()), count, last_step, key);
    return integers(&b, gather(b, is_taken.id, mine.id, by_place, {}, looks_into::whole_table)) > 0;
  }
  /// Gives a parameter its mean over all clients, of which each counts by its share. A client without a share may have
  /// any values here, also NaN.
  template <class Replica, class Parameter, class Share>
  constexpr void average(Replica const& r, Parameter const& p, Share const& share) const {
    constexpr dtype type = Replica::type;
    auto const weighted = [&](any_tensor<type> const& x) { return select(share > 0, detail::scaled(x, share), 0); };
    if constexpr (Replica::compresses) {
      detail::require_common_start<Replica>();
      auto const start = detail::period_start::of(r, p);
      r.set(p, start + r.mean(any_tensor<type>(weighted(p.after - start)), p.before));
    } else {
      r.set(p, r.mean(any_tensor<type>(weighted(p.after))));
    }
  }
};

}  // namespace meshtensor
