// SPDX-License-Identifier: Apache-2.0
// Convolutions in all directions and pools of all kinds on mt::cuda_device: of integers in floats, the bits of the
// interpreter, for any window, on one processor and along sharded dims.
// passes: start-up
// sanitize: no
// timeout: 600
// part: cuda
#include "meshtensor/op/conv.hpp"
#include "meshtensor/op/pool.hpp"
#include "property/graph.hpp"
#include "property/on_cuda.hpp"

using namespace property;

namespace {

struct moving {
  int size, stride, dilation, low, high;
};
/// Padded and not, beyond the kernel, less than nothing; with places that overlap, touch or leave gaps.
constexpr moving movements[] = {{3, 1, 1, 1, 1}, {3, 2, 1, 1, 1},  {2, 3, 1, 1, 2}, {1, 1, 1, 0, 0}, {1, 2, 1, 0, 0},
                                {3, 1, 1, 4, 0}, {2, 1, 1, -1, 3}, {5, 4, 1, 2, 2}, {2, 2, 4, 3, 2}, {3, 2, 2, 1, 3}};

mt::window_row along(graph& g, char const* input, char const* output, char const* kernel, moving const& w) {
  mt::dim_id const i = g.dim(input), k = g.dim(kernel, mt::extent_rule(w.size));
  mt::window_places const places{w.low + w.high - w.dilation * (w.size - 1) - 1, w.stride};
  mt::dim_id const o = g.dim(output, {mt::extent_rule::windowed, places.packed(), mt::name::of(input), mt::name{}});
  return {
      i, o, k, static_cast<mt::id>(w.stride), static_cast<mt::id>(w.dilation), g.b.literal(w.low), g.b.literal(w.high)};
}

/// Runs a graph whole, and with a dim sharded: how many runs that were.
long hold(stand_in const&, graph const& g, std::vector<mt::dim_extent> const& extents, char const* sharded,
          meshtensor_test::closeness const& tolerance = meshtensor_test::same_bits) {
  subject s(g.module(), mt::name("main"), extents);
  s.tolerance = tolerance;
  s.fill(fill_kind::integers, rng{7}, -2, 3);
  s.expect();
  auto const whole = on_cuda(s, g.module(), mt::name("main"), extents, {}, {});
  CHECK(whole.runs());
  CHECK(whole.fault == "");
  auto const mesh = mt::mesh_shape{}.add("ax", 3);
  auto const parts =
      on_cuda(s, g.module(), mt::name("main"), extents, mesh, mt::layout_rules{}.shard(mt::name::of(sharded), {"ax"}));
  CHECK(parts.runs());
  CHECK(parts.fault == "");
  return whole.runs() + parts.runs();
}

/// The three tensors of one window, convolved in all directions.
void convolve(graph& g, std::vector<mt::window_row> const& rows, mt::dtype type, char const* inputs,
              char const* kernels, char const* outputs) {
  mt::conv_attributes const all{g.b.add_windows(rows), static_cast<int>(rows.size())};
  mt::value_id const x = g.input("x", type, inputs), k = g.input("k", type, kernels), y = g.input("y", type, outputs);
  g.output("forward", mt::conv(g.b, x, k, mt::conv_direction::forward, all, g.dims(outputs)));
  g.output("backward", mt::conv(g.b, y, k, mt::conv_direction::backward, all, g.dims(inputs)));
  g.output("kernel", mt::conv(g.b, x, y, mt::conv_direction::kernel, all, g.dims(kernels)));
}

}  // namespace

TEST_CASE("one window, forwards, backwards and to the kernel") {
  stand_in const here;
  long tried = 0;
  for (moving const& w : movements) {
    INFO("size " << w.size << ", stride " << w.stride << ", dilation " << w.dilation << ", padding " << w.low << " + "
                 << w.high);
    graph g;
    convolve(g, {along(g, "a", "o", "w", w)}, mt::dtype::f64, "bac", "wcd", "bod");
    tried += hold(here, g, {{mt::name("b"), 2}, {mt::name("a"), 12}, {mt::name("c"), 3}, {mt::name("d"), 4}}, "a");
  }
  at_least(20, tried);
}

