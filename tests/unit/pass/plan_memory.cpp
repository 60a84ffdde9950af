// SPDX-License-Identifier: Apache-2.0
// What takes whose memory: carries, slices of stacked results, collectives of one processor; and that steps run so give
// what the interpreter gives, which gives every value memory of its own.
#include "meshtensor/pass/plan_memory.hpp"

#include <doctest/doctest.h>

#include "meshtensor/nn/sgd.hpp"
#include "unit/pass/planned.hpp"

using namespace meshtensor_test;

namespace {

/// What is added to the carry can be made in its memory; what is stacked, in its slice.
struct adds {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto bias = s.input("bias", mt::f32, layers, in);
    auto [y, all] = scan(s / "blocks", layers, x, bias, [](mt::scope auto, auto h, auto b) {
      return std::tuple(einsum(tanh(h), mt::to(in)) + h * 0.5, std::tuple(exp(h), sin(h) * b));
    });
    s.output("y", y), s.output("all", std::get<0>(all)), s.output("more", std::get<1>(all));
  }
};
/// The old carry is needed after the next one is made: stacked, read by what follows, or as the other carry.
struct looks_back {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto bias = s.input("bias", mt::f32, layers, in);
    auto [y, old] =
        scan(s / "a", layers, x, bias, [](mt::scope auto, auto h, auto b) { return std::tuple(tanh(h) + b, h); });
    auto z = repeat(s / "b", layers, std::tuple(x, y),
                    [](mt::scope auto, auto p, auto q) { return std::tuple(q, p * 0.5 + q); });
    auto w = repeat(s / "c", layers, std::tuple(x, y), [](mt::scope auto, auto p, auto q) { return std::tuple(q, p); });
    s.output("y", y), s.output("old", old), s.output("z", std::get<0>(z) + std::get<1>(z));
    s.output("p", std::get<0>(w)), s.output("q", std::get<1>(w));
  }
};
/// One value stacked twice, and one that is both the carry and stacked.
struct given_twice {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto bias = s.input("bias", mt::f32, layers, in);
    auto [y, all] = scan(s / "blocks", layers, x, bias, [](mt::scope auto, auto h, auto b) {
      auto e = exp(h * b);
      auto next = tanh(h + e);
      return std::tuple(next, std::tuple(e, e, next));
    });
    s.output("y", y), s.output("one", std::get<0>(all)), s.output("two", std::get<1>(all));
    s.output("three", std::get<2>(all));
  }
};
inline constexpr struct turns : mt::dim<"turns", 3> {} turns;
/// An inner loop stacks a value that the outer one makes in a slice of its own stack.
struct stacks_what_is_stacked {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto bias = s.input("bias", mt::f32, layers, in);
    auto gains = s.input("gains", mt::f32, turns);
    auto [y, all] = scan(s / "outer", layers, x, bias, [&](mt::scope auto r, auto h, auto b) {
      auto e = exp(h * b);
      auto [z, again] = scan(r / "inner", turns, h, gains,
                             [&](mt::scope auto, auto g, auto gain) { return std::tuple(tanh(g) * gain, e); });
      return std::tuple(z, std::tuple(e, again));
    });
    s.output("y", y), s.output("one", std::get<0>(all)), s.output("two", std::get<1>(all));
  }
};
/// Loops that begin with values which nothing else reads: made before the loop, or in the body of an outer one; and
/// with others: an input, what is read again, what begins two carries, what each iteration reads, an outer carry.
struct begins_loops {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto const add = [](mt::scope auto, auto h) { return tanh(h) + 0.25; };
    auto const swap = [](mt::scope auto, auto p, auto q) { return std::tuple(q * 2, p + q); };
    auto const again = exp(x * 0.5), twice = sin(x), whole = sin(x * 5);
    s.output("made", repeat(s / "a", layers, sin(x * 3), add));
    s.output("fed", repeat(s / "b", layers, x, add));
    s.output("read", repeat(s / "c", layers, again, add) + again);
    s.output("two", std::get<1>(repeat(s / "d", layers, std::tuple(twice, twice), swap)));
    s.output("seen", repeat(s / "e", layers, whole, [&](mt::scope auto, auto h) { return h * 0.5 + whole; }));
    auto const [last, all] = scan(s / "g", batch, sum(x, batch), sin(x * 7), [](mt::scope auto, auto h, auto row) {
      auto const next = tanh(h + row);
      return std::tuple(next, next * 2);
    });
    s.output("last", last), s.output("all", all);
    s.output("nested", repeat(s / "f", layers, cos(x), [&](mt::scope auto r, auto h) {
               return repeat(r / "inner", turns, cos(h), add) + repeat(r / "other", turns, h, add);
             }));
  }
};
inline constexpr struct near_dim : mt::dim<"near", 64> {} near;
inline constexpr struct far_dim : mt::dim<"far", 64> {} far;
inline constexpr struct many_rows_dim : mt::dim<"many_rows", 128> {} many_rows;
/// A chain of layers that is trained, each with a matrix that is much larger than what it makes. What one of them was
/// is kept.
struct trains_a_chain {
  constexpr void operator()(mt::scope auto s) const {
    auto const first = s.parameter("first", near, far, mt::normal(0.1));
    auto const there = [&](auto h, auto matrix) { return tanh(einsum(h, matrix, mt::to(batch, far))); };
    auto const back = [&](auto h, auto matrix) { return tanh(einsum(h, matrix, mt::to(batch, near))); };
    auto h = s.input("x", mt::f32, batch, near);
    h = back(there(h, first), s.parameter("second", far, near, mt::normal(0.1)));
    h = back(there(h, s.parameter("third", near, far, mt::normal(0.1))),
             s.parameter("fourth", far, near, mt::normal(0.1)));
    h = back(there(h, s.parameter("fifth", near, far, mt::normal(0.1))),
             s.parameter("sixth", far, near, mt::normal(0.1)));
    auto const loss = sum(h * h);
    mt::sgd{.learning_rate = 0.05}.minimize(s / "optimizer", loss);
    s.update(s.state("was", mt::f32, near, far, mt::zeros), first * loss);
    s.output("loss", loss);
  }
};

