// SPDX-License-Identifier: Apache-2.0
// The sharding rule of an operation, as data: which dims an axis may shard, and which partial operands may stay
// partial. pass/partition decides by this rule, and pass/verify/verify_layout.hpp checks by it.
#pragma once

#include "meshtensor/graph/module.hpp"

namespace meshtensor {

/// The treatment of operands that are partial over a mesh axis.
enum class linearity : std::uint8_t {
  none,      // they must be reduced first
  separate,  // one of them may stay partial if all others are replicated over the axis
  joint,     // they may stay partial if all of them are, by the same kind of reduction
};

/// A dim of operand 0, or of all operands, over which windows move. An axis that shards it shards `parts`, a dim of
/// another operand or of the result. Each rank then needs the range of `covered` that the windows reach from its part,
/// which is its part with a halo.
struct windowed_dim {
  std::uint8_t covered, parts;
  bool of_inputs;  // whether `covered` is the window's input and `parts` its output, or the other way round
  id window;       // a row of the table of windows
};

/// There are four cases for a dim of an operand. It passes through to the result, under its own or a new name. It is
/// contracted, so that the result lacks it. It must be whole on every rank. Or windows move over it.
struct sharding {
  static constexpr unsigned any = ~0u;
  static constexpr int most_whole = 2 * shape::capacity;
  std::uint8_t whole[most_whole];  // dims of operands or the result that no axis may shard
  int whole_count;
  bool renames;  // whether dim `from` of the operands is dim `to` of the result
  int from, to;
  bool looks;  // whether an index gives positions along `looked_up`, a dim of an operand or of the result
  int looked_up;
  reduction contracts;  // the result's partial kind if a contracted dim is sharded; if none, such dims must be whole
  windowed_dim windowed[max_windows_of_one];
  int windowed_count;
  bool windows_over_all;     // the windows move over all operands, which have the same dims
  linearity partials;        // for the operands and kinds of reduction below, and `none` for all others
  unsigned operands, kinds;  // masks

  constexpr sharding& keeps_whole(int dim) {
    if (!needs_whole(dim) && whole_count < most_whole) whole[whole_count++] = static_cast<std::uint8_t>(dim);
    return *this;
  }
  constexpr sharding& keeps_whole(shape const& dims) {
    for (int i = 0; i < dims.count; ++i) keeps_whole(dims.at[i]);
    return *this;
  }
  constexpr sharding& renamed(int old_name, int new_name) {
    from = old_name, to = new_name, renames = true;
    return *this;
  }
  constexpr sharding& looks_up(int dim) {
    looked_up = dim, looks = true;
    return *this;
  }
  constexpr sharding& moves_window(int covered, int parts, bool of_inputs, id window) {
    if (windowed_count < max_windows_of_one)
      windowed[windowed_count++] = {static_cast<std::uint8_t>(covered), static_cast<std::uint8_t>(parts), of_inputs,
                                    window};
    return *this;
  }
  constexpr sharding& over_all_operands(bool all = true) {
    windows_over_all = all;
    return *this;
  }
  constexpr sharding& contracted(reduction kind) {
    contracts = kind;
    return *this;
  }
  constexpr sharding& passes_partial(linearity how, unsigned of_kinds = any, unsigned of_operands = any) {
    partials = how, kinds = of_kinds, operands = of_operands;
    return *this;
  }
  static constexpr unsigned kind(reduction r) { return 1u << static_cast<int>(r); }

  /// The name, in the result, of a dim of an operand.
  constexpr int name_in_result(int operand, int dim) const {
    if (windowed_dim const* w = window_over(operand, dim); w != nullptr) return w->parts;
    return renames && dim == from ? to : dim;
  }
  /// The window that moves over a dim of an operand, or null if there is none.
  constexpr windowed_dim const* window_over(int operand, int dim) const {
    for (int i = 0; (operand == 0 || windows_over_all) && i < windowed_count; ++i)
      if (windowed[i].covered == dim) return &windowed[i];
    return nullptr;
  }
  constexpr bool needs_whole(int dim) const {
    for (int i = 0; i < whole_count; ++i)
      if (whole[i] == dim) return true;
    return false;
  }
  /// The linearity for an operand that is a partial reduction of kind `r`.
  constexpr linearity linear(int operand, reduction r) const {
    return (operands >> operand & 1u) != 0 && (kinds >> static_cast<int>(r) & 1u) != 0 ? partials : linearity::none;
  }
  /// Whether an operand may stay partial for some kind of reduction.
  constexpr bool may_stay_partial(int operand) const {
    return partials != linearity::none && (operands >> operand & 1u) != 0 && (kinds & ~kind(reduction::none)) != 0;
  }
};

/// Whether each rank holds, along an axis, the groups of the rows that it holds. This is so if rows were exchanged by
/// these groups over this axis, and if placement `p` divides the groups in the same way as the exchange.
constexpr bool divides_as_rows(module const& m, sharding const& rule, int holders, int groups, int axis,
                               placement const& p) {
  if (!rule.looks || groups != rule.looked_up || m.dims[holders].kind != dim_row::holders) return false;
  if (m.dims[holders].first != groups) return false;
  placement const exchange = row_holders::unpacked(m.dims[holders].value).group_axes;
  if (!exchange.shards(axis) || !p.shards(axis)) return false;
  for (int o = 0, a = 0; (a = exchange.axis_at(0, o)) >= 0; ++o)
    if (p.sharded_at(a) != p.sharded_at(axis) || p.order(a) != o) return false;
  return true;
}

}  // namespace meshtensor
