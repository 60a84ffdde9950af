// SPDX-License-Identifier: Apache-2.0
// Adds rows to the tables of a module whose ids never change: names, dims, paths, lines and numbers. It reports errors
// in the program with its current line.
#pragma once

#include <span>

#include "meshtensor/graph/locate.hpp"
#include "meshtensor/tensor/dim.hpp"

namespace meshtensor {

struct table_builder {
  meshtensor::module& m;
  site_id site;  // the user's line of new rows and nodes

  constexpr explicit table_builder(module& target) : m(target), site(no_id) {}

  /// Reports an error in the program, with the current line. At run time it is thrown. At compile time the first error
  /// is stored, and the caller goes on with a harmless value, so that the module is complete and its report can be
  /// shown.
  constexpr void note(diagnostic d) { find(add_line(d, m, site)); }
  /// Reports an error whose sentence already has its lines.
  constexpr void find(diagnostic const& d) {
    if (!m.report.empty()) return;
    if (!std::is_constant_evaluated()) raise(d);
    m.report = d;
  }
  /// Refuses the program for an error that the compiler has reported itself. Therefore no other error is reported, and
  /// the text has no code, because no one sees it.
  constexpr void give_up() {
    if (!m.report.empty()) return;
    m.report << "the compiler says what is wrong";
    m.report.is_said = true;
  }
  /// Reports a sentence such as `G04 a scope …` unless a condition holds. Returns the condition.
  constexpr bool expect(bool holds, char const* sentence) {
    if (!holds) {
      diagnostic d{};
      note(d << sentence);
    }
    return holds;
  }
  static constexpr char const* region_rows = "regions (loops, branches, kernels, composites and their gradients)";
  /// Makes room for rows of a table. If it is full, its last rows are overwritten, because the program is rejected
  /// anyway.
  constexpr void make_room(int& count, int wanted, int capacity, char const* code, char const* what) {
    if (count + wanted <= capacity) return;
    diagnostic d{};
    note(d << code << " the program has more than " << capacity << " " << what
           << ": write equal layers as one repeat, or compile with -DMESHTENSOR_MAX_NODES="
           << (max_nodes < 4096 ? 4096 : 2 * max_nodes) << ", which makes room for more");
    count = capacity - wanted;
  }

  // tables
  constexpr name_id intern(name const& n) {
    for (int i = 0; i < m.name_count; ++i)
      if (m.names[i] == n) return static_cast<name_id>(i);
    make_room(m.name_count, 1, max_names, "G13", "names");
    m.names[m.name_count] = n;
    return static_cast<name_id>(m.name_count++);
  }

  constexpr dim_id dim(name const& label, extent_rule const& rule) {
    for (int i = 0; i < m.dim_count; ++i)
      if (m.names[m.dims[i].label] == label) {
        if (!same_rule(m.dims[i], rule)) find_two_extents(m.dims[i], rule);
        return static_cast<dim_id>(i);
      }
    dim_row row{static_cast<dim_row::kind_t>(rule.kind), intern(label), no_id, no_id, rule.value};
    if (rule.kind == extent_rule::fixed && has_dim(rule.first)) row.first = find_dim(rule.first);
    if (rule.kind > extent_rule::dynamic) {
      row.first = find_dim(rule.first, label);
      if (!rule.second.empty()) row.second = find_dim(rule.second, label);
    }
    return add_dim(row);
  }
  /// The dim with a name that an extent expression or a number uses. If no tensor has it, reports T08 and adds a
  /// dynamic dim.
  constexpr dim_id find_dim(name const& label, name const& made = {}) {
    for (int i = 0; i < m.dim_count; ++i)
      if (m.names[m.dims[i].label] == label) return static_cast<dim_id>(i);
    diagnostic d{};
    if (made.empty()) d << "T08 a number";
    else d << "T08 the dim '" << made << "'";
    note(d << " is made from the extent of '" << label << "', a dim that no tensor of this program has had before");
    return add_dim({dim_row::dynamic, intern(label), no_id, no_id, 0});
  }
  /// A dim of the library's own with the extent of dim `d`, for operations that need a second one.
  constexpr dim_id dim_like(dim_id d) {
    for (int i = 0; i < m.dim_count; ++i)
      if (m.dims[i].kind == dim_row::same && m.dims[i].first == d) return static_cast<dim_id>(i);
    return add_dim({dim_row::same, own_label(d, "again"), d, no_id, 0});
  }
  /// A label for a dim that is made from another dim, for example `length/blocks`. It ends in a number if there is such
  /// a dim already.
  constexpr name_id own_label(dim_id of, char const* what) {
    bool const fits = m.dim_name(of).size() + 12 <= name::capacity;
    auto const label = [&](int number) {
      diagnostic d{};
      if (fits) d << m.dim_name(of) << "/" << what;
      else d << "dim " << of << "/" << what;
      if (number != 0) d << number;
      return name::of(d.view());
    };
    return intern(has_dim(label(0)) ? label(m.dim_count) : label(0));
  }
  constexpr bool has_dim(name const& label) const {
    for (int i = 0; i < m.dim_count; ++i)
      if (m.names[m.dims[i].label] == label) return true;
    return false;
  }
  constexpr dim_id add_dim(dim_row const& row) {
    if (!expect(m.dim_count < max_dims, "G14 a program has at most 128 dims")) return dim_id{max_dims - 1};
    m.dims[m.dim_count] = row;
    return static_cast<dim_id>(m.dim_count++);
  }

