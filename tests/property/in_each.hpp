// SPDX-License-Identifier: Apache-2.0
// Puts the body of any traced program into an `each`, and computes what it must give index by index: the program alone,
// run once for every index, without the pass `widen`.
#pragma once

#include "meshtensor/array/interpret.hpp"
#include "meshtensor/pass/widen.hpp"
#include "property/program.hpp"

namespace property {

/// A program whose nodes stand in an each: its inputs, outputs and variables have the dim `index`. It may stand in
/// another each, with a dim of another name.
struct in_each {
  std::unique_ptr<mt::module> graph;
  mt::dim_id index = mt::no_id;

  /// Of `traced`, for `extent` indices.
  in_each(mt::module const& traced, std::int64_t extent, char const* label = "index") : graph(new mt::module{}) {
    mt::rebuild w(traced, *graph);
    index = w.b.dim(mt::name::of(label), {mt::extent_rule::fixed, extent, {}, {}});
    for (int v = 0; v < graph->variable_count; ++v) {
      mt::variable& kept = graph->variables[v];
      kept.dims = put_in(kept.dims, kept.own++);
    }
    for (int i = 0; i < traced.node_count; ++i) copy(w, traced.nodes[i]);
  }

 private:
  mt::shape put_in(mt::shape const& dims, int place) const {
    mt::shape all{};
    for (int i = 0; i < dims.count; ++i) {
      if (i == place) all.add(index);
      all.add(dims.at[i]);
    }
    return place == dims.count ? all.add(index) : all;
  }
  mt::value_id of_one(mt::builder& b, mt::value_id v, bool own_copy = false) const {
    return mt::add_node<mt::hide_rule>(b, {v}, mt::view_attributes{index, own_copy}.packed());
  }
  mt::value_id of_all(mt::builder& b, mt::value_id v, mt::shape const& dims) const {
    return mt::transpose(b, mt::add_node<mt::show_rule>(b, {v}, mt::view_attributes{index, false}.packed()), dims);
  }
  void copy(mt::rebuild& w, mt::node const& n) const {
    mt::module const& from = w.from;
    mt::builder& b = w.b;
    switch (n.kind) {
      case mt::primitive::input:
      case mt::primitive::read:
      case mt::primitive::random: {
        w.copy(n);
        mt::value_id const v = w[from.result(n)];
        int const loops = n.kind == mt::primitive::read ? from.variables[mt::variable_of(n)].own : 0;
        w.m.values[v].dims = put_in(w.m.values[v].dims, loops);
        w.replace(from.result(n), of_one(b, v));
        return;
      }
      case mt::primitive::write: {
        w.enter(n);
        mt::value_id const next = of_all(b, w[from.operand(n, 0)], w.m.variables[mt::variable_of(n)].dims);
        w.copy(n, mt::ids(&next, 1));
        return;
      }
      case mt::primitive::output: {
        w.enter(n);
        mt::value_id const v = w[from.operand(n, 0)];
        mt::value_id const all = of_all(b, v, mt::led_by(index, w.m.values[v].dims));
        w.copy(n, mt::ids(&all, 1));
        return;
      }
      case mt::primitive::gradient: {
        w.enter(n);
        mt::id_list<> operands{};
        operands.add(of_one(b, w[from.operand(n, 0)], true));
        for (int k = 1; k < n.operands.count; ++k) operands.add(w[from.operand(n, k)]);
        w.copy(n, operands);
        return;
      }
      default: w.copy(n);
    }
  }
};

/// The place of index `i` in a tensor whose dim of indices has `outer` elements of other dims before it.
struct slice_of_index {
  std::int64_t outer, extent, rest;
  std::int64_t at(std::int64_t index, std::int64_t element) const {
    return (element / rest * extent + index) * rest + element % rest;
  }
  static slice_of_index of(mt::block const& whole, mt::dim_id index) {
    mt::view const v = whole.window();
    slice_of_index s{1, 1, 1};
    bool behind = false;
    for (int i = 0; i < v.count; ++i) {
      if (v.dim[i] == index) s.extent = v.extent[i], behind = true;
      else (behind ? s.rest : s.outer) *= v.extent[i];
    }
    return s;
  }
};

/// Evaluates nodes for one index: its random numbers are its slice of the numbers of all.
inline thread_local std::int64_t index_of_draws = 0;
inline void evaluate_one_index(mt::evaluation const& e) {
  if (e.n.kind != mt::primitive::random) return mt::evaluate<>(e);
  mt::view y = e.results[0];
  if (y.count == 0) y.dim[0] = 0, y.extent[0] = y.total[0] = 1, y.origin[0] = 0, y.stride[0] = 1, y.count = 1;
  y.origin[0] += index_of_draws * y.total[0];
  mt::evaluation again{e.m, e.n, e.operands, &y, e.context};
  mt::evaluate<>(again);
}

/// A program without watches, whose tensors have other dims in an each.
inline std::unique_ptr<mt::module> unwatched(mt::module const& traced) {
  std::unique_ptr<mt::module> m(new mt::module{});
  mt::rebuild w(traced, *m);
  for (int i = 0; i < traced.node_count; ++i)
    if (traced.nodes[i].kind != mt::primitive::watch) w.copy(traced.nodes[i]);
  return m;
}

/// How a program is tried in an each.
struct each_case {
  std::int64_t extent;
  int steps = 2;
  double tolerance = 1e-9;
  std::vector<mt::dim_extent> extents = {};  // of dims that are known at start-up
  fill_kind fill = fill_kind::reals;
  char const* label = "index";
};

/// Compares a program in an each with the program alone, run for one index after the other. Returns a sentence about
/// the first difference, or nothing.
inline std::string difference_in_each(mt::module const& watched, mt::name const& entry, each_case const& how) {
  std::int64_t const extent = how.extent;
  auto const plain = unwatched(watched);
  mt::module const& traced = *plain;
  in_each const all(traced, extent, how.label);
  mt::raise(mt::verify(*all.graph));
  auto const wide = mt::on_heap([&] { return mt::widen(*all.graph); });
  mt::raise(mt::verify(*wide));
  auto const whole = mt::on_heap([&] { return mt::differentiate(*wide); });
  mt::raise(mt::verify(*whole));
  auto const alone = mt::on_heap([&] { return mt::differentiate(mt::widen(traced)); });
  auto const numbers = mt::on_heap([&] { return mt::bind(*whole, mt::mesh_shape{}, how.extents); });
  auto const own_numbers = mt::on_heap([&] { return mt::bind(*alone, mt::mesh_shape{}, how.extents); });
  mt::raise(numbers->report), mt::raise(own_numbers->report);
  int const region = mt::find_entry(*whole, entry), own_region = mt::find_entry(*alone, entry);

  subject filled(*all.graph, entry, how.extents);
  filled.fill(how.fill, rng{11}, -1.5, 1.5, 11);
  mt::blocks variables;
  std::vector<mt::blocks> own_variables(static_cast<std::size_t>(extent)), own_inputs(own_variables.size());
  auto const slices = [&](mt::blocks const& from, mt::module const& m, mt::binding const& b, mt::blocks& to,
                          std::int64_t i, auto const& dims_of) {
    for (auto const& [label, block] : from) {
      auto const [type, dims] = dims_of(m, label);
      mt::block part(type, dims, b);
      slice_of_index const s = slice_of_index::of(block, all.index);
      for (std::int64_t k = 0; k < part.size(); ++k) part.set(k, block.number_at(s.at(i, k)));
      to[label] = std::move(part);
    }
  };
  auto const input_like = [](mt::module const& m, std::string const& label) {
    for (int i = 0; i < m.node_count; ++i)
      if (m.nodes[i].kind == mt::primitive::input && m.names[mt::name_of(m.nodes[i])] == mt::name::of(label))
        return std::pair(m.result_value(m.nodes[i]).type, m.result_value(m.nodes[i]).dims);
    throw mt::error("R99", "no input is called '" + label + "'");
  };
  auto const variable_like = [](mt::module const& m, std::string const& label) {
    for (int i = 0; i < m.variable_count; ++i)
      if (mt::path_text(m, m.variables[i].path) == label) return std::pair(m.variables[i].type, m.variables[i].dims);
    throw mt::error("R99", "no variable is called '" + label + "'");
  };
  for (std::int64_t i = 0; i < extent; ++i)
    slices(filled.inputs, *alone, *own_numbers, own_inputs[static_cast<std::size_t>(i)], i, input_like);

  mt::interpreter together(*whole, *numbers), one(*alone, *own_numbers, &evaluate_one_index);
  for (int step = 0; step < how.steps; ++step) {
    mt::settings s;
    s.step = static_cast<std::uint64_t>(step);
    if (step == 0) {  // the first values of variables follow from their extents, so they are made by the whole program
      mt::blocks made;
      together.run(region, filled.inputs, made, s);
      rng c{5};
      for (auto& [path, b] : made)
        for (std::int64_t k = 0; k < b.size(); ++k)
          b.set(k, mt::is_float(b.type()) ? 0.25 * static_cast<double>(c.below(9)) - 1 : 0);
      variables = std::move(made);
      for (std::int64_t i = 0; i < extent; ++i)
        slices(variables, *alone, *own_numbers, own_variables[static_cast<std::size_t>(i)], i, variable_like);
    }
    mt::blocks const outputs = together.run(region, filled.inputs, variables, s);
    for (std::int64_t i = 0; i < extent; ++i) {
      auto const at = static_cast<std::size_t>(i);
      index_of_draws = i;
      mt::blocks const own = one.run(own_region, own_inputs[at], own_variables[at], s);
      auto const compare = [&](mt::blocks const& parts, mt::blocks const& wholes, char const* what) -> std::string {
        for (auto const& [label, part] : parts) {
          mt::block const& block = wholes.at(label);
          slice_of_index const place = slice_of_index::of(block, all.index);
          double const least = how.tolerance * std::max(1.0, meshtensor_test::detail::greatest(part));
          for (std::int64_t k = 0; k < part.size(); ++k) {
            double const got = block.number_at(place.at(i, k)), wanted = part.number_at(k);
            if (got == wanted || (std::isnan(got) && std::isnan(wanted)) || std::abs(got - wanted) <= least) continue;
            return std::string(what) + " '" + label + "' of index " + std::to_string(i) + ", element " +
                   std::to_string(k) + ", step " + std::to_string(step) + ", is " + std::to_string(got) +
                   ", but must be " + std::to_string(wanted);
          }
        }
        return "";
      };
      if (std::string const d = compare(own, outputs, "output"); !d.empty()) return d;
      if (std::string const d = compare(own_variables[at], variables, "variable"); !d.empty()) return d;
    }
  }
  return "";
}

}  // namespace property
