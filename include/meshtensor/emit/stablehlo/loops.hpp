// SPDX-License-Identifier: Apache-2.0
// Emits a loop as a while. A branch is a loop that runs once or not at all, so it becomes an if.
#pragma once

#include <functional>

#include "meshtensor/emit/stablehlo/emission.hpp"

namespace meshtensor::hlo {

/// An if reads better than a while, and it is faster. Compilers move invariant operations out of the body of a while,
/// so that they are computed even if the body does not run. They also copy the values that a while carries.
class loop_writer {
 public:
  /// `nodes` writes the nodes of a region.
  loop_writer(emission& e, node const& n, std::function<void(region_id)> nodes)
      : e_(e),
        w_(e.w),
        n_(n),
        how_(loop::of(n)),
        body_(e.m.regions[e.m.region_of(n, 0)]),
        extent_(e.b.extent[how_.dim]),
        is_branch_(how_.ends_early && extent_ == 1),
        nodes_(std::move(nodes)) {}

  void write() {
    for (int i = 0; i < n_.operands.count; ++i) e_.operand(n_, i);  // writes deferred values before the body
    zero_ = number("i64", 0);
    if (is_branch_) write_if();
    else write_while();
  }

 private:
  value number(char const* element, std::int64_t x) { return constant(w_, {element, {}}, x); }
  bool is_carry(int i) const { return i < how_.carries; }
  bool is_stacked(int i) const { return !is_carry(i) && i < how_.carries + how_.stacked; }
  bool is_sum(int i) const { return !is_carry(i) && i < how_.carries + how_.sums; }

  /// The values of the results before the first iteration.
  std::vector<value> start() {
    std::vector<value> all;
    for (int i = 0; i < n_.results.count; ++i)
      all.push_back(is_carry(i) ? e_.operand(n_, i) : constant(w_, e_.type_of(e_.m.result(n_, i)), 0.0));
    return all;
  }
  void give(std::string const& own, std::span<value const> like) {
    for (std::size_t i = 0; i < like.size(); ++i)
      e_.at(e_.m.result(n_, static_cast<int>(i))) = {own + "#" + std::to_string(i + (is_branch_ ? 0 : 1)),
                                                     like[i].type};
  }
  template <class Make>
  std::vector<value> block(Make const& make) {
    w_.indent(2);
    std::vector<value> const given = make();
    w_.line(writer::call("return", given) + " : (" + writer::types(given) + ") -> ()");
    w_.indent(-2);
    return given;
  }

  void write_if() {
    value const runs = compare(w_, "GT", {e_.operand(n_, 0), zero_});
    std::string const own = w_.fresh();
    w_.line(own + ":" + std::to_string(n_.results.count) + " = " + writer::call("if", std::span(&runs, 1)) + " ({");
    block([&] { return iteration(zero_, carries()); });
    w_.line("}, {");
    std::vector<value> const given = block([&] { return start(); });
    w_.line("}) : (" + runs.type.text() + ") -> (" + writer::types(given) + ")");
    give(own, given);
  }
  /// Only carries, because a branch adds its sums and slices to nothing.
  std::vector<value> carries() {
    std::vector<value> all;
    for (int i = 0; i < how_.carries; ++i) all.push_back(e_.operand(n_, i));
    return all;
  }

  /// A while carries its counter, then the node's carries, sums and stacks. Loop invariants are used from outside.
  void write_while() {
    std::vector<value> first = start();
    value const trips = number("i64", extent_), one = number("i64", 1);
    bool const counts_down = how_.ends_early && how_.reversed;  // from the first iteration that runs
    first.insert(first.begin(), zero_);
    if (counts_down) first[0] = binary(w_, "subtract", {trips, binary(w_, "minimum", {first[1], trips})});
    std::vector<value> inside;
    for (value const& v : first) inside.push_back({w_.fresh(), v.type});
    std::string const own = w_.fresh();
    w_.line(own + ":" + std::to_string(first.size()) + " = " + writer::call("while", first) + " ({");
    block([&] {
      w_.line(writer::block(inside));
      value const more = compare(w_, "LT", {inside[0], trips});
      if (!how_.ends_early || counts_down) return std::vector{more};
      return std::vector{binary(w_, "and", {more, compare(w_, "LT", {inside[0], inside[1]})})};
    });
    w_.line("}, {");
    block([&] {
      w_.line(writer::block(inside));
      value const last = how_.reversed ? binary(w_, "subtract", {trips, one}) : trips;
      value const index = how_.reversed ? binary(w_, "subtract", {last, inside[0]}) : inside[0];
      std::vector<value> next = iteration(index, {inside.begin() + 1, inside.end()});
      next.insert(next.begin(), binary(w_, "add", {inside[0], one}));
      return next;
    });
    w_.line("}) : (" + writer::types(first) + ") -> (" + writer::types(first) + ")");
    give(own, std::span(first).subspan(1));
  }