/// A chain of layers without gradients; of each a number is added to a state.
struct looks_at_a_chain {
  constexpr void operator()(mt::scope auto s) const {
    auto const there = s.parameter("there", near, far);
    auto const back = s.parameter("back", far, near);
    auto h = s.input("x", mt::f32, many_rows, near);
    auto total = sum(h);
    for (int i = 0; i < 4; ++i) {
      auto const between = einsum(h, there, mt::to(many_rows, far));
      h = einsum(between, back, mt::to(many_rows, near));
      total = total + sum(between * between) + sum(h * h);
    }
    s.output("y", h);
    s.update(s.state("total", mt::f32, mt::zeros), total);
  }
};

/// Variables that take each other's value, one of them through a sum over processors.
struct changes_places {
  constexpr void operator()(mt::scope auto s) const {
    auto left = s.parameter("left", in, mt::normal(1)), right = s.parameter("right", in, mt::normal(1));
    auto x = s.input("x", mt::f32, batch, in);
    s.output("sum", einsum(x * left, mt::to()) + einsum(x, mt::to()));
    s.output("left", left), s.output("right", right);
    s.update(left, right), s.update(right, left);
  }
};

/// Two states that are given one value, which is made in the memory of one of them.
struct gives_two_states_one_value {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto left = s.state("left", mt::f32, batch, in, mt::zeros), right = s.state("right", mt::f32, batch, in, mt::zeros);
    s.output("left", sum(left, in)), s.output("right", sum(right, in));
    auto next = left * 0.5 + right * 0.25 + x;
    s.update(left, next), s.update(right, next);
  }
};

/// States with one place written: nothing, something before, and something after needs what was there.
template <int When>
struct writes_a_place {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto kept = s.state("kept", mt::f32, layers, batch, in, mt::constant(2));
    if (When == 1) s.output("sum", sum(kept * kept, layers));
    auto next = put(kept, x, layers, s.number("place", 1));
    if (When == 2) s.output("sum", sum(kept * next, layers));
    s.update(kept, next);
    s.output("x", x);
  }
};
inline constexpr struct other_dim : mt::dim<"other", layers + 0> {} other;
/// The same at places that an index names, which is itself what was there, or not.
template <bool Names>
struct writes_named_places {
  constexpr void operator()(mt::scope auto s) const {
    auto kept = s.state("kept", mt::i32, layers, batch, mt::constant(1));
    auto const here = iota(s, batch, mt::i32);
    if constexpr (Names) s.update(kept, put(kept, here, layers, rename(kept, layers, other)));
    else s.update(kept, put(kept, here, layers, here));
    s.output("sum", s.parameter("p", in, mt::ones));
  }
};
/// Rows that change places: what is put is what was there, by another name.
struct reverses_rows {
  constexpr void operator()(mt::scope auto s) const {
    auto rows = s.parameter("rows", layers, in, mt::normal(1));
    s.output("rows", rows);
    auto const from_the_end = iota(s, other, mt::i32) * -1 + (extent(layers) - 1);
    s.update(rows, put(rows, rename(rows, layers, other), layers, from_the_end));
  }
};
template <class Program>
bool in_place() {
  planned<Program> s;
  s.check_steps();
  mt::module const& m = s.low->graph;
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == mt::primitive::put)
      return s.plan().root[m.result(m.nodes[i])] == s.plan().root[m.operand(m.nodes[i], 0)];
  FAIL("there is no put");
  return false;
}

