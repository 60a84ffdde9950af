// SPDX-License-Identifier: Apache-2.0
// Lists the launches and copies of a step, for a device that runs functions of the host. The list is made once and
// replayed in each step.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "meshtensor/device/device.hpp"
#include "meshtensor/device/queued_command.hpp"

namespace meshtensor {

/// Describes a function that is given to a machine: its operation, and the bytes of the machine's memory that it
/// touches.
struct launched_work {
  std::string what;  // the operation, for example `multiply (train.cpp:31)`
  std::vector<byte_range> reads, writes;
};

template <class Machine>
class command_list {
 public:
  /// Adds a function that the machine calls in its turn, on its own memory.
  void launch(launched_work about, std::function<void()> work) {
    commands_.push_back([about = std::make_shared<launched_work const>(std::move(about)),
                         work = std::move(work)](Machine& d) { d.launch(*about, work); });
  }
  void copy(std::byte* to, std::byte* from, std::int64_t bytes) {
    if (to != from && bytes != 0)
      commands_.push_back([=](Machine& d) { d.copy(to, from, static_cast<std::size_t>(bytes)); });
  }
  void clear(std::byte* to, std::int64_t bytes) {
    if (bytes != 0) commands_.push_back([=](Machine& d) { d.clear(to, static_cast<std::size_t>(bytes)); });
  }
  void upload(std::byte* to, std::byte const* from, std::int64_t bytes) {
    if (bytes != 0) commands_.push_back([=](Machine& d) { d.upload(to, from, static_cast<std::size_t>(bytes)); });
  }
  void download(std::byte* to, std::byte* from, std::int64_t bytes) {
    if (bytes != 0) commands_.push_back([=](Machine& d) { d.download(to, from, static_cast<std::size_t>(bytes)); });
  }
  // For machines with several queues.
  void on(int queue) {
    commands_.push_back([=](Machine& d) { d.on(queue); });
  }
  void record(int event) {
    commands_.push_back([=](Machine& d) { d.record(event); });
  }
  void wait_for(int event) {
    commands_.push_back([=](Machine& d) { d.wait_for(event); });
  }

  void forget() { commands_.clear(); }
  std::size_t size() const { return commands_.size(); }
  void give_to(Machine& d) const {
    for (auto const& o : commands_) o(d);
  }

 private:
  std::vector<std::function<void(Machine&)>> commands_;
};

}  // namespace meshtensor
