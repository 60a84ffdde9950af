// SPDX-License-Identifier: Apache-2.0
// Loops that may end early in a recorded step: a turn of the host, which reads how many iterations are known to run and
// gives the machine the recordings of single iterations, each made when the iteration first runs.
#pragma once

#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "meshtensor/pass/list_instructions.hpp"
#include "meshtensor/run/recorded/staged_exchanges.hpp"

namespace meshtensor {

/// One such loop at one place of a step: what the recordings of its iterations begin with, and those that were made.
template <recording_device Device>
struct recorded_loop {
  std::size_t at;                 // its `begin_loop` in the list
  run_context around;             // the iteration of the loops around it
  std::vector<std::byte*> bound;  // addresses that instructions had bound before it, as `recorded_orders` gives them
  typename staged_exchanges<Device>::in_flight pending;       // collectives that had started before it
  std::map<std::int64_t, recorded_tasks<Device>> iterations;  // by index
};

/// Brings the number of iterations of each loop of a list that may end early from the device to the host. One block for
/// each loop of the list is enough: the number is used as soon as it is there.
template <recording_device Device>
class known_iterations {
  using host_block = typename Device::recorded_program::host_block;

 public:
  explicit known_iterations(std::span<instruction const> instructions) {
    for (instruction const& i : instructions)
      if (may_end_early(i)) places_.emplace(i.node, places_.size() * number_bytes);
    if (any()) blocks_ = host_block(Device::machine(), places_.size() * number_bytes);
  }
  static bool may_end_early(instruction const& i) {
    return i.kind == instruction_kind::begin_loop && i.from != id{no_id};
  }
  bool any() const { return !places_.empty(); }

  /// Records the copy from an address of the device.
  void record(recorded_tasks<Device>& tasks, node_id loop, std::byte* from) {
    tasks.download(at(loop), from, number_bytes);
  }
  /// Copies it at once.
  void read(node_id loop, std::byte* from) {
    Device::machine().download(at(loop), from, number_bytes);
    Device::machine().wait();
  }
  /// What was copied last, when the machine has done it.
  std::int64_t of(node_id loop) const {
    std::int64_t number = 0;
    std::memcpy(&number, at(loop), sizeof number);
    return number;
  }

 private:
  static constexpr std::int64_t number_bytes = sizeof(std::int64_t);
  std::byte* at(node_id loop) const { return blocks_.at() + places_.at(loop); }

  std::map<node_id, std::size_t> places_;
  host_block blocks_;
};

}  // namespace meshtensor