  /// Emits the body's nodes for the iteration of this index, and returns the results after it.
  std::vector<value> iteration(value const& index, std::vector<value> const& before) {
    value const outer_index = std::exchange(e_.index, index), outer = e_.iteration;
    e_.iteration = convert(w_, index, "ui64");
    if (!outer.name.empty()) e_.iteration = binary(w_, "add", {scaled(w_, outer, extent_), e_.iteration});
    for (int i = 0; i < n_.operands.count; ++i) {
      value_id const argument = e_.m.link(body_.arguments, i);
      e_.at(argument) = is_carry(i)     ? before[static_cast<std::size_t>(i)]
                        : is_stacked(i) ? row(e_.operand(n_, i), e_.m.operand_value(n_, i), argument)
                                        : e_.operand(n_, i);
    }
    nodes_(e_.m.region_of(n_, 0));
    std::vector<value> next;
    for (int i = 0; i < n_.results.count; ++i) next.push_back(behind(i, e_.at(e_.m.link(body_.results, i)), before));
    e_.index = outer_index, e_.iteration = outer;
    return next;
  }

  /// A result after an iteration that has computed `made` for it. `before` has the results before the iteration.
  value behind(int i, value const& made, std::vector<value> const& before) {
    if (is_carry(i) || (is_branch_ && is_sum(i))) return made;
    if (is_branch_) return w_.op("reshape", {made}, e_.type_of(e_.m.result(n_, i)));
    value const& was = before[static_cast<std::size_t>(i)];
    return is_sum(i) ? binary(w_, "add", {was, made}) : with_row(was, e_.m.result_value(n_, i), made);
  }

  /// `row` is the current iteration's row of a stacked value, and `with_row` is the value with that row replaced. If
  /// another rank has the row, `row` gives some row, and `with_row` the value as it is.
  value row(value const& stacked, meshtensor::value const& v, value_id argument) {
    if (is_branch_) return w_.op("reshape", {stacked}, e_.type_of(argument));
    auto const mine = e_.slice_of_iteration(e_.origin(v, 0), e_.b.local(v, 0));
    return w_.op("reshape", {part(w_, stacked, places(stacked, mine.place), row_of(stacked))}, e_.type_of(argument));
  }
  value with_row(value const& stacked, meshtensor::value const& v, value const& made) {
    auto const mine = e_.slice_of_iteration(e_.origin(v, 0), e_.b.local(v, 0));
    std::vector<value> operands{stacked, w_.op("reshape", {made}, {made.type.element, row_of(stacked)})};
    for (value const& place : places(stacked, mine.place)) operands.push_back(place);
    value const replaced = w_.op("dynamic_update_slice", operands, stacked.type);
    return mine.is_here ? select(w_, {*mine.is_here, replaced, stacked}) : replaced;
  }
  static extents row_of(value const& stacked) {
    extents shape = stacked.type.shape;
    shape[0] = 1;
    return shape;
  }
  std::vector<value> places(value const& stacked, value const& place) const {
    std::vector<value> first(stacked.type.shape.size(), zero_);
    first[0] = place;
    return first;
  }

  emission& e_;
  writer& w_;
  node const& n_;
  loop const how_;
  meshtensor::region const& body_;
  std::int64_t const extent_;
  bool const is_branch_;
  std::function<void(region_id)> nodes_;
  value zero_;
};

}  // namespace meshtensor::hlo
