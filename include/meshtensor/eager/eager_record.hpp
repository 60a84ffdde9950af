// SPDX-License-Identifier: Apache-2.0
// Records nodes of an eager scope as a module that grows, together with the value of each node.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/array/array.hpp"
#include "meshtensor/array/interpret.hpp"
#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/eager/eager_state.hpp"
#include "meshtensor/eager/given_value.hpp"
#include "meshtensor/eager/gradient_at.hpp"
#include "meshtensor/eager/with_eaches.hpp"
#include "meshtensor/run/ports.hpp"

namespace meshtensor::detail {

struct eager_tables {
  std::unique_ptr<module> recorded = std::make_unique<module>();
  binding numbers{};
};

/// Nodes that an eager scope has recorded, and their values. When a value is read, the nodes without a value are
/// evaluated in their order. The scope has one record for its own nodes, and each program that it runs has another one.
class eager_record : eager_tables, interpreter {
 public:
  builder b;
  std::shared_ptr<eager_state> shared;

  eager_record(std::shared_ptr<eager_state> state, node_loops loops)
      : interpreter(*eager_tables::recorded, eager_tables::numbers, loops),
        b(*eager_tables::recorded),
        shared(std::move(state)),
        entry_(b.begin_region(region_kind::entry, b.intern("eager"))) {}

  /// Makes this the record of a program, whose steps are counted under the name `counted`.
  void begin_program(name const& label, std::string const& counted) {
    b.m.regions[entry_].label = b.intern(label);
    program_ = counted;
  }
  /// Forgets all values, because arguments or variables have changed. They are computed again when one is asked for.
  void forget_values() {
    std::fill(is_known_.begin(), is_known_.end(), false);
    outputs_.clear(), next_.clear(), done_ = 0;
  }
  /// Adds a value with these elements to the graph.
  template <class T>
  value_id lift(any_array<T> const& a, shape const& dims) {
    for (dim_extent const& d : a.dims()) shared->bind(d);
    std::string const label = "array " + std::to_string(inputs_seen_.size() + 1);
    value_id const v =
        b.add(primitive::input, {}, dtype_of<T>, dims, input_attributes{b.intern(name::of(label))}.packed());
    shared->inputs[label] = given_value::copy_of<T>({a.data(), static_cast<std::size_t>(a.size())}, a.dims(), true);
    inputs_seen_[label];
    return v;
  }

  /// The elements of a value.
  ///
  /// errors  R15 it belongs to a loop, a branch or an each
  block const& value_of(value_id v) {
    if (b.m.values[v].region == entry_) compute();
    if (b.m.values[v].region != entry_ || !is_known_[v])
      throw error("R15", "a tensor inside a loop, branch or each cannot be read from outside: return it from there");
    return values_[v];
  }
  /// Ends a step of a program: variables get their next values.
  void finish() {
    compute();
    for (auto const& [path, next] : next_) shared->variables.insert_or_assign(path, given_value::copy_of(b.m, next));
    shared->outputs.clear();
    for (auto const& [label, output] : outputs_) shared->outputs.emplace(label, given_value::copy_of(b.m, output));
    counted_paths const counted(b.m, entry_);
    for (std::size_t k = 0; k < counted.labels().size(); ++k)
      shared->updates_of(counted.labels()[k]) += counted.updates_of_call(k, numbers_);
    ++shared->steps_of(program_);
  }
  /// An output of the last program or of this record, or else a variable.
  ///
  /// errors  R13 there is none
  given_value named(std::string const& label) {
    if (auto const o = shared->outputs.find(label); o != shared->outputs.end()) return o->second;
    if (has_outputs()) compute();
    if (auto const o = outputs_.find(label); o != outputs_.end()) return given_value::copy_of(b.m, o->second);
    if (auto const v = shared->variables.find(label); v != shared->variables.end()) return v->second;
    std::vector<std::string> known;
    for (auto const& all : {&shared->outputs, &shared->variables})
      for (auto const& [path, held] : *all) known.push_back(path);
    for (auto const& [path, held] : outputs_) known.push_back(path);
    throw error("R13", {"there is no output or variable '", label, "'", did_you_mean(label, known)});
  }
  std::vector<dim_extent> dims_of(block const& held) const { return detail::dims_of(b.m, held); }

 private:
  bool has_outputs() const {
    for (int i = 0; i < b.m.node_count; ++i)
      if (b.m.nodes[i].kind == primitive::output || b.m.nodes[i].kind == primitive::watch) return true;
    return false;
  }

