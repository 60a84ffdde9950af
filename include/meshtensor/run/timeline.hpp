// SPDX-License-Identifier: Apache-2.0
// Records when a rank ran each node of its steps. It records nothing unless a tool requests it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "meshtensor/graph/module.hpp"

namespace meshtensor {

/// The times of one rank's nodes, in nanoseconds of the system's steady clock, or of a network model's clock. Nodes
/// inside loops and composites are within the span of the enclosing node, and `own` excludes them.
class timeline {
 public:
  struct span {
    node_id node;
    std::int64_t begin, end;
  };
  struct total {
    std::int64_t calls = 0, own = 0;
  };

  /// The first `warm_up` steps are forgotten when another step begins.
  explicit timeline(int nodes, int warm_up = 0, std::size_t most_spans = usual_spans)
      : totals_(static_cast<std::size_t>(nodes)), warm_up_(warm_up), most_spans_(most_spans) {}

  void enter(std::int64_t begin) { open_.push_back({begin, 0}); }
  void leave(node_id which, std::int64_t end) {
    auto const [begin, inside] = open_.back();
    open_.pop_back();
    if (!open_.empty()) open_.back().inside += end - begin;
    ++totals_[which].calls;
    totals_[which].own += end - begin - inside;
    if (spans_.size() < most_spans_) spans_.push_back({which, begin, end});
    else is_full_ = true;
  }
  void begin_step(std::int64_t begin) {
    if (forgotten_ == 0 && warm_up_ != 0 && steps_ == warm_up_) forget();
    open_.clear(), began_ = begin;  // a failed step has left nodes open
  }
  void end_step(std::int64_t end) {
    ++steps_, step_time_ += end - began_;
    if (!is_full_) whole_steps_ = steps_;
  }

  std::int64_t steps() const { return steps_; }
  std::int64_t step_time() const { return step_time_; }  // of all steps
  std::vector<total> const& totals() const { return totals_; }
  /// Spans in the order in which they ended. A long recording keeps the first `most_spans()`, but totals count all.
  std::vector<span> const& spans() const { return spans_; }
  std::size_t most_spans() const { return most_spans_; }
  /// The number of steps all spans of which were kept.
  std::int64_t whole_steps() const { return whole_steps_; }
  /// The number of forgotten steps. `is_warm_up` says whether the steps recorded so far will be forgotten.
  std::int64_t forgotten() const { return forgotten_; }
  bool is_warm_up() const { return forgotten_ == 0 && warm_up_ != 0; }

  static constexpr std::size_t usual_spans = std::size_t{1} << 20;

  static std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

 private:
  void forget() {
    forgotten_ = steps_;
    std::ranges::fill(totals_, total{});
    spans_.clear();
    steps_ = step_time_ = whole_steps_ = 0;
    is_full_ = false;
  }

  struct open_node {
    std::int64_t begin, inside;
  };
  std::vector<total> totals_;
  std::vector<span> spans_;
  std::vector<open_node> open_;
  std::int64_t steps_ = 0, step_time_ = 0, began_ = 0, whole_steps_ = 0, warm_up_ = 0, forgotten_ = 0;
  std::size_t most_spans_;
  bool is_full_ = false;  // a span was left out
};

}  // namespace meshtensor
