// SPDX-License-Identifier: Apache-2.0
// Runs any module on whole tensors, node by node, by the reference loops of the rules. It is the oracle of the tests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "meshtensor/array/block.hpp"
#include "meshtensor/array/integer_numbers.hpp"
#include "meshtensor/base/bytes.hpp"
#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/graph/owner.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/detail/initial.hpp"
#include "meshtensor/op/rules.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// The path of a variable as text, for example `decoder/attention/query`.
inline std::string path_text(module const& m, path_id path) {
  if (path == no_id) return "";
  std::string const prefix = path_text(m, m.paths[path].parent);
  return (prefix.empty() ? "" : prefix + "/") + m.names[m.paths[path].label].text();
}

/// The name of an output. A watched tensor's name has its path in front.
inline std::string label_of_output(module const& m, node const& n) {
  std::string const own = m.names[name_of(n)].text();
  bool const with_path = n.kind == primitive::watch || output_attributes::of(n).with_path;
  return with_path && n.path != no_id ? path_text(m, n.path) + "/" + own : own;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

namespace meshtensor {

/// Values by name: inputs, outputs and variables.
using blocks = std::map<std::string, block>;

/// The initial value of a variable.
inline initial_value initial_of(module const& m, binding const& b, variable const& v, settings const& s) {
  dynamic_array<number_value> numbers;
  evaluate_numbers(m, b, s, numbers);
  random_key const key{s.seed, identity_of(m, v.path, 0), 0};
  if (v.start == initializer_kind::constant) detail::require_fits(m, v.type, v.number, v.site, numbers[v.number]);
  if (v.start != initializer_kind::automatic) return {v.start, numbers[v.number], key};
  if (v.dims.count - v.own < 2) return {initializer_kind::constant, 0, key};
  return {initializer_kind::normal, 1 / std::sqrt(static_cast<double>(b.extent[v.dims.at[v.own]])), key};
}

/// The initializer that a program gives a variable, with the line that says so, for example `ones (train.cpp:31)`.
/// Programs that share a variable must agree, because otherwise the result would depend on which of them is made first.
struct declared_start {
  initializer_kind kind;
  number_value argument;
  std::string text;

  static declared_start of(module const& m, variable const& v, initial_value const& first) {
    diagnostic d{};
    add_line(detail::add_start(d, m, v.start, v.number), m, v.site);
    return {first.kind, first.argument, std::string(d.view())};
  }
  /// errors  R04 the two programs differ
  void require_same(std::string const& label, declared_start const& other) const {
    if (kind != other.kind || !(argument == other.argument))
      throw error("R04", {"'", label, "' starts with ", text, " in one program and with ", other.text,
                          " in another: programs that share a parameter must give it the same initializer"});
  }
};

class interpreter {
 public:
  /// Makes an interpreter with loops for all primitives.
  template <class = lazy>
  interpreter(module const& m, binding const& numbers) : interpreter(m, numbers, &evaluate<>) {}
  interpreter(module const& m, binding const& numbers, node_loops loops)
      : m_(m), b_(numbers), loops_(loops), values_(static_cast<std::size_t>(m.value_count)) {}
  virtual ~interpreter() = default;

  /// Runs one entry and returns its outputs. Inputs are given by name and variables by path. Missing variables are
  /// initialised, and written variables are replaced.
  blocks run(int entry, blocks const& inputs, blocks& variables, settings const& s) {
    evaluate_numbers(m_, b_, s, numbers_);
    integer_numbers(m_).require(numbers_);
    context_ = {numbers_.data(), s.seed, s.step, 0, 0};
    settings_ = &s, inputs_ = &inputs, variables_ = &variables;
    outputs_.clear(), next_.clear();
    run_region(static_cast<region_id>(entry));
    for (auto& [path, b] : next_) variables[path] = std::move(b);
    return std::move(outputs_);
  }

 protected:  // the eager scope runs node by node
  block& at(value_id v) { return values_[v]; }
  /// This is called when a node has run.
  virtual void has_run(node const&, run_context const&) {}

  void run_region(region_id r) {
    for (int i = 0; i < m_.node_count; ++i)
      if (m_.nodes[i].region == r && m_.nodes[i].kind != primitive::argument) {
        run_node(m_.nodes[i]);
        has_run(m_.nodes[i], context_);
      }
  }

  block fresh(value_id v) const { return block(m_.values[v].type, m_.values[v].dims, b_); }

  void run_node(node const& n) {
    switch (n.kind) {
      case primitive::input: {
        auto const given = inputs_->find(m_.names[name_of(n)].text());
        if (given == inputs_->end()) throw error("R02", {"the input '", m_.names[name_of(n)].text(), "' was not fed"});
        at(m_.result(n)) = given->second;
        break;
      }
      case primitive::read: {
        variable const& v = m_.variables[variable_of(n)];
        auto [place, missing] = variables_->try_emplace(path_text(m_, v.path));
        if (missing) {
          place->second = block(v.type, v.dims, b_);
          each_equal_start(place->second.window(), v.equal,
                           [first = initial_of(m_, b_, v, *settings_)](view const& part) { fill(part, first); });
        }
        at(m_.result(n)) = place->second;
        break;
      }
      case primitive::write: next_[path_text(m_, m_.variables[variable_of(n)].path)] = at(m_.operand(n, 0)); break;
      case primitive::output: outputs_[label_of_output(m_, n)] = at(m_.operand(n, 0)); break;
      case primitive::watch: watch(n); break;
      case primitive::repeat: run_repeat(n); break;
      case primitive::composite:
      case primitive::kernel: call(m_.region_of(n, 0), n, 0, n.operands.count, 0); break;
      default: run_rule(n);
    }
  }

  // Only a module that is not differentiated has watches, because later modules have outputs instead. Each enclosing
  // loop adds a dim.
  void watch(node const& n) {
    if (watch_attributes::of(n).of_gradient) return;
    block const& seen = at(m_.operand(n, 0));
    shape dims = m_.operand_value(n, 0).dims;
    for (region_id r = n.region; m_.regions[r].parent != no_id; r = m_.regions[r].parent)
      dims = led_by(loop::of(m_.nodes[node_owning(m_, r)]).dim, dims);
    block& all = outputs_.try_emplace(label_of_output(m_, n), seen.type(), dims, b_).first->second;
    copy_bytes(static_cast<char*>(all.data()) + static_cast<std::int64_t>(context_.iteration) * seen.bytes(),
               seen.data(), seen.bytes());
  }

  void run_rule(node const& n) {
    std::vector<view> operands, results;
    for (int i = 0; i < n.operands.count; ++i) operands.push_back(at(m_.operand(n, i)).window());
    for (int i = 0; i < n.results.count; ++i) {
      at(m_.result(n, i)) = fresh(m_.result(n, i));
      results.push_back(at(m_.result(n, i)).window());
    }
    loops_({m_, n, operands.data(), results.data(), context_});
  }

  /// Runs a region on the node's operands [first, first + count). The region's results become results [to, …) of the
  /// node.
  void call(region_id r, node const& n, int first, int count, int to) {
    region const& body = m_.regions[r];
    for (int i = 0; i < count; ++i) at(m_.link(body.arguments, i)) = at(m_.operand(n, first + i));
    run_region(r);
    for (int i = 0; i < body.results.count; ++i) at(m_.result(n, to + i)) = at(m_.link(body.results, i));
  }

  void run_repeat(node const& n) {
    loop const l = loop::of(n);
    region const& body = m_.regions[m_.region_of(n, 0)];
    std::int64_t const trips = b_.extent[l.dim];
    run_context const outside = context_;
    for (int i = 0; i < n.operands.count; ++i)
      if (i < l.carries || i >= l.carries + l.stacked) at(m_.link(body.arguments, i)) = at(m_.operand(n, i));
    for (int i = l.carries; i < n.results.count; ++i) at(m_.result(n, i)) = fresh(m_.result(n, i));  // zeros
    auto const known = [&] { return *at(m_.link(body.arguments, 0)).as<std::int64_t>(); };
    std::int64_t const skipped = l.ends_early && l.reversed ? trips - std::clamp(known(), std::int64_t{0}, trips) : 0;
    for (std::int64_t t = skipped; t < trips && (!l.ends_early || l.reversed || t < known()); ++t) {
      context_.index = l.reversed ? trips - 1 - t : t;
      context_.iteration =
          outside.iteration * static_cast<std::uint64_t>(trips) + static_cast<std::uint64_t>(context_.index);
      for (int i = l.carries; i < l.carries + l.stacked; ++i) {
        value_id const argument = m_.link(body.arguments, i);
        at(argument) = fresh(argument);
        copy_bytes(at(argument).data(), slice(at(m_.operand(n, i)), at(argument).bytes()), at(argument).bytes());
      }
      run_region(m_.region_of(n, 0));
      for (int i = l.carries; i < body.results.count; ++i) {
        block const& given = at(m_.link(body.results, i));
        block& total = at(m_.result(n, i));
        if (i < l.carries + l.sums) add_to(total, given);
        else copy_bytes(slice(total, given.bytes()), given.data(), given.bytes());
      }
      std::vector<block> next;
      for (int i = 0; i < l.carries; ++i) next.push_back(at(m_.link(body.results, i)));
      for (int i = 0; i < l.carries; ++i) at(m_.link(body.arguments, i)) = std::move(next[static_cast<std::size_t>(i)]);
    }
    for (int i = 0; i < l.carries; ++i) at(m_.result(n, i)) = at(m_.link(body.arguments, i));
    context_ = outside;
  }
  char* slice(block& whole, std::int64_t bytes) const {
    return static_cast<char*>(whole.data()) + context_.index * bytes;
  }

  static void add_to(block& total, block const& term) {
    with_element(total.type(), [&]<class E>() {
      for (std::int64_t i = 0; i < total.size(); ++i)
        total.as<E>()[i] = static_cast<E>(static_cast<arithmetic_t<E>>(total.as<E>()[i]) +
                                          static_cast<arithmetic_t<E>>(term.as<E>()[i]));
    });
  }

  meshtensor::module const& m_;
  binding const& b_;
  node_loops loops_;
  std::vector<block> values_;
  dynamic_array<number_value> numbers_;
  run_context context_{};
  settings const* settings_ = nullptr;
  blocks const* inputs_ = nullptr;
  blocks* variables_ = nullptr;
  blocks outputs_, next_;
};

}  // namespace meshtensor
