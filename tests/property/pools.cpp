// SPDX-License-Identifier: Apache-2.0
// Pools give the same bits under every layout, whatever dims are sharded; so do their gradients.
// timeout: 400
#include "meshtensor/op/pool.hpp"
#include "property/graph.hpp"

using namespace property;

namespace {

struct moving {
  int size, stride, dilation, low, high;
};
/// Padded and not; longer than blocks; with places that overlap, touch or leave gaps; with places of padding alone.
constexpr moving movements[] = {{3, 2, 1, 1, 1},  {3, 1, 1, 1, 1}, {2, 2, 1, 0, 1}, {3, 1, 2, 2, 2},
                                {2, 3, 1, 1, 2},  {1, 2, 1, 0, 0}, {7, 1, 1, 3, 3}, {2, 1, 1, 3, 2},
                                {2, 1, 1, -1, 3}, {5, 4, 1, 2, 2}, {3, 2, 2, 1, 3}};

mt::window_row along(graph& g, char const* input, char const* output, moving const& w) {
  mt::dim_id const i = g.dim(input);
  mt::window_places const places{w.low + w.high - w.dilation * (w.size - 1) - 1, w.stride};
  mt::dim_id const o = g.dim(output, {mt::extent_rule::windowed, places.packed(), mt::name::of(input), mt::name{}});
  std::string const label = "window of " + std::to_string(w.size);
  return {i,
          o,
          g.dim(label.c_str(), mt::extent_rule(w.size)),
          static_cast<mt::id>(w.stride),
          static_cast<mt::id>(w.dilation),
          g.b.literal(w.low),
          g.b.literal(w.high)};
}

/// The result or the gradient of a pool of x under every layout.
void hold(std::vector<mt::window_row> (*make)(graph&, moving const&), char const* x_dims, moving const& w,
          mt::dtype type, mt::pool_step step, bool differentiated, tally& t) {
  graph g;
  auto const rows = make(g, w);
  mt::pool_attributes const a{g.b.add_windows(rows), static_cast<int>(rows.size())};
  mt::value_id const x = g.input("x", type, x_dims);
  mt::value_id const y = step == mt::pool_step::pick ? mt::pool(g.b, mt::pool_step::pick,
                                                                {x, mt::pool(g.b, mt::pool_step::position, {x}, a)}, a)
                                                     : mt::pool(g.b, step, {x}, a);
  if (differentiated) g.output_gradients(y, {x});
  else g.output("y", y);
  check_graph(g, exact(), t);
}

std::vector<mt::window_row> one(graph& g, moving const& w) { return {along(g, "a", "o", w)}; }
std::vector<mt::window_row> two(graph& g, moving const& w) {
  return {along(g, "a", "o", w), along(g, "e", "p", {2, 2, 1, 0, 1})};
}
std::vector<mt::window_row> three(graph& g, moving const& w) {
  return {along(g, "a", "o", w), along(g, "e", "p", {2, 1, 1, 1, 0}), along(g, "f", "q", {1, 2, 1, 0, 0})};
}

}  // namespace

TEST_CASE("the greatest of windows, their positions and gradient") {
  tally t;
  for (moving const& w : movements) {
    INFO("size " << w.size << ", stride " << w.stride << ", dilation " << w.dilation << ", padding " << w.low << " + "
                 << w.high);
    for (bool differentiated : {false, true})
      hold(one, "bac", w, mt::dtype::f64, mt::pool_step::pick, differentiated, t);
    hold(one, "ab", w, mt::dtype::f64, mt::pool_step::position, false, t);
  }
  hold(one, "bac", movements[0], mt::dtype::i32, mt::pool_step::pick, false, t);
  t.say("the greatest");
  at_least(21000, t.tried);
}

TEST_CASE("sums of windows, and their gradient") {
  tally t;
  for (moving const& w : movements)
    for (bool differentiated : {false, true})
      hold(one, "bac", w, mt::dtype::f64, mt::pool_step::sum, differentiated, t);
  t.say("sums");
  at_least(15000, t.tried);
}

TEST_CASE("two and three windows") {
  tally t;
  for (mt::pool_step step : {mt::pool_step::pick, mt::pool_step::sum})
    for (bool differentiated : {false, true}) {
      hold(two, "baec", movements[0], mt::dtype::f64, step, differentiated, t);
      hold(three, "aefb", movements[1], mt::dtype::f64, step, differentiated, t);
    }
  t.say("two and three windows");
  at_least(13000, t.tried);
}
