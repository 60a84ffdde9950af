// SPDX-License-Identifier: Apache-2.0
// Declares and checks nodes that own regions: kernels, loops and composites.
#pragma once

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/graph/rule.hpp"
#include "meshtensor/op/detail/structure/same_types.hpp"

namespace meshtensor {

namespace detail {
/// Whether the first carry of a loop can be the number of iterations that it is known to run.
constexpr bool counts(module const& m, node const& n, loop const& l) {
  if (l.carries == 0) return false;
  value const& first = m.operand_value(n, 0);
  region const& body = m.regions[m.region_of(n, 0)];
  return first.type == dtype::i64 && first.dims.count == 0 &&
         (!l.reversed || m.link(body.results, 0) == m.link(body.arguments, 0));
}
}  // namespace detail

/// The operands and results of a kernel are those of its region.
struct kernel_rule {
  static constexpr primitive kind = primitive::kernel;
  static constexpr declaration declares{
      .operands = {0, count_range::any}, .results = {0, count_range::any}, .regions = {1, 1}};
};

struct repeat_rule {
  static constexpr primitive kind = primitive::repeat;
  static constexpr declaration declares{
      .operands = {0, count_range::any},
      .results = {0, count_range::any},
      .regions = {1, 1},
      .attributes = {{attribute_kind::dim}, {attribute_kind::count}, {attribute_kind::count}, {attribute_kind::count}}};
  static constexpr char const* verify(module const& m, node const& n) {
    loop const l = loop::of(n);
    if (l.carries + l.stacked > n.operands.count || l.carries + l.sums > n.results.count)
      return "a loop has fewer operands or results than it counts";
    region const& body = m.regions[m.region_of(n, 0)];
    if (body.arguments.count != n.operands.count || body.results.count != n.results.count)
      return "a loop's body takes or gives another number of values than the loop";
    if (l.ends_early && !detail::counts(m, n, l)) return "a loop that may end early does not carry its number first";
    for (int i = 0; i < n.operands.count; ++i) {
      value_id const outer = m.operand(n, i), inner = m.link(body.arguments, i);
      bool const stacked = i >= l.carries && i < l.carries + l.stacked;
      if (!(stacked ? detail::stacks(m, outer, inner, l.dim) : detail::has_type_of(m, outer, inner)))
        return "an operand of a loop does not fit the argument of its body";
    }
    for (int i = 0; i < n.results.count; ++i) {
      value_id const outer = m.result(n, i), inner = m.link(body.results, i);
      bool const stacked = i >= l.carries + l.sums;
      if (!(stacked ? detail::stacks(m, outer, inner, l.dim) : detail::has_type_of(m, outer, inner)))
        return "a result of a loop does not fit what its body gives";
    }
    return nullptr;
  }
};

struct composite_rule {
  static constexpr primitive kind = primitive::composite;
  static constexpr declaration declares{
      .operands = {0, count_range::any},
      .results = {0, count_range::any},
      .regions = {1, 2},
      .attributes = {{attribute_kind::name}, {attribute_kind::count}, {attribute_kind::flag}}};
  static constexpr char const* verify(module const& m, node const& n) {
    region const& body = m.regions[m.region_of(n, 0)];
    if (body.arguments.count != n.operands.count || body.results.count != n.results.count)
      return "a composite takes or gives another number of values than its body";
    for (int i = 0; i < n.operands.count; ++i)
      if (!detail::has_type_of(m, m.operand(n, i), m.link(body.arguments, i)))
        return "an operand of a composite does not fit its body";
    for (int i = 0; i < n.results.count; ++i)
      if (!detail::has_type_of(m, m.result(n, i), m.link(body.results, i)))
        return "a result of a composite does not fit its body";
    return n.regions.count == 1 ? nullptr : verify_gradient(m, n);
  }

 private:
  /// The arguments of the gradient's region: the operands, the results, and cotangents of the first results.
  static constexpr char const* verify_gradient(module const& m, node const& n) {
    list const taken = m.regions[m.region_of(n, 1)].arguments;
    if (taken.count > n.operands.count + 2 * n.results.count)
      return "the gradient of a composite takes more than operands, results and cotangents";
    for (int i = 0; i < taken.count; ++i) {
      int const result = (i - n.operands.count) % (n.results.count == 0 ? 1 : n.results.count);
      value_id const like = i < n.operands.count ? m.operand(n, i) : m.result(n, result);
      if (!detail::has_type_of(m, m.link(taken, i), like))
        return "an argument of a composite's gradient does not fit it";
    }
    return nullptr;
  }
};

}  // namespace meshtensor
