// SPDX-License-Identifier: Apache-2.0
// Runs small programs on whole arrays: what the tests of operations and layers are made of. trial.cpp has what they
// share, compiled once.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "meshtensor/array/interpret.hpp"
#include "meshtensor/op/gradient.hpp"
#include "meshtensor/pass/bind.hpp"
#include "meshtensor/pass/differentiate.hpp"
#include "meshtensor/pass/widen.hpp"

namespace doctest {
/// The elements of a result, where a check fails.
template <>
struct StringMaker<std::vector<double>> {
  static String convert(std::vector<double> const& all) {
    std::string text;
    for (double const one : all) text += (text.empty() ? "" : ", ") + std::to_string(one);
    return ("{" + text + "}").c_str();
  }
};
}  // namespace doctest

namespace trial {

namespace mt = meshtensor;

/// Numbers of one sort, repeatable: where they lie is up to the test.
struct stream {
  std::uint64_t state = 1;
  double next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) / 9007199254740992.0;
  }
  double between(double low, double high) { return low + (high - low) * next(); }
};

mt::dim_id dim_of(mt::module const& m, mt::name const& label);

/// One program, widened and differentiated, with its inputs and variables.
class program {
 public:
  template <class Program>
  static program of(std::vector<mt::dim_extent> const& extents = {}) {
    std::unique_ptr<mt::module> const traced(new mt::module(mt::trace<Program>()));  // in place: it is large
    return from(*traced, extents);
  }
  static program from(mt::module const& traced, std::vector<mt::dim_extent> const& extents = {});

  /// Runs one step; the outputs by name.
  mt::blocks run();
  void fill(std::string const& name, std::vector<double> const& numbers);
  void fill_at_random(double low, double high, std::uint64_t seed = 1);

  mt::module const& graph() const { return *m_; }
  mt::blocks inputs, variables;
  mt::settings settings;

 private:
  std::unique_ptr<mt::module> m_;
  mt::binding b_;
};

std::vector<double> numbers_of(mt::block const& b);

/// Runs a program that takes nothing or only `x`, and gives its output `y`.
template <class Program>
std::vector<double> result_of(std::vector<double> const& x = {}) {
  program p = program::of<Program>();
  if (!x.empty()) p.fill("x", x);
  return numbers_of(p.run().at("y"));
}

}  // namespace trial
