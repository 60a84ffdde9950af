// SPDX-License-Identifier: Apache-2.0
// Makes the program of the dot-product test: an entry on whole tensors in f64, which takes a cotangent of each output,
// and gives the gradients of their products by inputs and variables.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "meshtensor/array/interpret.hpp"
#include "meshtensor/op/detail/arithmetic.hpp"
#include "meshtensor/op/gradient/sources_of_loss.hpp"
#include "meshtensor/pass/bind.hpp"
#include "meshtensor/pass/differentiate.hpp"
#include "meshtensor/pass/extract_entry.hpp"
#include "meshtensor/pass/lower.hpp"
#include "meshtensor/pass/verify.hpp"
#include "meshtensor/pass/widen.hpp"

namespace meshtensor::detail {

class adjoint_program {
 public:
  /// A tensor of the program, and the one of the test that belongs to it: the cotangent of an output, or the gradient
  /// by an input or variable.
  struct port {
    std::string label, adjoint;
    shape dims;
    site_id site;
    bool is_input;
  };
  std::unique_ptr<module> graph;
  std::unique_ptr<binding> bound;
  int entry;
  std::vector<port> outputs, by;

  /// The entry called `label` of a traced module. Without gradients it takes no cotangents.
  adjoint_program(module const& traced, name const& label, bool with_gradients) : graph(new module{}) {
    auto const wide = in_f64(traced);
    auto const whole = on_heap([&] { return widen(extract_entry(*wide, find_entry(*wide, label))); });
    raise(whole->report);
    auto const added = std::make_unique<module>();
    auto const w = std::make_unique<rebuild>(*whole, *added);
    for (int i = 0; i < whole->node_count; ++i)
      if (node const& n = whole->nodes[i]; n.kind != primitive::write && n.kind != primitive::watch) w->copy(n);
    if (with_gradients) add_gradients(w->b);
    raise(verify(*added));
    graph = on_heap([&] { return differentiate(*added); });
    raise(verify(*graph));
    entry = find_entry(*graph, label);
  }

 private:
  static std::unique_ptr<module> in_f64(module const& traced) {
    auto m = on_heap([&] { return traced; });
    for (int i = 0; i < m->node_count; ++i)
      if (node const& n = m->nodes[i]; n.kind == primitive::call)
        for (list const& l : {n.operands, n.results})
          for (int k = 0; k < l.count; ++k) refuse_narrow(*m, n, m->values[m->link(l, k)].type);
    for (int v = 0; v < m->value_count; ++v)
      if (is_float(m->values[v].type)) m->values[v].type = dtype::f64;
    for (int v = 0; v < m->variable_count; ++v)
      if (is_float(m->variables[v].type)) m->variables[v].type = dtype::f64;
    return m;
  }
  static void refuse_narrow(meshtensor::module const& m, node const& n, dtype type) {
    if (is_float(type) && type != dtype::f64)
      throw error("R88", {"check_adjoint takes differences in f64, but '", m.names[m.calls[call_of(n)].label],
                          "' is called with ", text_of(type), ": check mt::precision<program, mt::f64>"});
  }

  void add_gradients(builder& b) {
    meshtensor::module& m = b.m;
    value_id loss = no_id;
    int const count = m.node_count;
    for (int i = 0; i < count; ++i) {
      node const n = m.nodes[i];
      if (n.kind != primitive::output || m.operand_value(n, 0).type != dtype::f64) continue;
      b.region = n.region, b.path = no_id, b.site = n.site;
      value const like = m.operand_value(n, 0);
      outputs.push_back({label_of_output(m, n), name_of_test("cotangent/", outputs.size()), like.dims, n.site, false});
      value_id const cotangent = b.add(primitive::input, {}, dtype::f64, like.dims,
                                       input_attributes{b.intern(name::of(outputs.back().adjoint.c_str()))}.packed());
      value_id const term = sum_to(b, multiply(b, m.operand(n, 0), cotangent), shape{});
      loss = loss == no_id ? term : add(b, loss, term);
    }
    id_list<> operands{};
    operands.add(loss);
    if (loss != no_id) find_sources(m, loss, count, operands);
    if (by.empty())
      throw error("R88", {"check_adjoint finds no output that depends on an input or a parameter by a gradient: return "
                          "a float with s.output"});
    node_id const made = b.add_node(primitive::gradient, 0, operands);
    for (int k = 1; k < operands.count; ++k) b.add_result(made, dtype::f64, m.values[operands.at[k]].dims);
    for (std::size_t k = 0; k < by.size(); ++k) {
      value_id const gradient = m.result(m.nodes[made], static_cast<int>(k));
      name_id const label = b.intern(name::of(by[k].adjoint.c_str()));
      m.nodes[b.add_node(primitive::output, 0, ids(&gradient, 1), output_attributes{label, false}.packed())].effect =
          true;
    }
  }
  void find_sources(meshtensor::module const& m, value_id loss, int count, id_list<>& operands) {
    auto const sources = std::make_unique<sources_of_loss>(m, loss);
    for (int i = 0; i < count; ++i) {
      node const& n = m.nodes[i];
      bool const is_input = n.kind == primitive::input;
      if (!is_input && n.kind != primitive::read) continue;
      if (value_id const v = m.result(n); m.values[v].type == dtype::f64 && sources->differentiable[v]) {
        std::string const label =
            is_input ? m.names[name_of(n)].text() : path_text(m, m.variables[variable_of(n)].path);
        site_id const site = is_input ? n.site : m.variables[variable_of(n)].site;
        by.push_back({label, name_of_test("adjoint/", by.size()), m.values[v].dims, site, is_input});
        operands.add(v);
      }
    }
  }
  static std::string name_of_test(char const* what, std::size_t number) { return what + std::to_string(number); }
};

}  // namespace meshtensor::detail
