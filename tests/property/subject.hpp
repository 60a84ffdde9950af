// SPDX-License-Identifier: Apache-2.0
// Checks one program under many layouts. Work that does not depend on the layout is done once; expected values come
// from the interpreter.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "meshtensor/device/reference.hpp"
#include "meshtensor/emit/print.hpp"
#include "meshtensor/pass/verify/verify_layout.hpp"
#include "meshtensor/run/session.hpp"
#include "property/sample.hpp"
#include "support/compare.hpp"
#include "support/layouts.hpp"
#include "support/timings.hpp"

namespace property {

namespace mt = meshtensor;
using meshtensor_test::rng;

/// Counts the cases that were tried, and the reasons why layouts were not legal. A case is one program on one mesh,
/// partitioned in one way: a layout that leads to the same partitioned program does not count again.
struct tally {
  long tried = 0, repeated = 0;
  long overlapped = 0;                  // of those tried: with a collective in flight while something else runs
  long late = 0, out_of_order = 0;      // of those tried: on a late device, too; kernels that ran out of order there
  std::map<std::string, long> refused;  // by the sentence of the broken rule

  void say(char const* what) const;
};

/// The values of inputs.
enum class fill_kind { integers, reals };

/// Partitions a traced program for the processors of a mesh.
std::unique_ptr<mt::module> partitioned(mt::module const& traced, mt::mesh_shape const& mesh,
                                        mt::layout_rules const& rules);

class subject {
 public:
  int steps = 1;
  meshtensor_test::closeness tolerance = meshtensor_test::same_bits;
  mt::blocks inputs;

  subject(mt::module const& traced, mt::name const& entry, std::vector<mt::dim_extent> extents);

  mt::module const& graph() const { return *simplified_; }
  mt::binding const& numbers() const { return *numbers_; }

  /// Fills every input: floats with small integers or with reals in [low, high), integers with 0, 1, …, some of them
  /// out of range for every dim of `extent`.
  void fill(fill_kind what, rng c, double low = -1, double high = 1, int extent = 6);

  /// Computes the expected outputs and variables after every step with the interpreter.
  void expect();
  mt::blocks const& expected_outputs(int step = 0) const { return expected_[static_cast<std::size_t>(step)].outputs; }
  mt::blocks const& expected_variables(int step = 0) const {
    return expected_[static_cast<std::size_t>(step)].variables;
  }
  /// Whether this partitioned program was not tried before. Programs differ by mesh, by nodes and by the layout of
  /// values.
  bool is_new(mt::mesh_shape const& mesh, mt::module const& m);

  /// Runs the program under one layout, in lockstep, and compares every processor's part of every output and variable;
  /// one case in some (`is_in_late_sample`) on a device whose queues run late and out of order, too.
  void check_layout(mt::mesh_shape const& mesh, mt::layout_rules const& rules, tally& t);

 private:
  struct outcome {
    mt::blocks outputs, variables;
  };

  template <class Device>
  std::string compare(mt::session<Device>& run, mt::store& values) const;
  std::string compare_on_late_device(mt::mesh_shape const& mesh, mt::module const& laid, mt::plan const& plan,
                                     int entry, std::uint64_t number, tally& t) const;
  void compare_lowering(mt::mesh_shape const& mesh, mt::layout_rules const& rules, mt::module const& laid,
                        mt::plan const& plan) const;

  mt::module const& traced_;
  mt::name label_;
  std::vector<mt::dim_extent> extents_;
  std::unique_ptr<mt::module> differentiated_, simplified_;
  std::unique_ptr<mt::binding> numbers_;
  std::vector<outcome> expected_;
  std::set<std::uint64_t> tried_;
};

}  // namespace property
