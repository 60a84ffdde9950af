// SPDX-License-Identifier: Apache-2.0
// Verifies that the computations of all ranks fit together, by checking placements operation by operation and axis by
// axis.
// before: partitioned.  after: the same. The first fault found is one sentence.
// why: a wrong placement does not crash. However, it gives wrong numbers on more than one rank.
#pragma once

#include "meshtensor/graph/locate.hpp"
#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/verify/verify_layout/check_collective.hpp"
#include "meshtensor/pass/verify/verify_layout/check_operation.hpp"
#include "meshtensor/pass/verify/verify_layout/check_regions.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {
namespace detail {

struct layout_verifier {
  meshtensor::module const& m;
  diagnostic found;

  constexpr explicit layout_verifier(module const& target) : m(target), found{} {
    for (int i = 0; i < m.node_count; ++i) {
      node const& n = m.nodes[i];
      char const* fault = nullptr;
      for (int k = 0; k < n.results.count && fault == nullptr; ++k) fault = check_placement(m.result_value(n, k));
      if (fault == nullptr) fault = check(n);
      if (fault == nullptr) continue;
      found << "S40 " << fault;
      locate(found, m, n);
      return;
    }
  }

 private:
  static constexpr placement const& at(value const& v) { return v.layout; }
  constexpr placement const& at(value_id v) const { return m.values[v].layout; }

  // A mesh axis shards at most one dim, or else is partial. The axes of a dim are numbered 0, 1, ….
  constexpr char const* check_placement(value const& v) const {
    placement const& p = v.layout;
    unsigned places[shape::capacity] = {}, count[shape::capacity] = {};
    for (int a = 0; a < max_axes; ++a) {
      if (!p.shards(a) && !p.is_partial(a)) continue;
      if (a >= m.axis_count) return "a placement names a mesh axis that does not exist";
      if (!p.shards(a)) continue;
      if (p.is_partial(a)) return "a mesh axis shards a value that is partial over it";
      int const d = p.sharded_at(a);
      if (d == placement::of_loop) continue;
      if (d >= v.dims.count) return "a mesh axis shards a dim that the value does not have";
      places[d] |= 1u << p.order(a), ++count[d];
    }
    for (int d = 0; d < v.dims.count; ++d)
      if (places[d] != (1u << count[d]) - 1u) return "the mesh axes of a dim are not numbered consecutively";
    return nullptr;
  }

  constexpr char const* check(node const& n) const {
    switch (n.kind) {
      case primitive::argument: return nullptr;  // checked with the owner of its region
      case primitive::read:
      case primitive::write: {
        placement const& p = at(n.kind == primitive::read ? m.result(n) : m.operand(n, 0));
        return p == m.variables[variable_of(n)].layout
                   ? nullptr
                   : "a variable has another placement than its next value or its reads";
      }
      case primitive::output: return at(m.operand(n, 0)).has_partial() ? "an output is partial" : nullptr;
      case primitive::input: return at(m.result(n)).has_partial() ? "an input is partial" : nullptr;
      case primitive::wait:
        return at(m.result(n)) == at(m.operand(n, 0)) ? nullptr : "a wait changes the placement of a value";
      case primitive::gradient: return "a gradient is left after partition";
      case primitive::repeat:
      case primitive::composite:
      case primitive::kernel: return region_layout{m}.check_owner(n);
      default:
        if (is_collective(n.kind) || n.kind == primitive::local_slice) return collective_layout{m}.check_collective(n);
        for (int k = 0; k < n.operands.count; ++k)
          if (is_held_by_one(at(m.operand(n, k)))) return "an operation reads a slice that only one rank holds";
        sharding const rule = sharding_of(m, n);
        for (int a = 0; a < m.axis_count; ++a)
          if (char const* fault = operation_layout{m}.check_by_rule(n, rule, a)) return fault;
        return nullptr;
    }
  }
  static constexpr bool is_held_by_one(placement const& p) { return p.axes_of(placement::of_loop) != 0; }
};

}  // namespace detail

/// The first fault in the placements of a partitioned module as a sentence of code S40, or nothing.
constexpr diagnostic verify_layout(module const& m) {
  return m.report.empty() ? detail::layout_verifier(m).found : m.report;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
