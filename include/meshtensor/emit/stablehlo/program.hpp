// SPDX-License-Identifier: Apache-2.0
// Emits an entry as a whole program: its arguments, results and regions.
#pragma once

#include "meshtensor/emit/stablehlo/loops.hpp"
#include "meshtensor/emit/stablehlo/port.hpp"
#include "meshtensor/emit/stablehlo/table.hpp"
#include "meshtensor/emit/stablehlo/write_operation.hpp"
#include "meshtensor/graph/spell.hpp"

namespace meshtensor {
namespace hlo {

class program_writer : speller {
 public:
  program_writer(rewrites const& rewritten, binding const& numbers, mesh_shape const& mesh)
      : speller(rewritten.m), e_(numbers, mesh, w_, rewritten), inside_(static_cast<std::size_t>(m_.region_count)) {
    for (int i = 0; i < m_.node_count; ++i) inside_[m_.nodes[i].region].push_back(static_cast<node_id>(i));
  }

  stablehlo_program program(int entry) {
    require_even();
    find_ports(static_cast<region_id>(entry));
    for (auto const* more : {&variables_, &numbers_, &random_})
      made_.arguments.insert(made_.arguments.end(), more->begin(), more->end());
    w_.line("module @\"" + label(m_.regions[entry].label) + "\" attributes {mhlo.num_partitions = 1 : i32, " +
            "mhlo.num_replicas = " + std::to_string(e_.mesh.size()) + " : i32} {");
    w_.indent(2);
    head();
    w_.indent(2);
    region(static_cast<region_id>(entry));
    std::vector<value> given;
    for (stablehlo_port const& r : made_.results) given.push_back(e_.at(r.value));
    w_.line("func.return " + writer::names(given) + " : " + writer::types(given));
    w_.indent(-2);
    w_.line("}");
    w_.indent(-2);
    w_.line("}");
    made_.text = std::move(w_.text), made_.nodes = std::move(w_.nodes);
    return std::move(made_);
  }

 private:
  /// All replicas run one program, so their parts must be equally large. errors S02
  void require_even() const {
    for (int v = 0; v < m_.value_count; ++v)
      for (int i = 0; i < m_.values[v].dims.count; ++i) {
        if (reached_range::of(m_, e_.b, m_.values[v], i) || e_.b.is_even(m_.values[v], i)) continue;
        int d = m_.values[v].dims.at[i];
        if (int const of = e_.b.block_of[d].whole; of != 0) d = of - 1;
        refuse_uneven(m_.values[v], i, d);
      }
  }

  [[noreturn, gnu::cold]] void refuse_uneven(meshtensor::value const& v, int place, int d) const {
    std::int64_t const each = e_.b.parts(v, place) * e_.b.grain[d], below = e_.b.extent[d] / each * each;
    dim_row const& row = m_.dims[d];
    bool const follows = row.kind == dim_row::windowed || row.kind == dim_row::shifted;
    node const& n = m_.nodes[v.node];
    diagnostic where{};
    locate(where, m_, n);
    std::string const from = follows ? m_.dim_name(row.first).text() : "", line(where.view());
    std::string const scope = n.path == no_id ? "" : label(m_.paths[n.path].label);
    throw error("S02",
                {"dim '", m_.dim_name(d), "' (", e_.b.extent[d], follows ? ", made from '" + from + "'" : "",
                 ") is cut into unequal parts by ", e_.b.parts(v, place), " ranks, which StableHLO does not have: ",
                 follows ? "choose another extent of '" + from + "', or replicate that" +
                               (scope.empty() ? "" : " here, in<\"" + scope + "\", replicate<" + from + ">>")
                         : "make it " + (below == 0 ? "" : std::to_string(below) + " or ") +
                               std::to_string(below + each) + ", or replicate it",
                 line});
  }

  // ---- arguments and results ----

