// SPDX-License-Identifier: Apache-2.0
// The programs whose text the tests of the printer know: each as if it were a file of its own, from line 1.
#pragma once

#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/gradient.hpp"
#include "meshtensor/op/random.hpp"
#include "meshtensor/op/reshard.hpp"

namespace models {
namespace mt = meshtensor;
using mt::to;

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct in : mt::dim<"in", 8> {} in;
inline constexpr struct out : mt::dim<"out", batch + 1> {} out;
inline constexpr struct layers : mt::dim<"layers", 3> {} layers;

#line 1 "models/dense.cpp"
struct dense {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, out, mt::normal(0.02));
    auto y = tanh(einsum(x, w, to(batch, out))) / sqrt(extent(in));
    auto loss = einsum(y, y, to());
    s.output("loss", loss);
    s.update(w, w - gradient(loss, w) * (s.number("rate", 0.5) * (s.step() + 1)));
  }
};

#line 1 "models/loops.cpp"
struct loops {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    auto p = s.input("p", mt::boolean);
    auto noise = uniform(s / "noise", mt::f32, to(in));
    auto y = repeat(s / "decoder", layers, x, [&](mt::scope auto r, auto h) {
      auto w = r.parameter("gain", in, mt::ones);
      return h * w + noise;
    });
    auto z = cond(s / "choice", p, [&](auto) { return y * 2; }, [&](auto) { return y; });
    auto [trips, u] = while_loop(
        s / "grow", mt::at_most(9), [](auto, auto h) { return einsum(h, to()) < 4.0; },
        [](auto, auto h) { return h + 1; }, z);
    s.output("u", u);
    s.output("trips", trips);
  }
};

#line 1 "models/parallel.cpp"
struct parallel {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto h = tanh(einsum(x, s.parameter("up", in, out), to(batch, out)));
    auto y = einsum(h, s.parameter("down", in, out), to(batch, in));
    s.output("y", y * 0.5);
  }
};

inline constexpr struct data : mt::axis<"data"> {} data;

#line 1 "models/moved.cpp"
struct moved {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", reshard(x, mt::shard<batch, data>{}, mt::replicate<in>{}));
  }
};
}  // namespace models
