// SPDX-License-Identifier: Apache-2.0
// Runs single collectives by number, on any communicator.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "meshtensor/comm/communicator.hpp"
#include "meshtensor/job/planned_collective.hpp"

namespace meshtensor {

/// The endpoint of one rank for collectives. In lockstep, one endpoint serves all ranks (lockstep.hpp).
class transport {
 public:
  virtual ~transport() = default;
  /// Registers a collective before the first step and returns its number. All ranks must do so in the same order.
  virtual int prepare(planned_collective const& c) = 0;
  /// Says that this collective is not started any more. Another one of the same group may then get its number.
  virtual void release(int) {}
  /// Starts a collective. Returns whether it is pending, so that `wait` must follow.
  virtual bool start(int number, planned_collective const& c, void const* in, void* out) = 0;
  virtual void wait(int number) = 0;
  /// Progresses pending collectives. It is a no-op if a thread progresses them.
  virtual void progress() {}
  /// Says that pending collectives will not end. From now on the transport does not touch their memory.
  virtual void abandon() {}
  /// Bytes of workspace of its collectives, besides operands and results.
  virtual std::int64_t workspace_bytes() const { return 0; }
  /// Nanoseconds by which the clock of a network model is ahead of this machine's clock.
  virtual std::int64_t ahead() const { return 0; }
  /// Whether the operand and the result of a collective may be in a device's memory.
  virtual bool takes_device_memory(planned_collective const&) const { return false; }
};

/// A transport over any communicator. It allocates in `prepare` only.
template <communicator C>
class transport_over final : public transport {
 public:
  explicit transport_over(C& c) : c_(c) {}
  int prepare(planned_collective const& c) override {
    int number = 0;
    while (number < std::ssize(all_) && !(at(number).released && at(number).members == c.members)) ++number;
    if (number == std::ssize(all_)) {
      if constexpr (requires { c_.prepare(c.with, c.call); }) c_.prepare(c.with, c.call);
      else c_.prepare(c.with);
      all_.emplace_back().members = c.members;
    }
    auto const bytes = static_cast<std::size_t>(c_.workspace_bytes(c.call, c.with.count));
    at(number).released = false, at(number).workspace.resize(bytes == 0 ? 0 : bytes / 8 + 16);
    return number;
  }
  void release(int number) override { at(number).released = true, at(number).workspace = {}; }
  bool start(int number, planned_collective const& c, void const* in, void* out) override {
    auto const address = reinterpret_cast<std::uintptr_t>(at(number).workspace.data());
    void* const aligned = reinterpret_cast<std::byte*>(at(number).workspace.data()) + (64 - address % 64) % 64;
    at(number).request = c_.start(c.call, c.with, in, out, aligned);
    return true;
  }
  void wait(int number) override { c_.wait(at(number).request); }
  void progress() override {
    if constexpr (requires { c_.progress(); }) c_.progress();
  }
  void abandon() override {
    if constexpr (requires { c_.abandon(); }) c_.abandon();
  }
  std::int64_t workspace_bytes() const override {
    std::int64_t bytes = 0;
    for (prepared_collective const& p : all_) bytes += std::ssize(p.workspace) * 8;
    return bytes;
  }
  bool takes_device_memory(planned_collective const& c) const override {
    if constexpr (requires { c_.takes_device_memory(c.call, 1); }) return c_.takes_device_memory(c.call, c.with.count);
    else return false;
  }

 private:
  struct prepared_collective {
    std::vector<int> members;
    bool released = false;
    std::vector<double> workspace;
    typename C::request request;
  };
  prepared_collective& at(int number) { return all_[static_cast<std::size_t>(number)]; }

  C& c_;
  std::deque<prepared_collective> all_;  // by number
};

}  // namespace meshtensor
