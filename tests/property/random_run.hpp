// SPDX-License-Identifier: Apache-2.0
// Runs random programs under random layouts until enough runs have counted, and reports the seed of a failure.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "property/layout_trial.hpp"
#include "property/sample.hpp"

namespace property {

/// A run counts if the layout was legal and a collective was in flight while something else ran. The first program is
/// that of MESHTENSOR_SEED, or of the day. MESHTENSOR_COUNT overrides `count`, the number of runs. MESHTENSOR_TALKS=1
/// prints each program to standard error before it is tried.
class random_run {
 public:
  /// The programs of a seed.
  using program_maker = whole_programs (*)(std::uint64_t);
  /// `offset`: distance from the day's first program, for a test that needs others.
  explicit random_run(long count, std::uint64_t offset = 0, program_maker make = &whole_programs::of);

  /// Describes what is wrong with a trial; empty: nothing.
  using trial_fault = std::function<std::string(layout_trial const&)>;
  /// Tries given programs, instead of random ones, under random layouts.
  void each_layout(whole_programs const& programs, std::vector<mt::mesh_shape> const& meshes, trial_fault const& fault);
  /// Tries each program under some layouts, until enough runs have counted or five have failed.
  void each(std::vector<mt::mesh_shape> const& meshes, trial_fault const& fault,
            mt::device_capabilities const& capabilities = {});

  /// Prints the number of runs, and how many layouts were refused, by code.
  void say() const;
  /// The current trial, and the settings that repeat it.
  std::string const& context() const { return context_; }
  std::uint64_t seed() const { return seed_; }
  void set_seed(std::uint64_t seed) { seed_ = seed; }
  long counted() const { return counted_; }
  /// Whether MESHTENSOR_COUNT asks for a number of runs.
  static bool is_asked_for() { return std::getenv("MESHTENSOR_COUNT") != nullptr; }

 private:
  void try_layout(whole_programs const& programs, random_spread const& spread, trial_fault const& fault,
                  mt::device_capabilities const& capabilities);
  /// The trial, or nothing if the layout is refused as a user's may be.
  std::unique_ptr<layout_trial> legal(whole_programs const& programs, random_spread const& spread,
                                      mt::device_capabilities const& capabilities);
  std::uint64_t seed_;
  program_maker make_;
  long count_, counted_ = 0, programs_ = 0, alone_ = 0, failures_ = 0;
  std::map<std::string, long> refused_;  // by code
  std::string again_, context_;
};

/// The programs of a set, or one alone, as a user declares them: `traced_programs<both, train, evaluate>(1e-9)`.
template <class Set, class... Entry>
whole_programs traced_programs(double tolerance) {
  random_programs p;
  p.traced = std::make_unique<mt::module>(mt::detail::traced<Set>);
  p.entries = {mt::entry_name<Entry>()...};
  return whole_programs(std::move(p), tolerance, true);
}

/// What is wrong with a trial in lockstep at each timing, as threads and as late threads; empty if nothing.
std::string fault_on_threads(layout_trial const& trial);

/// Meshes of 1, 2, 3, 4, 6 and 8 processors, some with axes of one; or those of `size` processors.
std::vector<mt::mesh_shape> random_meshes(std::int64_t size = 0);

/// One sentence about the first value that differs in a bit; empty: none does.
std::string first_difference(held_bytes const& got, held_bytes const& wanted);

}  // namespace property
