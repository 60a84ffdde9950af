// SPDX-License-Identifier: Apache-2.0
// The captured steps of all programs on one GPU, as graphs of its driver.
#pragma once

#include <mutex>
#include <set>

#include "meshtensor/device/cuda/api.hpp"
#include "meshtensor/device/cuda/gpu.hpp"

namespace meshtensor::cuda::detail {

class captured_graphs {
 public:
  captured_graphs(api::driver const& driver, api::context const& context) : driver_(driver), context_(context) {}

  struct captured_graph final : captured_step {
    explicit captured_graph(captured_graphs& all) : from(all) {
      std::lock_guard const turn(from.mutex_);
      from.graphs_.insert(this);
    }
    ~captured_graph() override {
      std::lock_guard const turn(from.mutex_);
      from.graphs_.erase(this);
      destroy();
    }
    /// Destroys the graph. If it is still running, the driver frees it at its end.
    void destroy() {
      from.driver_.cuCtxSetCurrent(from.context_);
      if (ready != nullptr) from.driver_.cuGraphExecDestroy(ready);
      if (what != nullptr) from.driver_.cuGraphDestroy(what);
      ready = nullptr, what = nullptr, is_freed = true;
    }
    captured_graphs& from;
    api::graph what = nullptr;
    api::graph_exec ready = nullptr;
  };

  /// Destroys the graphs of all steps.
  void destroy() {
    std::lock_guard const turn(mutex_);
    for (captured_graph* const c : graphs_) c->destroy();
  }

 private:
  api::driver const& driver_;
  api::context const& context_;
  std::mutex mutex_;
  std::set<captured_graph*> graphs_;  // of all programs, for `free_captured_steps`
};

}  // namespace meshtensor::cuda::detail
