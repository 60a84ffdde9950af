// SPDX-License-Identifier: Apache-2.0
// Programs whose tensors have nine and ten dims, alone and in eaches, on a device: what the interpreter gives.
#pragma once

#include <algorithm>

#include "meshtensor/meshtensor.hpp"
#include "property/under_layout.hpp"

namespace property {

namespace many_dims {

using mt::to;

template <mt::name Name, int Extent = 2>
struct of : mt::dim<Name, Extent> {};
inline constexpr of<"a"> a;
inline constexpr of<"b"> b;
inline constexpr of<"c"> c;
inline constexpr of<"d"> d;
inline constexpr of<"e"> e;
inline constexpr of<"f"> f;
inline constexpr of<"g"> g;
inline constexpr of<"h"> h;
inline constexpr of<"i", 3> i;
inline constexpr of<"j"> j;
inline constexpr of<"part", 2> part;
inline constexpr struct both_dim : mt::dim<"both", i + part> {} both;

/// Tensors of ten dims, which parameters of five dims and broadcasts make, and their gradients.
struct ten {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), a, b, c, d, e, f, g, h, i, j);
    auto const y = tanh(x * s.parameter("left", a, b, c, d, e) + s.parameter("right", f, g, h, i, j));
    s.output("turned", transpose(y, to(j, i, h, g, f, e, d, c, b, a)) * 2);
    s.output("first", max(x * y, a));
    s.output("inside", sum(y, c, i));
    s.output("along", sum(x + y, j));
    s.output("rows", exp(-sum(x * x, j)));
    s.output("second to last", sum(y * 3, i));
    s.output("most", sum(sum(y, a, b, c, d), e, f, g, h));
    s.output("all but one", mean(mean(mean(y, b, c, d, e), f, g, h), i, j));
    s.output("of the last", softmax(x, j));
    s.output("positions", argmax(x, i));
    s.output("matrix", einsum(x, y, to(a, j)));
    s.output("outer", einsum(sum(sum(x, f, g, h), i, j), sum(sum(y, a, b, c), d, e), to(a, b, c, d, e, f, g, h, i, j)));
    s.output("batches", einsum(y, s.parameter("inner", i, part), to(a, j, b, c, d, e, f, g, h, part)));
    s.output("cut", slice(y, i, part, 1) * slice(x, i, part, 0));
    s.output("joined", concat(y, i, slice(x, i, part, 1), part, both));
    s.output("moved", roll(y, i, 1) - shift(x, j, 1));
    s.output("wide", broadcast(sum(y, a, b, c), to(a, b, c, d, e, f, g, h, i, j)));
    s.output("noise", mt::uniform(s / "noise", s.real(), to(j, i, h, g, f, e, d, c, b, a)) + x);
    s.output("sums", mt::cumulative_sum(x, i));
    auto const weighted = einsum(x, s.parameter("weight", j, i, part), to(a, b, c, d, e, f, g, h, part));
    auto const loss = mean(y * y * x) + mean(weighted * weighted);
    s.output("slope", gradient(loss, x));
    mt::sgd{.learning_rate = 0.5}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

/// A tensor of nine dims, of which each index of an each sees eight.
struct nine {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), a, b, c, d, e, f, g, h, i);
    mt::each(s, a, x, [](mt::scope auto m, auto one) {
      auto const y = sin(one * m.parameter("weight", b, c, d, e, f, g, h, i) + 0.25);
      m.output("turned", transpose(y, to(i, h, g, f, e, d, c, b)) * one);
      m.output("sum", sum(y, i));
      m.output("matrix", einsum(y, one, to(i, b)));
      m.output("from others", mean(mt::across(sum(y, i), a), a) - sum(y, i));
      auto const loss = sum(y * y);
      m.output("slope", gradient(loss, one));
      mt::sgd{.learning_rate = 0.125}.minimize(m / "optimizer", loss);
    });
  }
};

/// Eight dims of a tensor in each of two eaches, so ten of the tensor of all indices.
struct eight_in_two {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), a, b, c, d, e, f, g, h, i, j);
    auto const shared = s.parameter("shared", i, j);
    auto const [turned, kept, slope] = mt::map(s / "outer", a, std::tuple(x, shared), [](auto m, auto one, auto w) {
      return mt::map(m / "inner", b, std::tuple(one, w), [](auto r, auto mine, auto weights) {
        auto const y = tanh(mine * weights + r.parameter("bias", c, d, e, f, g, h, i, j));
        auto const product = einsum(y, mine, to(c, j, i));
        auto const loss = sum(y * y) + sum(sum(y, d, h)) + sum(product * weights);
        return std::tuple(transpose(y, to(j, i, h, g, f, e, d, c)) * 3, slice(y, i, part, 1) * max(y, i),
                          gradient(loss, mine));
      });
    });
    s.output("turned", turned);
    s.output("kept", kept);
    s.output("slope", slope);
    s.output("by the weights", gradient(sum(slope * turned), shared));
  }
};

/// Runs a program on one rank and on meshes, under layouts by which the last dims are sharded and under drawn ones.
/// Returns how many layouts ran.
template <class Device, class Program, class Before>
int hold(Before const& before) {
  using in_f64 = mt::precision<Program, mt::f64>;
  auto const traced = mt::on_heap([] { return mt::trace<in_f64>(); });
  mt::name const entry = mt::entry_name<in_f64>();
  subject s(*traced, entry, {});
  s.steps = 2, s.tolerance = 1e-9;
  s.fill(fill_kind::reals, rng{11});
  s.expect();
  int ran = 0;
  auto const attempt = [&](mt::mesh_shape const& mesh, mt::layout_rules const& rules) {
    CAPTURE(meshtensor_test::text_of(mesh));
    CAPTURE(meshtensor_test::text_of(rules));
    [[maybe_unused]] auto const here = before();
    auto const o = under<Device>(s, *traced, entry, {}, mesh, rules);
    CHECK(o.fault == "");
    CHECK(o.refusal == "");
    ran += o.runs();
    return o.runs();
  };
  CHECK(attempt({}, {}));
  auto const two = mt::mesh_shape{}.add("ax", 2), four = mt::mesh_shape{}.add("ax", 2).add("by", 2);
  attempt(two, mt::layout_rules{}.shard("i", {"ax"}));
  CHECK(attempt(two, mt::layout_rules{}.shard("j", {"ax"})));
  attempt(four, mt::layout_rules{}.shard("a", {"by"}).shard("i", {"ax"}));
  std::vector<mt::name> const dims{"a", "b", "c", "h", "i", "j", "part"};
  rng draws{7 + sample_number()};
  for (int k = 0; k < 6; ++k) {
    auto const& mesh = k % 2 == 0 ? two : four;
    attempt(mesh, meshtensor_test::drawn_layout(dims, {}, mesh, draws));
  }
  return ran;
}

/// All of them; gives the number of layouts under which they ran. `before` makes the machine of each run.
template <class Device, class Before>
long hold_all(Before const& before) {
  long const of_ten = hold<Device, ten>(before), of_nine = hold<Device, nine>(before),
             of_eight = hold<Device, eight_in_two>(before);
  CHECK(std::min({of_ten, of_nine, of_eight}) > 3);
  return of_ten + of_nine + of_eight;
}
template <class Device>
long hold_all() {
  return hold_all<Device>([] { return 0; });
}

}  // namespace many_dims

}  // namespace property
