// SPDX-License-Identifier: Apache-2.0
// Adds gradients of gradients to the graph of any traced program, so that no further program has to be compiled.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "meshtensor/array/interpret.hpp"
#include "meshtensor/pass/rebuild.hpp"
#include "property/program.hpp"

namespace property {

/// A program with more outputs: `bend`, the sum of all its gradients, each times an input of the same dims, and the
/// gradients of `bend` by the inputs and parameters by which the program differentiates.
struct second_order {
  struct argument {
    std::string name;      // of the input, or path of the parameter
    std::string gradient;  // name of the output with the gradient of `bend` by it
    bool is_input;
  };
  std::unique_ptr<mt::module> graph;
  std::vector<argument> by;

  /// Differentiates the gradients that come after the first `after` nodes.
  explicit second_order(mt::module const& traced, int order = 2, int after = 0) : graph(new mt::module{}) {
    mt::rebuild w(traced, *graph);
    for (int i = 0; i < traced.node_count; ++i)  // a watched tensor can have the gradient of one loss only
      if (traced.nodes[i].kind != mt::primitive::watch) w.copy(traced.nodes[i]);
    mt::builder& b = w.b;
    mt::module& m = *graph;
    std::string const suffix = order == 2 ? "" : " of order " + std::to_string(order);
    mt::id_list<> gradients{}, sources{};
    mt::region_id entry = mt::no_id;
    for (int i = after; i < m.node_count; ++i) {
      mt::node const n = m.nodes[i];
      if (n.kind != mt::primitive::gradient) continue;
      mt::node_id const owner = mt::node_owning(m, n.region);
      for (int k = 0; k < n.results.count; ++k) {
        mt::value_id gradient = m.result(n, k), source = m.operand(n, k + 1);
        if (owner != mt::no_id) {  // a microbatch's gradient: its sum is a result of the loop
          mt::node const& loop = m.nodes[owner];
          mt::list const given = m.regions[n.region].results;
          for (int r = 0; r < given.count; ++r)
            if (m.link(given, r) == m.result(n, k)) gradient = m.result(loop, r);
          source = m.operand(loop, m.nodes[m.values[source].node].attribute[0]);
        }
        entry = m.values[gradient].region;
        gradients.add(gradient);
        bool known = is_end(m, source);
        for (int j = 0; j < sources.count; ++j) known = known || sources.at[j] == source;
        if (!known) sources.add(source);
      }
    }
    if (gradients.count == 0) return;
    b.region = entry, b.path = mt::no_id, b.site = mt::no_id, b.copy = 0;
    mt::value_id bend = mt::no_id;
    for (int k = 0; k < gradients.count; ++k) {
      mt::value const v = m.values[gradients.at[k]];
      mt::name_id const label = b.intern(mt::name::of("along " + std::to_string(k) + suffix));
      mt::value_id const along = b.add(mt::primitive::input, {}, v.type, v.dims, {{label}});
      mt::value_id const term = mt::reduce(b, mt::reduction::sum, mt::multiply(b, gradients.at[k], along), v.dims);
      bend = bend == mt::no_id ? term : mt::add(b, bend, term);
    }
    give(b, "bend" + suffix, bend);
    int const first = m.node_count;
    mt::id_list<> operands{}, results{};
    operands.add(bend), operands.add_all(sources);
    mt::node_id const n = b.add_node(mt::primitive::gradient, 0, operands);
    for (mt::value_id s : mt::ids(sources)) results.add(b.add_result(n, m.values[s].type, m.values[s].dims));
    for (int k = 0; k < results.count; ++k) {
      mt::node const& source = m.nodes[m.values[sources.at[k]].node];
      bool const is_input = source.kind == mt::primitive::input;
      by.push_back(
          {is_input ? m.names[source.attribute[0]].text() : mt::path_text(m, m.variables[source.attribute[0]].path),
           "bend by " + std::to_string(k) + suffix, is_input});
      give(b, by.back().gradient, results.at[k]);
    }
    last_ = first;
  }

  /// Differentiates the gradients of `bend` again.
  second_order next(int order) const { return second_order(*graph, order, last_); }

 private:
  static bool is_end(mt::module const& m, mt::value_id v) {
    mt::primitive const kind = m.nodes[m.values[v].node].kind;
    return kind != mt::primitive::input && kind != mt::primitive::read;
  }
  static void give(mt::builder& b, std::string const& label, mt::value_id v) {
    mt::value_id const given[] = {v};
    mt::name_id const named = b.intern(mt::name::of(label));
    b.m.nodes[b.add_node(mt::primitive::output, 0, given, {{named}})].effect = true;
  }
  int last_ = 0;
};

/// Checks the gradients of `bend` along one direction of each input and parameter, but for `apart`, against central
/// differences.
inline void check_differences(char const* what, second_order const& program, mt::name const& entry,
                              std::string const& suffix = "", double tolerance = 1e-6, std::string_view apart = {},
                              std::vector<mt::dim_extent> const& extents = {}) {
  INFO(std::string(what) << suffix);
  subject s(*program.graph, entry, extents);
  s.fill(fill_kind::reals, rng{11}, -1.5, 1.5, 11);
  mt::blocks inputs = s.inputs, variables;
  for (int i = 0; i < s.graph().variable_count; ++i) {
    mt::variable const& v = s.graph().variables[i];
    mt::block& b = variables[mt::path_text(s.graph(), v.path)] = mt::block(v.type, v.dims, s.numbers());
    mt::fill(b.window(), mt::initial_of(s.graph(), s.numbers(), v, {}));
  }
  auto const run = [&] {
    mt::blocks kept = variables;
    return mt::interpreter(s.graph(), s.numbers()).run(mt::find_entry(s.graph(), entry), inputs, kept, {});
  };
  mt::blocks const given = run();
  rng c{5};
  for (auto const& by : program.by) {
    if (by.name == apart) continue;
    mt::block& moved = (by.is_input ? inputs : variables).at(by.name);
    mt::block const here = moved, &gradient = given.at(by.gradient);
    std::vector<double> direction;
    double wanted = 0, scale = 0;
    for (std::int64_t i = 0; i < here.size(); ++i) {
      direction.push_back(static_cast<double>(c.next() >> 11) / 4503599627370496.0 - 1);
      wanted += gradient.number_at(i) * direction.back(), scale += std::abs(gradient.number_at(i) * direction.back());
    }
    constexpr double step = 1e-5;
    auto const at = [&](double distance) {
      for (std::int64_t i = 0; i < here.size(); ++i)
        moved.set(i, here.number_at(i) + distance * direction[static_cast<std::size_t>(i)]);
      return run().at("bend" + suffix).number_at(0);
    };
    double const got = (at(step) - at(-step)) / (2 * step);
    moved = here;
    INFO("bend by " << by.name << ": " << wanted << ", by differences " << got);
    CHECK(std::abs(got - wanted) <= tolerance * (1 + scale));
  }
}

}  // namespace property
