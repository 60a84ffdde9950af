// SPDX-License-Identifier: Apache-2.0
// Gives parts of a recorded step to the machine. If the machine can capture, it captures a part and replays it later.
#pragma once

#include <type_traits>

#include "meshtensor/run/recorded/commands.hpp"

namespace meshtensor {

/// The captures of the parts of a step. `commands` are those of the whole step, to which the parts of iterations do not
/// belong.
template <recording_device Device>
class captured_parts {
  using program = typename Device::recorded_program;
  using machine = std::remove_cvref_t<decltype(Device::machine())>;

 public:
  captured_parts(program& kernels, recorded_commands<Device>& commands) : program_(kernels), commands_(commands) {}

  /// Whether parts that have run before may be captured or replayed in this step. If the device communicates with other
  /// devices, all ranks must capture in the same step and later replay these captures, because NCCL requires that. They
  /// would capture each iteration of a loop that may end early in a different step, so with such a loop they capture
  /// nothing. `stays` says whether the recording is still valid and has no such loop.
  bool may_capture(bool stays) {
    if constexpr (requires { program_.has_remote_groups(); })
      if (program_.has_remote_groups()) {
        bool fits = stays, is_kept = fits;
        for (auto& part : commands_.parts()) {
          fits = fits && can_capture(part);
          is_kept = is_kept && (part.to_do.size() == 0 || (part.captured != nullptr && !is_freed(*part.captured)));
        }
        constexpr unsigned captures = 1, replays = 2;
        unsigned const all = program_.common_bits((fits ? captures : 0) | (fits && is_kept ? replays : 0));
        if ((all & replays) == 0)
          for (auto& part : commands_.parts()) part.captured.reset();
        return (all & captures) != 0;
      }
    return true;
  }
  /// Gives a part to the machine. It is captured or replayed if it runs again.
  void give(recorded_part<Device>& part, bool again) {
    if constexpr (capturing_machine<machine>) {
      auto& gpu = Device::machine();
      if (again && part.to_do.size() != 0 && can_capture(part)) {
        if (part.captured == nullptr || is_freed(*part.captured)) {
          gpu.begin_capture();
          try {
            program_.play(part.to_do);
          } catch (...) {
            try {
              gpu.end_capture();  // otherwise the queue would accept no more work
            } catch (...) {}      // the first failure is reported
            throw;
          }
          part.captured = gpu.end_capture();
        }
        return gpu.replay(*part.captured);
      }
    }
    program_.play(part.to_do);
  }

 private:
  static constexpr std::size_t most_captured = 50'000;  // commands of a part

  /// Whether the machine has freed its capture.
  static bool is_freed(auto const& captured) {
    if constexpr (requires { captured.is_freed; }) return captured.is_freed;
    else return false;
  }
  /// Whether a part can be captured by itself. It cannot if its commands wait for commands of an earlier part.
  bool can_capture(recorded_part<Device> const& part) {
    return part.to_do.size() <= most_captured && (!queueing_machine<machine> || commands_.parts().size() == 1);
  }

  program& program_;
  recorded_commands<Device>& commands_;
};

}  // namespace meshtensor
