// SPDX-License-Identifier: Apache-2.0
// Keeps the counts of a store: its steps, the steps of each of its programs, and the updates of its values.
#pragma once

#include <cstdint>
#include <string>

#include "meshtensor/run/counts.hpp"
#include "meshtensor/run/store/sources.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// The counts of a store. A count that no executable has named yet begins with that of a checkpoint, or with the number
/// to which all counts were set.
class counts_of_store {
 public:
  explicit counts_of_store(value_sources const& sources) : sources_(sources) {}

  std::uint64_t step() const { return step_; }
  void advance() { ++step_; }
  /// Sets all counts to one number, including those of programs that no executable has named yet.
  void set_step(std::uint64_t step) {
    step_ = others_.steps = others_.updates = step;
    asks_source_ = false;
    for (counts_by_name* each : {&counts_.steps, &counts_.updates})
      for (auto& [label, n] : *each) n = step;
  }

  /// The steps of each program, by its full name, and the updates by optimizers and averages, by path.
  program_counts const& all() const { return counts_; }
  /// The steps of a program, even if no executable has named it yet.
  std::uint64_t steps_of(std::string const& program) const {
    auto const found = counts_.steps.find(program);
    return found == counts_.steps.end() ? others_.steps : found->second;
  }
  std::uint64_t updates_of(std::string const& path) const {
    auto const found = counts_.updates.find(path);
    if (found != counts_.updates.end()) return found->second;
    if (asks_source_)
      if (auto const n = sources_.updates(path)) return *n;
    return others_.updates;
  }
  /// Lets the updates of a value, if it counts its own, begin with 0 while it is `initial`, and otherwise with the
  /// number to which all counts were set.
  void begin_updates(std::string const& label, bool initial) {
    auto const found = counts_.updates.find(label);
    if (found != counts_.updates.end()) found->second = initial ? 0 : others_.updates;
  }
  /// References to the counts, valid as long as this object.
  std::uint64_t& count_steps(std::string const& program) {
    return counts_.steps.try_emplace(program, steps_of(program)).first->second;
  }
  std::uint64_t& count_updates(std::string const& path) {
    return counts_.updates.try_emplace(path, updates_of(path)).first->second;
  }
  /// Whether another program of the store counts a path in the other way, in a state or not, so that numbers of one of
  /// them do not follow the updates by the other one. `is_used` says whether a number depends on the count.
  bool is_counted_apart(std::string const& path, bool in_state, bool is_used) {
    constexpr std::uint64_t used = 2;
    std::uint64_t& known = ways_.try_emplace(path, in_state ? 1 : 0).first->second;
    if (is_used) known |= used;
    return (known & used) != 0 && ((known & 1) != 0) != in_state;
  }
  /// Takes the counts of a checkpoint: `step`, the steps of programs, and the source's updates. If `steps` is null,
  /// each program has `step`.
  void take(std::uint64_t step, counts_by_name const* steps) {
    step_ = step, others_ = {steps == nullptr ? step : 0, 0}, asks_source_ = true;
    for (auto& [label, n] : counts_.steps) n = others_.steps;
    if (steps != nullptr)
      for (auto const& [label, n] : *steps) counts_.steps[label] = n;
    // An earlier source is not asked, because the values that a program has come from the latest one or stay.
    for (auto& [label, n] : counts_.updates) n = sources_.latest()->updates(label).value_or(n);
  }
  /// Takes the counts of another store.
  void take(counts_of_store const& from) {
    step_ = from.step_;
    for (auto& [label, n] : counts_.steps) n = from.steps_of(label);
    for (auto& [label, n] : counts_.updates) n = from.updates_of(label);
  }

 private:
  value_sources const& sources_;
  std::uint64_t step_ = 0;
  program_counts counts_;
  counts_by_name ways_;  // 1 if the first program that counts a path does so in a state, plus 2 if a number needs it
  struct {
    std::uint64_t steps = 0, updates = 0;
  } others_;                  // the initial counts
  bool asks_source_ = false;  // whether the source is asked first for the initial count of updates
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
