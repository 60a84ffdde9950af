// SPDX-License-Identifier: Apache-2.0
// Checks extents against each other. It checks dims that stand for the same elements, windows and the dims that they
// give, and dims that are sliced or padded.
#pragma once

#include "meshtensor/pass/bind/known_number.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

namespace detail {

/// Checks dims that stand for the same elements by a node: a dim and its new name, or a dim and its parts. If an extent
/// is not known yet, it is 0.
constexpr void check_elements_of_node(module const& m, binding& b, same_elements const& same, node const& n) {
  shape const &before = same.before, &after = same.after;
  if (before.count == 0) return;
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
  if (total(before) == total(after) || !known) return;
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
  b.report << ", which is another number of elements: ";
  if (before.count == 1 && after.count == 1)
    b.report << "declare '" << m.dim_name(after.at[0]) << "' with the extent of '" << m.dim_name(before.at[0]) << "'";
  else b.report << "both sides must have the same " << (same.adds ? "sum" : "product");
  locate(b.report, m, n);
}
/// Checks them for all nodes, and for the nodes that `partition` has replaced by others.
constexpr void check_same_elements(module const& m, binding& b) {
  for (int i = 0; i < m.reshape_count && b.ok(); ++i) {
    reshape_row const& row = m.reshapes[i];
    node replaced{};
    replaced.kind = row.kind, replaced.site = row.site;
    if (row.replaced) check_elements_of_node(m, b, row.same, replaced);
  }
  for (int i = 0; i < m.node_count && b.ok(); ++i) check_elements_of_node(m, b, elements_of(m, m.nodes[i]), m.nodes[i]);
}

/// Checks that the output of each window is as long as the number of the window's places.
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
                 << (places == 0       ? ": make the kernel smaller, or pad more"
                     : input == output ? ": pad it, as by mt::centred_padding, or name another output"
                                       : ": declare it by divided or windowed");
        locate(b.report, m, n);
        return;
      }
    }
  }
}

/// A slice or a pad as a move, with the numbers by which it shifts.
constexpr move_attributes as_move(node const& n) {
  if (n.kind == primitive::slice) {
    strided_window const a = strided_window::of(n);
    return {a.from, a.to, a.first, no_id, 0, shift_kind::cut, a.step};
  }
  pad_attributes const a = pad_attributes::of(n);
  return {a.from, a.to, a.first, a.around, 0, shift_kind::spread, a.step};
}
/// Checks that slices and pads stay within the longer one of their two dims, if their numbers are known.
constexpr void check_places(module const& m, binding& b) {
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    if (n.kind != primitive::slice && n.kind != primitive::pad && !shifts(n)) continue;
    move_attributes const a = n.kind == primitive::move ? move_attributes::of(n) : as_move(n);
    if (a.from == a.to || a.how == shift_kind::wrap || a.how == shift_kind::reverse) continue;
    bool const is_slice = a.how == shift_kind::cut;
    if (a.step != no_id && known_position(m, b, a.step) == 0) {
      b.report << "S03 " << (is_slice ? "a slice" : "a pad") << " of '" << m.dim_name(a.from)
               << "' has the step 0: the step is 1, another whole number, or a negative one";
      locate(b.report, m, n);
      return;
    }
    auto const at = known_positions(m, b, a.first, a.step);
    std::int64_t const from = b.extent[a.from], to = b.extent[a.to];
    if (!at || from == 0 || to == 0 || are_within(*at, is_slice ? to : from, is_slice ? from : to)) continue;
    b.report << "S03 " << (is_slice ? "a slice of '" : "'") << m.dim_name(a.from) << "' (" << from
             << (is_slice ? ") from " : "), padded from ") << at->first << " on";
    if (at->step != 1) b.report << " in steps of " << at->step;
    b.report << (is_slice ? ", as long as '" : " to '") << m.dim_name(a.to) << "' (" << to
             << "), reaches beyond its ends: ";
    std::int64_t const count = is_slice ? to : from, room = is_slice ? from : to, end = (*at)[count - 1];
    std::int64_t const least = std::min(at->first, end), most = std::max(at->first, end);
    if (most - least >= room)
      b.report << "it needs '" << m.dim_name(is_slice ? a.from : a.to) << "' to be at least " << most - least + 1;
    else if (least < 0) b.report << "let it begin at " << at->first - least << " or later";
    else b.report << "let it begin at " << at->first - (most - room + 1) << " or earlier";
    locate(b.report, m, n);
    return;
  }
}

/// Checks that the bytes of all tensors together can be counted.
constexpr void check_sizes(module const& m, binding& b) {
  constexpr std::int64_t most = std::int64_t{1} << 60;
  std::int64_t total = 0;
  for (int v = 0; v < m.value_count; ++v) {
    value const& x = m.values[v];
    auto bytes = static_cast<std::int64_t>(bytes_of(x.type));
    for (int k = 0; k < x.dims.count; ++k) {
      std::int64_t const extent = std::max<std::int64_t>(1, b.extent[x.dims.at[k]]);
      bytes = bytes > most / extent ? most : bytes * extent;
    }
    total += bytes;
    if (total < most) continue;
    b.report << "S17 the tensors of this program would have more than 2^60 bytes, with one of [";
    for (int k = 0; k < x.dims.count; ++k)
      b.report << (k == 0 ? "" : ", ") << m.dim_name(x.dims.at[k]) << "=" << b.extent[x.dims.at[k]];
    b.report << "]: give smaller extents";
    return;
  }
}

}  // namespace detail

/// The result of `check_early`: an error that no extents can cure.
struct early_check {
  diagnostic report;
};
constexpr early_check check_early(module const& m) {
  binding b{};
  for (int d = 0; d < m.dim_count; ++d) {  // an extent stays 0 if it is not known yet
    dim_row const& row = m.dims[d];
    std::int64_t const first = row.first == no_id ? 0 : b.extent[row.first];
    std::int64_t const second = row.second == no_id ? 0 : b.extent[row.second];
    if (row.kind == dim_row::fixed) b.extent[d] = row.value;
    if (row.kind == dim_row::product) b.extent[d] = first * second;
    if (row.kind == dim_row::quotient && first * second != 0) b.extent[d] = (first - 1) / second + 1;
    if (row.kind == dim_row::sum && first * second != 0) b.extent[d] = first + second;
    if (row.kind == dim_row::shifted && first != 0) b.extent[d] = first + row.value;
    if (row.kind == dim_row::same) b.extent[d] = first;
    if (row.kind == dim_row::windowed && first != 0) b.extent[d] = window_places::of(row.value)(first);
  }
  detail::check_same_elements(m, b);
  if (b.ok()) detail::check_windows(m, b);
  return {b.report};
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
