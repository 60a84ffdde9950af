// SPDX-License-Identifier: Apache-2.0
// Binds the numbers that depend on the mesh: the sizes of its axes, the grains of parts, and the extents of dims that
// stand for a part of another dim. An example of such a dim is a rank's part with its halo.
#pragma once

#include <numeric>

#include "meshtensor/base/saturating.hpp"
#include "meshtensor/pass/bind/known_number.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

constexpr void bind_axes(module const& m, mesh_shape const& mesh, binding& b) {
  for (int a = 0; a < max_axes; ++a) b.axis[a] = 1;
  for (int a = 0; a < m.axis_count; ++a) {
    int const k = mesh.find(m.names[m.axes[a].label]);
    b.axis[a] = k < 0 ? 0 : mesh.axes[k].extent;
    if (b.axis[a] < 1) {
      b.report << "S12 the mesh axis '" << m.names[m.axes[a].label] << "' has no size: give one, as in "
               << m.names[m.axes[a].label] << "(2)";
      return;
    }
    if (b.axis[a] > 1 && !m.axes[a].conflict.empty()) {
      b.report = m.axes[a].conflict;
      return;
    }
  }
}

/// Binds the dims that `partition` made of sharded dims: the number of parts, and the extent of the longest part.
constexpr void bind_blocks(module const& m, binding& b) {
  for (int d = 0; d < m.dim_count; ++d) {
    dim_row const& row = m.dims[d];
    if (row.kind == dim_row::blocks) b.extent[d] = b.members(static_cast<unsigned>(row.value));
    if (row.kind == dim_row::holders) b.extent[d] = b.members(row_holders::unpacked(row.value).axes);
    if (row.kind != dim_row::in_block) continue;
    b.extent[d] = part_of(b.extent[row.first], b.extent[row.second], 0, b.grain[row.first]).count;
    b.block_of[d] = {static_cast<id>(row.first + 1), static_cast<id>(row.second + 1)};
  }
}

/// Finds the grains. If a dim is merged from others, or split into them, its parts must consist of whole rows of the
/// minor dims. So the parts are multiples of the minor extents, and of the grain of the major dim. Two names of one dim
/// have the same grain.
struct grains {
  binding& b;
  bool changed = false;

  constexpr void need(int dim, std::int64_t grain) {
    if (b.extent[dim] == 0 || b.grain[dim] % grain == 0) return;
    b.grain[dim] = std::lcm(b.grain[dim], grain), changed = true;
  }
  constexpr void agree(same_elements const& same) {
    if (same.adds) return;
    bool const merges = same.after.count == 1;
    int const joined = merges ? same.after.at[0] : same.before.at[0];
    shape const& parts = merges ? same.before : same.after;
    std::int64_t minor = 1;
    for (int i = 1; i < parts.count; ++i) minor *= b.extent[parts.at[i]];
    if (minor == 0) return;
    need(joined, minor * b.grain[parts.at[0]]);
    need(parts.at[0], b.grain[joined] / minor);
  }
};

constexpr void bind_grains(module const& m, binding& b) {
  for (std::int64_t& g : b.grain) g = 1;
  bool shards = false;
  for (std::int64_t const size : b.axis) shards = shards || size > 1;
  if (!shards) return;
  grains all{b};
  do {
    all.changed = false;
    for (int i = 0; i < m.reshape_count; ++i) all.agree(m.reshapes[i].same);
  } while (all.changed);
}

/// Binds halo dims: the numbers of their windows, and the extent of the longest range of a rank.
constexpr void bind_halos(module const& m, binding& b) {
  for (int d = 0; d < m.dim_count; ++d) {
    dim_row const& row = m.dims[d];
    if (row.kind != dim_row::halo) continue;
    auto const of = packed_halo::unpacked(row.value);
    auto const reach = known_window(m, b, m.windows[of.window]);
    if (!reach) continue;  // no value of this program has the dim
    b.halo_of[d] = {static_cast<id>(row.first + 1), static_cast<id>(row.second + 1), of.of_inputs, true, *reach};
    std::int64_t ranks = 1;
    for (int o = 0, a = 0; (a = of.axes.axis_at(0, o)) >= 0; ++o) ranks *= b.axis[a];
    std::int64_t first = 0;
    b.extent[d] = 1;  // also if no part is reached
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      auto const place = [&](int axis) {
        std::int64_t rest = rank;
        for (int o = of.axes.axes_of(0); o-- > 0;) {
          int const a = of.axes.axis_at(0, o);
          if (a == axis) return rest % b.axis[a];
          rest /= b.axis[a];
        }
        return std::int64_t{0};
      };
      std::int64_t const count = b.covered(d, of.axes, 0, place).count;
      if (rank == 0) first = count;
      if (count != first) b.halo_of[d].even = false;
      if (count > b.extent[d]) b.extent[d] = count;
    }
  }
}

/// Binds the number of rows for which the ranks of an exchange have room. All rows that may come must fit, either from
/// all ranks or for all groups.
constexpr void bind_rows(module const& m, binding& b) {
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    if (n.kind != primitive::all_to_all_rows || all_to_all_rows_rule::step_of(n) != row_step::count) continue;
    auto const a = all_to_all_rows_attributes::of(n);
    auto const of = row_holders::unpacked(m.dims[a.holders].value);
    std::int64_t const ranks = b.members(of.group_mask());
    value groups{};  // with the placement that the ranks hold them in
    groups.dims.add(a.groups), groups.layout = of.group_axes;
    value const& index = m.operand_value(n, 0);
    std::int64_t const own = b.local_size(index), all = b.size(index.dims);
    std::int64_t room = ranks == 1 || ranks * own < all ? ranks * own : all, sent = own;
    if (a.at_most != no_id) {
      auto const most = known_position(m, b, a.at_most);
      if (!most || *most < 1) {
        b.report << "S11 the dim '" << m.dim_name(a.rows) << "' has no extent, as `at_most` is "
                 << (most ? "less than 1" : "set at run time") << ": give a number or the extents of dims";
        locate(b.report, m, n);
        return;
      }
      std::int64_t const held = saturated_product(*most, b.local(groups, 0)),
                         whole = saturated_product(*most, b.extent[a.groups]);
      room = held < room ? held : room, sent = whole < sent ? whole : sent;
    }
    b.extent[a.rows] = room > b.extent[a.rows] ? room : b.extent[a.rows];
    for (int d = 0; d < m.dim_count; ++d)
      if (m.dims[d].kind == dim_row::sent && m.dims[d].first == a.rows)
        b.extent[d] = sent > b.extent[d] ? sent : b.extent[d];
  }
}

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
