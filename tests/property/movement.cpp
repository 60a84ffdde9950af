// SPDX-License-Identifier: Apache-2.0
// What moves numbers about, looks them up or makes them gives the same bits under every layout; so do its gradients.
// timeout: 300
#include <string>

#include "meshtensor/op/random.hpp"
#include "meshtensor/op/shift.hpp"
#include "meshtensor/op/slice_at.hpp"
#include "property/graph.hpp"

using namespace property;

namespace {

constexpr auto f64 = mt::dtype::f64;
constexpr mt::dtype types[] = {mt::dtype::f64, mt::dtype::bf16, mt::dtype::i32, mt::dtype::boolean};

/// -x, or !x of bools.
mt::value_id opposite(mt::builder& b, mt::value_id x) {
  return mt::elementwise(b, b.m.values[x].type == mt::dtype::boolean ? mt::function::logical_not : mt::function::negate,
                         x);
}

template <class F>
void hold(char const* what, F make, tally& t) {
  hold_for_each(types, what, make, t);
}

}  // namespace

TEST_CASE("transpose, broadcast, rename") {
  tally t;
  for (char const* order : {"acb", "bac", "cba"})
    hold("transpose", [&](graph& g, mt::value_id x, mt::value_id) { return mt::transpose(g.b, x, g.dims(order)); }, t);
  for (char const* order : {"adb", "bda", "dab"})
    hold("broadcast", [&](graph& g, mt::value_id, mt::value_id y) { return mt::broadcast(g.b, y, g.dims(order)); }, t);
  for (char const* from : {"a", "b", "c"})
    hold(
        "rename",
        [&](graph& g, mt::value_id x, mt::value_id) { return mt::rename(g.b, x, g.dim(from), g.same("e", from)); }, t);
  t.say("transpose, broadcast, rename");
  at_least(18000, t.tried);
}

TEST_CASE("merge and split") {
  tally t;
  for (auto parts : {"ab", "bc", "ca"}) {
    char const first[] = {parts[0], 0}, second[] = {parts[1], 0};
    hold(
        "merge",
        [&](graph& g, mt::value_id x, mt::value_id) {
          return mt::merge(g.b, x, g.dims(parts), g.product("e", first, second));
        },
        t);
    hold(
        "merge and split",
        [&](graph& g, mt::value_id x, mt::value_id) {
          mt::dim_id const joined = g.product("e", first, second);
          mt::value_id const merged = opposite(g.b, mt::merge(g.b, x, g.dims(parts), joined));
          mt::shape into{};
          return mt::split(g.b, merged, joined, into.add(g.same("f", first)).add(g.same("h", second)));
        },
        t);
  }
  t.say("merge and split");
  at_least(21000, t.tried);
}

// With unequal parts, the parts of each dim of a chain are whole rows of all that it is made of.
TEST_CASE("merges of merges and splits of splits") {
  tally t;
  constexpr mt::dtype one_type[] = {f64};
  constexpr char const* orders[][3] = {{"a", "b", "c"}, {"c", "a", "b"}};
  for (auto const& [first, second, third] : orders)
    for (bool to_the_left : {true, false}) {
      auto const merged = [&](graph& g, mt::value_id x) {
        // ((first second) third), or (first (second third))
        char const* const outer = to_the_left ? third : first;
        char const* const inner[] = {to_the_left ? first : second, to_the_left ? second : third};
        mt::dim_id const two = g.product("e", inner[0], inner[1]);
        mt::value_id const once = mt::merge(g.b, x, g.dims((std::string(inner[0]) + inner[1]).c_str()), two);
        mt::dim_id const all = to_the_left ? g.product("f", "e", outer) : g.product("f", outer, "e");
        std::string const both = to_the_left ? "e" + std::string(outer) : outer + std::string("e");
        return mt::merge(g.b, opposite(g.b, once), g.dims(both.c_str()), all);
      };
      hold_for_each(
          one_type, "merge of a merge", [&](graph& g, mt::value_id x, mt::value_id) { return merged(g, x); }, t);
      hold_for_each(
          one_type, "split of a split",
          [&](graph& g, mt::value_id x, mt::value_id) {
            mt::value_id const one = opposite(g.b, merged(g, x));
            // The other way round: what was merged last is split first, into parts that are merged or split themselves.
            mt::dim_id const end = g.same("k", third), start = g.same("h", first), middle = g.same("i", second);
            mt::dim_id const front = g.product("j", "h", "i");
            mt::value_id const halves =
                mt::split(g.b, one, static_cast<mt::dim_id>(g.dims("f").at[0]), mt::shape{}.add(front).add(end));
            return mt::split(g.b, opposite(g.b, halves), front, mt::shape{}.add(start).add(middle));
          },
          t);
    }
  t.say("merges of merges and splits of splits");
  at_least(30000, t.tried);
}

