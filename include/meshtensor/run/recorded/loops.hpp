// SPDX-License-Identifier: Apache-2.0
// Keeps the recordings of a loop that may end early, one for each iteration. An iteration is recorded when it first
// runs. The host reads how many iterations are known to run.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "meshtensor/pass/list_instructions.hpp"
#include "meshtensor/run/recorded/staged_collectives.hpp"

namespace meshtensor {

/// A loop that may end early, at one position of a step: the state in which its iterations start, and their recordings.
template <recording_device Device>
struct recorded_loop {
  std::size_t at;                 // its `begin_loop` in the list
  run_context around;             // the iteration of the loops around it
  std::vector<std::byte*> bound;  // addresses that instructions had bound before it (`command_encoder`)
  typename staged_collectives<Device>::in_flight pending;        // collectives that had started before it
  std::map<std::int64_t, recorded_commands<Device>> iterations;  // by index
};

/// Plays iterations of loops that may end early, and keeps their recordings as long as these have few commands.
template <recording_device Device>
class kept_iterations {
 public:
  void forget() { kept_ = 0; }
  /// Plays an iteration by `play(commands)`. If it is not kept, `record(commands)` records it first.
  template <class Record, class Play>
  void play(recorded_loop<Device>& loop, std::int64_t index, Record const& record, Play const& play) {
    if (auto const known = loop.iterations.find(index); known != loop.iterations.end()) return play(known->second);
    recorded_commands<Device> commands;
    record(commands);
    std::size_t const kept_before = kept_;
    if (kept_ += commands.size(); kept_ <= most_kept)
      return play(loop.iterations.emplace(index, std::move(commands)).first->second);
    play(commands);
    Device::machine().wait();  // no work may be in flight when a recording is destroyed
    kept_ = kept_before;
  }

 private:
  static constexpr std::size_t most_kept = 100'000;  // commands of iterations of loops that may end early

  std::size_t kept_ = 0;  // commands in all loops
};

/// Copies to the host how many iterations of a loop are known to run. One number is enough for all loops, because the
/// host waits for it and uses it at once.
template <recording_device Device>
class known_iterations {
  using host_block = typename Device::recorded_program::host_block;

 public:
  explicit known_iterations(std::span<instruction const> instructions) {
    if (std::ranges::any_of(instructions, may_end_early)) number_ = host_block(Device::machine(), bytes);
  }
  bool are_asked_for() const { return number_.at() != nullptr; }

  /// Records the copy from an address of the device.
  void record(recorded_commands<Device>& commands, std::byte* from) { commands.download(number_.at(), from, bytes); }
  /// Copies it at once.
  void read(std::byte* from) {
    Device::machine().download(number_.at(), from, bytes);
    Device::machine().wait();
  }
  /// The number that was copied last. The machine must have completed the copy.
  std::int64_t number() const {
    std::int64_t known = 0;
    std::memcpy(&known, number_.at(), sizeof known);
    return known;
  }

 private:
  static constexpr std::int64_t bytes = sizeof(std::int64_t);
  static bool may_end_early(instruction const& i) {
    return i.kind == instruction_kind::begin_loop && i.from != id{no_id};
  }

  host_block number_;
};

}  // namespace meshtensor
