// SPDX-License-Identifier: Apache-2.0
// The head of a report: the program, the mesh, the extents of dims, and the axes that shard nothing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "meshtensor/emit/report/sharded_dims.hpp"
#include "meshtensor/emit/report/written_dim.hpp"
#include "meshtensor/graph/spell.hpp"
#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/pass/plan_memory.hpp"

namespace meshtensor::detail {

class dims_of_report : speller {
 public:
  dims_of_report(module const& m, binding const& numbers, mesh_shape const& mesh)
      : speller(m), numbers_(numbers), mesh_(mesh) {}

  std::string text() {
    begin();
    dims_used();
    idle_axes();
    return std::move(text_);
  }

 private:
  void begin() {
    for (int r = 0; r < m_.region_count; ++r)
      if (m_.regions[r].kind == region_kind::entry && !m_.regions[r].removed)
        text_ += "program  " + label(m_.regions[r].label) + "\n";
    text_ += "mesh     ";
    for (int a = 0; a < mesh_.count; ++a)
      text_ += (a == 0 ? "" : ", ") + mesh_.axes[a].label.text() + " = " + std::to_string(mesh_.axes[a].extent);
    text_ +=
        (mesh_.count == 0 ? "" : ": ") + std::to_string(mesh_.size()) + (mesh_.size() == 1 ? " rank\n" : " ranks\n");
    if (mesh_.size() > 1) text_ += "layout   " + sharded_dims(m_, mesh_) + "\n";
  }
  void dims_used() {
    text_ += "dims     ";
    bool first = true;
    std::vector<bool> used(max_dims);
    for (int v = 0; v < m_.value_count; ++v)
      for (int i = 0; i < m_.values[v].dims.count; ++i) used[m_.values[v].dims.at[i]] = true;
    std::string made;  // dims that the partition made, or operations for themselves
    for (int d = 0; d < m_.dim_count; ++d) {
      if (!used[static_cast<std::size_t>(d)]) continue;
      dim_row const& row = m_.dims[d];
      std::string const extent = dim(d) + " = " + std::to_string(numbers_.extent[d]);
      if (row.kind == dim_row::blocks) {
        made += "         " + extent + ": the parts of " + dim(row.first) + " over " +
                axes(static_cast<unsigned>(row.value)) + "\n";
      } else if (row.kind == dim_row::holders) {
        made += "         " + extent + ": the ranks that hold rows for " + dim(row.first) + "\n";
      } else if (row.kind == dim_row::rows) {
        made += "         " + extent + ": at most, the rows that a rank gets for its part of " + dim(row.first) + "\n";
      } else if (row.kind == dim_row::sent) {
        made += "         " + extent + ": at most, those that a rank sends of " + dim(row.first) + "\n";
      } else if (row.kind == dim_row::in_block) {
        made += "         " + extent + ": the elements of the largest of them\n";
      } else if (row.kind == dim_row::halo) {
        made += "         " + extent + ": at most, of " + dim(row.first) + ", what windows reach from a part of " +
                dim(row.second) + "\n";
      } else if (node const* const ends = loop_that_ends(d); ends != nullptr) {
        bool const is_branch = m_.regions[m_.region_of(*ends, 0)].kind == region_kind::branch;
        made += "         " + extent + ": at most, " +
                (is_branch ? "how often one of the branches runs, " : "the iterations of a loop, ") + origin(*ends) +
                "\n";
      } else if (written_dim(m_, d) != d) {
        made += "         " + extent + ": a second name of " + dim(row.first) + "\n";
      } else {
        text_ += (first ? "" : ", ") + extent;
        first = false;
      }
    }
    text_ += "\n" + made;
  }
  /// The first loop that may end early and for whose iterations the library made this dim, or null.
  node const* loop_that_ends(int d) const {
    if (m_.dim_name(static_cast<dim_id>(d)).text().find('/') == std::string::npos) return nullptr;
    for (int i = 0; i < m_.node_count; ++i)
      if (m_.nodes[i].kind == primitive::repeat)
        if (loop const l = loop::of(m_.nodes[i]); l.ends_early && l.dim == d) return &m_.nodes[i];
    return nullptr;
  }
  void idle_axes() {
    for (int a = 0; a < m_.axis_count; ++a)
      if (mesh_.axes[a].extent > 1 && !spreads(a))
        text_ += "note     nothing is spread over the axis '" + axis(a) + "': its ranks all do the same\n";
  }
  bool spreads(int a) const {
    for (int v = 0; v < m_.value_count; ++v)
      if (m_.values[v].layout.shards(a)) return true;
    return false;
  }

  binding const& numbers_;
  mesh_shape const& mesh_;
  std::string text_;
};

}  // namespace meshtensor::detail
