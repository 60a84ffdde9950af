// SPDX-License-Identifier: Apache-2.0
// The numbers of a module: extents of dims, sizes of axes, the number of parts of each dim of a value, and the part
// that a rank holds.
#pragma once

#include "meshtensor/base/window.hpp"
#include "meshtensor/graph/locate.hpp"
#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/op/rules.hpp"
#include "meshtensor/tensor/box.hpp"

namespace meshtensor {

/// The numbers of a module: the extents of its dims and the sizes of its axes. Each rank's parts follow from them.
struct binding {
  std::int64_t extent[max_dims];
  std::int64_t grain[max_dims];  // the parts of a dim are multiples of it
  std::int64_t axis[max_axes];
  struct block_row {
    id whole, blocks;  // ids plus 1, or 0 if there is none
  };
  block_row block_of[max_dims];  // of a dim `in_block`: the dim that is divided, and the dim that counts its parts
  struct halo_row {
    id whole, parts;  // ids plus 1, or 0: the covered dim, and the dim from whose parts windows reach
    bool of_inputs;   // whether `whole` is the windows' input and `parts` their output, or the other way round
    bool even;        // the ranges of all ranks have the same length
    window_numbers reach;
  };
  halo_row halo_of[max_dims];  // of a dim that widens a part of another dim
  diagnostic report;

  constexpr bool ok() const { return report.empty(); }
  /// The extent of a dim. If the dim widens a part of another dim, it is the extent of the other dim.
  constexpr std::int64_t whole_extent(int d) const { return extent[halo_of[d].whole == 0 ? d : halo_of[d].whole - 1]; }
  /// How many ranks share the dim at `position` of a value.
  constexpr std::int64_t parts(value const& v, int position) const {
    std::int64_t n = 1;
    for (int a = 0; a < max_axes; ++a)
      if (v.layout.sharded_at(a) == position) n *= axis[a];
    return n;
  }
  /// The part of the dim at `position` that a rank holds. `place(axis)` is the rank's coordinate along a mesh axis.
  template <class Place>
  constexpr interval part(value const& v, int position, Place place) const {
    int const d = v.dims.at[position];
    if (halo_of[d].whole != 0) return covered(d, v.layout, position, place);
    auto const held = [&](int of, int at) {
      return part_held(extent[of], grain[of], v.layout, at, [&](int a) { return axis[a]; }, place);
    };
    if (block_of[d].whole == 0) return held(d, position);
    return {0, held(block_of[d].whole - 1, v.dims.find(block_of[d].blocks - 1)).count};
  }
  /// The part of a dim that the windows of a halo dim reach from a rank's part of another dim. If the other dim has
  /// only one part, it is the whole dim.
  template <class Place>
  constexpr interval covered(int halo, placement const& layout, int position, Place place) const {
    halo_row const& c = halo_of[halo];
    std::int64_t const all = extent[c.whole - 1];
    std::int64_t parts = 1;
    for (int o = 0, a = 0; (a = layout.axis_at(position, o)) >= 0; ++o) parts *= axis[a];
    if (parts == 1) return {0, all};
    interval const from =
        part_held(extent[c.parts - 1], grain[c.parts - 1], layout, position, [&](int a) { return axis[a]; }, place);
    return c.of_inputs ? c.reach.inputs_reached(from, all) : c.reach.outputs_reaching(from, all);
  }
  /// The part of a loop's iterations whose slices a rank holds, if their placement is `layout`.
  template <class Place>
  constexpr interval slices_held(dim_id loop_dim, placement const& layout, Place place) const {
    return part_held(
        extent[loop_dim], grain[loop_dim], layout, placement::of_loop, [&](int a) { return axis[a]; }, place);
  }
  /// The largest part of the dim at `position`. The first rank holds it.
  constexpr std::int64_t local(value const& v, int position) const {
    int const d = v.dims.at[position];
    if (halo_of[d].whole != 0) return extent[d];
    std::int64_t const n = v.layout.bits == 0 ? 1 : parts(v, position);
    return n == 1 ? extent[d] : (extent[d] / grain[d] + n - 1) / n * grain[d];
  }
  /// Whether all ranks hold equally long parts of the dim at `position`.
  constexpr bool is_even(value const& v, int position) const {
    int const d = v.dims.at[position];
    if (int const of = block_of[d].whole; of != 0)
      return meshtensor::is_even(extent[of - 1], extent[block_of[d].blocks - 1], grain[of - 1]);
    if (halo_of[d].whole != 0) return halo_of[d].even;
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
  /// Whether a node is a collective with one member. Its result is then its operand.
  constexpr bool is_alone(node const& n) const {
    return is_collective(n.kind) && members(axes_of_collective(n)) == 1 && !shifts(n) && !permutes(n);
  }
};

/// The parts that one rank of a mesh holds, with the interface of a binding.
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

}  // namespace meshtensor