TEST_CASE("slice, pad, concat") {
  tally t;
  // b has twice the extent of a and c, except on one processor: 2, 3, 4.
  hold(
      "slice",
      [](graph& g, mt::value_id x, mt::value_id) {
        return mt::slice(g.b, x, g.dim("b"), g.same("e", "a"), g.b.literal(1));
      },
      t);
  hold(
      "pad",
      [](graph& g, mt::value_id x, mt::value_id) {
        return mt::pad(g.b, x, g.dim("a"), g.same("e", "b"), g.b.literal(1), g.b.literal(0));
      },
      t);
  hold(
      "pad with ones",
      [](graph& g, mt::value_id x, mt::value_id) {
        return mt::pad(g.b, x, g.dim("a"), g.same("e", "b"), g.b.literal(0), g.b.literal(1));
      },
      t);
  hold(
      "put",
      [](graph& g, mt::value_id x, mt::value_id) {
        mt::shape along{};
        mt::value_id const part = mt::reduce(g.b, mt::reduction::sum, x, along.add(g.dim("b")));
        return mt::put(g.b, x, part, g.dim("b"), g.b.literal(1));
      },
      t);
  hold(
      "concat",
      [](graph& g, mt::value_id x, mt::value_id y) {
        return mt::concat(g.b, x, g.dim("b"), y, g.dim("d"), g.sum("e", "b", "d"));
      },
      t);
  hold(
      "concat with itself",
      [](graph& g, mt::value_id x, mt::value_id) {
        mt::value_id const again = opposite(g.b, x);
        return mt::concat(g.b, x, g.dim("a"), again, g.dim("a"), g.sum("e", "a", "a"));
      },
      t);
  t.say("slice, pad, concat");
  at_least(12000, t.tried);
}

// The dims of the operand and of the result are as those above: a slice, or a pad, with steps of 2 has room.
TEST_CASE("slice and pad with a step") {
  tally t;
  auto const last = [](graph& g, char const* dim) {
    mt::number_id const extent = g.b.add_number({mt::number_row::extent, mt::function::copy, g.dim(dim), mt::no_id, 0});
    mt::number_id const minus = g.b.literal(-1);
    return g.b.add_number({mt::number_row::expression, mt::function::add, extent, minus, 0});
  };
  for (int step : {2, -1, -2}) {
    hold(
        "slice with a step",
        [&](graph& g, mt::value_id x, mt::value_id) {
          mt::number_id const first = step > 0 ? g.b.literal(0) : last(g, "b");
          return mt::slice(g.b, x, g.dim("b"), g.same("e", "a"), first, g.b.literal(step));
        },
        t);
    hold(
        "pad with a step",
        [&](graph& g, mt::value_id x, mt::value_id) {
          mt::number_id const first = step > 0 ? g.b.literal(0) : last(g, "b");
          return mt::pad(g.b, x, g.dim("a"), g.same("e", "b"), first, g.b.literal(1), g.b.literal(step));
        },
        t);
  }
  t.say("slice and pad with a step");
  at_least(30000, t.tried);
}

TEST_CASE("roll, shift, reverse") {
  tally t;
  for (auto kind : {mt::shift_kind::wrap, mt::shift_kind::cut, mt::shift_kind::reverse})
    for (char const* along : {"a", "b", "c"})
      for (int by : {1, -1, 3}) {
        if (kind == mt::shift_kind::reverse && by != 1) continue;
        hold(
            "shift",
            [&](graph& g, mt::value_id x, mt::value_id) {
              mt::number_id const last =
                  g.b.add_number({mt::number_row::extent, mt::function::copy, g.dim(along), mt::no_id, 0});
              mt::number_id const minus = g.b.literal(-1);
              mt::number_id const end = g.b.add_number({mt::number_row::expression, mt::function::add, last, minus, 0});
              mt::number_id const first = kind == mt::shift_kind::reverse ? end : g.b.literal(by);
              return mt::shift(g.b, x, kind, {g.dim(along), first, g.b.literal(1)});
            },
            t);
      }
  t.say("roll, shift, reverse");
  at_least(12000, t.tried);
}

