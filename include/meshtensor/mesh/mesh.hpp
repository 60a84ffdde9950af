// SPDX-License-Identifier: Apache-2.0
// A mesh: ranks arranged along named axes. Users write the type `mesh`, and passes read its value `mesh_shape`.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/name.hpp"

namespace meshtensor {

/// The number of ranks along a named axis, given at start-up: `data(4)`.
struct axis_extent {
  name label;
  std::int64_t extent;
};

/// A named axis of a mesh with its number of ranks, unless that number is chosen at start-up.
///
///     inline constexpr struct data : mt::axis<"data"> {} data;          // as many as are started
///     inline constexpr struct model : mt::axis<"model", 2> {} model;
template <name Name, std::int64_t Extent = 0>
struct axis {
  static_assert(Extent >= 0, "meshtensor S01: an axis has at least one rank");
  static_assert(Extent <= max_ranks, "meshtensor S01: a mesh has at most 1048576 ranks");
  static constexpr name axis_name = Name;
  static constexpr std::int64_t axis_size = Extent;  // 0 if it is bound at start-up
  constexpr axis_extent operator()(std::int64_t ranks) const { return {Name, ranks}; }
};

template <class A>
concept mesh_axis = requires {
  { A::axis_name } -> std::same_as<name const&>;
  requires A::axis_size >= 0;
};

/// The axes of a mesh with their extents, 0 if not bound yet. Ranks count row-major, so the last axis varies fastest.
/// The ranks, and so every stride, are at most `max_ranks`, because ranks are numbered by `int`.
struct mesh_shape {
  struct row {
    name label;
    std::int64_t extent;
  };
  int count;
  row axes[max_axes];

  constexpr int find(name const& label) const {
    for (int a = 0; a < count; ++a)
      if (axes[a].label == label) return a;
    return -1;
  }
  /// The number of ranks. Every axis must be bound.
  constexpr std::int64_t size() const {
    std::int64_t n = 1;
    for (int a = 0; a < count; ++a) n *= axes[a].extent;
    return n;
  }
  /// The difference in rank between two neighbours along axis `a`.
  constexpr std::int64_t stride(int a) const {
    std::int64_t n = 1;
    for (int b = a + 1; b < count; ++b) n *= axes[b].extent;
    return n;
  }
  /// The position of a rank along axis `a`.
  constexpr std::int64_t coordinate(std::int64_t rank, int a) const { return rank / stride(a) % axes[a].extent; }

  constexpr mesh_shape& add(name const& label, std::int64_t extent) {
    require(count < max_axes, "S24: a mesh has at most 6 axes");
    require(find(label) < 0, "S25: two axes of the mesh have the same name: rename one");
    require(extent <= max_ranks / ranks_besides(-1), "S01: a mesh has at most 1048576 ranks");
    axes[count++] = {label, extent};
    return *this;
  }
  /// Binds the extent of one axis, in place.
  ///
  /// errors  S01 the axis cannot have this extent; S04 the mesh has no such axis
  constexpr mesh_shape& bind(axis_extent given) {
    int const a = find(given.label);
    diagnostic d{};
    d << (a < 0 ? "S04 the axis '" : "S01 the axis '") << given.label << "' cannot have the extent " << given.extent
      << ": ";
    if (a < 0) {
      d << "the mesh has no such axis; it has:";
      for (int i = 0; i < count; ++i) d << (i == 0 ? " " : ", ") << axes[i].label;
      raise(d);
    }
    if (given.extent < 1) raise(d << "an axis has at least one rank");
    if (axes[a].extent != 0 && axes[a].extent != given.extent)
      raise(d << "it has " << axes[a].extent << ", from its type or given before");
    if (std::int64_t const others = ranks_besides(a); given.extent > max_ranks / others) {
      d << "a mesh has at most 1048576 ranks";
      if (others > 1) d << ", and its other axes have " << others;
      raise(d);
    }
    axes[a].extent = given.extent;
    return *this;
  }

  /// The product of the extents of all axes but `a`. Those that are not bound count as 1.
  constexpr std::int64_t ranks_besides(int a) const {
    std::int64_t n = 1;
    for (int b = 0; b < count; ++b)
      if (b != a && axes[b].extent > 1) n *= axes[b].extent;
    return n;
  }
};

namespace detail {
/// Whether all axes have different names. They are in an array, because nvcc does not accept a braced pack in its
/// place.
template <class... Axis>
constexpr bool names_differ() {
  return true;  // another assertion reports the wrong type
}
template <mesh_axis... Axis>
constexpr bool names_differ() {
  name const labels[sizeof...(Axis) + 1] = {Axis::axis_name...};
  for (std::size_t i = 0; i < sizeof...(Axis); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (labels[i] == labels[k]) return false;
  return true;
}
/// Whether the axes that have a size make at most `max_ranks` ranks.
template <class... Axis>
constexpr bool is_small_mesh() {
  return true;  // another assertion reports the wrong type
}
template <mesh_axis... Axis>
constexpr bool is_small_mesh() {
  std::int64_t const extents[sizeof...(Axis) + 1] = {Axis::axis_size...};
  std::int64_t n = 1;
  bool is_small = true;
  for (std::int64_t const extent : extents) {
    if (extent > max_ranks / n) is_small = false;
    else if (extent > 1) n *= extent;
  }
  return is_small;
}
/// Whether an axis alone has more ranks, which the axis reports.
template <class... Axis>
constexpr bool has_large_axis() {
  return false;
}
template <mesh_axis... Axis>
constexpr bool has_large_axis() {
  return ((Axis::axis_size > max_ranks) || ...);
}
}  // namespace detail

/// A mesh as a type, made of axes: `struct mesh : mt::mesh<data, model> {};`
template <auto... Axes>
struct mesh {
  static constexpr bool has_axes = (mesh_axis<std::remove_cvref_t<decltype(Axes)>> && ...);
  static_assert(has_axes, "meshtensor S26: a mesh is made of axes: mt::mesh<data, model>");
  static_assert(sizeof...(Axes) <= max_axes, "meshtensor S24: a mesh has at most 6 axes");
  static constexpr bool names_differ = detail::names_differ<std::remove_cvref_t<decltype(Axes)>...>();
  static_assert(names_differ, "meshtensor S25: two axes of the mesh have the same name: rename one");
  static constexpr bool is_small = detail::is_small_mesh<std::remove_cvref_t<decltype(Axes)>...>();
  static_assert(is_small || detail::has_large_axis<std::remove_cvref_t<decltype(Axes)>...>(),
                "meshtensor S01: a mesh has at most 1048576 ranks");
  static constexpr mesh_shape shape = [] {
    mesh_shape m{};
    if constexpr (sizeof...(Axes) <= max_axes && has_axes && names_differ && is_small)
      (m.add(Axes.axis_name, Axes.axis_size), ...);
    return m;
  }();
};

template <class M>
concept mesh_type = requires {
  { M::shape } -> std::same_as<mesh_shape const&>;
};

}  // namespace meshtensor