  constexpr path_id add_path(path_id parent, name_id label) {
    for (int i = parent == no_id ? 0 : static_cast<int>(parent) + 1; i < m.path_count; ++i)  // parents come before
      if (m.paths[i].parent == parent && m.paths[i].label == label) return static_cast<path_id>(i);
    make_room(m.path_count, 1, max_paths, "G15", "paths, those of the optimizer included");
    if (parent == m.path_count) return parent;  // the last row again, which must not be its own parent
    m.paths[m.path_count] = {parent, label};
    return static_cast<path_id>(m.path_count++);
  }
  /// A name with a slash is a path, so `s.parameter("item/bias", …)` is `(s / "item").parameter("bias", …)`.
  constexpr path_id add_path(path_id parent, name const& label) {
    char part[name::capacity] = {};
    std::size_t length = 0;
    for (std::size_t i = 0; i < label.size(); ++i) {
      if (label[i] != '/') {
        part[length++] = label[i];
      } else if (length != 0) {
        parent = add_path(parent, intern(name::of({part, length})));
        length = 0;
      }
    }
    if (length == label.size()) return add_path(parent, intern(label));
    return length == 0 ? parent : add_path(parent, intern(name::of({part, length})));
  }

  constexpr site_id add_site(char const* file, std::uint32_t number) {
    make_room(m.site_count, 1, max_values, "G16", "lines");
    m.sites[m.site_count] = {file, number};
    return static_cast<site_id>(m.site_count++);
  }

  constexpr number_id add_number(number_row const& row) {
    int const first = row.kind == number_row::expression ? static_cast<int>(row.first) + 1 : 0;  // operands come before
    for (int i = first; i < m.number_count; ++i) {
      number_row const& r = m.numbers[i];
      if (r.kind == row.kind && r.f == row.f && r.first == row.first && r.second == row.second &&
          r.value.is_same(row.value))
        return static_cast<number_id>(i);
    }
    make_room(m.number_count, 1, max_numbers, "G17", "numbers");
    m.numbers[m.number_count] = row;
    return static_cast<number_id>(m.number_count++);
  }
  /// Adds a number that is set by name, declared at the current line.
  constexpr number_id add_named_number(name const& label, number_value const& unless_set) {
    name_id const called = intern(label);
    for (int i = 0; i < m.number_count; ++i) {
      number_row const& r = m.numbers[i];
      if (r.kind != number_row::named || r.first != called) continue;
      if (!r.value.is_same(unless_set)) {
        diagnostic d{};
        add_exact(d << "G03 the number '" << label << "' is declared twice, as ", r.value);
        add_exact(add_line(d, m, static_cast<site_id>(r.second)) << " and as ", unless_set);
        find(add_line(d, m, site) << ": give both the same value, or one of them another name");
      }
      return static_cast<number_id>(i);
    }
    return add_number({number_row::named, function::copy, called, site, unless_set});
  }
  /// Adds rows to the table of windows, one after the other, unless they are there already. Returns the first row.
  constexpr id add_windows(std::span<window_row const> rows) {
    int const count = static_cast<int>(rows.size());
    for (int first = 0; first + count <= m.window_count; ++first) {
      int k = 0;
      while (k < count && m.windows[first + k] == rows[static_cast<std::size_t>(k)]) ++k;
      if (k == count) return static_cast<id>(first);
    }
    make_room(m.window_count, count, max_windows, "G02", "windows");
    for (window_row const& row : rows) m.windows[m.window_count++] = row;
    return static_cast<id>(m.window_count - count);
  }
  constexpr number_id literal(number_value const& v) {
    return add_number({number_row::literal, function::copy, no_id, no_id, v});
  }

 private:
  constexpr void find_two_extents(dim_row const& row, extent_rule const& rule) {
    auto const say = [](diagnostic& d, int kind, std::int64_t extent) -> diagnostic& {
      if (kind == extent_rule::fixed) return d << extent;
      return d << (kind == extent_rule::dynamic ? "one that is open" : "one made from other dims");
    };
    diagnostic d{};
    d << "T05 the dim '" << m.names[row.label] << "' has two extents in this program, ";
    say(say(d, row.kind, row.value) << " and ", rule.kind, rule.value) << ": give one of the two dims another name";
    note(d);
  }
  constexpr bool same_rule(dim_row const& row, extent_rule const& rule) const {
    if (static_cast<int>(row.kind) != static_cast<int>(rule.kind) || row.value != rule.value) return false;
    return rule.kind <= extent_rule::dynamic || m.names[m.dims[row.first].label] == rule.first;
  }
};

}  // namespace meshtensor
