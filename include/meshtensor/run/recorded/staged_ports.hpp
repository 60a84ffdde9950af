// SPDX-License-Identifier: Apache-2.0
// Stages the inputs and outputs of a step. Each direction has one block in the device's memory and one in the host's
// memory, so that it takes one copy.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/pass/list_instructions.hpp"
#include "meshtensor/run/engine.hpp"
#include "meshtensor/run/recorded/commands.hpp"

namespace meshtensor {

/// The block of inputs begins with seed, step and the module's numbers. The inputs of each rank follow.
template <recording_device Device>
class staged_ports {
  using program = typename Device::recorded_program;
  using memory = typename program::memory;
  using host_block = typename program::host_block;

 public:
  staged_ports(module const& m, std::span<instruction const> instructions, std::span<rank_context const> ranks)
      : state_bytes_(16 + std::int64_t{m.number_count} * static_cast<std::int64_t>(sizeof(number_value))) {
    std::int64_t in = aligned(state_bytes_), out = 0;
    for (std::size_t k = 0; k < ranks.size(); ++k)
      for (instruction const& i : instructions) {
        if (i.kind == instruction_kind::bind_input) {
          inputs_.push_back({i.node, k, in, ranks[k].bytes(i.to_value())});
          in += aligned(inputs_.back().bytes);
        }
        if (i.kind == instruction_kind::copy_to_output) {
          outputs_.push_back({i.node, k, out, ranks[k].bytes(i.from_value()), ranks[k].windows()[i.from_value()]});
          out += aligned(outputs_.back().bytes);
        }
      }
    auto& gpu = Device::machine();
    in_bytes_ = in, out_bytes_ = out;
    in_ = memory(gpu, static_cast<std::size_t>(in)), out_ = memory(gpu, static_cast<std::size_t>(out));
    gpu.clear(out_.at(), static_cast<std::size_t>(out));  // because gaps between outputs are copied, too
    gpu.wait();
    staged_in_ = host_block(gpu, static_cast<std::size_t>(in)),
    staged_out_ = host_block(gpu, static_cast<std::size_t>(out));
  }
  static std::int64_t aligned(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

  /// Run on the host: `fill` before a step, and `give` after it.
  void fill(std::span<external_buffers> external, number_value const* numbers, std::uint64_t seed, std::uint64_t step) {
    std::byte* const to = staged_in_.at();
    std::memcpy(to, &seed, 8), std::memcpy(to + 8, &step, 8);
    copy_bytes(to + 16, numbers, state_bytes_ - 16);
    for (port_block const& i : inputs_) copy_bytes(to + i.at, external[i.rank].fed[i.node], i.bytes);
  }
  void give(std::span<external_buffers> external) const {
    for (port_block const& o : outputs_) {
      external_buffers const& all = external[o.rank];
      view made = o.window;
      made.data = staged_out_.at() + o.at;
      if (std::byte* const to = all.given[o.node]) copy_bytes(to, made.data, o.bytes);
      else if (view const* const spread = all.strided[o.node])
        detail::copy_by_name(made, 0, *spread, 0, no_id, no_id, made.extent);
    }
  }

  void record_upload(recorded_commands<Device>& commands) { commands.upload(in_.at(), staged_in_.at(), in_bytes_); }
  void record_download(recorded_commands<Device>& commands) {
    commands.download(staged_out_.at(), out_.at(), out_bytes_);
  }
  void upload_now() {
    Device::machine().upload(in_.at(), staged_in_.at(), static_cast<std::size_t>(in_bytes_));
    Device::machine().wait();
  }
  void download_now() {
    Device::machine().download(staged_out_.at(), out_.at(), static_cast<std::size_t>(out_bytes_));
    Device::machine().wait();
  }

  /// Seed, step and numbers on the device.
  std::byte* state() const { return in_.at(); }
  std::int64_t state_bytes() const { return state_bytes_; }
  std::byte* input(node_id node, std::size_t rank) const { return in_.at() + find(inputs_, node, rank); }
  std::byte* output(node_id node, std::size_t rank) const { return out_.at() + find(outputs_, node, rank); }
  /// Calls `show(address, bytes)` for each block of the device's memory.
  template <class Show>
  void show_blocks(Show const& show) const {
    show(in_.at(), in_.bytes()), show(out_.at(), out_.bytes());
  }

 private:
  /// The part of a block that belongs to an input or output of a rank.
  struct port_block {
    node_id node;
    std::size_t rank;
    std::int64_t at, bytes;
    view window = {};  // of an output
  };
  static std::int64_t find(std::vector<port_block> const& ports, node_id node, std::size_t rank) {
    return std::ranges::find_if(ports, [&](port_block const& p) { return p.node == node && p.rank == rank; })->at;
  }

  std::int64_t state_bytes_, in_bytes_ = 0, out_bytes_ = 0;
  memory in_, out_;
  host_block staged_in_, staged_out_;
  std::vector<port_block> inputs_, outputs_;
};

}  // namespace meshtensor
