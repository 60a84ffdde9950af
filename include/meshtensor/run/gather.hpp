// SPDX-License-Identifier: Apache-2.0
// Gathers a value that is sharded over processes.
#pragma once

#include <memory>
#include <vector>

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/job/transport.hpp"
#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/tensor/box.hpp"

namespace meshtensor {

/// The all_gathers that turn one rank's block into the whole value on every rank. There is one for each axis of each
/// sharded dim, from the minor axis to the major one. A gathering is made once and used any number of times, always on
/// the same transport. The transport must outlive it.
class gathering {
 public:
  /// `block` is the window that `rank` holds of a value with this layout, and `grains` are the grains of its dims.
  gathering(mesh_shape const& mesh, int rank, placement const& layout, view const& block,
            std::vector<std::int64_t> const& grains) {
    collective_call call;
    call.kind = collective::all_gather, call.file = "the parts of a value";
    call.type = block.type, call.dims = block.count;
    for (int i = 0; i < block.count; ++i) call.extent[i] = block.extent[i];
    for (int i = 0; i < block.count; ++i)
      for (int place = layout.axes_of(i); place-- > 0;) {
        int const along = layout.axis_at(i, place);
        call.join = i, call.join_grain = grains[static_cast<std::size_t>(i)];
        call.joined = part_of_rank(block.total[i], call.join_grain, layout, i, mesh, rank, place).count;
        add(mesh, rank, along, call);
        call.extent[i] = call.joined;
      }
    bytes_ = bytes_of(call);
  }
  gathering(gathering const&) = delete;
  gathering& operator=(gathering const&) = delete;
  /// Releases the workspaces, unless a collective may still be pending.
  ~gathering() {
    if (!under_way_)
      for (int const number : numbers_) transport_->release(number);
  }

  /// Collective: every rank of the mesh must call it with its own block.
  void run(transport& t, void const* block, void* whole) {
    transport_ = &t;
    while (numbers_.size() < steps_.size()) numbers_.push_back(t.prepare(*steps_[numbers_.size()]));
    under_way_ = true;
    std::vector<double> from, to;
    void const* in = block;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      bool const last = i + 1 == steps_.size();
      collective_call const& call = steps_[i]->call;
      if (!last)
        to.resize(static_cast<std::size_t>(result_bytes_of(call, steps_[i]->with.count, steps_[i]->with.index) + 7) /
                  8);
      t.start(numbers_[i], *steps_[i], in, last ? whole : to.data());
      t.wait(numbers_[i]);
      from.swap(to);
      in = from.data();
    }
    if (steps_.empty()) copy_bytes(whole, block, bytes_);
    under_way_ = false;
  }

 private:
  void add(mesh_shape const& mesh, int rank, int along, collective_call const& call) {
    auto c = std::make_unique<planned_collective>();
    std::int64_t const stride = mesh.stride(along), at = mesh.coordinate(rank, along);
    for (std::int64_t k = 0; k < mesh.axes[along].extent; ++k)
      c->members.push_back(static_cast<int>(rank + (k - at) * stride));
    c->axes.push_back(mesh.axes[along].label);
    c->call = call;
    c->with.members = c->members.data();
    c->with.count = static_cast<int>(c->members.size()), c->with.index = static_cast<int>(at);
    steps_.push_back(std::move(c));
  }

  std::vector<std::unique_ptr<planned_collective>> steps_;
  std::vector<int> numbers_;  // of the collectives, in the transport
  transport* transport_ = nullptr;
  bool under_way_ = false;
  std::int64_t bytes_ = 0;
};

}  // namespace meshtensor