  void compute() {
    require(b.depth == 0 && b.each_count == 0,
            "G29: a value is asked for inside a loop, branch or each: return it from there");
    if (done_ == b.m.node_count) return;
    std::vector<dim_extent> known;
    for (dim_extent const& e : shared->extents)
      for (int d = 0; d < b.m.dim_count; ++d)
        if (b.m.dim_name(d) == e.label && b.m.dims[d].kind <= dim_row::dynamic) known.push_back(e);
    binding const before = numbers;
    numbers = meshtensor::bind(b.m, mesh_shape{}, known);
    raise(numbers.report);
    for (int d = 0; d < b.m.dim_count; ++d)  // its extent follows from the recorded exchanges
      if (b.m.dims[d].kind == dim_row::rows && before.extent[d] != 0 && before.extent[d] != numbers.extent[d])
        throw error("R11", {"the dim '", b.m.dim_name(d), "' was ", before.extent[d], " long and is ",
                            numbers.extent[d], " with a further exchange of rows: read a value after the last one"});
    prepare_settings();
    evaluate_numbers(b.m, numbers, set_, numbers_);
    context_ = {numbers_.data(), set_.seed, set_.step, 0, 0};
    settings_ = &set_, inputs_ = &inputs_seen_, variables_ = &variables_held_;
    values_.resize(static_cast<std::size_t>(b.m.value_count));
    is_known_.resize(values_.size());
    bool const in_eaches = has_each(b.m, done_);
    int const first = done_;
    for (; done_ < b.m.node_count; ++done_) {
      node const& n = b.m.nodes[done_];
      if (n.region != entry_) continue;
      if (n.kind == primitive::input) see(n);
      detail::require_fits(b.m, n, numbers_);
      if (in_eaches && n.kind != primitive::read) continue;
      if (n.kind == primitive::read) read(n);
      else if (takes_gradient(b, n, done_)) differentiate_here(n);
      else run_node(n);
      for (int i = 0; i < n.results.count; ++i) is_known_[b.m.result(n, i)] = true;
    }
    if (in_eaches) run_with_eaches(first, known);
  }
  /// Runs the nodes from number `first` on, among which are those of eaches, and again those before.
  void run_with_eaches(int first, std::span<dim_extent const> known) {
    step_with_eaches const step(b, first, entry_);
    binding const wide = meshtensor::bind(*step.graph, mesh_shape{}, known);
    raise(wide.report);
    blocks variables = variables_held_, given;
    std::vector<block> values = step.run(entry_, wide, loops_, inputs_seen_, variables, set_, given);
    for (std::size_t k = 0; k < values.size(); ++k)
      values_[step.wanted[k]] = std::move(values[k]), is_known_[step.wanted[k]] = true;
    for (auto& [label, output] : given) outputs_[label] = std::move(output);
    for (int i = first; i < b.m.node_count; ++i)
      if (node const& n = b.m.nodes[i]; n.kind == primitive::write && n.region == entry_) {
        std::string const path = path_text(b.m, b.m.variables[variable_of(n)].path);
        next_[path] = variables.at(path);
      }
  }

  /// Sets the seed and the counts for a step. Without a program, the counts are those of the store's next step.
  void prepare_settings() {
    set_ = shared->set;
    store const* const weights = shared->weights;
    auto const chosen = set_.named.find("seed");  // is a number like others if the program has one of this name
    if (chosen != set_.named.end() && !has_number(b.m, name("seed"))) set_.seed = seed_of(chosen->second);
    else if (weights != nullptr) set_.seed = weights->seed();
    set_.step = !program_.empty() ? shared->steps_of(program_) : weights != nullptr ? weights->step() : 0;
    counted_paths const counted(b.m, entry_);
    counted.give(set_, [&](std::size_t k) { return shared->updates_of(counted.labels()[k]); });
  }

  void see(node const& n) {
    std::string const label = b.m.names[name_of(n)].text();
    auto const g = shared->inputs.find(label);
    if (g == shared->inputs.end()) return;  // the interpreter reports that it was not fed
    value const& v = b.m.values[b.m.result(n)];
    inputs_seen_[label] = shaped(g->second, label, v.type, v.dims, b.m, numbers);
  }
  /// Reads a variable. Its value is that of the scope, or else that of the store, or else its initial value.
  void read(node const& n) {
    variable const& v = b.m.variables[variable_of(n)];
    std::string const path = path_text(b.m, v.path);
    declared_start const start = declared_start::of(b.m, v, initial_of(b.m, numbers, v, settings{}));
    shared->starts.try_emplace(path, start).first->second.require_same(path, start);
    variables_held_.erase(path);
    auto const held = shared->variables.find(path);
    bool const is_held = held != shared->variables.end();
    if (is_held) variables_held_[path] = shaped(held->second, path, v.type, v.dims, b.m, numbers);
    else if (auto const stored = shared->stored_value(path, v.type, dims_of(fresh(b.m.result(n)))))
      variables_held_[path] = shaped(*stored, path, v.type, v.dims, b.m, numbers);
    run_node(n);
    if (shared->unread.erase(path) != 0 || !is_held)
      shared->variables.insert_or_assign(path, given_value::copy_of(b.m, variables_held_.at(path)));
  }

  /// Differentiates the module up to a node that takes a gradient, and runs it from the start.
  void differentiate_here(node const& n) {
    auto const made = differentiated_at(b, n, done_, entry_);
    blocks variables = variables_held_;
    blocks terms = interpreter(*made, numbers, loops_).run(entry_, inputs_seen_, variables, set_);
    for (int i = 0; i < n.results.count; ++i)
      values_[b.m.result(n, i)] = std::move(terms.extract("gradient " + std::to_string(i)).mapped());
    for (auto& [label, seen] : terms) outputs_[label] = std::move(seen);  // watched gradients
  }

  region_id entry_;
  int done_ = 0;
  std::string program_;  // the program whose step is recorded, or empty
  settings set_;
  std::vector<bool> is_known_;  // by value of the entry
  blocks inputs_seen_, variables_held_;
};

}  // namespace meshtensor::detail