  void find_ports(region_id r) {
    for (node_id i : inside_[r]) {
      node const& n = m_.nodes[i];
      switch (n.kind) {
        case primitive::input: made_.arguments.push_back({stablehlo_port::input, i, m_.result(n)}); break;
        case primitive::read: variables_.push_back({stablehlo_port::variable, variable_of(n), m_.result(n)}); break;
        case primitive::output: made_.results.push_back({stablehlo_port::output, i, m_.operand(n, 0)}); break;
        case primitive::write:
          made_.results.push_back({stablehlo_port::variable, variable_of(n), m_.operand(n, 0)});
          break;
        default:
          if (declared(n.kind).fusion == fusion_role::number) {
            number_id const row = constant_attributes::of(n).number;
            if (port_of(row, m_.result_value(n).type) == nullptr && !e_.known(row))
              numbers_.push_back({stablehlo_port::number, row, m_.result(n)});
          }
          find_places(n);
          if (declared(n.kind).fusion == fusion_role::random && random_.empty())
            random_ = {{stablehlo_port::seed, no_id, no_id}, {stablehlo_port::step, no_id, no_id}};
          if (n.regions.count != 0) find_ports(m_.region_of(n, 0));
      }
    }
  }
  /// The numbers of an operation with positions. Its other numbers are values of its elements.
  void find_places(node const& n) {
    declaration const& d = declared(n.kind);
    for (int k = 0; k < max_attributes && d.has_places(); ++k) {
      auto const row = static_cast<number_id>(n.attribute[k]);
      if (!d.attributes[k].is_number() || row == no_id || e_.known(row)) continue;
      dtype const type = d.attributes[k].kind == attribute_kind::place ? dtype::i64 : m_.result_value(n).type;
      if (port_of(row, type) == nullptr) numbers_.push_back({stablehlo_port::number, row, value_id{no_id}, type});
    }
  }
  /// The argument that holds a number as an element of a dtype, if there is one.
  stablehlo_port const* port_of(id row, dtype type) const {
    for (stablehlo_port const& p : numbers_)
      if (p.row == row && p.type_in(m_) == type) return &p;
    return nullptr;
  }
  void head() {
    w_.line("func.func public @main(");
    std::size_t left = made_.arguments.size();
    for (stablehlo_port const& p : made_.arguments) {
      value v{"%arg" + std::to_string(made_.arguments.size() - left), {"ui64", {}}};
      if (p.value != no_id) v.type = e_.type_of(p.value);
      if (p.kind == stablehlo_port::number) {
        v.type.element = hlo::text_of(p.type_in(m_));
        e_.given.push_back({static_cast<number_id>(p.row), v});
      }
      w_.line("    " + v.name + ": " + v.type.text() + donation(p) + (--left != 0 ? ",  // " : "  // ") + name_of(p));
      if (p.kind == stablehlo_port::seed) e_.seed = v;
      if (p.kind == stablehlo_port::step) e_.step = v;
      if (p.value != no_id) e_.at(p.value) = v;
    }
    std::string types;
    for (stablehlo_port const& r : made_.results) types += (types.empty() ? "" : ", ") + e_.type_of(r.value).text();
    w_.line(") -> (" + types + ") {");
  }
  // The next value of a variable aliases the variable's argument.
  std::string donation(stablehlo_port const& p) const {
    for (std::size_t r = 0; p.kind == stablehlo_port::variable && r < made_.results.size(); ++r)
      if (made_.results[r].kind == p.kind && made_.results[r].row == p.row)
        return " {tf.aliasing_output = " + std::to_string(r) + " : i32}";
    return "";
  }
  std::string name_of(stablehlo_port const& p) const {
    switch (p.kind) {
      case stablehlo_port::variable: return path(m_.variables[p.row].path);
      case stablehlo_port::number: return number(static_cast<number_id>(p.row));
      case stablehlo_port::seed: return "seed";
      case stablehlo_port::step: return "step";
      default: return label(meshtensor::name_of(m_.nodes[p.row]));
    }
  }

  // ---- regions ----

  void region(region_id r) {
    for (node_id i : inside_[r]) {
      node_id const outer = std::exchange(w_.node, i);
      node_of(m_.nodes[i]);
      w_.node = outer;
    }
  }
  void node_of(node const& n) {
    switch (n.kind) {
      case primitive::input:
      case primitive::read:
      case primitive::write:
      case primitive::output:
      case primitive::argument: return;
      default: break;
    }
    if (std::string const where = origin(n); where != where_ && !where.empty()) w_.line("// " + (where_ = where));
    switch (n.kind) {
      case primitive::composite:
      case primitive::kernel: return call(n);
      case primitive::repeat: return loop_writer(e_, n, [this](region_id r) { region(r); }).write();
      default:
        if (auto const r = e_.rewritten.of.find(m_.result(n)); r != e_.rewritten.of.end()) e_.write(r->second.at_node);
        else e_.at(m_.result(n)) = write_node(e_, n);
    }
  }
  void call(node const& n) {
    auto const& body = m_.regions[m_.region_of(n, 0)];
    for (int i = 0; i < n.operands.count; ++i) e_.at(m_.link(body.arguments, i)) = e_.operand(n, i);
    region(m_.region_of(n, 0));
    for (int i = 0; i < n.results.count; ++i) e_.at(m_.result(n, i)) = e_.at(m_.link(body.results, i));
  }

  writer w_;
  emission e_;
  std::vector<std::vector<node_id>> inside_;  // nodes by region
  stablehlo_program made_;
  std::vector<stablehlo_port> variables_, numbers_, random_;
  std::string where_;
};

}  // namespace hlo
}  // namespace meshtensor
