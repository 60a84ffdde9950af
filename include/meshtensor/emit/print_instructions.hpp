// SPDX-License-Identifier: Apache-2.0
// Prints a list of instructions, one on each line, with the addresses that the plan gives to values.
#pragma once

#include <span>
#include <string>

#include "meshtensor/emit/print.hpp"
#include "meshtensor/graph/spell.hpp"
#include "meshtensor/pass/list_instructions.hpp"

namespace meshtensor {
namespace detail {

class instruction_printer {
 public:
  instruction_printer(module const& m, plan const& p) : m_(m), p_(p) {}

  std::string text(std::span<instruction const> all) {
    std::string lines;
    for (instruction const& i : all) {
      if (i.kind == instruction_kind::end) depth_ -= 2;
      lines += std::string(depth_, ' ') + text_of(i.kind) + words(i) + "\n";
      if (begins(i.kind)) depth_ += 2;
    }
    return lines;
  }

 private:
  /// `%7@128` if the memory of the value begins at byte 128 of the arena, and `%7` if it is outside of the arena.
  std::string at(value_id v) const {
    std::string const value = "%" + std::to_string(v);
    return is_in_arena(p_.where[p_.root[v]]) ? value + "@" + std::to_string(p_.offset[p_.root[v]]) : value;
  }
  std::string all(list values) const {
    std::string r;
    for (int i = 0; i < values.count; ++i) r += (i == 0 ? "" : ", ") + at(m_.link(values, i));
    return r;
  }
  std::string variable(variable_id v) const { return speller(m_).path(m_.variables[v].path); }

  std::string words(instruction const& i) const {
    node const& n = m_.nodes[i.node];
    using enum instruction_kind;
    auto const move = [](std::string const& from, std::string const& to) { return " " + from + " -> " + to; };
    auto const sized = [&](std::string const& text) { return text + ", " + std::to_string(i.bytes) + " bytes"; };
    switch (i.kind) {
      case bind_input: return move(m_.names[name_of(n)].text(), at(i.to_value()));
      case bind_variable: return move(variable(static_cast<variable_id>(i.from)), at(i.to_value()));
      case bind_slice:
      case bind_buffer:
      case copy:
      case copy_to_slice:
      case accumulate: return sized(move(at(i.from_value()), at(i.to_value())));
      case copy_to_store: return sized(move(at(i.from_value()), variable(static_cast<variable_id>(i.to))));
      case copy_to_output: return sized(move(at(i.from_value()), m_.names[name_of(n)].text()));
      case zero: return sized(" " + at(i.to_value()));
      case launch: return " " + std::string(text_of(n)) + move("(" + all(n.operands) + ")", all(n.results));
      case start:
      case collective: return " " + std::string(text_of(n)) + move(at(i.from_value()), at(i.to_value()));
      case wait: return " " + std::string(text_of(m_.nodes[i.from])) + " " + at(i.to_value());
      case begin_loop:
        return " " + m_.dim_name(loop::of(n).dim).text() + ", " + std::to_string(i.trips) + " times" +
               (i.from == id{no_id} ? "" : " at most") + (i.reversed ? ", reversed" : "");
      case begin_first:
      case begin_next: return "";
      case begin_call: return " " + m_.names[name_of(n)].text();
      case end: return "";
      default: return move(at(i.from_value()), at(i.to_value()));
    }
  }

  meshtensor::module const& m_;
  plan const& p_;
  std::size_t depth_ = 0;
};

}  // namespace detail

/// The text of a list of instructions of a module and its plan.
inline std::string text_of(std::span<instruction const> all, module const& m, plan const& p) {
  return detail::instruction_printer(m, p).text(all);
}

}  // namespace meshtensor
