// SPDX-License-Identifier: Apache-2.0
// Binds the extents of dims and the sizes of mesh axes, which say what each processor holds.
// before: structure only.  after: extents, axis sizes and grains, or one sentence that says what does not fit.
// why: every pass before it runs in the compiler, even if extents are known only at start-up.
#pragma once

#include <numeric>
#include <optional>
#include <span>

#include "meshtensor/base/window.hpp"
#include "meshtensor/graph/locate.hpp"
#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/op/rules.hpp"
#include "meshtensor/tensor/box.hpp"

namespace meshtensor {

/// The numbers of a module: the extents of its dims, the sizes of its axes, and so what each processor holds.
struct binding {
  std::int64_t extent[max_dims];
  std::int64_t grain[max_dims];  // parts of a dim are multiples of it
  std::int64_t axis[max_axes];
  struct block_row {
    id whole, blocks;  // plus 1; 0: none
  };
  block_row block_of[max_dims];  // of a dim whose elements are one part of another dim: that dim, and that of all parts
  struct cover_row {
    id whole, parts;  // plus 1; 0: none. The dim that is covered, and the one from whose parts windows reach
    bool of_inputs;   // the first is the windows' input, the second their output
    bool even;        // all covers have the same length
    window_numbers reach;
  };
  cover_row cover_of[max_dims];  // of a dim that covers a part of another one
  diagnostic report;

  constexpr bool ok() const { return report.empty(); }
  /// The extent of a dim or, of one that covers a part of another, that of the other.
  constexpr std::int64_t whole_extent(int d) const {
    return extent[cover_of[d].whole == 0 ? d : cover_of[d].whole - 1];
  }
  /// How many ranks share the dim at `position` of a value.
  constexpr std::int64_t parts(value const& v, int position) const {
    std::int64_t n = 1;
    for (int a = 0; a < max_axes; ++a)
      if (v.layout.sharded_at(a) == position) n *= axis[a];
    return n;
  }
  /// The part of the dim at `position` that a rank holds; `place(axis)` is where the rank is along a mesh axis.
  template <class Place>
  constexpr interval part(value const& v, int position, Place place) const {
    int const d = v.dims.at[position];
    if (cover_of[d].whole != 0) return covered(d, v.layout, position, place);
    auto const held = [&](int of, int at) {
      return part_held(extent[of], grain[of], v.layout, at, [&](int a) { return axis[a]; }, place);
    };
    if (block_of[d].whole == 0) return held(d, position);
    return {0, held(block_of[d].whole - 1, v.dims.find(block_of[d].blocks - 1)).count};
  }
  /// The part of a dim that the windows of a cover reach from a rank's part of another dim; all of it, if that has one
  /// part.
  template <class Place>
  constexpr interval covered(int cover, placement const& layout, int position, Place place) const {
    cover_row const& c = cover_of[cover];
    std::int64_t const all = extent[c.whole - 1];
    std::int64_t parts = 1;
    for (int o = 0, a = 0; (a = layout.axis_at(position, o)) >= 0; ++o) parts *= axis[a];
    if (parts == 1) return {0, all};
    interval const from =
        part_held(extent[c.parts - 1], grain[c.parts - 1], layout, position, [&](int a) { return axis[a]; }, place);
    return c.of_inputs ? c.reach.inputs_reached(from, all) : c.reach.outputs_reaching(from, all);
  }
  /// The part of a loop's iterations whose slices a rank holds, if they lie as `layout` says.
  template <class Place>
  constexpr interval slices_held(dim_id loop_dim, placement const& layout, Place place) const {
    return part_held(
        extent[loop_dim], grain[loop_dim], layout, placement::of_loop, [&](int a) { return axis[a]; }, place);
  }
  /// The largest part of the dim at `position`; the first rank holds it.
  constexpr std::int64_t local(value const& v, int position) const {
    int const d = v.dims.at[position];
    if (cover_of[d].whole != 0) return extent[d];
    std::int64_t const n = v.layout.bits == 0 ? 1 : parts(v, position);
    return n == 1 ? extent[d] : (extent[d] / grain[d] + n - 1) / n * grain[d];
  }
  /// Whether all ranks hold as much of the dim at `position`.
  constexpr bool is_even(value const& v, int position) const {
    int const d = v.dims.at[position];
    if (int const of = block_of[d].whole; of != 0)
      return meshtensor::is_even(extent[of - 1], extent[block_of[d].blocks - 1], grain[of - 1]);
    if (cover_of[d].whole != 0) return cover_of[d].even;
    return grain[d] == 0 || meshtensor::is_even(extent[d], parts(v, position), grain[d]);
  }
  constexpr std::int64_t local_size(value const& v) const {
    std::int64_t n = 1;
    for (int i = 0; i < v.dims.count; ++i) n *= local(v, i);
    return n;
  }
  constexpr std::int64_t local_bytes(value const& v) const {
    return local_size(v) * static_cast<std::int64_t>(bytes_of(v.type));
  }
  constexpr std::int64_t size(shape const& dims) const {
    std::int64_t n = 1;
    for (int i = 0; i < dims.count; ++i) n *= extent[dims.at[i]];
    return n;
  }
  /// The number of ranks along the axes of a mask.
  constexpr std::int64_t members(unsigned mask) const {
    std::int64_t n = 1;
    for (int a = 0; a < max_axes; ++a)
      if ((mask >> a & 1u) != 0) n *= axis[a];
    return n;
  }
  /// Whether a node is a collective with one member only: its result is its operand.
  constexpr bool is_alone(node const& n) const {
    return is_collective(n.kind) && members(axes_of_collective(n)) == 1 && !shifts(n);
  }
};

/// What one rank of a mesh holds, asked like a binding.
struct held_by {
  binding const& numbers;
  mesh_shape const& mesh;
  std::int64_t rank;

