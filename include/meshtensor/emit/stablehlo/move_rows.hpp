// SPDX-License-Identifier: Apache-2.0
// Emits the step in which rows move to the ranks that hold their groups, or back, as an all_to_all of equal blocks.
#pragma once

#include "meshtensor/emit/stablehlo/all_to_all_rows.hpp"
#include "meshtensor/pass/cost.hpp"

namespace meshtensor::hlo {

class row_mover {
 public:
  row_mover(emission& e, node const& n)
      : e_(e), n_(n), a_(move_rows_attributes::of(n)), of_(row_holders::unpacked(e.m.dims[a_.holders].value)) {}

  value moved() {
    value const& x = e_.operand(n_);
    ranks_ = e_.b.members(a_.axes);
    shape const& dims = e_.dims(n_);
    value const rows = rows_of(e_, x, dims, a_.holders, a_.from);
    type const t = e_.result_type(n_);
    std::int64_t const before = rows.type.shape[0], after = t.shape[static_cast<std::size_t>(dims.find(a_.from))];
    room_ = std::min(before, after);
    find_counts();
    value const made = a_.how == row_move::back ? back(rows, after) : there(rows, after);
    // Restores the order of dims. The first two of `order` are those of the holders and of the rows.
    extents order(static_cast<std::size_t>(dims.count)), shape_of{1};
    shape_of.insert(shape_of.end(), made.type.shape.begin(), made.type.shape.end());
    std::int64_t next = 2;
    for (int i = 0; i < dims.count; ++i)
      order[static_cast<std::size_t>(i)] = dims.at[i] == a_.holders ? 0 : dims.at[i] == a_.from ? 1 : next++;
    return transpose(e_.w, reshaped(e_, made, shape_of), order);
  }

 private:
  /// Counts the rows. Those of this rank are ordered by group. Those that it receives are ordered by group, and then by
  /// the rank that sent them.
  void find_counts() {
    value const all = convert(e_.w, e_.operand(n_, 1), "i64");  // [rank, group]
    std::int64_t const groups = all.type.shape[1];
    meshtensor::value held{};
    held.dims.add(a_.groups), held.layout = of_.group_axes;
    each_ = e_.b.local(held, 0);
    value const zero = constant(e_.w, {"i64", {}}, 0.0);
    value me = zero;
    std::vector<std::int64_t> first(static_cast<std::size_t>(ranks_)), holder(static_cast<std::size_t>(ranks_));
    for (int axis = 0; axis < e_.mesh.count; ++axis)
      if ((a_.axes >> axis & 1u) != 0)
        me = binary(e_.w, "add", {scaled(e_.w, me, e_.mesh.axes[axis].extent), e_.coordinate(axis)});
    for (std::int64_t member = 0; member < ranks_; ++member) {
      std::int64_t const begin =
          e_.b.part(held, 0, [&](int axis) { return meshtensor::detail::place_of_member(e_.b, a_.axes, member, axis); })
              .begin;
      first[static_cast<std::size_t>(member)] = begin, holder[static_cast<std::size_t>(begin / each_)] = member;
    }
    value const mine[] = {me, zero}, to_me[] = {zero, e_.origin(of_.group_axes, 0, each_).value_or(zero)};
    own_ = reshaped(e_, part(e_.w, all, mine, {1, groups}), {groups});
    before_own_ = sums_before(e_, own_);
    holders_ = constant(e_.w, {"i64", {ranks_}}, "[" + list_text(holder) + "]");
    first_ = rows_at(e_, before_own_, constant(e_.w, {"i64", {ranks_}}, "[" + list_text(first) + "]"));
    got_ = transpose(e_.w, part(e_.w, all, to_me, {ranks_, each_}), {1, 0});  // [group, rank]
    before_of_rank_ = sums_before(e_, got_);
    value const by_run = reshaped(e_, got_, {each_ * ranks_});
    before_run_ = sums_before(e_, by_run);
    run_ends_ = binary(e_.w, "add", {before_run_, by_run});
  }

