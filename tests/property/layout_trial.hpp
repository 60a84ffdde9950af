// SPDX-License-Identifier: Apache-2.0
// Runs random programs on one store under a random layout: lowers them, runs some steps with any job, compares the
// results with the interpreter, and tells whether communication overlapped with other work.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "meshtensor/run/session.hpp"
#include "property/program_fuzzer.hpp"
#include "property/random_layout.hpp"
#include "support/compare.hpp"

namespace property {

/// Programs before they get a layout.
class whole_programs {
 public:
  /// A network that trains, with other programs on its parameters; or, one in four times, a graph of any operations.
  static whole_programs of(std::uint64_t seed);
  /// The same, and branches and loops that may end early in them, too.
  static whole_programs of_loops_that_may_end_early(std::uint64_t seed);
  /// A graph of integers, with inputs and literals near the limits of i64, i32 and f64.
  static whole_programs of_integers_near_limits(std::uint64_t seed);
  whole_programs(random_programs programs, meshtensor_test::closeness tolerance, bool is_smooth);

  std::size_t count() const { return programs_.entries.size(); }
  mt::module const& traced() const { return *programs_.traced; }
  mt::name const& label(std::size_t e) const { return programs_.entries[e]; }
  mt::module const& simplified(std::size_t e) const { return *simplified_[e]; }
  mt::module const& differentiated(std::size_t e) const { return *differentiated_[e]; }
  bool is_single() const { return programs_.in_f64 != nullptr; }
  mt::module const& differentiated_in_f64(std::size_t e) const { return *in_f64_[e]; }
  meshtensor_test::closeness tolerance() const { return tolerance_; }
  /// Whether small changes of the inputs make small changes of the results, as long as a training does not diverge.
  bool is_smooth() const { return is_smooth_; }
  /// Whether its inputs of integers are near the limits.
  bool has_integers_near_limits() const { return near_limits_; }
  /// The names for rules of layouts; the large scopes are those of loops and optimizers.
  layout_names const& names() const { return names_; }

 private:
  random_programs programs_;
  meshtensor_test::closeness tolerance_;
  bool is_smooth_, near_limits_ = false;
  std::vector<std::unique_ptr<mt::module>> differentiated_, simplified_, in_f64_;
  layout_names names_;
};

/// A mesh, the programs' layouts on it, extents, and the order of steps.
struct random_spread {
  mt::mesh_shape mesh;
  std::vector<mt::layout_rules> layouts;  // one for each program
  std::vector<mt::dim_extent> extents;
  std::vector<std::size_t> steps;  // the program of each step
  std::uint64_t seed;

  /// `even`: all layouts divide the extents.
  random_spread(whole_programs const& programs, mt::mesh_shape const& on, std::uint64_t by, bool even);
  std::string text(whole_programs const& programs) const;
};

/// The bytes of outputs and variables that each processor holds, by step, name and rank.
using held_bytes = std::map<std::string, std::vector<std::byte>>;

/// Programs lowered for one mesh and its layouts.
class layout_trial {
 public:
  /// errors  S05 the layout is not legal; R04 the programs' layouts disagree on a variable
  layout_trial(whole_programs const& programs, random_spread const& spread,
               mt::device_capabilities const& capabilities = {});

  /// Whether all processors hold as much of every value.
  bool is_even() const { return even_; }
  /// The number of collectives that are in flight while something else runs.
  int in_flight() const { return in_flight_; }

  /// Runs all steps with a job. Returns every bit that this process's processors hold.
  template <class Device>
  held_bytes run(mt::job const& job, Device const& device) const;

  /// Describes what is wrong with the values that all processors of the mesh hold; empty: nothing. Where a program
  /// amplifies rounding, values may be as far off as where inputs and rounding differ in the last digits, or as with
  /// f64. No value is compared from the step on in which the training diverges.
  std::string compare(held_bytes const& held) const;

 private:
  struct after_step {
    mt::blocks outputs, variables;
    bool overflowed;
  };
  mt::blocks inputs_of(std::size_t e) const;
  std::vector<after_step> expected(bool otherwise) const;

  whole_programs const& programs_;
  random_spread const& spread_;
  std::vector<std::unique_ptr<mt::lowering>> lowered_;
  std::vector<mt::blocks> inputs_;
  int in_flight_ = 0;
  bool even_ = true;
};

template <class Device>
held_bytes layout_trial::run(mt::job const& job, Device const& device) const {
  mt::store values(job, spread_.seed);
  std::vector<std::unique_ptr<mt::session<Device>>> sessions;
  for (std::size_t e = 0; e < lowered_.size(); ++e) {
    auto const& low = *lowered_[e];
    sessions.push_back(
        std::make_unique<mt::session<Device>>(values, low.graph, low.planned, spread_.mesh, low.entry, device));
    for (auto const& [label, b] : inputs_[e]) sessions.back()->feed(label, b.data());
  }
  held_bytes all;
  for (std::size_t t = 0; t < spread_.steps.size(); ++t) {
    std::size_t const e = spread_.steps[t];
    sessions[e]->step();
    auto const keep = [&](std::string const& label, std::size_t k, void const* data, std::int64_t bytes) {
      auto const* first = static_cast<std::byte const*>(data);
      all[std::to_string(t) + " " + label + " " + std::to_string(sessions[e]->held()[k].rank())].assign(first,
                                                                                                        first + bytes);
    };
    mt::module const& m = lowered_[e]->graph;
    for (std::size_t k = 0; k < sessions[e]->held().size(); ++k) {
      for (int i = 0; i < m.node_count; ++i)
        if (m.nodes[i].kind == mt::primitive::output) {
          std::string const label = mt::label_of_output(m, m.nodes[i]);
          mt::view const v = sessions[e]->local(label, k);
          keep("output " + label, k, v.data, v.bytes());
        }
      for (auto& [path, s] : values.values()) keep("variable " + path, k, s.block_of(k), s.windows[k].bytes());
    }
  }
  return all;
}

}  // namespace property