  constexpr std::int64_t local(value const& v, int position) const {
    return numbers.part(v, position, [this](int a) { return mesh.coordinate(rank, a); }).count;
  }
  constexpr std::int64_t local_size(value const& v) const {
    std::int64_t n = 1;
    for (int i = 0; i < v.dims.count; ++i) n *= local(v, i);
    return n;
  }
};

namespace detail {

/// The dims that a module uses: those of its values and loops, and those that its numbers are computed from. Programs
/// that are declared together share one table of dims, but each is bound on its own.
struct needed_dims {
  bool at[max_dims];
  bool row[max_numbers];

  constexpr explicit needed_dims(module const& m) : at{}, row{} {
    for (int i = 0; i < m.value_count; ++i)
      for (int p = 0; p < m.values[i].dims.count; ++p) at[m.values[i].dims.at[p]] = true;
    for (int i = 0; i < m.node_count; ++i) {
      node const& n = m.nodes[i];
      if (n.kind == primitive::read) row[m.variables[variable_of(n)].number] = true;
      declaration const& d = declared(m, n);
      for (int a = 0; a < max_attributes; ++a) {
        if (d.attributes[a].kind == attribute_kind::dim) at[n.attribute[a]] = true;
        if (d.attributes[a].kind == attribute_kind::number && n.attribute[a] != id{no_id}) row[n.attribute[a]] = true;
        if (d.attributes[a].kind != attribute_kind::windows) continue;
        for (int w = n.attribute[a]; w < n.attribute[a] + n.attribute[a + 1]; ++w) need(m.windows[w]);
      }
    }
    for (int d = 0; d < m.dim_count; ++d)
      if (at[d] && m.dims[d].kind == dim_row::cover) need(m.windows[packed_cover::unpacked(m.dims[d].value).window]);
    for (int i = m.number_count; i-- > 0;) {  // a row refers only to earlier rows
      if (!row[i]) continue;
      if (m.numbers[i].kind == number_row::extent) at[m.numbers[i].first] = true;
      if (m.numbers[i].kind != number_row::expression) continue;
      row[m.numbers[i].first] = true;
      if (m.numbers[i].second != id{no_id}) row[m.numbers[i].second] = true;
    }
    for (int d = m.dim_count; d-- > 0;) {
      if (!at[d]) continue;
      if (m.dims[d].first != no_id) at[m.dims[d].first] = true;
      if (m.dims[d].second != no_id) at[m.dims[d].second] = true;
    }
  }

