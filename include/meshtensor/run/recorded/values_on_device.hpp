// SPDX-License-Identifier: Apache-2.0
// Keeps values of the store in a device's memory, at addresses that stay from step to step.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "meshtensor/array/block.hpp"
#include "meshtensor/device/device.hpp"
#include "meshtensor/run/whole_program.hpp"

namespace meshtensor {

/// A block of a value in a device's memory.
template <class Memory>
class held_block {
 public:
  explicit held_block(std::shared_ptr<Memory> memory) : memory_(std::move(memory)) {}
  std::shared_ptr<Memory> const& memory() const { return memory_; }
  void copy_to(void* home) const {
    auto& device = memory_->where();
    std::lock_guard const turn(device.submission_lock());
    device.download(home, memory_->at(), memory_->bytes());
    device.wait();
  }

 private:
  std::shared_ptr<Memory> memory_;
};

template <recording_device Device>
class values_on_device {
  using memory = typename Device::recorded_program::memory;
  using block = held_block<memory>;
  using copies = copy_on_devices<block>;

 public:
  values_on_device(int variables, std::size_t ranks)
      : ranks_(ranks), values_(static_cast<std::size_t>(variables)), blocks_(values_.size()) {}

  /// Names the value of a variable. The value must outlive this object.
  void use(id variable, stored& value) { values_[variable] = &value; }

  /// Copies values to the host that are newer on another device.
  void bring_home() {
    for (stored* s : values_)
      if (s != nullptr && s->is_stale && dynamic_cast<copies*>(s->on_device.get()) == nullptr) s->come_home();
  }
  /// Copies values to the device that are not there. Returns whether the address of any value has changed.
  bool find() {
    bool moved = false, uploaded = false;
    for (std::size_t v = 0; v < values_.size(); ++v) {
      if (values_[v] == nullptr) continue;
      stored& s = *values_[v];
      auto& mine = blocks_[v];
      if (auto* const there = dynamic_cast<copies*>(s.on_device.get())) {
        bool same = mine.size() == there->parts.size();
        for (std::size_t k = 0; same && k < mine.size(); ++k) same = mine[k] == there->parts[k].memory();
        if (same) continue;
        mine.clear(), moved = true;
        for (block const& b : there->parts) mine.push_back(b.memory());
        continue;
      }
      moved = moved || mine.empty();
      auto made = std::make_unique<copies>();
      for (std::size_t k = 0; k < ranks_; ++k) {
        auto const bytes = static_cast<std::size_t>(s.windows[k].bytes());
        if (mine.size() <= k) mine.push_back(std::make_shared<memory>(Device::machine(), bytes));
        Device::machine().upload(mine[k]->at(), s.read_block(k), bytes);
        made->parts.emplace_back(mine[k]);
      }
      s.on_device = std::move(made), uploaded = true;
    }
    if (uploaded) Device::machine().wait();
    return moved;
  }
  /// Marks the host's copy of a value as out of date, after a step that wrote the value.
  void mark_written(id variable) { values_[variable]->is_stale = true; }
  /// Forgets copies on the device after a step that failed, if the host's copy is current.
  void forget_copies() {
    for (stored* s : values_)
      if (s != nullptr && !s->is_stale) s->on_device.reset();
  }

  std::byte* at(id variable, std::size_t rank) const { return blocks_[variable][rank]->at(); }
  /// Calls `show(address, bytes)` for each block.
  template <class Show>
  void show_blocks(Show const& show) const {
    for (auto const& of_variable : blocks_)
      for (auto const& b : of_variable) show(b->at(), b->bytes());
  }

 private:
  std::size_t ranks_;
  std::vector<stored*> values_;                               // by variable
  std::vector<std::vector<std::shared_ptr<memory>>> blocks_;  // by variable and rank
};

}  // namespace meshtensor
