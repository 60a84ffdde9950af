// SPDX-License-Identifier: Apache-2.0
// Random-k compression: the values of a tensor at random positions, which all replicas draw alike.
#pragma once

#include <span>

#include "meshtensor/op/call.hpp"
#include "meshtensor/op/full.hpp"
#include "meshtensor/op/gather.hpp"
#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/random.hpp"
#include "meshtensor/op/scatter_add.hpp"
#include "meshtensor/regime/compressor.hpp"
#include "meshtensor/regime/random_topology.hpp"

namespace meshtensor {
namespace detail {

/// The position that comes at some place of a random order. The operands are places, the step, the number of positions
/// and a key.
template <std::uint64_t Seed>
struct drawn_position {
  static constexpr dtype type = dtype::i64;
  static void run(std::span<std::int64_t const> place, std::span<std::int64_t const> step,
                  std::span<std::int64_t const> count, std::span<std::int64_t const> key,
                  std::span<std::int64_t> position) {
    for (std::size_t i = 0; i < position.size(); ++i) {
      std::uint64_t const seed =
          scrambled(Seed + static_cast<std::uint64_t>(key[i]), static_cast<std::uint64_t>(step[i]));
      position[i] = random_order{count[i], seed}(place[i]);
    }
  }
};

}  // namespace detail

/// Keeps the values of a tensor at random positions, `Kept` of each `Of`, rounded up: `mt::random_k_values<1, 100>`.
/// The others count as zero. The positions follow from the seed, the step and the path of the parameter. Therefore they
/// are the same in all replicas and are not sent, and a mean over replicas is an all_reduce of the kept values.
///
/// layout  if a model axis shards the tensor, it is gathered first
/// errors  S23 no values are kept, or more than there are
/// source  Stich et al. 2018, arXiv:1809.07599, definition 2.2
template <int Kept, int Of, std::uint64_t Seed = 1>
struct random_k_values {
  static_assert(0 < Kept && Kept <= Of,
                "meshtensor S23: random_k_values<kept, of> keeps at least one value, and at most all");
  static constexpr bool is_linear = true;
  static constexpr double consensus_step = static_cast<double>(Kept) / Of;

  template <scope S, dtype T>
  static constexpr auto encode(S const& s, any_tensor<T> const& x, path_id parameter, shape const& dims) {
    builder& b = s.graph_builder();
    dim_id const all = detail::flat_dim(b, dims), part = detail::part_dim<Kept, Of>(b, all);
    using integers = any_tensor<dtype::i64>;
    auto const key = static_cast<std::int64_t>(identity_of(b.m, parameter, 0) >> 16);
    integers const positions = detail::record_call<detail::drawn_position<Seed>>(
        integers(&b, iota(b, part, dtype::i64)), integers(full(s, s.step(), i64)),
        integers(&b, detail::extent_of(b, all, dtype::i64)), integers(full(s, number(key), i64)));
    value_id const flat = detail::flattened(b, x.id, dims);
    any_tensor<T> const values(&b, gather(b, flat, positions.id, all, {}, looks_into::whole_table));
    return detail::compressed_message<std::tuple<any_tensor<T>>, std::tuple<integers>>{{values}, {positions}};
  }
  template <dtype T, class Message>
  static constexpr any_tensor<T> decode(builder& b, Message const& message, shape const& dims, shape const& outer) {
    dim_id const all = detail::flat_dim(b, dims);
    shape like = outer;
    value_id const flat =
        scatter_add(b, std::get<0>(message.sent).id, std::get<0>(message.shared).id, all, like.add(all));
    return {&b, detail::unflattened(b, flat, dims)};
  }
};

}  // namespace meshtensor