 private:
  constexpr void need(window_row const& w) {
    for (dim_id d : {w.input, w.output, w.kernel}) at[d] = true;
    for (number_id n : {w.low, w.high}) row[n] = true;
  }
};

constexpr void bind_dims(module const& m, std::span<dim_extent const> given, binding& b) {
  for (dim_extent const& g : given) {
    int d = 0;
    while (d < m.dim_count && !(m.dim_name(d) == g.label)) ++d;
    if (d == m.dim_count) {
      b.report << "S10 an extent is given for the dim '" << g.label << "', which this program does not have";
      return;
    }
    dim_row const& row = m.dims[d];
    if (g.extent < 1 || (row.kind != dim_row::dynamic && !(row.kind == dim_row::fixed && row.value == g.extent))) {
      b.report << "S10 the dim '" << g.label << "' cannot have the extent " << g.extent << ": ";
      if (g.extent < 1) b.report << "an extent is at least 1";
      else if (row.kind == dim_row::fixed) b.report << "its type says " << row.value;
      else b.report << "it is made from other dims";
      return;
    }
    if (b.extent[d] != 0 && b.extent[d] != g.extent) {
      b.report << "S10 the dim '" << g.label << "' is given two extents, " << b.extent[d] << " and " << g.extent;
      return;
    }
    b.extent[d] = g.extent;
  }
  needed_dims const needed(m);
  for (int d = 0; d < m.dim_count; ++d) {  // a row refers only to earlier rows
    dim_row const& row = m.dims[d];
    switch (row.kind) {
      case dim_row::fixed: b.extent[d] = row.value; break;
      case dim_row::product: b.extent[d] = b.extent[row.first] * b.extent[row.second]; break;
      case dim_row::sum: b.extent[d] = b.extent[row.first] + b.extent[row.second]; break;
      case dim_row::shifted: b.extent[d] = b.extent[row.first] + row.value; break;
      case dim_row::same: b.extent[d] = b.extent[row.first]; break;
      case dim_row::windowed: b.extent[d] = window_places::of(row.value)(b.extent[row.first]); break;
      case dim_row::holders:
      case dim_row::rows:
      case dim_row::sent:
      case dim_row::blocks:
      case dim_row::in_block:
      case dim_row::cover: continue;  // by the sizes of axes: bind_blocks, bind_covers, bind_rows
      case dim_row::dynamic: break;
    }
    if (b.extent[d] < 1 && needed.at[d] && row.kind != dim_row::dynamic) {
      b.report << "S10 the dim '" << m.dim_name(d) << "' would have the extent " << b.extent[d]
               << ", by the dims that it is made from: an extent is at least 1";
      return;
    }
    if (b.extent[d] < 1 && needed.at[d]) {
      b.report << "S11 the dim '" << m.dim_name(d) << "' has no extent: give one, as in " << m.dim_name(d) << "(64)";
      return;
    }
  }
}

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

/// Binds the dims that `partition` made of sharded ones: the number of parts, and the longest one.
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

/// Finds the grains. A dim that is merged from others, or split into them, has parts of whole rows of the minor ones:
/// multiples of their extents, and of the grain of the major one. Two names of one dim have one grain.
struct grains {
  binding& b;
  bool changed = false;

