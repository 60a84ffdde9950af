// SPDX-License-Identifier: Apache-2.0
// Records the time of each node of a step, and calls the observers of nodes, for the engines.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "meshtensor/job/rank_context.hpp"
#include "meshtensor/run/timeline.hpp"

namespace meshtensor {

class step_recorder {
 public:
  using observer = std::function<void(node const&, std::span<rank_context const>)>;

  void record(bool on, int nodes, int warm_up) { record_ = on ? std::make_unique<timeline>(nodes, warm_up) : nullptr; }
  timeline const* recorded() const { return record_.get(); }
  void observe(observer seen, observer before) { observer_ = std::move(seen), before_ = std::move(before); }
  /// Whether a tool requested single nodes.
  bool is_on() const { return record_ || observer_ || before_; }

  void begin_step(std::int64_t ahead) {
    if (record_) record_->begin_step(timeline::now() + ahead);
  }
  void end_step(std::int64_t ahead) {
    if (record_) record_->end_step(timeline::now() + ahead);
  }
  void enter(node const& n, std::span<rank_context const> ranks, std::int64_t ahead) {
    if (record_) record_->enter(timeline::now() + ahead);
    if (before_) before_(n, ranks);
  }
  void leave(node_id which, node const& n, std::span<rank_context const> ranks, std::int64_t ahead) {
    if (observer_) observer_(n, ranks);
    if (record_) record_->leave(which, timeline::now() + ahead);
  }

 private:
  std::unique_ptr<timeline> record_;
  observer observer_, before_;
};

}  // namespace meshtensor
