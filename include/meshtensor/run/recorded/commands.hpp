// SPDX-License-Identifier: Apache-2.0
// Records commands for a device's machine, in order or spread over its queues. On several queues, each command waits
// for the commands on which it depends. A recording is cut into parts, so that the host can work between them.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "meshtensor/device/device.hpp"
#include "meshtensor/device/queue_plan.hpp"

namespace meshtensor {

/// The bytes that a command reads and writes.
struct touched_bytes {
  std::vector<byte_range> reads, writes;
};

/// Commands that the machine gets at once, and the work of the host after them.
template <recording_device Device>
struct recorded_part {
  typename Device::recorded_program::recorder to_do;
  std::function<void()> then;      // empty for the last part
  bool waits_for_machine = false;  // whether the machine completes all its work before `then`
  bool has_run = false;            // libraries initialise themselves in the first run
  std::unique_ptr<typename Device::recorded_program::captured> captured;
};

template <recording_device Device>
class recorded_commands {
  using machine = std::remove_cvref_t<decltype(Device::machine())>;
  using recorder = typename Device::recorded_program::recorder;

 public:
  std::deque<recorded_part<Device>>& parts() { return parts_; }
  /// The number of entries in the machine's lists of all parts.
  std::size_t size() const {
    std::size_t all = 0;
    for (auto const& part : parts_) all += part.to_do.size();
    return all;
  }

  void forget() {
    parts_.resize(1);
    parts_[0].captured.reset();
    parts_[0].to_do.forget();
    parts_[0].then = nullptr, parts_[0].has_run = false;
    queues_.reset();
  }
  /// Forgets all commands. Later commands are spread over the machine's queues, if it has several.
  void begin_step() {
    forget();
    plan_queues();
  }
  /// Ends a part, after which the host calls `then`. With `waits_for_machine` the machine first completes all its work.
  void cut(bool waits_for_machine, std::function<void()> then) {
    parts_.back().waits_for_machine = waits_for_machine, parts_.back().then = std::move(then);
    parts_.emplace_back();
    if (waits_for_machine && queues_ != nullptr) plan_queues();
  }

  /// Adds a command. `record(recorder)` adds it to the machine's list, and `touches()` returns the bytes that it
  /// touches.
  template <class Touches, class Record>
  void add([[maybe_unused]] Touches const& touches, Record const& record) {
    recorder& to_do = parts_.back().to_do;
    if constexpr (queueing_machine<machine>)
      if (queues_ != nullptr) {
        touched_bytes t = touches();
        int const number = queues_->add(std::move(t.reads), std::move(t.writes));
        queued_command const& placed = (*queues_)[number];
        to_do.on(placed.queue);
        for (int w : placed.waits) to_do.wait_for(w);
        record(to_do);
        return to_do.record(number);
      }
    record(to_do);
  }
  void copy(std::byte* to, std::byte* from, std::int64_t bytes) {
    add([&] { return touched_bytes{{bytes_at(from, bytes)}, {bytes_at(to, bytes)}}; },
        [&](recorder& r) { r.copy(to, from, bytes); });
  }
  /// Copies from memory of the host, and to it.
  void upload(std::byte* to, std::byte const* from, std::int64_t bytes) {
    add([&] { return touched_bytes{{bytes_at(from, bytes)}, {bytes_at(to, bytes)}}; },
        [&](recorder& r) { r.upload(to, from, bytes); });
  }
  void download(std::byte* to, std::byte* from, std::int64_t bytes) {
    add([&] { return touched_bytes{{bytes_at(from, bytes)}, {bytes_at(to, bytes)}}; },
        [&](recorder& r) { r.download(to, from, bytes); });
  }

 private:
  void plan_queues() {
    if constexpr (queueing_machine<machine>) queues_ = std::make_unique<queue_plan>(Device::machine().queues());
  }

  std::deque<recorded_part<Device>> parts_{1};
  std::unique_ptr<queue_plan> queues_;  // of a whole step, on a machine with several queues
};

}  // namespace meshtensor