  constexpr void need(int dim, std::int64_t grain) {
    if (b.extent[dim] == 0 || b.grain[dim] % grain == 0) return;
    b.grain[dim] = std::lcm(b.grain[dim], grain), changed = true;
  }
  constexpr void agree(reshape_row const& row) {
    bool const merges = row.after.count == 1;
    int const joined = merges ? row.after.at[0] : row.before.at[0];
    shape const& parts = merges ? row.before : row.after;
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
    for (int i = 0; i < m.reshape_count; ++i) all.agree(m.reshapes[i]);
  } while (all.changed);
}

/// Checks dims that stand for the same elements: a dim and its new name, or a dim and its parts. Extent 0: not known
/// yet.
constexpr void check_same_elements(module const& m, binding& b) {
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    same_elements const same = elements_of(m, n);
    shape const &before = same.before, &after = same.after;
    if (before.count == 0) continue;
    bool known = true;
    auto const total = [&](shape const& dims) {
      std::int64_t all = b.extent[dims.at[0]];
      for (int k = 0; k < dims.count; ++k) {
        std::int64_t const e = b.extent[dims.at[k]];
        known = known && e != 0;
        if (k != 0) all = same.adds ? all + e : all * e;
      }
      return all;
    };
    if (total(before) == total(after) || !known) continue;
    auto const list = [&](shape const& dims) {
      for (int k = 0; k < dims.count; ++k)
        b.report << (k == 0      ? "'"
                     : same.adds ? " + '"
                                 : " x '")
                 << m.dim_name(dims.at[k]) << "' (" << b.extent[dims.at[k]] << ")";
    };
    b.report << "S03 ";
    list(before);
    b.report << (before.count == 1 ? " is " : " are ") << same.becomes << " ";
    list(after);
    locate(b.report << ", which is another number of elements", m, n);
    return;
  }
}

}  // namespace detail

/// A row of the table of numbers, if its value is known before the first step.
constexpr std::optional<double> known_number(module const& m, binding const& b, number_id row) {
  number_row const& n = m.numbers[row];
  if (n.kind == number_row::literal) return n.value;
  if (n.kind == number_row::extent) return static_cast<double>(b.extent[n.first]);
  if (n.kind != number_row::expression) return {};
  auto const first = static_cast<number_id>(n.first), second = static_cast<number_id>(n.second);
  auto const x = known_number(m, b, first), y = second == no_id ? std::optional(0.0) : known_number(m, b, second);
  if (!x || !y) return {};
  return apply<double>(n.f, *x, *y);
}

/// A number rounded down, if it is known before the first step and can be a position.
constexpr std::optional<std::int64_t> known_position(module const& m, binding const& b, number_id row) {
  auto const x = known_number(m, b, row);
  if (!x || !(*x >= -0x1p53 && *x <= 0x1p53)) return {};
  auto const whole = static_cast<std::int64_t>(*x);
  return whole - (static_cast<double>(whole) > *x ? 1 : 0);
}
/// The step of a slice or a pad, likewise, if it is not 0; no_id: 1.
constexpr std::optional<std::int64_t> known_step(module const& m, binding const& b, number_id row) {
  if (row == no_id) return 1;
  auto const step = known_position(m, b, row);
  return step && *step != 0 ? step : std::nullopt;
}
constexpr std::optional<positions> known_positions(module const& m, binding const& b, number_id first, number_id step) {
  auto const at = known_position(m, b, first), by = known_step(m, b, step);
  if (!at || !by) return {};
  return positions{*at, *by};
}

/// The numbers of a window, if they are known before the first step.
constexpr std::optional<window_numbers> known_window(module const& m, binding const& b, window_row const& w) {
  auto const low = known_position(m, b, w.low);
  if (!low || b.extent[w.kernel] == 0) return {};
  return window_numbers{w.stride, w.dilation, *low, b.extent[w.kernel]};
}

namespace detail {

/// Binds the dims that cover parts of others: their numbers, and the longest cover.
constexpr void bind_covers(module const& m, binding& b) {
  for (int d = 0; d < m.dim_count; ++d) {
    dim_row const& row = m.dims[d];
    if (row.kind != dim_row::cover) continue;
    auto const of = packed_cover::unpacked(row.value);
    auto const reach = known_window(m, b, m.windows[of.window]);
    if (!reach) continue;  // no value of this program has the dim
    b.cover_of[d] = {static_cast<id>(row.first + 1), static_cast<id>(row.second + 1), of.of_inputs, true, *reach};
    std::int64_t ranks = 1;
    for (int o = 0, a = 0; (a = of.axes.axis_at(0, o)) >= 0; ++o) ranks *= b.axis[a];
    std::int64_t first = 0;
    b.extent[d] = 1;  // where no part is reached, too
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
      if (count != first) b.cover_of[d].even = false;
      if (count > b.extent[d]) b.extent[d] = count;
    }
  }
}

