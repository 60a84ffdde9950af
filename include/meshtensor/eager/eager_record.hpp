// SPDX-License-Identifier: Apache-2.0
// Records an eager scope as a module that grows, together with the value of each of its nodes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/array/array.hpp"
#include "meshtensor/array/interpret.hpp"
#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/eager/argument_log.hpp"
#include "meshtensor/eager/given_value.hpp"
#include "meshtensor/eager/gradient_at.hpp"
#include "meshtensor/eager/with_eaches.hpp"
#include "meshtensor/run/ports.hpp"
#include "meshtensor/run/store.hpp"

namespace meshtensor::detail {

struct eager_tables {
  std::unique_ptr<module> recorded = std::make_unique<module>();
  binding numbers{};
};

/// The nodes that an eager scope has recorded, and their values. When a value is first read, the nodes are evaluated in
/// their order, each of them once.
class eager_record : eager_tables, interpreter {
 public:
  builder b;
  settings set;
  store* weights = nullptr;
  std::map<std::string, given_value> inputs_given, variables_given;
  argument_log arguments;  // of `set`, `weights`, `inputs_given` and extents

  explicit eager_record(node_loops loops)
      : interpreter(*eager_tables::recorded, eager_tables::numbers, loops), b(*eager_tables::recorded) {
    begin();
  }

