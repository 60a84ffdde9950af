// SPDX-License-Identifier: Apache-2.0
// Adds operations to the annotation of a module: the base of the rewriting passes.
#pragma once

#include <utility>

#include "meshtensor/emit/stablehlo/rewrite/rewrites.hpp"

namespace meshtensor::hlo {

inline bool is_sum(node const& n) {
  return n.kind == primitive::reduce && n.function == static_cast<std::uint8_t>(reduction::sum);
}
inline node const& maker(module const& m, value_id v) { return m.nodes[m.values[v].node]; }
/// The operand of a cast that has made a value, or no_id.
inline value_id cast_from(module const& m, value_id v) {
  return applies(maker(m, v), function::cast) ? m.operand(maker(m, v), 0) : value_id{no_id};
}

class rewriter {
 protected:
  explicit rewriter(rewrites& to) : m_(to.m), to_(to) {}

  shape const& dims(int v) const { return to_.dims(v); }
  int make(op kind, int x, int y, shape const& dims, dtype type) {
    int const made = m_.value_count + static_cast<int>(to_.results.size());
    to_.results.push_back({dims, type});
    made_.push_back({kind, made, x, y});
    return made;
  }
  int make(op kind, int x, int y) { return make(kind, x, y, united(dims(x), dims(y)), to_.type(x)); }
  int convert(int x, dtype type) { return to_.type(x) == type ? x : make(op::convert, x, x, dims(x), type); }
  /// The operations that were made since the last call. The last of them makes the value `v`.
  std::vector<operation> making(value_id v) {
    made_.back().result = v;
    return std::exchange(made_, {});
  }

  meshtensor::module const& m_;
  rewrites& to_;
  std::vector<operation> made_;
};

}  // namespace meshtensor::hlo
