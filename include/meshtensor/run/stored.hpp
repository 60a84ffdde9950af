// SPDX-License-Identifier: Apache-2.0
// A value of a store: its blocks on the ranks that this process holds, and their copies on a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "meshtensor/array/array_view.hpp"
#include "meshtensor/array/interpret.hpp"
#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/base/kept_copies.hpp"
#include "meshtensor/base/memory.hpp"
#include "meshtensor/run/gather.hpp"
#include "meshtensor/run/recorded/device_copy.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// A variable in the store: its dtype, dims and layout, and one block for each rank that this process holds.
struct stored {
  dtype type;
  std::vector<dim_extent> dims;
  std::vector<std::string> axes;  // of each dim, as text: "data=2 x model=2"
  placement layout;
  mesh_shape mesh;
  std::vector<std::int64_t> grains;      // one for each dim; parts are multiples of it
  std::vector<std::string> reshaped_at;  // for each dim with a grain: ` (model.cpp:31)`, where it is merged or split
  dynamic_array<view> windows;           // of each held rank's block, in the whole
  dynamic_array<arena> blocks;
  dynamic_array<kept_copies> copies;  // of each block, in other formats
  declared_start start;
  int replica_dim = -1;  // the position of the dim of replicas, or -1: a run may resume with another extent of it
  merge_rule merge = merge_rule::automatic;  // … by this rule
  replica_sharing sharing = {};              // what the policies of its programs let replicas share
  std::string counted_program = {};          // the program whose steps `sharing` counts, or empty: those of the store
  shared_by_replicas shared = shared_by_replicas::parameters;  // what replicas share now
  std::unique_ptr<gathering> bring;  // made at the first read of a value of which this process holds only a part

  std::unique_ptr<device_copy> on_device;  // the copy on a device, if there is one
  bool is_stale = false;                   // whether that copy is newer than the blocks
  bool is_initial = false;                 // whether nobody has written it since its initializer did
  bool is_lent = false;  // whether a program has the block's address, to read and write it between steps

  /// A rank's block, to be read and written. A newer value on a device is first copied to the host, and the device's
  /// copy is no longer used.
  std::byte* block_of(std::size_t k) {
    is_initial = false;
    drop_copies();
    come_home();
    on_device.reset();
    return blocks[k].data();
  }
  /// A rank's block, to be read.
  std::byte* read_block(std::size_t k) {
    come_home();
    return blocks[k].data();
  }
  /// Replaces all blocks. `write(k, block)` must write the whole of each block, because a newer value on a device is
  /// discarded.
  template <class Write>
  void replace(Write write) {
    is_initial = false;
    drop_copies();
    for (std::size_t k = 0; k < blocks.size(); ++k) write(k, blocks[k].data());
    on_device.reset(), is_stale = false;
  }
  /// Whether the value is lost, because a step that failed has taken its only copy.
  bool is_lost() const { return is_stale && on_device->is_lost(); }
  /// Frees the copies in other formats. It must be called before any write to the blocks.
  void drop_copies() {
    for (kept_copies& each : copies) each.drop();
  }
  void come_home() {
    if (!is_stale) return;
    on_device->copy_to(blocks);
    is_stale = false;
  }
  /// The value as text, for example `f32[d_model=512, d_ff=2048/model=2]`.
  std::string text() const {
    std::string t = std::string(text_of(type)) + "[";
    for (std::size_t i = 0; i < dims.size(); ++i)
      t += (i == 0 ? "" : ", ") + dims[i].label.text() + "=" + std::to_string(dims[i].extent) +
           (axes[i].empty() ? "" : "/" + axes[i]);
    return t + "]";
  }
  std::int64_t bytes() const { return detail::elements_of(dims) * static_cast<std::int64_t>(bytes_of(type)); }
  /// The part of a dim that a rank holds.
  interval part(int dim, std::int64_t rank) const {
    auto const i = static_cast<std::size_t>(dim);
    return part_of_rank(dims[i].extent, grains[i], layout, dim, mesh, rank);
  }
  /// Bytes of the largest block of any rank, which is that of the first rank.
  std::int64_t local_bytes() const {
    auto n = static_cast<std::int64_t>(bytes_of(type));
    for (int i = 0; i < static_cast<int>(dims.size()); ++i) n *= part(i, 0).count;
    return n;
  }
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