/// Binds the rows for which the ranks of an exchange have room: all that may come, from all ranks or for all groups.
constexpr void bind_rows(module const& m, binding& b) {
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    if (n.kind != primitive::exchange_rows || exchange_rows_rule::step_of(n) != row_step::count) continue;
    auto const a = exchange_rows_attributes::of(n);
    auto const of = row_holders::unpacked(m.dims[a.holders].value);
    std::int64_t const ranks = b.members(of.exchange_mask());
    value groups{};  // as the ranks hold them
    groups.dims.add(a.groups), groups.layout = of.exchange;
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
      std::int64_t const held = *most * b.local(groups, 0), whole = *most * b.extent[a.groups];
      room = held < room ? held : room, sent = whole < sent ? whole : sent;
    }
    b.extent[a.rows] = room > b.extent[a.rows] ? room : b.extent[a.rows];
    for (int d = 0; d < m.dim_count; ++d)
      if (m.dims[d].kind == dim_row::sent && m.dims[d].first == a.rows)
        b.extent[d] = sent > b.extent[d] ? sent : b.extent[d];
  }
}

/// Checks that the output of each window is as long as the window has places.
constexpr void check_windows(module const& m, binding& b) {
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    declaration const& declares = declared(m, n);
    for (int a = 0; a < max_attributes; ++a) {
      if (declares.attributes[a].kind != attribute_kind::windows) continue;
      for (int k = n.attribute[a]; k < n.attribute[a] + n.attribute[a + 1]; ++k) {
        window_row const& w = m.windows[k];
        dim_id const input = whole_dim(m, w.input), output = whole_dim(m, w.output);
        auto const window = known_window(m, b, w);
        auto const high = known_position(m, b, w.high);
        if (!window || !high || b.extent[input] == 0 || b.extent[output] == 0) continue;
        std::int64_t const places = window->outputs(b.extent[input], *high);
        if (places == b.extent[output]) continue;
        b.report << "S03 a window over '" << m.dim_name(w.kernel) << "' (" << window->size << ") along '"
                 << m.dim_name(input) << "' (" << b.extent[input] << "), with stride " << window->stride
                 << ", dilation " << window->dilation << " and padding " << window->low << " + " << *high << ", has "
                 << places << " places, but '" << m.dim_name(output) << "' is " << b.extent[output]
                 << ": declare it by divided or windowed";
        locate(b.report, m, n);
        return;
      }
    }
  }
}

}  // namespace detail

/// Faults that no extent can cure.
struct early_check {
  diagnostic report;
};
constexpr early_check check_early(module const& m) {
  binding b{};
  for (int d = 0; d < m.dim_count; ++d) {  // 0: not known yet
    dim_row const& row = m.dims[d];
    std::int64_t const first = row.first == no_id ? 0 : b.extent[row.first];
    std::int64_t const second = row.second == no_id ? 0 : b.extent[row.second];
    if (row.kind == dim_row::fixed) b.extent[d] = row.value;
    if (row.kind == dim_row::product) b.extent[d] = first * second;
    if (row.kind == dim_row::sum && first * second != 0) b.extent[d] = first + second;
    if (row.kind == dim_row::shifted && first != 0) b.extent[d] = first + row.value;
    if (row.kind == dim_row::same) b.extent[d] = first;
    if (row.kind == dim_row::windowed && first != 0) b.extent[d] = window_places::of(row.value)(first);
  }
  detail::check_same_elements(m, b);
  if (b.ok()) detail::check_windows(m, b);
  return {b.report};
}

/// Binds a module to a mesh and to the extents given at start-up.
///
/// errors  S03 dims that stand for the same elements have different extents; S10, S11 a dim's extent; S12 an axis
///         without a size
constexpr binding bind(module const& m, mesh_shape const& mesh, std::span<dim_extent const> given = {}) {
  binding b{};
  detail::bind_dims(m, given, b);
  if (b.ok()) detail::check_same_elements(m, b);
  if (b.ok()) detail::check_windows(m, b);
  if (b.ok()) detail::bind_axes(m, mesh, b);
  if (b.ok()) detail::bind_grains(m, b);
  if (b.ok()) detail::bind_blocks(m, b);
  if (b.ok()) detail::bind_covers(m, b);
  if (b.ok()) detail::bind_rows(m, b);
  return b;
}

}  // namespace meshtensor
