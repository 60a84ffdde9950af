// SPDX-License-Identifier: Apache-2.0
// Compares a program that has an `each` or a `map` with the same program for one index, run for one index after the
// other, and then with itself under layouts of several meshes.
#pragma once

#include <functional>

#include "meshtensor/op/each.hpp"
#include "property/in_each.hpp"

namespace property {

/// How a program with an `each` is tried.
struct indices_case {
  mt::name dim;  // of the each
  int extent;    // of this dim
  int steps = 2;
  double tolerance = 1e-9;
  int assignments = 24, drawn = 6;                       // layouts of each mesh
  std::function<void(mt::blocks&, int step)> fill = {};  // changes inputs, which are reals in [-1.5, 1.5) and indices
  std::set<std::string> moved = {};  // variables that all indices change together, so `Alone` begins each step anew
};

/// The program of a type, in f64.
template <class Program>
struct in_f64_of : mt::precision<Program, mt::f64> {};

/// An input of one index, or of all indices of `dim`.
template <bool IsAlone, class D>
constexpr auto input_of(mt::scope auto s, mt::named_here const& label, auto type, D dim, auto... dims) {
  if constexpr (IsAlone) return s.input(label, type, dims...);
  else return s.input(label, type, dim, dims...);
}
/// The body for one index as a layer, or for all indices in a `map` or an `each`.
template <bool IsAlone, class D>
constexpr auto map_or_alone(mt::scope auto s, D dim, auto operands, auto body) {
  if constexpr (IsAlone) return std::apply(mt::layer(body), std::tuple_cat(std::tuple(s), operands));
  else return mt::map(s, dim, operands, body);
}
template <bool IsAlone, class D>
constexpr auto each_or_alone(mt::scope auto s, D dim, auto operands, auto body) {
  if constexpr (IsAlone) return std::apply(mt::layer(body), std::tuple_cat(std::tuple(s), operands));
  else return mt::each(s, dim, operands, body);
}

namespace detail {

/// A program that is ready for the interpreter.
struct readied {
  std::unique_ptr<mt::module> graph;
  std::unique_ptr<mt::binding> numbers;