// Dims a, b and c are in the table, the index or both; some indices are out of range.
TEST_CASE("gather and scatter_add") {
  tally t;
  constexpr char const* shapes[][3] = {
      {"vd", "i", "v"}, {"dv", "ij", "v"}, {"vdi", "i", "v"}, {"v", "ij", "v"}, {"vd", "", "v"}};
  for (mt::dtype type : types)
    for (mt::dtype by : {mt::dtype::i32, mt::dtype::i64})
      for (auto const& s : shapes) {
        graph g;
        mt::value_id const table = g.input("x", type, s[0]), index = g.input("i", by, s[1]);
        g.output("y", mt::gather(g.b, table, index, g.dim(s[2])));
        check_graph(g, exact(), t);
      }
  constexpr char const* scattered[][3] = {
      {"id", "i", "vd"}, {"idj", "ij", "dv"}, {"idj", "i", "vd"}, {"id", "i", "div"}, {"i", "i", "v"}};
  for (mt::dtype type : {mt::dtype::f64, mt::dtype::i32})
    for (auto const& s : scattered) {
      graph g;
      mt::value_id const x = g.input("x", type, s[0]), index = g.input("i", mt::dtype::i32, s[1]);
      g.output("y", mt::scatter_add(g.b, x, index, g.dim("v"), g.dims(s[2])));
      check_graph(g, exact(), t);
    }
  for (auto const& s : shapes) {
    graph g;
    mt::value_id const table = g.input("x", f64, s[0]), index = g.input("i", mt::dtype::i32, s[1]);
    g.output_gradients(mt::gather(g.b, table, index, g.dim(s[2])), {table});
    check_graph(g, exact(), t);
  }
  for (auto const& s : scattered) {
    graph g;
    mt::value_id const x = g.input("x", f64, s[0]), index = g.input("i", mt::dtype::i32, s[1]);
    g.output_gradients(mt::scatter_add(g.b, x, index, g.dim("v"), g.dims(s[2])), {x});
    check_graph(g, exact(), t);
  }
  t.say("gather and scatter_add");
  at_least(14000, t.tried);
}

// The same of rows that are put, also where several go to one place.
TEST_CASE("put at an index") {
  tally t;
  constexpr char const* shapes[][3] = {{"vd", "d", ""},    {"vd", "i", "i"},  {"dv", "di", "i"},
                                       {"vdi", "i", "di"}, {"v", "ij", "ji"}, {"vd", "d", "d"}};
  for (mt::dtype type : types)
    for (auto const& s : shapes) {
      graph g;
      mt::value_id const x = g.input("x", type, s[0]), part = g.input("y", type, s[1]);
      g.output("z", mt::put_rows(g.b, x, part, g.input("i", mt::dtype::i32, s[2]), g.dim("v")));
      check_graph(g, exact(), t);
    }
  for (auto const& s : shapes) {
    graph g;
    mt::value_id const x = g.input("x", f64, s[0]), part = g.input("y", f64, s[1]);
    g.output_gradients(mt::put_rows(g.b, x, part, g.input("i", mt::dtype::i32, s[2]), g.dim("v")), {x, part});
    check_graph(g, exact(), t);
  }
  t.say("put at an index");
  at_least(5000, t.tried);
}

// There is one start, or one for each index of a dim of the operand, or of a dim that it lacks; some are out of range.
TEST_CASE("slices that start at a tensor") {
  tally t;
  // b has twice the extent of a and c, or more, except on one processor.
  for (char const* by : {"", "c", "i"}) {
    auto const start = [by](graph& g) { return g.input("i", *by == 'c' ? mt::dtype::i64 : mt::dtype::i32, by); };
    hold(
        "slice",
        [&](graph& g, mt::value_id x, mt::value_id) {
          mt::dim_id const part = g.same("e", "a");
          return mt::slice_at(g.b, x, g.dim("b"), part, start(g));
        },
        t);
    hold(
        "put",
        [&](graph& g, mt::value_id x, mt::value_id) {
          mt::dim_id const part = g.same("e", "a");
          mt::value_id const some = opposite(g.b, mt::slice(g.b, x, g.dim("b"), part, g.b.literal(0)));
          return mt::put_at(g.b, x, some, g.dim("b"), part, start(g));
        },
        t);
  }
  t.say("slices that start at a tensor");
  at_least(63000, t.tried);
}

TEST_CASE("values made without operands: by position, by counter") {
  tally t;
  for (mt::dtype type : {mt::dtype::f64, mt::dtype::f32, mt::dtype::bf16, mt::dtype::i32, mt::dtype::i64}) {
    graph g;
    g.output("iota", mt::broadcast(g.b, mt::iota(g.b, g.dim("b"), type), g.dims("abc")));
    g.output("full", mt::broadcast(g.b, mt::constant(g.b, 3, type), g.dims("cba")));
    g.output("number", mt::constant(g.b, 3, type));
    if (mt::is_float(type)) {
      g.output("uniform", mt::random(g.b, mt::distribution::uniform, type, g.dims("abc")));
      mt::value_id const normal = mt::random(g.b, mt::distribution::normal, type, g.dims("cab"));
      g.output("normal", normal);
      g.output("of both", mt::add(g.b, normal, mt::random(g.b, mt::distribution::uniform, type, g.dims("ab"))));
    } else {
      mt::value_id const index = g.input("i", type, "ac");
      g.output("one_hot",
               mt::cast(g.b, mt::elementwise(g.b, mt::function::equal, index, mt::iota(g.b, g.dim("b"), type)), f64));
    }
    check_graph(g, {.drawn = 60}, t);
  }
  t.say("iota, random, one_hot");
  at_least(2100, t.tried);
}
