// SPDX-License-Identifier: Apache-2.0
// Checks at compile time that executables can share one store. A shared parameter must have the same layout and the
// same initializer in each.
#pragma once

#include <limits>

#include "meshtensor/run/executable.hpp"

namespace meshtensor {
namespace detail {

constexpr bool same_path(module const& a, path_id p, module const& b, path_id q) {
  while (p != no_id && q != no_id) {
    if (!(a.names[a.paths[p].label] == b.names[b.paths[q].label])) return false;
    p = a.paths[p].parent, q = b.paths[q].parent;
  }
  return p == q;
}
constexpr bool has_variable(module const& m, int v) {
  for (int i = 0; i < m.node_count; ++i)
    if ((m.nodes[i].kind == primitive::read || m.nodes[i].kind == primitive::write) && variable_of(m.nodes[i]) == v)
      return true;
  return false;
}

/// The first axis in the list of a dim, from position `o` on, that may have several ranks, or -1 if there is none. Sets
/// `o` to its position.
constexpr int axis_of_several(module const& m, variable const& v, int position, int& o) {
  int axis = v.layout.axis_at(position, o);
  while (axis >= 0 && m.axes[axis].extent == 1) axis = v.layout.axis_at(position, ++o);
  return axis;
}

/// Whether a variable has the same dtype, dims and layout in two modules.
constexpr bool lie_alike(module const& a, variable const& x, module const& b, variable const& y) {
  if (x.type != y.type || x.dims.count != y.dims.count) return false;
  for (int i = 0; i < x.dims.count; ++i) {
    if (!(a.dim_name(x.dims.at[i]) == b.dim_name(y.dims.at[i]))) return false;
    for (int o = 0, u = 0;; ++o, ++u) {
      int const p = axis_of_several(a, x, i, o), q = axis_of_several(b, y, i, u);
      if ((p < 0) != (q < 0) || (p >= 0 && !(a.names[a.axes[p].label] == b.names[b.axes[q].label]))) return false;
      if (p < 0) break;
    }
  }
  return true;
}

/// A variable's initializer as far as the compiler knows it. `value` is NaN if only start-up knows it.
struct known_start {
  initializer_kind kind;
  number_value value;

  static constexpr known_start of(module const& m, variable const& v) {
    number_value const unknown = std::numeric_limits<double>::quiet_NaN();
    number_row const& n = m.numbers[v.number];
    if (v.start != initializer_kind::automatic) return {v.start, n.kind == number_row::literal ? n.value : unknown};
    if (v.dims.count - v.own < 2) return {initializer_kind::constant, 0};
    return {initializer_kind::normal, unknown};
  }
  constexpr bool differs_from(known_start const& other) const {
    return kind != other.kind || (value == value && other.value == other.value && !(value == other.value));
  }
};

/// Reports the first variable that two partitioned modules share with another layout or another initializer.
constexpr diagnostic disagreement(module const& a, name const& in_a, module const& b, name const& in_b) {
  for (int v = 0; v < a.variable_count; ++v)
    for (int w = 0; w < b.variable_count; ++w) {
      variable const &x = a.variables[v], &y = b.variables[w];
      if (!same_path(a, x.path, b, y.path) || !has_variable(a, v) || !has_variable(b, w)) continue;
      bool const alike = lie_alike(a, x, b, y);
      if (alike && !known_start::of(a, x).differs_from(known_start::of(b, y))) continue;
      diagnostic d{};
      if (alike) {
        add_path(d << "S14 '", a, x.path) << "' starts with ";
        add_line(add_start(d, a, x.start, x.number), a, x.site) << " in '" << in_a << "' and with ";
        return add_line(add_start(d, b, y.start, y.number), b, y.site)
               << " in '" << in_b << "': programs that share a parameter must give it the same initializer";
      }
      d << "S14 '";
      add_path(d, a, x.path);
      add_type(d << "' is ", a, x.type, x.dims, x.layout) << " in '" << in_a << "' but ";
      return add_type(d, b, y.type, y.dims, y.layout)
             << " in '" << in_b << "': programs that share parameters must imply one layout for each";
    }
  return {};
}

struct sharing {
  diagnostic report;
};
template <class First, class Second>
inline constexpr sharing shared_by = [] {
  if constexpr (early)
    return sharing{disagreement(First::stages::partitioned, entry_name<typename First::entry>(),
                                Second::stages::partitioned, entry_name<typename Second::entry>())};
  else return sharing{};
}();

}  // namespace detail

/// Refuses at compile time executables that give a shared parameter different layouts or initializers. Otherwise their
/// store would refuse them at start-up. Write `static_assert(mt::one_store<step, evaluation, talk>);`.
///
/// errors  S14, with both layouts or both lines
template <class First, class... Others>
inline constexpr bool one_store = (is_valid<detail::shared_by<First, Others>> && ...) && [] {
  if constexpr (sizeof...(Others) > 1) return one_store<Others...>;
  else return true;
}();

}  // namespace meshtensor
