// SPDX-License-Identifier: Apache-2.0
// Declares and checks the collectives, and the waits for them.
#pragma once

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/graph/locate.hpp"
#include "meshtensor/graph/rule.hpp"
#include "meshtensor/op/detail/moved.hpp"
#include "meshtensor/op/detail/structure/same_types.hpp"

namespace meshtensor {

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
    bool const covers = m.dims[a.to].kind == dim_row::halo && whole_dim(m, a.to) == whole_dim(m, a.from);
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
                                        .functions = 3};
  static constexpr char const* verify(module const& m, node const& n) {
    move_rows_attributes const a = move_rows_attributes::of(n);
    value const &x = m.operand_value(n, 0), &counts = m.operand_value(n, 1), &y = m.result_value(n);
    if (!x.dims.has(a.from) || x.type != y.type || !(replaced(x.dims, a.from, a.to) == y.dims))
      return "an exchange of rows changes dims or dtype";
    if (a.how == row_move::by_sources)
      return counts.dims == shape{}.add(a.groups) && !is_float(counts.type) && counts.type != dtype::boolean &&
                     a.from == a.to
                 ? nullptr
                 : "rows move by something else than a list of sources";
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

}  // namespace meshtensor
