// SPDX-License-Identifier: Apache-2.0
// A device that sleeps for as long as a prediction says that a kernel takes. It computes small values alone, such as
// the sources of messages. Ranks that sleep may share a core, so links can be measured without computing.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "meshtensor/device/reference.hpp"
#include "meshtensor/pass/cost.hpp"

struct sleeping_device : meshtensor::reference_device {
  struct kernel {
    double seconds;
    bool computes;
  };
  static constexpr std::int64_t small = 4096;  // elements

  /// The seconds of the kernels of executables that are made from now on: those of mt::predict.
  template <class Numbers>
  static void plan(meshtensor::module const& m, Numbers const& numbers, meshtensor::rates const& best) {
    seconds_of_node().clear();
    for (int i = 0; i < m.node_count; ++i)
      seconds_of_node().push_back(std::max(static_cast<double>(flops_within(m, numbers, m.nodes[i])) / best.flops,
                                           static_cast<double>(bytes_touched(m, numbers, m.nodes[i])) / best.bytes));
  }

  kernel prepare(meshtensor::module const& m, meshtensor::node const& n, meshtensor::view const* operands,
                 meshtensor::view const* results) const {
    auto const fits = [](meshtensor::view const& v) { return v.size() <= small; };
    return {seconds_of_node().at(static_cast<std::size_t>(&n - &m.nodes[0])),
            std::all_of(operands, operands + n.operands.count, fits) &&
                std::all_of(results, results + n.results.count, fits)};
  }
  void launch(kernel& k, meshtensor::evaluation const& e) {
    if (k.computes) loops(e);
    due_ += k.seconds;
    if (due_ < 1e-3) return;  // shorter times add up
    auto const begin = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::duration<double>(due_));
    due_ -= std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();  // it slept longer
  }

 private:
  double due_ = 0;

  static std::vector<double>& seconds_of_node() {
    static std::vector<double> all;
    return all;
  }
};