inline constexpr struct places_dim : mt::dim<"places", 64> {} places;
inline constexpr struct some_dim : mt::dim<"some", 24> {} some;
/// What every layer has seen, kept in one state: a loop over the layers writes one place of each. 1: what was there is
/// read after the place is written, 2: behind the loop, 3: stacked, too, 4: seen by all layers; 5: a part of what was
/// there is, which is copied before.
template <int When>
struct writes_a_place_of_each {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto kept = s.state("kept", mt::f32, layers, places, batch, in, mt::constant(2));
    auto [y, all] = repeat(s / "blocks", layers, x, kept, [&](mt::scope auto r, auto h, auto past) {
      auto const first = slice(past, places, some, 0);
      auto now = put(past, tanh(h * r.parameter("gain", in, mt::ones)), places, r.number("place", 1));
      auto seen = sum(When == 1 ? past * now : now, places) * 0.01;
      if constexpr (When == 4) seen = seen + sum(kept, layers, places);
      if constexpr (When == 5) seen = seen + einsum(first, first, to(batch, in)) * 0.001;
      return std::tuple(h + seen, std::tuple(now, When == 3 ? past : now));
    });
    auto next = std::get<0>(all);
    if (When == 2) s.output("change", sum(kept * next, layers));
    if (When == 3) s.output("before", std::get<1>(all));
    s.update(kept, next);
    s.output("y", y);
  }
};
inline constexpr struct again_dim : mt::dim<"again", 64> {} again;
/// The same along a state and along another name of it, by which each iteration reads what was there.
struct writes_what_it_sees_again {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto kept = s.state("kept", mt::f32, layers, places, batch, in, mt::constant(2));
    auto [y, all] = scan(s / "blocks", layers, x, std::tuple(rename(kept, places, again), kept),
                         [&](mt::scope auto r, auto h, auto before, auto past) {
                           auto now = put(past, tanh(h * r.parameter("gain", in, mt::ones)), places, 1);
                           auto seen = sum(now * rename(before, again, places), places) * 0.01;
                           return std::tuple(h + seen, now);
                         });
    s.update(kept, all);
    s.output("y", y);
  }
};
/// Whether the loop's result takes the state's memory, and whether each slice is made there.
template <class Program, int Parts = 8>
std::pair<bool, bool> each_slice_in_place() {
  planned<Program> s;
  s.check_steps();
  mt::module const& m = s.low->graph;
  mt::plan const& p = s.plan();
  std::pair<bool, bool> found{};
  for (int i = 0; i < m.node_count; ++i) {
    mt::node const& n = m.nodes[i];
    if (n.kind == mt::primitive::write) found.first |= p.where[p.root[m.operand(n, 0)]] == mt::place::variable;
    if (n.kind == mt::primitive::put) found.second = p.where[p.root[m.result(n)]] == mt::place::stack_slice;
  }
  if (found.first && found.second) CHECK(p.arena_bytes < p.variable_bytes / Parts);
  return found;
}
template <int When>
std::pair<bool, bool> each_in_place() {
  return each_slice_in_place<writes_a_place_of_each<When>, When == 5 ? 4 : 8>();
}

/// Some places of what each layer has: read by a product, 1: and by a function, 2: and stacked, 3: in a kernel alone.
/// A step of 0 is 2, but known only when the program runs.
template <int Also, int Step = 1>
struct looks_at_some {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto kept = s.parameter("kept", layers, places, in, mt::normal(1));
    auto [y, all] = repeat(s / "blocks", layers, x, kept, [&](mt::scope auto, auto h, auto whole) {
      mt::number const step = Step == 0 ? 2 + 0 * s.step() : mt::number(Step);
      auto const part = slice(whole, places, some, Step < 0 ? 25 : 5, step);
      auto next = h;
      if constexpr (Also == 3) next = next + sum(tanh(part), some) * 0.01;
      else next = next + einsum(tanh(einsum(h, part, mt::to(batch, some))), part, mt::to(batch, in)) * 0.01;
      if constexpr (Also == 1) next = next + sum(tanh(part), some) * 0.01;
      if constexpr (Also == 2) return std::tuple(next, part);
      else return std::tuple(next, h);
    });
    s.output("y", y), s.output("all", all);
  }
};
template <int Also, int Step = 1>
bool is_strided_slice() {
  planned<looks_at_some<Also, Step>> s;
  s.check_steps();
  mt::module const& m = s.low->graph;
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == mt::primitive::slice)
      return s.plan().where[m.result(m.nodes[i])] == mt::place::strided_slice;
  FAIL("there is no slice");
  return false;
}

}  // namespace

TEST_CASE("a slice of what a loop is given is no copy where products alone read it") {
  CHECK(is_strided_slice<0>());
  CHECK(!is_strided_slice<1>());
  CHECK(!is_strided_slice<2>());
  CHECK(!is_strided_slice<3>());
  CHECK(is_strided_slice<0, 2>());
  CHECK(!is_strided_slice<0, 0>());
  CHECK(!is_strided_slice<0, -1>());
}

