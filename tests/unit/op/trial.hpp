// SPDX-License-Identifier: Apache-2.0
// Runs small programs on whole arrays: what the tests of operations and layers are made of.
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

inline mt::dim_id dim_of(mt::module const& m, mt::name const& label) {
  for (int d = 0; d < m.dim_count; ++d)
    if (m.dim_name(d) == label) return static_cast<mt::dim_id>(d);
  throw mt::error("R00", "the program has no dim '" + label.text() + "'");
}

/// One program, widened and differentiated, with its inputs and variables.
class program {
 public:
  template <class Program>
  static program of(std::vector<mt::dim_extent> const& extents = {}) {
    return from(std::unique_ptr<mt::module>(new mt::module(mt::trace<Program>())), extents);  // in place: it is large
  }
  static program from(std::unique_ptr<mt::module> const& traced, std::vector<mt::dim_extent> const& extents) {
    verify(*traced);
    program p;
    p.m_.reset(new mt::module(mt::differentiate(mt::widen(*traced))));
    verify(*p.m_);
    p.b_ = mt::bind(*p.m_, mt::mesh_shape{}, extents);
    mt::raise(p.b_.report);
    for (int i = 0; i < p.m_->node_count; ++i) {
      mt::node const& n = p.m_->nodes[i];
      if (n.kind != mt::primitive::input) continue;
      mt::value const& v = p.m_->result_value(n);
      p.inputs[p.m_->names[n.attribute[0]].text()] = mt::block(v.type, v.dims, p.b_);
    }
    return p;
  }

  /// Runs one step; the outputs by name.
  mt::blocks run() {
    mt::blocks outputs = mt::interpreter(*m_, b_).run(0, inputs, variables, settings);
    ++settings.step;
    return outputs;
  }
  void fill(std::string const& name, std::vector<double> const& numbers) {
    mt::block& b = inputs.at(name);
    REQUIRE(b.size() == static_cast<std::int64_t>(numbers.size()));
    for (std::size_t i = 0; i < numbers.size(); ++i) b.set(static_cast<std::int64_t>(i), numbers[i]);
  }
  void fill_at_random(double low, double high, std::uint64_t seed = 1) {
    stream s{seed};
    for (auto& [name, b] : inputs)
      for (std::int64_t i = 0; i < b.size(); ++i) b.set(i, s.between(low, high));
  }

  mt::module const& graph() const { return *m_; }
  mt::blocks inputs, variables;
  mt::settings settings;

 private:
  static void verify(mt::module const& m) {
    for (int i = 0; i < m.node_count; ++i) {
      char const* const finding = mt::verify_node(m, m.nodes[i]);
      INFO("node " << i << ", " << std::string(mt::text_of(m.nodes[i].kind)) << ": "
                   << std::string(finding == nullptr ? "" : finding));
      REQUIRE(finding == nullptr);
    }
  }
  std::unique_ptr<mt::module> m_;
  mt::binding b_;
};

inline std::vector<double> numbers_of(mt::block const& b) {
  std::vector<double> r;
  for (std::int64_t i = 0; i < b.size(); ++i) r.push_back(b.number_at(i));
  return r;
}

/// Runs a program that takes nothing or only `x`, and gives its output `y`.
template <class Program>
std::vector<double> result_of(std::vector<double> const& x = {}) {
  program p = program::of<Program>();
  if (!x.empty()) p.fill("x", x);
  return numbers_of(p.run().at("y"));
}

}  // namespace trial