  /// Forgets the recorded nodes, so that a new step can be recorded. Variables and given values stay.
  void clear() {
    std::construct_at(recorded.get());
    std::construct_at(&b, *recorded);
    values_.clear(), is_known_.clear(), inputs_seen_.clear(), outputs_.clear(), next_.clear(), done_ = 0;
    begin();
  }
  /// Names the program whose step is recorded from here on, and the name under which its steps are counted.
  void begin_program(name const& label, std::string const& counted) {
    b.m.regions[entry_].label = b.intern(label);
    program_ = counted;
  }
  void bind(dim_extent const& e) {
    for (dim_extent const& d : extents_)
      if (d.label == e.label && d.extent != e.extent)
        throw error("R11",
                    {"the dim '", e.label, "' is ", d.extent, " long in one array and ", e.extent, " in another"});
    if (position_of(extents_, e.label) < 0) arguments.append(extents_, e);
  }
  /// Adds a value with these elements to the graph.
  template <class T>
  value_id lift(any_array<T> const& a, shape const& dims) {
    for (dim_extent const& d : a.dims()) bind(d);
    std::string const label = "array " + std::to_string(inputs_seen_.size() + 1);
    value_id const v =
        b.add(primitive::input, {}, dtype_of<T>, dims, input_attributes{b.intern(name::of(label))}.packed());
    inputs_given[label] = given_value::copy_of<T>({a.data(), static_cast<std::size_t>(a.size())}, a.dims(), true);
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
  /// Ends a step: variables get their next values.
  void finish() {
    compute();
    for (auto& [path, next] : next_) variables_held_[path] = std::move(next);
    next_.clear();
    counted_paths const counted(b.m, entry_);
    for (std::string const& label : counted.labels()) ++updates_of(label);
    ++steps_of(program_);
  }
  /// An output of the last step, or else a variable.
  block const& named(std::string const& label) const {
    if (auto const o = outputs_.find(label); o != outputs_.end()) return o->second;
    if (auto const v = variables_held_.find(label); v != variables_held_.end()) return v->second;
    std::vector<std::string> known;
    for (auto const& all : {&outputs_, &variables_held_})
      for (auto const& [path, held] : *all) known.push_back(path);
    throw error("R13", {"there is no output or variable '", label, "'", did_you_mean(label, known)});
  }
  std::vector<dim_extent> dims_of(block const& held) const { return detail::dims_of(b.m, held); }

 private:
  void begin() { entry_ = b.begin_region(region_kind::entry, b.intern("eager")); }

  void compute() {
    require(b.depth == 0 && b.each_count == 0,
            "G29: a value is asked for inside a loop, branch or each: return it from there");
    if (done_ == b.m.node_count) return;
    std::vector<dim_extent> known;
    for (dim_extent const& e : extents_)
      for (int d = 0; d < b.m.dim_count; ++d)
        if (b.m.dim_name(d) == e.label && b.m.dims[d].kind <= dim_row::dynamic) known.push_back(e);
    binding const before = numbers;
    numbers = meshtensor::bind(b.m, mesh_shape{}, known);
    raise(numbers.report);
    for (int d = 0; d < b.m.dim_count; ++d)  // its extent follows from the recorded exchanges
      if (b.m.dims[d].kind == dim_row::rows && before.extent[d] != 0 && before.extent[d] != numbers.extent[d])
        throw error("R11", {"the dim '", b.m.dim_name(d), "' was ", before.extent[d], " long and is ",
                            numbers.extent[d], " with a further exchange of rows: read a value after the last one"});
    set.seed = seed();
    count();
    evaluate_numbers(b.m, numbers, set, numbers_);
    context_ = {numbers_.data(), set.seed, set.step, 0, 0};
    settings_ = &set, inputs_ = &inputs_seen_, variables_ = &variables_held_;
    values_.resize(static_cast<std::size_t>(b.m.value_count));
    is_known_.resize(values_.size());
    bool const in_eaches = has_each(b.m, done_);
    int const first = done_;
    for (; done_ < b.m.node_count; ++done_) {
      node const& n = b.m.nodes[done_];
      if (n.region != entry_) continue;
      if (n.kind == primitive::input) see(n);
      if (n.kind == primitive::read) fetch(b.m.variables[variable_of(n)]);
      detail::require_fits(b.m, n, numbers_);
      if (in_eaches && n.kind != primitive::read) continue;
      if (takes_gradient(b, n, done_)) differentiate_here(n);
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
    std::vector<block> values = step.run(entry_, wide, loops_, inputs_seen_, variables, set, given);
    for (std::size_t k = 0; k < values.size(); ++k)
      values_[step.wanted[k]] = std::move(values[k]), is_known_[step.wanted[k]] = true;
    for (auto& [label, output] : given) outputs_[label] = std::move(output);
    for (int i = first; i < b.m.node_count; ++i)
      if (node const& n = b.m.nodes[i]; n.kind == primitive::write && n.region == entry_) {
        std::string const path = path_text(b.m, b.m.variables[variable_of(n)].path);
        next_[path] = variables.at(path);
      }
  }

  /// Sets the counts for a step. Without a program, they are those of the store's next step.
  void count() {
    set.step = !program_.empty() ? steps_of(program_) : weights != nullptr ? weights->step() : 0;
    counted_paths const counted(b.m, entry_);
    counted.give(set, [&](std::size_t k) { return updates_of(counted.labels()[k]); });
  }
  /// The initial counts are those of the store.
  std::uint64_t& steps_of(std::string const& label) {
    return counts_.steps.try_emplace(label, weights == nullptr ? 0 : weights->steps_of(label)).first->second;
  }
  std::uint64_t& updates_of(std::string const& label) {
    return counts_.updates.try_emplace(label, weights == nullptr ? 0 : weights->updates_of(label)).first->second;
  }

  /// The number that is set as "seed", if the program has no number of that name. Otherwise, it is the store's seed.
  std::uint64_t seed() const {
    auto const chosen = set.named.find("seed");
    if (chosen != set.named.end() && !has_number(b.m, name("seed"))) return seed_of(chosen->second);
    return weights != nullptr ? weights->seed() : settings{}.seed;
  }

  void see(node const& n) {
    std::string const label = b.m.names[name_of(n)].text();
    auto const g = inputs_given.find(label);
    if (g == inputs_given.end()) return;  // the interpreter reports that it was not fed
    value const& v = b.m.values[b.m.result(n)];
    inputs_seen_[label] = shaped(g->second, label, v.type, v.dims, b.m, numbers);
  }
  void fetch(variable const& v) {
    std::string const path = path_text(b.m, v.path);
    declared_start const start = declared_start::of(b.m, v, initial_of(b.m, numbers, v, settings{}));
    starts_.try_emplace(path, start).first->second.require_same(path, start);
    if (auto const g = variables_given.find(path); g != variables_given.end()) {
      variables_held_[path] = shaped(g->second, path, v.type, v.dims, b.m, numbers);
      variables_given.erase(g);
    }
    if (weights == nullptr || variables_held_.contains(path)) return;
    if (!weights->values().contains(path)) {
      block waiting(v.type, v.dims, numbers);
      if (weights->copy_waiting(path, v.type, dims_of(waiting), waiting.data()))
        variables_held_[path] = std::move(waiting);
      return;
    }
    stored const& s = weights->values().at(path);
    given_value g{s.type, true, s.dims, std::vector<double>(static_cast<std::size_t>(s.bytes() + 7) / 8),
                  static_cast<std::size_t>(s.bytes()) / bytes_of(s.type)};
    weights->copy_out(path, g.bytes.data());
    variables_held_[path] = shaped(g, path, v.type, v.dims, b.m, numbers);
  }

  /// Differentiates the module up to a node that takes a gradient, and runs it from the start.
  void differentiate_here(node const& n) {
    auto const made = differentiated_at(b, n, done_, entry_);
    blocks variables = variables_held_;
    blocks terms = interpreter(*made, numbers, loops_).run(entry_, inputs_seen_, variables, set);
    for (int i = 0; i < n.results.count; ++i)
      values_[b.m.result(n, i)] = std::move(terms.extract("gradient " + std::to_string(i)).mapped());
    for (auto& [label, seen] : terms) outputs_[label] = std::move(seen);  // watched gradients
  }

  region_id entry_{};
  int done_ = 0;
  std::string program_;  // the program whose step is recorded, or empty
  program_counts counts_;
  std::map<std::string, declared_start> starts_;  // by variable
  std::vector<dim_extent> extents_;
  std::vector<bool> is_known_;  // by value of the entry
  blocks inputs_seen_, variables_held_;
};

}  // namespace meshtensor::detail