TEST_CASE("a loop writes one place of each slice of a state where it is, unless what was there is still needed") {
  CHECK(each_in_place<0>() == std::pair(true, true));
  CHECK(each_in_place<1>() == std::pair(true, false));  // each slice is put away at the end of its iteration
  CHECK(!each_in_place<2>().first);
  CHECK(!each_in_place<3>().first);
  CHECK(!each_in_place<4>().first);
  CHECK(each_in_place<5>() == std::pair(true, true));
  CHECK(!each_slice_in_place<writes_what_it_sees_again>().first);
}

TEST_CASE("one place of a state is written where it is, unless what was there is still needed") {
  CHECK(in_place<writes_a_place<0>>());
  CHECK(in_place<writes_a_place<1>>());
  CHECK(!in_place<writes_a_place<2>>());
  CHECK(in_place<writes_named_places<false>>());
  CHECK(!in_place<writes_named_places<true>>());
  CHECK(!in_place<reverses_rows>());
}

TEST_CASE("a value of two states is made where one of them lies, and copied to the other") {
  planned<gives_two_states_one_value> s;
  mt::module const& m = s.low->graph;
  int placed = 0, writes = 0;
  for (int i = 0; i < m.node_count; ++i) {
    if (m.nodes[i].kind != mt::primitive::write) continue;
    ++writes, placed += s.plan().where[s.plan().root[m.operand(m.nodes[i], 0)]] == mt::place::variable;
  }
  CHECK(writes == 2);
  CHECK(placed == 2);
  s.check_steps();
}

TEST_CASE("made where it will be found, also if what the loop gives is read afterwards") {
  planned<adds> s;
  CHECK(s.stack_slices() == 2);
  CHECK(s.kept_in_place() == 1);
  s.check_steps();
}

TEST_CASE("a loop begins in the memory of its first value, unless something else reads that") {
  planned<begins_loops> s;
  mt::module const& m = s.low->graph;
  int carries = 0, shared = 0;
  for (int i = 0; i < m.node_count; ++i) {
    if (m.nodes[i].kind != mt::primitive::repeat) continue;
    for (int k = 0; k < mt::loop::of(m.nodes[i]).carries; ++k, ++carries)
      shared += s.plan().root[m.operand(m.nodes[i], k)] ==
                s.plan().root[m.link(m.regions[m.region_of(m.nodes[i], 0)].arguments, k)];
  }
  CHECK(carries == 10);
  CHECK(shared == 4);  // a, f, f/inner and g
  s.check_steps();
}

TEST_CASE("a gradient takes memory until its parameter is updated, not until all are") {
  mt::layout_rules rules{};
  rules.shard("batch", {"ax"});
  planned<trains_a_chain> s(rules, 1);
  constexpr std::int64_t matrix = 64 * 64 * 4;
  CHECK(s.plan().arena_bytes < 3 * matrix);
  s.check_steps();
  planned<trains_a_chain>(rules, 2).check_steps();
}

TEST_CASE("what only a number is made from is not kept until the number is needed") {
  planned<looks_at_a_chain> s;
  CHECK(s.plan().arena_bytes < 4 * 128 * 64 * 4);
  s.check_steps();
}

TEST_CASE("not while the old value is needed") {
  planned<looks_back> s;
  CHECK(s.kept_in_place() == 2);  // what was q becomes p after the last look at p; of two that swap, the second
  CHECK(s.stack_slices() == 0);
  s.check_steps();
}

TEST_CASE("what is stacked twice has one place; a carry and its slice have two") {
  planned<given_twice> s;
  CHECK(s.stack_slices() == 1);
  s.check_steps();
}

TEST_CASE("what an outer loop makes in its stack is put away by an inner one that stacks it, too") {
  planned<stacks_what_is_stacked> s;
  CHECK(s.stack_slices() == 1);
  s.check_steps();
}

TEST_CASE("a collective of one processor is another name, unless it keeps two variables apart") {
  mt::layout_rules rules{};
  rules.shard("in", {"ax"});
  for (std::int64_t processors : {1, 2}) {
    planned<changes_places> s(rules, processors);
    s.check_steps();
    int names = 0, collectives = 0;
    for (int i = 0; i < s.low->graph.node_count; ++i) {
      mt::node const& n = s.low->graph.nodes[i];
      if (!mt::is_collective(n.kind)) continue;
      ++collectives;
      names += s.plan().root[s.low->graph.result(n)] == s.plan().root[s.low->graph.operand(n, 0)];
    }
    CHECK(collectives > 0);
    CHECK(names == (processors == 1 ? collectives : 0));
  }
}
