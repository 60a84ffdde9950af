// SPDX-License-Identifier: Apache-2.0
// The steps of an exchange of rows as one primitive: their operands and results, the computation and the placements.
#pragma once

#include "meshtensor/op/cumulative_sum.hpp"
#include "meshtensor/op/detail/row_places.hpp"

namespace meshtensor {

/// The steps of an exchange, as functions of one primitive.
enum class row_step : std::uint8_t {
  count,   // from the index: [holders, groups/again], the number of rows that each group gets
  number,  // from the counts: [holders, rows], the group of each row, and -1 after the last one
  send,    // from a tensor, the index and the counts: [holders, rows, …], with zeros after the last one
  back,    // from such rows, the index and the counts: [dims of the index, …], zeros where the index names no group
};

struct all_to_all_rows_attributes {
  dim_id groups, holders, rows;
  dim_id counted;             // stands for `groups` in the counts
  number_id at_most = no_id;  // the most rows of a group, a row of the table of numbers, or no_id for all

  static constexpr all_to_all_rows_attributes of(id const* slots) {
    return {static_cast<dim_id>(slots[0]), static_cast<dim_id>(slots[1]), static_cast<dim_id>(slots[2]),
            static_cast<dim_id>(slots[3]), static_cast<number_id>(slots[4])};
  }
  static constexpr all_to_all_rows_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{groups, holders, rows, counted, at_most}}; }
};

/// On whole tensors there is one holder, and rows are sorted by group. On a mesh each rank sorts its own rows. If axes
/// shard both the index and the groups, runs of rows then move to the holders of their groups. Rows of a group stand in
/// the order of the ranks that they come from, and in their own order.
struct all_to_all_rows_rule {
  static constexpr primitive kind = primitive::all_to_all_rows;
  static constexpr declaration declares{.operands = {1, 3},
                                        .attributes = {{attribute_kind::dim},
                                                       {attribute_kind::dim},
                                                       {attribute_kind::dim},
                                                       {attribute_kind::dim},
                                                       {attribute_kind::number, true}},
                                        .functions = 4,
                                        .text = "by {0}"};

