// SPDX-License-Identifier: Apache-2.0
// Layouts, which say which dims are sharded over which axes: the types that users write, a layout as a value, and the
// placement of one tensor.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/name.hpp"
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/base/reduction.hpp"
#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/tensor/dim.hpp"

namespace meshtensor {

/// One rule of a layout. Under the path component `scope`, or everywhere if it is empty, `dim` is sharded over `axes`,
/// the major axis first. A rule without axes replicates the dim.
struct layout_rule {
  name scope, dim;
  int count;
  name axes[max_axes];
};

/// A layout as a value.
struct layout_rules {
  int count;
  layout_rule rules[max_rules];
  diagnostic report;  // the first error, if the compiler makes the layout. At run time, the error is thrown

  constexpr layout_rules& add(layout_rule const& r) {
    for (int i = 0; i < count; ++i)
      if (rules[i].scope == r.scope && rules[i].dim == r.dim)
        return note(in_scope(diagnostic{} << "S07 the layout has two rules for the dim '" << r.dim << "'", r.scope)
                    << ": keep one of them");
    for (int i = 0; i < r.count; ++i)
      for (int j = 0; j < i; ++j)
        if (r.axes[i] == r.axes[j])
          return note(in_scope(diagnostic{} << "S05 the dim '" << r.dim << "' is sharded over the same axis twice, '"
                                            << r.axes[i] << "'",
                               r.scope)
                      << ": name it once");
    if (count == max_rules) return note(diagnostic{} << "S06 a layout has at most 64 rules");
    rules[count++] = r;
    return *this;
  }
  constexpr layout_rules& note(diagnostic const& d) {
    if (!std::is_constant_evaluated()) raise(d);
    if (report.empty()) report = d;
    return *this;
  }
  constexpr layout_rules& shard(name const& dim, std::initializer_list<name> axes, name const& scope = {}) {
    layout_rule r{};
    r.scope = scope, r.dim = dim;
    if (axes.size() > max_axes)
      return note(diagnostic{} << "S08 the dim '" << dim << "' is sharded over more than 6 axes, which no mesh has");
    for (name const& a : axes) r.axes[r.count++] = a;
    return add(r);
  }
  constexpr layout_rules& replicate(name const& dim, name const& scope = {}) { return shard(dim, {}, scope); }

 private:
  static constexpr diagnostic in_scope(diagnostic d, name const& scope) {
    if (!scope.empty()) d << " in the scope '" << scope << "'";
    return d;
  }
};

/// Shards a dim over one axis, or over several axes with the major one first: `shard<batch, data>`.
template <auto Dim, auto... Axes>
struct shard {
  static constexpr bool begins_with_dim = dim_type<std::remove_cvref_t<decltype(Dim)>>;
  static constexpr bool names_axes = sizeof...(Axes) > 0 && (mesh_axis<std::remove_cvref_t<decltype(Axes)>> && ...);
  static_assert(begins_with_dim, "meshtensor S08: shard<dim, axis...> begins with a dim");
  static_assert(names_axes || !begins_with_dim,
                "meshtensor S08: shard<dim, axis...> names at least one axis of the mesh");
  static constexpr void add_to(layout_rules& r, name const& scope) {
    if constexpr (begins_with_dim && names_axes) {
      std::initializer_list<name> const axes{Axes.axis_name...};  // nvcc loses a braced pack among a call's arguments
      r.shard(Dim.dim_name, axes, scope);
    }
  }
};

/// Replicates, inside a scope, a dim that is sharded outside of it.
template <auto Dim>
struct replicate {
  static constexpr bool names_dim = dim_type<std::remove_cvref_t<decltype(Dim)>>;
  static_assert(names_dim, "meshtensor S08: replicate<dim> names a dim");
  static constexpr void add_to(layout_rules& r, name const& scope) {
    if constexpr (names_dim) r.replicate(Dim.dim_name, scope);
  }
};

/// Rules for the nodes traced under the path component `Scope`, at any depth: `in<"optimizer", shard<d_model, data>>`.
/// They override the outer rules for the dims that they name, and all other rules are inherited. If several components
/// have rules for a dim, the innermost component wins.
template <name Scope, class... Rules>
struct in {
  static constexpr void add_to(layout_rules& r, name const& outer) {
    if (!outer.empty())
      r.note(diagnostic{} << "S09 in<\"" << Scope << "\", ...> stands inside in<\"" << outer
                          << "\", ...>: write it beside it, the innermost scope wins");
    for (std::size_t i = 0; i < Scope.size(); ++i)
      if (Scope[i] == '/')
        r.note(diagnostic{} << "S09 in<\"" << Scope << "\", ...> names a path of scopes: name the inner one alone");
    (Rules::add_to(r, Scope), ...);
  }
};

/// The layout of a whole program: `struct layout : mt::layout<shard<batch, data>, shard<d_ff, model>> {};` Layouts
/// change speed and memory, but never results.
template <class... Rules>
struct layout {
  static constexpr layout_rules sharding_rules = [] {
    layout_rules r{};
    (Rules::add_to(r, name{}), ...);
    return r;
  }();
  static_assert(is_valid<layout::sharding_rules>);
  static constexpr layout_rules const& rules = sharding_rules;  // hidden if the user's own layout is called `rules`
};

template <class L>
concept layout_type = requires {
  { L::sharding_rules } -> std::same_as<layout_rules const&>;
};

/// The placement of one tensor on the mesh. Each axis shards one dim, holds the terms of a partial reduction, or
/// replicates. If all bits are zero, the tensor is replicated on every axis. A placement is packed into one word, so
/// that two placements compare in one step.
struct placement {
  std::uint64_t bits;  // for each axis: its dim's position plus 1 (4 bits), its order in that dim (3), a reduction (2)

