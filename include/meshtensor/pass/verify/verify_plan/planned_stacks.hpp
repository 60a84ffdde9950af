// SPDX-License-Identifier: Apache-2.0
// Follows the slices of a loop's stacks while a plan is simulated.
#pragma once

#include "meshtensor/pass/verify/verify_plan/planned_values.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

struct planned_stacks : planned_values {
  static constexpr int iterations = 2;

  using planned_values::planned_values;

 protected:
  struct stack {  // of a stacked operand or result: the slices of the simulated iterations, and the rest
    content slice[iterations], rest;
  };
  /// The stacks of one loop. They have the size of the loop, because a list of the largest size would be cleared for
  /// each loop of a small program.
  struct stacks_of_loop {
    stack* at;
    constexpr explicit stacks_of_loop(int count) : at(new stack[static_cast<std::size_t>(count)]()) {}
    stacks_of_loop(stacks_of_loop const&) = delete;
    constexpr ~stacks_of_loop() { delete[] at; }
    constexpr stack& operator[](int i) { return at[i]; }
  };
  /// How many slices of a stack a rank holds. The simulated rank is the one whose slices come first.
  constexpr std::int64_t held(value_id whole) const { return p.numbers.local(m.values[whole], 0); }
  /// The slice of iteration number `t`, which is below `held`.
  constexpr range slice_of(value_id whole, value_id one, loop const& l, std::int64_t t) {
    std::int64_t const from = at[root(whole)] + (l.reversed ? held(whole) - 1 - t : t) * bytes(one);
    return {from, from + bytes(one)};
  }
  /// The slices of all iterations but the first `ran`.
  constexpr range rest_of(value_id whole, value_id one, loop const& l, std::int64_t ran) {
    range const r = where(whole);
    if (ran > held(whole)) ran = held(whole);
    return l.reversed ? range{r.from, r.to - ran * bytes(one)} : range{r.from + ran * bytes(one), r.to};
  }

  constexpr void enter(stack& s, value_id whole, value_id one, loop const& l, std::int64_t ran) {
    for (std::int64_t t = 0; t < ran && t < held(whole); ++t) s.slice[t] = memory.add(slice_of(whole, one, l, t));
    s.rest = memory.add(rest_of(whole, one, l, ran));
  }
  /// The end of an iteration. Sums are added to, slices are stored in their stacks, and carries are passed on.
  constexpr void put_away(node const& n, loop const& l, stacks_of_loop& out, std::int64_t t) {
    region const& body = m.regions[m.region_of(n, 0)];
    int const first_out = l.carries + l.sums;
    for (int i = l.carries; i < first_out; ++i) {
      read(m.link(body.results, i));
      read(m.result(n, i));
      write(m.result(n, i));
    }
    for (int i = first_out; i < body.results.count; ++i) {
      value_id const v = m.link(body.results, i);
      if (t >= held(m.result(n, i))) continue;
      range const to = slice_of(m.result(n, i), v, l, t);
      if (at[root(v)] == to.from) {
        if (!memory.holds(of[v])) say("a slice is written over before the iteration ends", now);
        out[i - first_out].slice[t] = of[v];
      } else {
        read(v);
        write(to);
        out[i - first_out].slice[t] = memory.add(to);
      }
      if (!memory.holds(out[i - first_out].rest)) say("a loop's body overwrites slices of later iterations", now);
      memory.drop(out[i - first_out].rest);
    }
    for (int i = 0; i < l.carries; ++i) copy(m.link(body.arguments, i), m.link(body.results, i));
  }
  /// The end of a loop. The writes of the other iterations are simulated. All values that these iterations read must
  /// still be there.
  constexpr void leave(node const& n, loop const& l, stacks_of_loop& in, stacks_of_loop& out, std::int64_t ran) {
    region const& body = m.regions[m.region_of(n, 0)];
    int const first_out = l.carries + l.sums;
    for (int k = 0; k < l.stacked; ++k) {
      if (!memory.holds(in[k].rest)) say("a loop writes over slices that later iterations read", now);
      value_id const x = m.operand(n, l.carries + k);
      for (int i = first_out; i < n.results.count; ++i) {
        range const a = where(x), b = where(m.result(n, i));
        if (a.meets(b) && (a.from != b.from || a.to != b.to))
          say("a loop stacks its results over slices that later iterations read", now);
      }
      for (content& c : in[k].slice) memory.drop(c);
      memory.drop(in[k].rest);
    }
    for (int i = first_out; i < n.results.count; ++i) {
      stack const& s = out[i - first_out];
      value_id const whole = m.result(n, i), one = m.link(body.results, i);
      for (std::int64_t t = 0; t < ran && t < held(whole); ++t)
        if (!memory.holds(s.slice[t]))
          say("a later iteration writes over a slice that an earlier one has stacked", now);
      write(rest_of(whole, one, l, ran));
      for (content c : s.slice) memory.drop(c);
      of[whole] = memory.add(where(whole));
    }
    for (int i = 0; i < l.carries; ++i) rename(m.result(n, i), m.link(body.arguments, i));
    for (int i = 0; i < first_out; ++i)
      if (!memory.holds(of[m.result(n, i)])) say("a loop's stack is written over a carry or a sum", now);
    for (int i = l.carries + l.stacked; i < n.operands.count; ++i)
      if (!memory.holds(of[m.operand(n, i)])) say("a loop writes over what its iterations read", now);
  }
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
