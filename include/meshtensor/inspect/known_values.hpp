// SPDX-License-Identifier: Apache-2.0
// Computes those values of a plan that depend on no data, for example the sources of a permute in a given step.
#pragma once

#include <cstdint>
#include <vector>

#include "meshtensor/array/interpret.hpp"

namespace meshtensor {

/// Computes values of a plan that follow from constants, extents, positions, numbers of the step and calls of functions
/// alone. The reference loops compute the whole tensors, of which a rank may have a part.
///
/// A value is not known if it depends on an input, a variable, a random number or an extension. It is also not known if
/// it depends on a collective other than all_gather, or on the index or the result of a loop.
class known_values : interpreter {
 public:
  known_values(module const& m, binding const& numbers)
      : interpreter(m, numbers), found_(static_cast<std::size_t>(m.value_count)) {}

  /// Whether a value can be computed. If it can, `evaluate` computes it from now on.
  bool find(value_id v) {
    finding& f = found_[v];
    if (f == finding::open) {
      f = finding::unknown;
      if (follows(v)) f = finding::known;
    }
    return f == finding::known;
  }
  /// Computes all values that were found, for the step after so many.
  void evaluate(std::int64_t step) {
    settings s;
    s.step = static_cast<std::uint64_t>(step);
    evaluate_numbers(m_, b_, s, numbers_);
    context_ = {numbers_.data(), s.seed, s.step, 0, 0};
    for (entry const& e : order_) {
      if (e.same == no_id) run_node(m_.nodes[m_.values[e.of].node]);
      else at(e.of) = at(e.same);
    }
  }
  block const& operator[](value_id v) { return at(v); }

 private:
  enum class finding : std::uint8_t { open, known, unknown };
  struct entry {
    value_id of, same;  // the value that has the same elements, or no_id if its node computes it
  };

  bool follows(value_id v) {
    value const& x = m_.values[v];
    node const& n = m_.nodes[x.node];
    if (x.layout.has_partial() || x.layout.axes_of(placement::of_loop) != 0) return false;
    value_id const same = same_as(v, x, n);
    if (same != no_id) {
      if (!find(same)) return false;
      order_.push_back({v, same});
      return true;
    }
    bool const is_plain = is_computed(n.kind) && n.kind != primitive::iteration && n.kind != primitive::random &&
                          n.kind != primitive::all_to_all_rows && n.kind != primitive::extension;
    if (!is_plain) return false;
    for (int i = 0; i < n.operands.count; ++i)
      if (!find(m_.operand(n, i))) return false;
    order_.push_back({v, value_id(no_id)});
    return true;
  }
  /// Another value with the same elements, or no_id.
  value_id same_as(value_id v, value const& x, node const& n) const {
    switch (n.kind) {
      case primitive::kernel:
      case primitive::composite: return m_.link(m_.regions[m_.region_of(n, 0)].results, x.index);
      case primitive::argument: return outside(v);
      case primitive::all_gather:
      case primitive::local_slice:
      case primitive::wait: return m_.operand(n, 0);
      default: return no_id;
    }
  }
  /// The operand for which an argument of a region stands in all iterations, or no_id.
  value_id outside(value_id argument) const {
    region_id const r = m_.values[argument].region;
    region const& body = m_.regions[r];
    node const& n = m_.nodes[node_owning(m_, r)];
    int i = 0;
    while (m_.link(body.arguments, i) != argument) ++i;
    if (n.kind != primitive::repeat) return i < n.operands.count ? m_.operand(n, i) : value_id(no_id);
    loop const l = loop::of(n);
    bool const stays = i < l.carries ? m_.link(body.results, i) == argument : i >= l.carries + l.stacked;
    return stays ? m_.operand(n, i) : value_id(no_id);
  }

  std::vector<finding> found_;
  std::vector<entry> order_;
};

}  // namespace meshtensor