TEST_CASE("other dtypes, several windows, groups, dims of one tensor alone") {
  stand_in const here;
  long tried = 0;
  moving const down{3, 2, 1, 1, 1}, beside{2, 1, 2, 1, 1};
  std::vector<mt::dim_extent> const extents{{mt::name("a"), 9}, {mt::name("b"), 3}, {mt::name("c"), 8},
                                            {mt::name("d"), 2}, {mt::name("e"), 5}, {mt::name("g"), 2}};
  auto const in_use = [&](graph const& g) {
    std::vector<mt::dim_extent> all;
    for (mt::dim_extent const& e : extents)
      for (int d = 0; d < g.module().dim_count; ++d)
        if (g.module().dim_name(d) == e.label) all.push_back(e);
    return all;
  };
  for (mt::dtype const type : {mt::dtype::f32, mt::dtype::bf16, mt::dtype::i32, mt::dtype::i64}) {
    graph g;
    convolve(g, {along(g, "a", "o", "w", down)}, type, "bac", "wcd", "bod");
    tried += hold(here, g, in_use(g), "b");
  }
  for (auto const& [inputs, kernels, outputs] :
       std::vector<std::array<char const*, 3>>{{"gbac", "gwcd", "bogd"},  // groups
                                               {"bac", "wc", "boc"},      // depthwise
                                               {"abc", "dcw", "dob"}}) {
    CAPTURE(std::string(inputs));
    graph g;
    convolve(g, {along(g, "a", "o", "w", down)}, mt::dtype::f64, inputs, kernels, outputs);
    tried += hold(here, g, in_use(g), "a");
  }
  graph alone;  // sums over dims that one tensor has
  mt::conv_attributes const windows{alone.b.add_windows(std::vector{along(alone, "a", "o", "w", down)}), 1};
  mt::value_id const x = alone.input("x", mt::dtype::f64, "abc"), k = alone.input("k", mt::dtype::f64, "wd");
  alone.output("y", mt::conv(alone.b, x, k, mt::conv_direction::forward, windows, alone.dims("od")));
  tried += hold(here, alone, in_use(alone), "a");
  graph two;
  convolve(two, {along(two, "a", "o", "v", down), along(two, "e", "p", "w", beside)}, mt::dtype::f64, "bace", "vwcd",
           "bopd");
  tried += hold(here, two, in_use(two), "a");
  at_least(18, tried);
}

TEST_CASE("long sums of few elements, in chunks") {
  stand_in const here;
  long tried = 0;
  graph g;
  convolve(g, {along(g, "a", "o", "w", {3, 1, 1, 1, 1})}, mt::dtype::i64, "ba", "w", "bo");
  tried += hold(here, g, {{mt::name("b"), 40}, {mt::name("a"), 9}}, "b");
  at_least(2, tried);
}

TEST_CASE("pools of all kinds, and the ways back") {
  stand_in const here;
  long tried = 0;
  for (moving const& w : movements) {
    INFO("size " << w.size << ", stride " << w.stride << ", dilation " << w.dilation << ", padding " << w.low << " + "
                 << w.high);
    for (mt::dtype const type : {mt::dtype::f64, mt::dtype::i32}) {
      if (type == mt::dtype::i32 && w.size != 2) continue;
      graph g;
      std::vector<mt::window_row> const rows{along(g, "a", "o", "w", w), along(g, "e", "p", "v", {2, 2, 1, 0, 1})};
      mt::pool_attributes const all{g.b.add_windows(rows), 2};
      mt::value_id const x = g.input("x", type, "bace"), y = g.input("y", type, "bocp");
      mt::value_id const at = mt::pool(g.b, mt::pool_step::position, {x}, all);
      g.output("position", at);
      g.output("pick", mt::pool(g.b, mt::pool_step::pick, {x, at}, all));
      g.output("sum", mt::pool(g.b, mt::pool_step::sum, {x}, all));
      g.output("spread", mt::pool(g.b, mt::pool_step::spread, {y}, all));
      g.output("unpool", mt::pool(g.b, mt::pool_step::unpool, {y, at}, all));
      tried += hold(here, g, {{mt::name("b"), 2}, {mt::name("a"), 12}, {mt::name("c"), 3}, {mt::name("e"), 5}}, "a");
    }
  }
  at_least(26, tried);
}
