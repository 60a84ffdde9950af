// SPDX-License-Identifier: Apache-2.0
// Declares and checks nodes that are not operations: inputs and outputs of programs, owners of regions, collectives.
#pragma once

#include "meshtensor/graph/rule.hpp"
#include "meshtensor/op/detail/moved.hpp"

namespace meshtensor {

namespace detail {
constexpr bool has_type_of(module const& m, value_id a, value_id b) {
  return m.values[a].type == m.values[b].type && m.values[a].dims == m.values[b].dims;
}
/// Whether `outer` has the dtype of `inner`, and its dims with `dim` in front.
constexpr bool stacks(module const& m, value_id outer, value_id inner, dim_id dim) {
  return m.values[outer].type == m.values[inner].type && !m.values[inner].dims.has(dim) &&
         m.values[outer].dims == led_by(dim, m.values[inner].dims);
}
}  // namespace detail

/// No node is of this kind, because no number of operands fits.
struct nothing_rule {
  static constexpr primitive kind = primitive::nothing;
  static constexpr declaration declares{.operands = {1, 0}};
};

/// Inputs, reads and arguments have no operands, so no other value determines their dtype and dims.
struct input_rule {
  static constexpr primitive kind = primitive::input;
  static constexpr declaration declares{.operands = {0, 0}, .attributes = {{attribute_kind::name}}, .entry_only = true};
};

struct read_rule {
  static constexpr primitive kind = primitive::read;
  static constexpr declaration declares{
      .operands = {0, 0}, .attributes = {{attribute_kind::variable}}, .entry_only = true};
  static constexpr char const* verify(module const& m, node const& n) {
    variable const& v = m.variables[variable_of(n)];
    bool const fits = v.type == m.result_value(n).type && v.dims == m.result_value(n).dims;
    return fits ? nullptr : "a read has another dtype or other dims than its variable";
  }
};

struct argument_rule {
  static constexpr primitive kind = primitive::argument;
  static constexpr declaration declares{.operands = {0, 0}, .attributes = {{attribute_kind::count}}};
};

struct write_rule {
  static constexpr primitive kind = primitive::write;
  static constexpr declaration declares{.results = {0, 0},
                                        .attributes = {{attribute_kind::variable}, {attribute_kind::path}},
                                        .effect = true,
                                        .entry_only = true};
  static constexpr char const* verify(module const& m, node const& n) {
    variable const& v = m.variables[variable_of(n)];
    if (v.type != m.operand_value(n, 0).type) return "a write has another dtype than its variable";
    return v.dims == m.operand_value(n, 0).dims ? nullptr : "a write has other dims than its variable";
  }
};

struct output_rule {
  static constexpr primitive kind = primitive::output;
  static constexpr declaration declares{.results = {0, 0},
                                        .attributes = {{attribute_kind::name}, {attribute_kind::flag}},
                                        .effect = true,
                                        .entry_only = true};
};

struct watch_rule {
  static constexpr primitive kind = primitive::watch;
  static constexpr declaration declares{
      .results = {0, 0}, .attributes = {{attribute_kind::name}, {attribute_kind::flag}}, .effect = true};
};

struct gradient_rule {
  static constexpr primitive kind = primitive::gradient;
  static constexpr declaration declares{.operands = {1, count_range::any}, .results = {0, count_range::any}};
  static constexpr char const* verify(module const& m, node const& n) {
    if (n.results.count != n.operands.count - 1) return "a gradient has another number of results than of operands";
    for (int i = 0; i < n.results.count; ++i)
      if (!detail::has_type_of(m, m.result(n, i), m.operand(n, i + 1))) return "a gradient does not fit its operand";
    return nullptr;
  }
};

/// Collectives keep dtype and dims. `verify_layout` checks the placements.
struct collective_rule {
  static constexpr char const* verify(module const& m, node const& n) {
    return detail::has_type_of(m, m.result(n), m.operand(n, 0)) ? nullptr : "a collective changes dims or dtype";
  }
};
struct all_reduce_rule : collective_rule {
  static constexpr primitive kind = primitive::all_reduce;
  static constexpr declaration declares{.attributes = {{attribute_kind::axes}, {}, {}, {attribute_kind::flag}},
                                        .functions = 4};
};
struct reduce_scatter_rule : collective_rule {
  static constexpr primitive kind = primitive::reduce_scatter;
  static constexpr declaration declares{.attributes = {{attribute_kind::axes}, {attribute_kind::dim}}, .functions = 4};
};
struct all_gather_rule : collective_rule {
  static constexpr primitive kind = primitive::all_gather;
  static constexpr declaration declares{
      .attributes = {{attribute_kind::axes}, {attribute_kind::dim}, {attribute_kind::flag}}};
};
struct all_to_all_rule : collective_rule {
  static constexpr primitive kind = primitive::all_to_all;
  static constexpr declaration declares{
      .attributes = {{attribute_kind::axes}, {attribute_kind::dim}, {attribute_kind::dim}}};
};
/// A move may rename the dim along which it shifts.
struct move_rule {
  static constexpr primitive kind = primitive::move;
  static constexpr declaration declares{.attributes = {{attribute_kind::dim},
                                                       {attribute_kind::dim},
                                                       {attribute_kind::place, true},
                                                       {attribute_kind::number, true},
                                                       {attribute_kind::place, true}},
                                        .functions = 255};
  static constexpr char const* verify(module const& m, node const& n) {
    move_attributes const a = move_attributes::of(n);
    value const &x = m.operand_value(n, 0), &y = m.result_value(n);
    if (!x.dims.has(a.from) || x.type != y.type || !(replaced(x.dims, a.from, a.to) == y.dims))
      return "a move changes dims or dtype";
    bool const covers = m.dims[a.to].kind == dim_row::cover && whole_dim(m, a.to) == whole_dim(m, a.from);
    return a.first != no_id || ((a.from == a.to || covers) && a.how == shift_kind::cut) ? nullptr
                                                                                        : "a move shifts by no number";
  }
  /// Checks only slices and pads, because a roll or a shift may have any number.
  static void require_places(module const& m, node const& n, number_value const* numbers, std::int64_t const* extent) {
    move_attributes const a = move_attributes::of(n);
    if (a.first == no_id || a.from == a.to) return;
    require_within(m, positions_of(numbers, a.first, a.step), a.how, a.from, extent[a.from], a.to, extent[a.to]);
  }
};
/// The rows of a block move to another block, which may have room for another number of rows.
struct move_rows_rule {
  static constexpr primitive kind = primitive::move_rows;
  static constexpr declaration declares{.operands = {2, 2},
                                        .attributes = {{attribute_kind::axes},
                                                       {attribute_kind::dim},
                                                       {attribute_kind::dim},
                                                       {attribute_kind::dim},
                                                       {attribute_kind::dim}},
                                        .functions = 2};
  static constexpr char const* verify(module const& m, node const& n) {
    move_rows_attributes const a = move_rows_attributes::of(n);
    value const &x = m.operand_value(n, 0), &counts = m.operand_value(n, 1), &y = m.result_value(n);
    if (!x.dims.has(a.from) || x.type != y.type || !(replaced(x.dims, a.from, a.to) == y.dims))
      return "an exchange of rows changes dims or dtype";
    bool const counted = counts.type == dtype::i32 && counts.dims == shape{}.add(a.holders).add(a.groups);
    return counted && x.dims.has(a.holders) ? nullptr : "an exchange of rows has no counts of them";
  }
};
struct local_slice_rule : collective_rule {
  static constexpr primitive kind = primitive::local_slice;
  static constexpr declaration declares{.attributes = {{attribute_kind::axes}, {attribute_kind::dim}}};
};

struct wait_rule {
  static constexpr primitive kind = primitive::wait;
  static constexpr declaration declares{.operands = {2, 2}, .buffer = buffer_use::shared};
  static constexpr char const* verify(module const& m, node const& n) {
    return detail::has_type_of(m, m.result(n), m.operand(n, 0)) ? nullptr
                                                                : "a wait gives something else than what it waits for";
  }
};

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
