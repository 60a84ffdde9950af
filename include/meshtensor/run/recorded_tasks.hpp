// SPDX-License-Identifier: Apache-2.0
// Records tasks for a device's machine: in the order in which they come, or spread over its queues, where each waits
// for what it depends on.
#pragma once

#include <memory>
#include <vector>

#include "meshtensor/device/device.hpp"
#include "meshtensor/device/queue_plan.hpp"

namespace meshtensor {

/// The bytes that a task reads and writes.
struct touched_bytes {
  std::vector<byte_range> reads, writes;
};

template <recording_device Device>
class recorded_tasks {
  using machine = std::remove_cvref_t<decltype(Device::machine())>;
  using recorder = typename Device::recorded_program::recorder;

 public:
  recorder& to_do() { return to_do_; }

  void forget() {
    to_do_.forget();
    queues_.reset();
  }
  /// Forgets; tasks from now on are spread over the machine's queues, if it has several.
  void begin_step() {
    forget();
    if constexpr (queueing_machine<machine>) queues_ = std::make_unique<queue_plan>(Device::machine().queues());
  }

  /// `record(recorder)` is what belongs together; `touches()` gives the bytes that it touches.
  template <class Touches, class Record>
  void add([[maybe_unused]] Touches const& touches, Record const& record) {
    if constexpr (queueing_machine<machine>)
      if (queues_ != nullptr) {
        touched_bytes t = touches();
        int const number = queues_->add(std::move(t.reads), std::move(t.writes));
        queued_task const& placed = (*queues_)[number];
        to_do_.on(placed.queue);
        for (int w : placed.waits) to_do_.wait_for(w);
        record(to_do_);
        return to_do_.record(number);
      }
    record(to_do_);
  }
  void copy(std::byte* to, std::byte* from, std::int64_t bytes) {
    add([&] { return touched_bytes{{bytes_at(from, bytes)}, {bytes_at(to, bytes)}}; },
        [&](recorder& r) { r.copy(to, from, bytes); });
  }

 private:
  recorder to_do_;
  std::unique_ptr<queue_plan> queues_;  // of a whole step, on a machine with several queues
};

}  // namespace meshtensor
