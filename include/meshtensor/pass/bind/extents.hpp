// SPDX-License-Identifier: Apache-2.0
// Binds the extents of dims that do not depend on the mesh: given extents, and extents that are made from others.
#pragma once

#include <span>

#include "meshtensor/pass/bind/known_number.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// The dims that a module uses: the dims of its values and loops, and the dims that its numbers are computed from.
/// Programs that are declared together share one table of dims, but each is bound on its own. Therefore only the dims
/// of this program need extents.
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
        if (d.attributes[a].is_number() && n.attribute[a] != id{no_id}) row[n.attribute[a]] = true;
        if (d.attributes[a].kind != attribute_kind::windows) continue;
        for (int w = n.attribute[a]; w < n.attribute[a] + n.attribute[a + 1]; ++w) need(m.windows[w]);
      }
    }
    for (int d = 0; d < m.dim_count; ++d)
      if (at[d] && m.dims[d].kind == dim_row::halo) need(m.windows[packed_halo::unpacked(m.dims[d].value).window]);
    for (int d = 0; d < m.dim_count; ++d)
      if (at[d] && m.dims[d].kind == dim_row::counted) row[m.dims[d].value] = true;
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

/// The longest allowed dim, so that sizes in bytes and counts of operations stay within 64 bits.
inline constexpr std::int64_t longest_dim = std::int64_t{1} << 48;
constexpr std::int64_t product_up_to_longest(std::int64_t a, std::int64_t b) {
  return a > 0 && b > longest_dim / a ? longest_dim + 1 : a * b;
}

/// The extent of a loop's dim that a number gives. It is 0 if the number is less than 1, or known only during steps.
constexpr std::int64_t most_iterations(module const& m, binding const& b, dim_row const& row) {
  auto const most = known_number(m, b, static_cast<number_id>(row.value));
  if (!most || !(most->real >= 1)) return 0;
  return most->real > static_cast<double>(longest_dim) ? longest_dim + 1 : static_cast<std::int64_t>(most->real);
}

/// Adds the loop that counts its iterations by a dim: ` 'newton' (train.cpp:31)`.
[[gnu::cold]] constexpr void add_loop(diagnostic& d, module const& m, dim_id counted) {
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    bool has_it = false;
    for (int a = 0; a < max_attributes; ++a)
      has_it = has_it || (declared(m, n).attributes[a].kind == attribute_kind::dim && n.attribute[a] == counted);
    if (!has_it || n.kind != primitive::repeat) continue;
    if (n.path != no_id) add_path(d << " '", m, n.path) << "'";
    add_line(d, m, n.site);
    return;
  }
}

constexpr void bind_dims(module const& m, std::span<dim_extent const> given, binding& b) {
  for (dim_extent const& g : given) {
    int d = 0;
    while (d < m.dim_count && !(m.dim_name(d) == g.label)) ++d;
    if (d == m.dim_count) {
      b.report << "S15 an extent is given for the dim '" << g.label << "', which this program does not have";
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
    if (g.extent > longest_dim) {
      b.report << "S17 the dim '" << g.label << "' cannot have the extent " << g.extent
               << ": an extent is at most 2^48";
      return;
    }
    b.extent[d] = g.extent;
  }
  needed_dims const needed(m);
  for (int d = 0; d < m.dim_count; ++d) {  // a row refers only to earlier rows
    dim_row const& row = m.dims[d];
    switch (row.kind) {
      case dim_row::fixed: b.extent[d] = row.value; break;
      case dim_row::product: b.extent[d] = product_up_to_longest(b.extent[row.first], b.extent[row.second]); break;
      case dim_row::quotient:
        b.extent[d] = b.extent[row.second] == 0 ? 0 : (b.extent[row.first] - 1) / b.extent[row.second] + 1;
        break;
      case dim_row::sum: b.extent[d] = b.extent[row.first] + b.extent[row.second]; break;
      case dim_row::shifted: b.extent[d] = b.extent[row.first] + row.value; break;
      case dim_row::same: b.extent[d] = b.extent[row.first]; break;
      case dim_row::windowed: b.extent[d] = window_places::of(row.value)(b.extent[row.first]); break;
      case dim_row::counted: b.extent[d] = most_iterations(m, b, row); break;
      case dim_row::holders:
      case dim_row::rows:
      case dim_row::sent:
      case dim_row::blocks:
      case dim_row::in_block:
      case dim_row::halo: continue;  // depend on the sizes of axes: bind_blocks, bind_halos, bind_rows
      case dim_row::dynamic: break;
    }
    if (b.extent[d] > longest_dim) {
      b.report << "S17 the dim '" << m.dim_name(d) << "' would have an extent of more than 2^48: ";
      if (row.first == id{no_id}) b.report << "make it shorter";
      else b.report << "'" << m.dim_name(row.first) << "' is " << b.extent[row.first] << ", make it shorter";
      return;
    }
    if (b.extent[d] < 1 && needed.at[d] && row.kind != dim_row::dynamic) {
      if (row.kind == dim_row::counted) {
        add_loop(b.report << "S18 the while_loop", m, static_cast<dim_id>(d));
        b.report << " needs at_most of a number of at least 1 that is known when the executable is made: a literal, or "
                 << "made of extents";
        return;
      }
      b.report << "S16 the dim '" << m.dim_name(d) << "' would have the extent " << b.extent[d]
               << ", by the dims that it is made from: ";
      if (row.kind == dim_row::windowed)
        b.report << "a window needs " << -window_places::of(row.value).offset << " elements of '"
                 << m.dim_name(row.first) << "', which has " << b.extent[row.first];
      else
        b.report << "'" << m.dim_name(row.first) << "' is " << b.extent[row.first] << ", but an extent is at least 1";
      return;
    }
    if (b.extent[d] < 1 && needed.at[d]) {
      b.report << "S11 the dim '" << m.dim_name(d) << "' has no extent: give one, as in " << m.dim_name(d) << "(64)";
      return;
    }
  }
}

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
