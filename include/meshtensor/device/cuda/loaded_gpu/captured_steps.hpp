// SPDX-License-Identifier: Apache-2.0
// The recorded steps of all programs on one GPU, as graphs of its driver.
#pragma once

#include <mutex>
#include <set>

#include "meshtensor/device/cuda/api.hpp"
#include "meshtensor/device/cuda/gpu.hpp"

namespace meshtensor::cuda::detail {

class captured_steps {
 public:
  captured_steps(api::driver const& driver, api::context const& context) : driver_(driver), context_(context) {}

  struct captured final : recorded_step {
    explicit captured(captured_steps& all) : from(all) {
      std::lock_guard const turn(from.turn_of_steps_);
      from.steps_.insert(this);
    }
    ~captured() override {
      std::lock_guard const turn(from.turn_of_steps_);
      from.steps_.erase(this);
      destroy();
    }
    /// Destroys the graph. If it is still running, the driver frees it at its end.
    void destroy() {
      from.driver_.cuCtxSetCurrent(from.context_);
      if (ready != nullptr) from.driver_.cuGraphExecDestroy(ready);
      if (what != nullptr) from.driver_.cuGraphDestroy(what);
      ready = nullptr, what = nullptr, is_freed = true;
    }
    captured_steps& from;
    api::graph what = nullptr;
    api::graph_exec ready = nullptr;
  };

  /// Destroys the graphs of all steps.
  void destroy() {
    std::lock_guard const turn(turn_of_steps_);
    for (captured* const c : steps_) c->destroy();
  }

 private:
  api::driver const& driver_;
  api::context const& context_;
  std::mutex turn_of_steps_;
  std::set<captured*> steps_;  // of all programs, for `free_recorded_steps`
};

}  // namespace meshtensor::cuda::detail