  value there(value const& rows, std::int64_t after) {
    type const rooms{"i64", {ranks_, room_}};
    value const at = binary(e_.w, "add", {spread(e_.w, first_, {0}, rooms.shape), iota(e_.w, rooms, 1)});
    value const got = exchanged(rows_at(e_, rows, reshaped(e_, at, {ranks_ * room_})));
    value const place = iota(e_.w, {"i64", {after}}, 0), run = run_of(e_, place, run_ends_);
    value const in_run = binary(e_.w, "subtract", {place, rows_at(e_, before_run_, run)});
    value const rank = binary(e_.w, "remainder", {run, like(e_.w, run, ranks_)});
    value const before = rows_at(e_, reshaped(e_, before_of_rank_, {each_ * ranks_}), run);
    value const from = binary(e_.w, "add", {scaled(e_.w, rank, room_), binary(e_.w, "add", {before, in_run})});
    value const is_there = compare(e_.w, "LT", {run, like(e_.w, run, each_ * ranks_)});
    return rows_where(e_, is_there, rows_at(e_, got, from));
  }

  value back(value const& rows, std::int64_t after) {
    type const rooms{"i64", {ranks_, room_}};
    value const place = iota(e_.w, rooms, 1), ends = binary(e_.w, "add", {before_of_rank_, got_});
    // The group of each row of a rank's room is the number of groups that end before the row.
    extents const all{each_, ranks_, room_};
    value const is_behind = compare(e_.w, "LE", {spread(e_.w, ends, {0, 1}, all), spread(e_.w, place, {1, 2}, all)});
    value const group = reduce(e_.w, reduction::sum, convert(e_.w, is_behind, "i64"), {0});
    value const run =
        reshaped(e_, binary(e_.w, "add", {scaled(e_.w, group, ranks_), iota(e_.w, rooms, 0)}), {ranks_ * room_});
    value const flat = reshaped(e_, place, {ranks_ * room_});
    value const in_run =
        binary(e_.w, "subtract", {flat, rows_at(e_, reshaped(e_, before_of_rank_, {each_ * ranks_}), run)});
    value const got = exchanged(rows_at(e_, rows, binary(e_.w, "add", {rows_at(e_, before_run_, run), in_run})));
    value const row = iota(e_.w, {"i64", {after}}, 0);
    value const own = run_of(e_, row, binary(e_.w, "add", {before_own_, own_}));
    value const block = binary(e_.w, "divide", {own, like(e_.w, own, each_)});
    value const holder = rows_at(e_, holders_, block);
    value const from = binary(
        e_.w, "add", {scaled(e_.w, holder, room_), binary(e_.w, "subtract", {row, rows_at(e_, first_, holder)})});
    value const is_there = compare(e_.w, "LT", {own, like(e_.w, own, own_.type.shape[0])});
    return rows_where(e_, is_there, rows_at(e_, got, from));
  }

  /// Sends each rank its room of `rows` [ranks · room, …]. The result has one room from each rank.
  value exchanged(value const& rows) {
    return e_.w.op("all_to_all", {rows}, rows.type,
                   "split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = " + std::to_string(ranks_) +
                       " : i64, " + groups(e_.mesh, a_.axes));
  }

  emission& e_;
  node const& n_;
  move_rows_attributes const a_;
  row_holders const of_;
  std::int64_t ranks_ = 1, room_ = 0, each_ = 0;  // `each_`: the groups that a rank holds
  value own_, before_own_, first_;                // rows of this rank: by group, before each group, before each holder
  value holders_;                                 // the rank that holds each block of groups
  value got_, before_of_rank_, before_run_, run_ends_;  // rows that come here: by group and rank
};

inline value move_rows(emission& e, node const& n) {
  return e.b.members(move_rows_attributes::of(n).axes) == 1 && e.operand(n).type.shape == e.result_type(n).shape
             ? e.operand(n)
             : row_mover(e, n).moved();
}

}  // namespace meshtensor::hlo