  constexpr bool operator==(placement const&) const = default;

  /// In a loop's body, the position of the dim that the loop runs over. An axis that shards this dim cuts the loop's
  /// stack. Therefore only the rank that holds the slice of the current iteration holds the value.
  static constexpr int of_loop = 14;

  /// The position of the dim that an axis shards, or -1.
  constexpr int sharded_at(int axis) const { return static_cast<int>(bits >> shift(axis) & 15) - 1; }
  constexpr bool shards(int axis) const { return (bits >> shift(axis) & 15) != 0; }
  /// The axis's place in the list of axes that shard its dim. The major axis has place 0.
  constexpr int order(int axis) const { return static_cast<int>(bits >> (shift(axis) + 4) & 7); }
  constexpr reduction part(int axis) const { return static_cast<reduction>(bits >> (shift(axis) + 7) & 3); }
  constexpr bool is_partial(int axis) const { return (bits >> (shift(axis) + 7) & 3) != 0; }
  constexpr bool is_replicated(int axis) const { return (bits >> shift(axis) & 0x1ff) == 0; }
  constexpr bool has_partial() const { return (bits & every_part) != 0; }
  /// How many axes shard the dim at `position`.
  constexpr int axes_of(int position) const {
    int n = 0;
    for (std::uint64_t rest = bits; rest != 0; rest >>= width) n += static_cast<int>(rest & 15) == position + 1;
    return n;
  }
  /// The axis at place `order` in the list of the dim at `position`, or -1.
  constexpr int axis_at(int position, int order) const {
    auto const wanted = static_cast<std::uint64_t>(position + 1 + order * 16);
    int a = 0;
    for (std::uint64_t rest = bits; rest != 0; rest >>= width, ++a)
      if ((rest & 0x7f) == wanted) return a;
    return -1;
  }
  constexpr void set_part(int axis, reduction kind) { set(axis, 7, 3, static_cast<int>(kind)); }
  constexpr void set_order(int axis, int order) { set(axis, 4, 7, order); }
  /// Shards the dim at `position` over one more axis. Without `order`, it becomes the minor axis of the dim.
  constexpr void shard(int position, int axis) { shard(position, axis, axes_of(position)); }
  constexpr void shard(int position, int axis, int order) { set(axis, 0, 0x7f, position + 1 + order * 16); }
  constexpr void unshard(int axis) { set(axis, 0, 0x7f, 0); }
  /// Stops the axis from sharding its dim. The axes of that dim that are more minor move up.
  constexpr void leave(int axis) {
    for (int a = 0; a < max_axes; ++a)
      if (a != axis && sharded_at(a) == sharded_at(axis) && order(a) > order(axis)) set_order(a, order(a) - 1);
    unshard(axis);
  }

 private:
  static constexpr int width = 9;                                  // bits for each axis
  static constexpr std::uint64_t every_part = 0x6030180c06030180;  // the reduction's 2 bits of each 9
  static constexpr int shift(int axis) { return axis * width; }
  constexpr void set(int axis, int first, std::uint64_t mask, int value) {
    int const at = shift(axis) + first;
    bits = (bits & ~(mask << at)) | static_cast<std::uint64_t>(value) << at;
  }
  static_assert(max_axes * width < 64 && max_dims_of_one < of_loop && of_loop < 15);
};

}  // namespace meshtensor
