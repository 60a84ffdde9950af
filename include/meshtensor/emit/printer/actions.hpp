// SPDX-License-Identifier: Apache-2.0
// Prints the work of a node: its operation, collective or loop, with its operands.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "meshtensor/emit/printer/operations.hpp"
#include "meshtensor/graph/spell.hpp"
#include "meshtensor/op/rules.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// Writes the right side of a node's line as text.
class action_speller : protected operation_speller {
 protected:
  using operation_speller::operation_speller;

  [[gnu::cold]] std::string action(node const& n) const {
    std::string const operands = "(" + refs(n.operands) + ")";
    auto named = [&](auto const& what) { return std::string(text_of(n)) + "(" + what + ")"; };
    auto with = [&](std::string const& more) { return text_of(n) + ("(" + refs(n.operands) + ", " + more + ")"); };
    collective_attributes const c = collective_attributes::of(n);
    switch (n.kind) {
      case primitive::input: return named(label(name_of(n)));
      case primitive::read: return named(path_of_variable(variable_of(n)));
      case primitive::write: return with(path_of_variable(variable_of(n)));
      case primitive::output:
      case primitive::watch: return with(label(name_of(n)));
      case primitive::repeat: return repeated(n);
      case primitive::composite: return label(name_of(n)) + operands;
      case primitive::all_reduce: return text_of(n) + (" " + kind_of_sum(n)) + operands + " over " + axes(c.axes);
      case primitive::reduce_scatter:
        return text_of(n) + (" " + kind_of_sum(n)) + operands + " over " + axes(c.axes) + " into " + dim(c.split);
      case primitive::all_gather: return text_of(n) + operands + " over " + axes(c.axes) + " of " + dim(c.join);
      case primitive::local_slice: return text_of(n) + operands + " over " + axes(c.axes) + " of " + dim(c.split);
      case primitive::move: return moved(n);
      case primitive::move_rows: {
        move_rows_attributes const a = move_rows_attributes::of(n);
        constexpr char const* how[] = {" to ", " back to ", " by sources along "};
        return text_of(n) + operands + " over " + axes(a.axes) + how[static_cast<int>(a.how)] + dim(a.to);
      }
      case primitive::all_to_all:
        return text_of(n) + operands + " over " + axes(c.axes) + " from " + dim(c.join) + " to " + dim(c.split);
      default: return operation(n);
    }
  }
  // `carry %1; invariant %2`: the groups of a loop's operands or results, without empty groups.
  [[gnu::cold]] static std::string parts(std::initializer_list<std::pair<char const*, std::string>> all,
                                         std::string const& start) {
    std::string r;
    for (auto const& [word, list_text] : all)
      if (!list_text.empty()) r += (r.empty() ? start : "; ") + word + " " + list_text;
    return r;
  }

 private:
  [[gnu::cold]] std::string moved(node const& n) const {
    move_attributes const a = move_attributes::of(n);
    std::string r = text_of(n) + ("(" + refs(n.operands) + ")") + " over " + axes(a.axes);
    if (a.first == no_id) return r;
    constexpr char const* how[] = {" from ", " around from ", " back from ", " at "};
    r += " along " + dim(a.from) + (a.to == a.from ? "" : " -> " + dim(a.to));
    r += how[static_cast<int>(a.how)] + number(a.first);
    return a.step == no_id ? r : r + " by " + number(a.step);
  }
  [[gnu::cold]] std::string repeated(node const& n) const {
    loop const l = loop::of(n);
    return "repeat " + dim(l.dim) + (l.reversed ? " backwards" : "") + (l.ends_early ? " up to its first carry" : "") +
           parts({{"carry", refs(n.operands, 0, l.carries)},
                  {"stacked", refs(n.operands, l.carries, l.carries + l.stacked)},
                  {"invariant", refs(n.operands, l.carries + l.stacked, n.operands.count)}},
                 " (") +
           ")";
  }
  std::string path_of_variable(variable_id v) const { return v < m_.variable_count ? path(m_.variables[v].path) : "?"; }
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
