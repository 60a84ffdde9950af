// SPDX-License-Identifier: Apache-2.0
// Merges the values of saved replicas into those of another number of replicas, while they are read.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/function_ref.hpp"
#include "meshtensor/graph/merge_rule.hpp"
#include "meshtensor/op/detail/scalar.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::io {

/// The values to be merged: the rule, the numbers of replicas, and the weight of each saved one, or none if all count
/// alike.
struct merging {
  merge_rule rule;
  std::int64_t saved, now;
  std::vector<double> weights;
};

/// A weighted running mean (West 1979), in which equal values stay as they are. `share` is the weight of `x` in the sum
/// of the weights so far.
inline double running_mean(double mean, double x, double share) {
  if (x == mean) return mean;
  return std::isfinite(mean) ? mean + (x - mean) * share : mean + x;
}

/// A share of a sum that is cut into `parts`. If integers cannot be cut evenly, the first shares are larger by one.
template <class A>
A share_of(A sum, std::int64_t parts, std::int64_t which) {
  if constexpr (std::floating_point<A>) {
    return sum / static_cast<double>(parts);
  } else {
    A rest = sum % parts, share = sum / parts;
    if (rest < 0) rest += parts, --share;
    return share + (which < rest);
  }
}

/// Calls `f` with boxes that cover a box, each of at most about `limit` elements. `part.extent` is nowhere 0.
inline void for_each_piece(view const& part, std::int64_t limit, function_ref<void(view const&)> f) {
  view piece = part;
  std::int64_t inner = part.size();
  int cut = 0;  // the dims before it are cut, all but the last of them to single indices
  while (cut < part.count && inner > limit) inner /= part.extent[cut++];
  std::int64_t step[max_dims_of_one];
  for (int i = 0; i < cut; ++i) step[i] = i + 1 < cut ? 1 : std::max<std::int64_t>(1, limit / inner);
  for (;;) {
    for (int i = 0; i < cut; ++i)
      piece.extent[i] = std::min(step[i], part.origin[i] + part.extent[i] - piece.origin[i]);
    f(piece);
    int i = cut;
    while (i-- > 0) {
      if ((piece.origin[i] += step[i]) < part.origin[i] + part.extent[i]) break;
      piece.origin[i] = part.origin[i];
    }
    if (i < 0) return;
  }
}

/// Merges a box of one replica, which has the dim of replicas at `along` with extent 1. Writes it to all replicas of
/// the windows `to`. `read` reads the box of a saved replica into a dense view. Floats are summed in f64 and integers
/// in i64, in the order of replicas. Therefore the results do not depend on how values were spread over ranks.
///
/// errors  C19 a share of a sum of integers is too large for the dtype
template <class E>
void merge_piece(view piece, int along, merging const& how, std::vector<view> const& to,
                 function_ref<void(std::int64_t, view const&)> read) {
  using A = std::conditional_t<std::integral<E>, std::int64_t, double>;
  auto const count = static_cast<std::size_t>(piece.size());
  std::vector<std::byte> bytes(count * sizeof(E));
  std::vector<A> all(count);
  piece.data = bytes.data();
  piece.densify();
  E const* const one = piece.as<E>();
  double total = 0;
  for (std::int64_t i = 0; i < how.saved; ++i) {
    read(i, piece);
    double const weight = how.weights.empty() ? 1 : how.weights[static_cast<std::size_t>(i)];
    total += weight;
    for (std::size_t k = 0; k < count; ++k) {
      A const x = static_cast<A>(one[k]);
      if (i == 0) all[k] = x;
      else if (how.rule == merge_rule::sum) all[k] += x;
      else if (how.rule == merge_rule::largest) all[k] = std::max(all[k], x);
      else if constexpr (std::floating_point<A>)
        if (weight != 0) all[k] = running_mean(all[k], x, weight / total);
    }
  }
  for (view const& window : to) {
    bool const has_replicas = along < window.count;
    for (std::int64_t j = 0; j < (has_replicas ? window.extent[along] : 1); ++j) {
      walk<2> w;
      std::int64_t first = 0;
      for (int i = 0; i < window.count; ++i) {
        first += i == along ? j * window.stride[i] : (piece.origin[i] - window.origin[i]) * window.stride[i];
        w.stride[0][i] = piece.stride[i], w.stride[1][i] = window.stride[i], w.extent[w.count++] = piece.extent[i];
      }
      std::int64_t const replica = has_replicas ? window.origin[along] + j : 0;
      do {
        A x = all[static_cast<std::size_t>(w.offset[0])];
        if (how.rule == merge_rule::sum) x = share_of(x, how.now, replica);
        E const element = static_cast<E>(static_cast<arithmetic_t<E>>(x));
        if constexpr (std::integral<E>)
          if (how.rule == merge_rule::sum && static_cast<A>(element) != x)
            throw error("C19", {"a share of a sum over ", how.saved, " replicas is too large for its dtype: ", x});
        window.as<E>()[first + w.offset[1]] = element;
      } while (w.next());
    }
  }
}

}  // namespace meshtensor::io