  static constexpr row_step step_of(node const& n) { return static_cast<row_step>(n.function); }
  static constexpr void infer(inference& i) {
    auto const a = all_to_all_rows_attributes::of(i.attributes);
    auto const step = static_cast<row_step>(i.function);
    shape const held = shape{}.add(a.holders).add(a.rows);
    if (step == row_step::count) {
      i.expect(i.is_integer(0), "T02 all_to_all_rows: the index is not an integer", 1);
      i.expect(!i.dims_of(0).has(a.groups), "T03 all_to_all_rows: the index has the dim of the groups: rename it", 1,
               1);
      return i.give(dtype::i32, shape{}.add(a.holders).add(a.counted));
    }
    if (step == row_step::number) return i.give(dtype::i64, held);
    i.expect(i.count == 3, "T01 all_to_all_rows: a step lacks an operand");
    if (i.count != 3) return;
    shape const x = i.dims_of(0), index = i.dims_of(1);
    if (step == row_step::back) {
      i.expect(x.includes(held), "T01 return_rows: the operand is not of exchanged rows", 1);
      i.expect(without(x, index) == x, "T03 return_rows: the rows have a dim of the index: rename it", 3);
      return i.give(i[0].type, united(index, without(x, held)));
    }
    i.expect(!x.has(a.groups), "T03 all_to_all_rows: the operand has the dim of the groups: rename it", 1, 1);
    i.expect(!x.has(a.holders) && !x.has(a.rows),
             "T03 all_to_all_rows: the operand is of rows exchanged by these groups", 1, 1);
    i.give(i[0].type, united(held, without(x, index)));
  }
  static constexpr char const* verify(module const& m, node const& n) {
    int const wanted = step_of(n) == row_step::count || step_of(n) == row_step::number ? 1 : 3;
    if (n.operands.count != wanted) return "an exchange of rows has another number of operands";
    auto const a = all_to_all_rows_attributes::of(n);
    if (step_of(n) == row_step::count) return nullptr;
    value const& counts = m.operand_value(n, n.operands.count - 1);
    return counts.type == dtype::i32 && counts.dims == shape{}.add(a.holders).add(a.counted)
               ? nullptr
               : "an exchange of rows has no counts of them";
  }

  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    return step_of(n) == row_step::send || step_of(n) == row_step::back
               ? meshtensor::sharding{}.passes_partial(linearity::separate, meshtensor::sharding::kind(reduction::sum),
                                                       1)
               : meshtensor::sharding{};
  }
  static constexpr bool partition(auto& p, node const& n);
  /// The error in the placements of a node over one axis, or null if there is none.
  static constexpr char const* check_axis(module const& m, node const& n, int a) {
    auto const dims = all_to_all_rows_attributes::of(n);
    auto const of = row_holders::unpacked(m.dims[dims.holders].value);
    bool const holds = (of.axes >> a & 1u) != 0;
    auto const shards = [&](value const& v, int dim) {
      return v.layout.shards(a) && v.dims.at[v.layout.sharded_at(a)] == dim;
    };
    row_step const step = step_of(n);
    value const &x = m.operand_value(n, 0), &y = m.result_value(n);
    value const& held = step == row_step::back ? x : y;
    if (shards(held, dims.holders) != holds) return "rows do not lie on their holders";
    if (held.layout.shards(a) && shards(held, dims.rows)) return "rows of one holder are sharded";
    if (step == row_step::number) {
      int const wanted = of.group_axes.shards(a) ? dims.counted : dims.holders;
      if (holds ? !shards(x, wanted) : !x.layout.is_replicated(a)) return "rows are numbered by other counts";
      return y.layout.is_partial(a) ? "a result is partial though no operand is" : nullptr;
    }
    value const& index = step == row_step::count ? x : m.operand_value(n, 1);
    if (index.layout.shards(a) != holds || index.layout.is_partial(a))
      return "an index has another placement than its rows";
    if (step == row_step::count)
      return shards(y, dims.counted) || y.layout.is_partial(a) ? "counts are not those of a rank" : nullptr;
    value const& counts = m.operand_value(n, 2);
    if (shards(counts, dims.holders) != holds || counts.layout.shards(a) != holds || counts.layout.is_partial(a))
      return "counts are not those of a rank";
    value const& tokens = step == row_step::back ? y : x;
    if (x.layout.part(a) != y.layout.part(a)) return "the result of a partial operand is not partial";
    if (holds) {
      int const dim = index.dims.at[index.layout.sharded_at(a)];
      bool const fits = tokens.dims.has(dim) ? shards(tokens, dim) && tokens.layout.order(a) == index.layout.order(a)
                                             : tokens.layout.is_replicated(a);
      return fits ? nullptr : "an operand has another placement than its index";
    }
    int const in_tokens = tokens.layout.shards(a) ? tokens.dims.at[tokens.layout.sharded_at(a)] : -1;
    int const in_rows = held.layout.shards(a) ? held.dims.at[held.layout.sharded_at(a)] : -1;
    return in_tokens == in_rows ? nullptr : "a result's placement differs from its operands'";
  }

  static constexpr void gradient(differentiation& d, node const& n);

  template <class = lazy>
  static void evaluate(evaluation const& e) {
    auto const a = all_to_all_rows_attributes::of(e.n);
    view const &x = e.operands[0], &y = e.results[0];
    switch (step_of(e.n)) {
      case row_step::count: return count_rows(x, y);
      case row_step::number: return number_rows(x, y, x.find(a.counted), x.find(a.holders));
      default: break;
    }
    view const& index = e.operands[1];
    bool const back = step_of(e.n) == row_step::back;
    detail::row_places places;
    places.find(index, e.operands[2]);
    detail::row_copies const copies(back ? y : x, index, back ? x : y, a.holders, a.rows);
    if (back) return copies.back(y.data, x.data, places, 0, index.size());
    copies.send(x.data, y.data, places, 0, index.size());
    copies.fill_behind(y, a.rows, places.count);
  }
  static void count_rows(view const& index, view const& counts) {
    auto* const n = counts.as<std::int32_t>();
    std::int64_t const groups = counts.size(), all = index.size();
    for (std::int64_t g = 0; g < groups; ++g) n[g] = 0;
    with_element(index.type, [&]<class I>() {
      for (std::int64_t i = 0; i < all; ++i)
        if (auto const g = static_cast<std::int64_t>(static_cast<arithmetic_t<I>>(index.as<I>()[i]));
            g >= 0 && g < groups)
          ++n[g];
    });
  }
  /// `counts` has those of the groups that this rank holds, from all ranks that send to it.
  static void number_rows(view const& counts, view const& rows, int along_groups, int along_ranks) {
    auto* const to = rows.as<std::int64_t>();
    std::int64_t at = 0;
    for (std::int64_t g = 0; g < counts.extent[along_groups]; ++g)
      for (std::int64_t r = 0; r < counts.extent[along_ranks]; ++r)
        for (std::int64_t n =
                 counts.as<std::int32_t>()[r * counts.stride[along_ranks] + g * counts.stride[along_groups]];
             n > 0; --n)
          to[at++] = counts.origin[along_groups] + g;
    for (std::int64_t const all = rows.size(); at < all;) to[at++] = -1;
  }

  static constexpr value_id add_step(builder& b, row_step step, std::initializer_list<value_id> operands,
                                     all_to_all_rows_attributes const& a) {
    return add_node<all_to_all_rows_rule>(b, operands, a.packed(), {}, static_cast<std::uint8_t>(step));
  }
};

}  // namespace meshtensor
