// SPDX-License-Identifier: Apache-2.0
// Runs a step on whole tensors, and keeps values with all that their comparison needs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "meshtensor/array/interpret.hpp"
#include "meshtensor/graph/locate.hpp"
#include "meshtensor/inspect/origin_of_rounding.hpp"
#include "meshtensor/op/rules.hpp"

namespace meshtensor::detail {

/// A value of the whole program in one iteration of its enclosing loops.
struct whole_value {
  block elements;
  double terms;  // the magnitude of the terms that were added up to make it
  rounding_history roundings;
};
using moment = std::pair<value_id, std::uint64_t>;  // a value, an iteration

/// Runs an entry on whole tensors and keeps the values in `wanted`.
class recording_interpreter final : public interpreter {
 public:
  recording_interpreter(module const& m, binding const& b, std::vector<bool> const& wanted)
      : interpreter(m, b), wanted_(wanted), origin_(m) {}
  std::map<moment, whole_value> values;

 private:
  void has_run(node const& n, run_context const& c) override {
    origin_.follow(n, [&](value_id v) -> block const& { return at(v); });
    for (int i = 0; i < n.results.count; ++i)
      if (value_id const v = m_.result(n, i); wanted_[v])
        values[{v, c.iteration}] = {at(v), terms_of(n), origin_.of(v)};
  }
  double terms_of(node const& n) {
    work_kind const work = declared(m_, n).work;
    bool const adds = work == work_kind::sum || n.kind == primitive::repeat || applies(n, function::add) ||
                      applies(n, function::subtract);
    double size = work == work_kind::product ? 1 : 0;
    for (int i = 0; i < n.operands.count && (adds || size != 0); ++i) {
      if (!adds && m_.operand_value(n, i).type != m_.result_value(n).type) continue;  // an index
      double const x = largest(at(m_.operand(n, i)));
      size = adds ? std::max(size, x) : size * x;
    }
    return size;
  }

  std::vector<bool> const& wanted_;
  origin_of_rounding origin_;
};

/// Finds the values of the whole program that a partitioned module has with the same extents.
inline std::vector<bool> origins_in(module const& m, module const& whole) {
  std::vector<bool> wanted(static_cast<std::size_t>(whole.value_count));
  for (int v = 0; v < m.value_count; ++v)
    if (m.values[v].origin != 0 && !is_of_exchange(m, m.values[v].dims)) wanted[m.values[v].origin - 1u] = true;
  return wanted;
}

}  // namespace meshtensor::detail