  explicit readied(mt::module const& traced)
      : graph(mt::on_heap([&] { return mt::differentiate(mt::widen(traced)); })),
        numbers(mt::on_heap([&] { return mt::bind(*graph, mt::mesh_shape{}, {}); })) {
    mt::raise(mt::verify(*graph)), mt::raise(numbers->report);
  }
  /// The variables before the first step.
  mt::blocks first_values() const {
    mt::blocks all;
    mt::settings const s;
    for (int i = 0; i < graph->variable_count; ++i) {
      mt::variable const& v = graph->variables[i];
      mt::block b(v.type, v.dims, *numbers);
      mt::each_equal_start(b.window(), v.equal, [first = mt::initial_of(*graph, *numbers, v, s)](mt::view const& part) {
        mt::fill(part, first);
      });
      all[mt::path_text(*graph, v.path)] = std::move(b);
    }
    return all;
  }
  /// Inputs of these dims.
  mt::blocks empty_inputs() const {
    mt::blocks all;
    for (int i = 0; i < graph->node_count; ++i)
      if (mt::node const& n = graph->nodes[i]; n.kind == mt::primitive::input)
        all[graph->names[mt::name_of(n)].text()] =
            mt::block(graph->result_value(n).type, graph->result_value(n).dims, *numbers);
    return all;
  }
  mt::dim_id dim(mt::name const& label) const {
    for (int d = 0; d < graph->dim_count; ++d)
      if (graph->dim_name(d) == label) return static_cast<mt::dim_id>(d);
    return mt::no_id;
  }
};

inline bool has_dim(mt::block const& b, mt::dim_id d) {
  mt::view const v = b.window();
  return std::find(v.dim, v.dim + v.count, d) != v.dim + v.count;
}

/// Sets `part` to the slice of an index, or to all of `whole` if it lacks the dim.
inline void take_slice(mt::block const& whole, mt::dim_id d, std::int64_t index, mt::block& part) {
  slice_of_index const s = slice_of_index::of(whole, d);
  for (std::int64_t k = 0; k < part.size(); ++k) part.set(k, whole.number_at(has_dim(whole, d) ? s.at(index, k) : k));
}

}  // namespace detail

/// Runs the steps of `Together`, and those of `Alone` for each index. An output or variable of `Together` with the dim
/// has the values of `Alone` as its slices. An output without it is the sum of those of `Alone`. A variable without it
/// is shared, so `Alone` begins each step with its value.
inline std::string difference_by_index(mt::module const& together, mt::name const& entry, mt::module const& alone,
                                       indices_case const& how, std::function<void(mt::blocks const&)> const& see) {
  detail::readied const whole(together), one(alone);
  mt::dim_id const d = whole.dim(how.dim);
  if (d == mt::no_id) return "no dim is called '" + how.dim.text() + "'";
  mt::blocks variables = whole.first_values();
  std::vector<mt::blocks> own(static_cast<std::size_t>(how.extent), one.first_values());
  subject filled(together, entry, {});
  mt::interpreter all(*whole.graph, *whole.numbers), single(*one.graph, *one.numbers, &evaluate_one_index);
  for (int step = 0; step < how.steps; ++step) {
    filled.fill(fill_kind::reals, rng{11 + static_cast<std::uint64_t>(step)}, -1.5, 1.5, 11);
    if (how.fill) how.fill(filled.inputs, step);
    mt::settings s;
    s.step = static_cast<std::uint64_t>(step);
    std::string found;
    auto const differ = [&](std::string const& what, double got, double wanted, double scale) {
      if (got == wanted || (std::isnan(got) && std::isnan(wanted))) return;
      if (std::abs(got - wanted) <= how.tolerance * std::max(1.0, scale) || !found.empty()) return;
      found = what + " is " + std::to_string(got) + ", but must be " + std::to_string(wanted) + " in step " +
              std::to_string(step);
    };
    for (int i = 0; i < how.extent; ++i)
      for (auto& [path, b] : own[static_cast<std::size_t>(i)])
        if (mt::block const& shared = variables.at(path);
            step == 0 || !detail::has_dim(shared, d) || how.moved.contains(path))
          detail::take_slice(shared, d, i, b);
    mt::blocks const outputs = all.run(0, filled.inputs, variables, s);
    if (see) see(outputs);
    std::map<std::string, std::vector<double>> sums;
    for (int i = 0; i < how.extent; ++i) {
      mt::blocks inputs = one.empty_inputs();
      for (auto& [label, b] : inputs) detail::take_slice(filled.inputs.at(label), d, i, b);
      index_of_draws = i;
      mt::blocks& mine = own[static_cast<std::size_t>(i)];
      mt::blocks const given = single.run(0, inputs, mine, s);
      auto const compare = [&](mt::blocks const& parts, mt::blocks const& wholes, bool is_output) {
        for (auto const& [label, part] : parts) {
          if (how.moved.contains(label)) continue;
          mt::block const& b = wholes.at(label);
          double const scale = meshtensor_test::detail::greatest(part);
          if (detail::has_dim(b, d)) {
            slice_of_index const place = slice_of_index::of(b, d);
            for (std::int64_t k = 0; k < part.size(); ++k)
              differ("'" + label + "' of index " + std::to_string(i) + ", element " + std::to_string(k),
                     b.number_at(place.at(i, k)), part.number_at(k), scale);
          } else if (is_output) {
            auto& sum = sums[label];
            sum.resize(static_cast<std::size_t>(part.size()));
            for (std::int64_t k = 0; k < part.size(); ++k) sum[static_cast<std::size_t>(k)] += part.number_at(k);
          }
        }
      };
      compare(given, outputs, true), compare(mine, variables, false);
    }
    for (auto const& [label, sum] : sums)
      for (std::size_t k = 0; k < sum.size(); ++k)
        differ("the sum '" + label + "', element " + std::to_string(k),
               outputs.at(label).number_at(static_cast<std::int64_t>(k)), sum[k], std::abs(sum[k]));
    if (!found.empty()) return found;
  }
  return "";
}

/// The same, and `Together` under layouts of all meshes. `see` is called with the outputs of each step.
template <class Together, class Alone>
long hold_index_by_index(char const* what, indices_case const& how,
                         std::function<void(mt::blocks const&)> const& see = {}) {
  auto const together = mt::on_heap([] { return mt::trace<in_f64_of<Together>>(); });
  auto const alone = mt::on_heap([] { return mt::trace<in_f64_of<Alone>>(); });
  CHECK(difference_by_index(*together, mt::entry_name<Together>(), *alone, how, see) == "");

  subject s(*together, mt::entry_name<Together>(), {});
  s.steps = how.steps, s.tolerance = {how.tolerance, 1};
  s.fill(fill_kind::reals, rng{11}, -1.5, 1.5, 11);
  if (how.fill) how.fill(s.inputs, 0);
  s.expect();
  rng c{1 + sample_number()};
  auto const dims = dims_in_use(s.graph());
  auto const scopes = scopes_of(s.graph());
  tally t;
  std::uint64_t number = 0;
  for (auto const& mesh : meshtensor_test::meshes()) {
    mt::layout_rules by_index{};  // the layout that users write
    by_index.shard(how.dim, {mesh.axes[0].label});
    s.check_layout(mesh, by_index, t);
    sampled_layouts(dims, scopes, mesh, {how.assignments, how.drawn}, number, c,
                    [&](mt::layout_rules const& rules) { s.check_layout(mesh, rules, t); });
  }
  t.say(what);
  return t.tried;
}

}  // namespace property
