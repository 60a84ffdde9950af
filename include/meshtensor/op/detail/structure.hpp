// SPDX-License-Identifier: Apache-2.0
// Declares and checks nodes that are not operations: inputs and outputs of programs, owners of regions, collectives.
#pragma once

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/graph/rule.hpp"
#include "meshtensor/op/detail/structure/collectives.hpp"
#include "meshtensor/op/detail/structure/regions.hpp"
#include "meshtensor/op/detail/structure/same_types.hpp"

namespace meshtensor {

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
                                        .attributes = {{attribute_kind::variable},
                                                       {attribute_kind::path},
                                                       {attribute_kind::path},
                                                       {attribute_kind::count},
                                                       {attribute_kind::flag}},
                                        .effect = true,
                                        .entry_only = true};
  static constexpr char const* verify(module const& m, node const& n) {
    variable const& v = m.variables[variable_of(n)];
    if (n.attribute[3] > m.number_count) return "a write counts updates by a number that is not there";
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

/// A value of which each index of an `each` sees its slice, or the same tensor if the value lacks the dim.
struct hide_rule {
  static constexpr primitive kind = primitive::hide;
  static constexpr declaration declares{.attributes = {{attribute_kind::dim}, {attribute_kind::flag}},
                                        .text = "of {0}"};
  static constexpr void infer(inference& i) {
    i.give(i[0].type, without(i.dims_of(0), shape{}.add(view_attributes::of(i.attributes).dim)));
  }
};

/// The values of all indices of an `each`, along its dim.
struct show_rule {
  static constexpr primitive kind = primitive::show;
  static constexpr declaration declares{.attributes = {{attribute_kind::dim}}, .text = "along {0}"};
  static constexpr void infer(inference& i) {
    dim_id const dim = view_attributes::of(i.attributes).dim;
    i.expect(!i.dims_of(0).has(dim), "G43 across: the tensor has the dim already: rename it", 1, 1);
    i.give(i[0].type, led_by(dim, i.dims_of(0)));
  }
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

}  // namespace meshtensor
