// SPDX-License-Identifier: Apache-2.0
// Runs random programs under random layouts until enough have counted, and says which seed failed.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "property/at_least.hpp"
#include "property/layout_trial.hpp"

namespace property {

/// A run counts if the layout was legal and a collective was under way while something else ran. The first program is
/// that of MESHTENSOR_SEED, or of the day; MESHTENSOR_COUNT says how many runs shall count instead of `count`, and
/// MESHTENSOR_TALKS=1 names each program on standard error before it is tried.
class random_run {
 public:
  /// `offset`: from the day's first program, for a test that shall have others.
  explicit random_run(long count, std::uint64_t offset = 0);

  /// What is wrong with a trial; empty if nothing.
  using trial_fault = std::function<std::string(layout_trial const&)>;
  /// Tries each program under some layouts, until enough have counted or five were wrong.
  void each(std::vector<mt::mesh_shape> const& meshes, trial_fault const& fault,
            mt::device_capabilities const& capabilities = {});

  /// How many there were, and how many layouts were refused, by code.
  void say() const;
  /// How to try again what is being tried, and what that is.
  std::string const& context() const { return context_; }
  std::uint64_t seed() const { return seed_; }
  void set_seed(std::uint64_t seed) { seed_ = seed; }
  long counted() const { return counted_; }
  /// Whether somebody asks for a number of runs.
  static bool is_asked_for() { return std::getenv("MESHTENSOR_COUNT") != nullptr; }

 private:
  /// The trial, or nothing if it is refused as a user's layout may be.
  std::unique_ptr<layout_trial> legal(whole_programs const& programs, random_spread const& spread,
                                      mt::device_capabilities const& capabilities);
  std::uint64_t seed_;
  long count_, counted_ = 0, programs_ = 0, alone_ = 0, failures_ = 0;
  std::map<std::string, long> refused_;  // by code
  std::string context_;
};

/// Meshes of 1, 2, 3, 4, 6 and 8 processors, some with axes of one; or those of `size` processors.
std::vector<mt::mesh_shape> random_meshes(std::int64_t size = 0);

/// One sentence on the first value that differs in a bit; empty if none does.
std::string first_difference(held_bytes const& got, held_bytes const& wanted);

}  // namespace property
