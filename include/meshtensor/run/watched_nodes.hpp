// SPDX-License-Identifier: Apache-2.0
// Lets tools time single nodes of a device with memory of its own, or observe their values.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "meshtensor/run/recorded/host_copies.hpp"
#include "meshtensor/run/timeline.hpp"

namespace meshtensor {

template <class Machine>
class watched_nodes {
 public:
  using observer = std::function<void(node const&, std::span<rank_context const>)>;

  watched_nodes(module const& m, plan const& p) : m_(m), p_(p) {}
  bool any() const { return times_ != nullptr || copies_ != nullptr; }
  bool are_shown() const { return copies_ != nullptr; }
  timeline const* times() const { return times_.get(); }

  void take_times(bool on, int warm_up) { times_ = on ? std::make_unique<timeline>(m_.node_count, warm_up) : nullptr; }
  void observe(observer seen, observer before, Machine& d, std::span<rank_context const> ranks) {
    seen_ = std::move(seen), before_ = std::move(before);
    copies_.reset();
    if (seen_ || before_) copies_ = std::make_unique<host_copies<Machine>>(d, m_, p_, ranks);
  }
  /// Adds a block of the device's memory that may hold values of this step.
  void add(std::byte const* at, std::size_t bytes) { copies_->add(at, bytes); }

  void begin_step() {
    if (times_ != nullptr) times_->begin_step(timeline::now());
  }
  void end_step() {
    if (times_ != nullptr) times_->end_step(timeline::now());
  }
  void begin(node_id which, std::span<rank_context const> ranks) {
    if (times_ != nullptr) times_->enter(timeline::now());
    if (before_) before_(m_.nodes[which], copies_->of(m_.nodes[which], ranks));
  }
  /// Called after the device has completed the node.
  void end(node_id which, std::span<rank_context const> ranks) {
    if (seen_) seen_(m_.nodes[which], copies_->of(m_.nodes[which], ranks));
    if (times_ != nullptr) times_->leave(which, timeline::now());
  }

 private:
  meshtensor::module const& m_;
  plan const& p_;
  std::unique_ptr<timeline> times_;
  observer seen_, before_;
  std::unique_ptr<host_copies<Machine>> copies_;
};

}  // namespace meshtensor
