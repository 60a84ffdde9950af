// SPDX-License-Identifier: Apache-2.0
// A collective of a plan from the view of one rank: members, extents of blocks, and which member holds which part.
#pragma once

#include <vector>

#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/comm/collective.hpp"
#include "meshtensor/graph/module.hpp"
#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/pass/bind/binding.hpp"

namespace meshtensor {

/// A collective from the view of one rank.
struct planned_collective {
  collective_call call;
  movement moves;                                         // of a move: which member holds which box
  number_id first = no_id, step = no_id, around = no_id;  // of a move: rows of the table of numbers
  value_id counts = no_id;                 // of an exchange of rows: how many rows each member gives each group
  dynamic_array<interval> groups;          // likewise: the groups of each member
  std::vector<std::int64_t> taken, given;  // likewise: for each member, the rows that already have a run
  dynamic_array<interval> slices;          // of slices of a loop's stack: the slices of each member
  std::vector<int> members;
  group with;
  std::vector<name> axes;  // the mesh axes that the members span
};

/// The elements of one row of a collective's block. A block of which no rows move is one row.
inline std::int64_t elements_in_row(planned_collective const& c) {
  std::int64_t n = 1;
  for (int d = 0; d < c.call.dims; ++d)
    if (c.call.kind != collective::move || d != c.moves.rows) n *= c.call.extent[d];
  return n;
}

/// The coordinates of a rank of a mesh, by axis.
struct coordinates_of_rank {
  mesh_shape const& mesh;
  std::int64_t rank;
  std::int64_t operator()(int axis) const { return mesh.coordinate(rank, axis); }
};

/// The dense window of a value that a rank of a mesh holds. It has no address.
view window_of_rank(binding const& numbers, mesh_shape const& mesh, value const& v, std::int64_t rank);

}  // namespace meshtensor

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

inline view window_of_rank(binding const& numbers, mesh_shape const& mesh, value const& v, std::int64_t rank) {
  view r{};
  r.type = v.type;
  r.count = v.dims.count;
  for (int i = 0; i < v.dims.count; ++i) {
    r.dim[i] = v.dims.at[i];
    interval const held = numbers.part(v, i, coordinates_of_rank{mesh, rank});
    r.total[i] = numbers.whole_extent(v.dims.at[i]);
    r.extent[i] = held.count, r.origin[i] = held.begin;
  }
  r.densify();
  return r;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
