// SPDX-License-Identifier: Apache-2.0
// Assembles a whole value from the parts that ranks hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "meshtensor/job/rank_context.hpp"
#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/tensor/layout.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::detail {

/// Whether two ranks hold parts of the same copy of a value. If so, their coordinates differ only along axes over
/// which it is sharded or partial.
inline bool share_copy(placement const& p, mesh_shape const& mesh, int a, int b) {
  for (int x = 0; x < mesh.count; ++x)
    if (!p.shards(x) && !p.is_partial(x) && mesh.coordinate(a, x) != mesh.coordinate(b, x)) return false;
  return true;
}
inline bool is_first_copy(placement const& p, mesh_shape const& mesh, int rank) {
  for (int x = 0; x < mesh.count; ++x)
    if ((p.shards(x) || p.is_partial(x)) && mesh.coordinate(rank, x) != 0) return false;
  return true;
}

/// An element as a number of its kind: an integer as std::int64_t, and a float as double.
template <class N, class E>
N element_as(E const& x) {
  if constexpr (std::is_integral_v<N> && !std::is_integral_v<E>) return N(0);  // never called
  else return static_cast<N>(x);
}
/// The sum of two elements. Integers wrap around, as integers of their dtype do.
template <class E, class N>
N added(N x, N y) {
  if constexpr (std::is_integral_v<N> && std::is_integral_v<E>)
    return static_cast<E>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
  else return x + y;
}

/// The whole value of the copy that begins on rank `first`, with partial sums reduced. `N` is double for floats, and
/// std::int64_t for integers, because doubles lose digits of integers beyond 2^53.
template <class N>
std::vector<N> assembled(placement const& layout, mesh_shape const& mesh, value_id v, std::span<rank_context const> all,
                         int first, view const& whole) {
  reduction kind = reduction::none;
  for (int x = 0; x < mesh.count; ++x)
    if (layout.is_partial(x)) kind = layout.part(x);
  using limits = std::numeric_limits<N>;
  constexpr N most = limits::has_infinity ? limits::infinity() : limits::max();
  constexpr N least = limits::has_infinity ? -limits::infinity() : limits::lowest();
  std::vector<N> made(static_cast<std::size_t>(whole.size()), kind == reduction::max   ? least
                                                              : kind == reduction::min ? most
                                                                                       : N(0));
  for (rank_context const& p : all) {
    if (!share_copy(layout, mesh, first, p.rank())) continue;
    view const part = p.at(v);
    walk<2> w;
    for (int i = 0; i < part.count; ++i) {
      w.extent[w.count] = part.extent[i], w.stride[0][w.count] = part.stride[i];
      w.stride[1][w.count++] = whole.stride[i], w.offset[1] += whole.stride[i] * part.origin[i];
    }
    if (w.empty()) continue;
    with_element(part.type, [&]<class E>() {
      do {
        auto const x = element_as<N>(part.as<E>()[w.offset[0]]);
        N& y = made[static_cast<std::size_t>(w.offset[1])];
        if (kind == reduction::max) y = x > y || x != x ? x : y;  // a NaN stays
        else if (kind == reduction::min) y = x < y || x != x ? x : y;
        else y = added<E>(y, x);
      } while (w.next());
    });
  }
  return made;
}

}  // namespace meshtensor::detail
