// SPDX-License-Identifier: Apache-2.0
// A device that sleeps for as long as a prediction says that a kernel takes. It computes small values alone, such as
// the sources of messages. Ranks that sleep may share a core, so links can be measured without computing. A clock says
// how to sleep: this machine's, or that of a simulation.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "meshtensor/device/reference.hpp"
#include "meshtensor/pass/cost.hpp"

/// The clock of this machine.
struct wall_clock {
  static constexpr double shortest = 1e-3;  // seconds for which it sleeps; shorter times add up

  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  static void sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }
};

template <class Clock>
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
    if (due_ < Clock::shortest || due_ <= 0) return;
    double const begin = Clock::now();
    Clock::sleep(due_);
    due_ -= Clock::now() - begin;  // it may have slept longer
  }

 private:
  double due_ = 0;

  static std::vector<double>& seconds_of_node() {
    static std::vector<double> all;
    return all;
  }
};
