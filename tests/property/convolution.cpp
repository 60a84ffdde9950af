// SPDX-License-Identifier: Apache-2.0
// Convolutions of integers in floats give the same bits under every layout, whatever dims are sharded; so do their
// gradients.
// timeout: 400
#include "meshtensor/op/conv.hpp"
#include "property/graph.hpp"

using namespace property;

namespace {

struct moving {
  int size, stride, dilation, low, high;
};
/// Padded and not, beyond the kernel, less than nothing; longer than blocks; with places that overlap, touch or leave
/// gaps.
constexpr moving movements[] = {{3, 1, 1, 1, 1}, {3, 2, 1, 1, 1},  {2, 2, 1, 0, 1}, {3, 1, 2, 2, 2}, {3, 2, 2, 1, 3},
                                {2, 3, 1, 1, 2}, {1, 1, 1, 0, 0},  {1, 2, 1, 0, 0}, {7, 1, 1, 3, 3}, {3, 1, 1, 4, 0},
                                {3, 1, 1, 0, 4}, {2, 1, 1, -1, 3}, {5, 4, 1, 2, 2}, {2, 2, 4, 3, 2}, {3, 2, 1, 3, -1}};

mt::dim_id fixed(graph& g, char const* label, int extent) { return g.dim(label, mt::extent_rule(extent)); }

/// A window along `input`; the output is a new dim.
mt::window_row along(graph& g, char const* input, char const* output, char const* kernel, moving const& w) {
  mt::dim_id const i = g.dim(input), k = fixed(g, kernel, w.size);
  mt::window_places const places{w.low + w.high - w.dilation * (w.size - 1) - 1, w.stride};
  mt::dim_id const o = g.dim(output, {mt::extent_rule::windowed, places.packed(), mt::name::of(input), mt::name{}});
  return {
      i, o, k, static_cast<mt::id>(w.stride), static_cast<mt::id>(w.dilation), g.b.literal(w.low), g.b.literal(w.high)};
}
mt::conv_attributes windows(graph& g, std::vector<mt::window_row> const& rows) {
  return {g.b.add_windows(rows), static_cast<int>(rows.size())};
}

/// Convolves x with y, forwards or backwards, and checks the result and all gradients.
struct problem {
  char const *x, *y, *result;
  mt::conv_direction which = mt::conv_direction::forward;
};
void hold(std::vector<mt::window_row> (*make)(graph&), problem const& p, tally& t) {
  constexpr auto type = mt::dtype::f64;
  for (bool differentiated : {false, true}) {
    graph g;
    mt::conv_attributes const all = windows(g, make(g));
    mt::value_id const x = g.input("x", type, p.x), y = g.input("y", type, p.y);
    mt::value_id const z = mt::conv(g.b, x, y, p.which, all, g.dims(p.result));
    if (differentiated) g.output_gradients(z, {x, y});
    else g.output("z", z);
    check_graph(g, exact(), t);
  }
}

}  // namespace

TEST_CASE("one window, any padding, stride and dilation") {
  tally t;
  for (moving const& w : movements) {
    INFO("size " << w.size << ", stride " << w.stride << ", dilation " << w.dilation << ", padding " << w.low << " + "
                 << w.high);
    for (mt::dtype type : {mt::dtype::f64, mt::dtype::i32})
      for (bool differentiated : {false, true}) {
        if (type == mt::dtype::i32 && (differentiated || w.size != 2)) continue;
        for (bool backward : {false, true}) {
          graph g;
          mt::window_row const row = along(g, "a", "o", "w", w);
          mt::conv_attributes const all = windows(g, {row});
          mt::value_id const x = g.input("x", type, backward ? "boc" : "bac"), y = g.input("y", type, "cwd");
          mt::value_id const z =
              mt::conv(g.b, x, y, backward ? mt::conv_direction::backward : mt::conv_direction::forward, all,
                       g.dims(backward ? "dba" : "bdo"));
          if (differentiated) g.output_gradients(z, {x, y});
          else g.output("z", z);
          check_graph(g, exact(), t);
        }
      }
  }
  t.say("one window");
  at_least(10000, t.tried);
}

TEST_CASE("two and three windows") {
  tally t;
  hold(
      [](graph& g) {
        return std::vector{along(g, "a", "o", "v", {3, 2, 1, 1, 1}), along(g, "e", "p", "w", {2, 1, 2, 1, 1})};
      },
      {"bace", "vwcd", "bopd"}, t);
  hold(
      [](graph& g) {
        return std::vector{along(g, "a", "o", "v", {3, 1, 1, 1, 1}), along(g, "e", "p", "w", {5, 2, 1, 2, 2})};
      },
      {"bop", "dvw", "dbae", mt::conv_direction::backward}, t);
  hold(
      [](graph& g) {
        return std::vector{along(g, "a", "o", "u", {3, 1, 1, 1, 1}), along(g, "e", "p", "v", {2, 2, 1, 0, 1}),
                           along(g, "f", "q", "w", {2, 1, 1, 1, 0})};
      },
      {"aefb", "uvwb", "opq"}, t);
  t.say("two and three windows");
  at_least(3000, t.tried);
}

TEST_CASE("groups, depthwise, dims of one tensor alone") {
  tally t;
  auto const one = [](graph& g) { return std::vector{along(g, "a", "o", "w", {3, 2, 1, 1, 1})}; };
  for (problem const& p : std::initializer_list<problem>{{"gbac", "gwcd", "bogd"},
                                                         {"bag", "wg", "bog"},
                                                         {"abc", "wd", "od"},
                                                         {"ac", "wcd", "o"},
                                                         {"bo", "wd", "a", mt::conv_direction::backward}})
    hold(one, p, t);
  t.say("groups");
  at_least(3000, t.tried);
}

TEST_CASE("input and output are one dim") {
  tally t;
  for (moving const& w :
       std::initializer_list<moving>{{3, 1, 1, 1, 1}, {2, 1, 1, 0, 1}, {3, 1, 2, 2, 2}, {1, 1, 1, 0, 0}})
    for (bool differentiated : {false, true}) {
      graph g;
      mt::dim_id const a = g.dim("a");
      mt::window_row const row{
          a, a, fixed(g, "w", w.size), 1, static_cast<mt::id>(w.dilation), g.b.literal(w.low), g.b.literal(w.high)};
      mt::conv_attributes const all = windows(g, {row});
      mt::value_id const x = g.input("x", mt::dtype::f64, "bac"), y = g.input("y", mt::dtype::f64, "wcd"),
                         second = g.input("second", mt::dtype::f64, "wdc");
      mt::value_id const z = mt::conv(g.b, x, y, mt::conv_direction::forward, all, g.dims("bad"));
      mt::value_id const again = mt::conv(g.b, z, second, mt::conv_direction::forward, all, g.dims("abc"));
      if (differentiated) g.output_gradients(again, {x, y, second});
      else g.output("again", again);
      check_graph(g, exact(), t);
    }
  t.say("one dim");
  at_least(500, t.tried);
}
