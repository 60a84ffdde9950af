// SPDX-License-Identifier: Apache-2.0
// States that a loop updates: slices of repeat, carries of scan and accumulate, loops in loops.
// passes: start-up
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/accumulate_gradients.hpp"
#include "meshtensor/op/rematerialize.hpp"

#include "unit/op/trial.hpp"

namespace mt = meshtensor;
using mt::to, trial::numbers_of, trial::program;

namespace {

inline constexpr struct layers_dim : mt::dim<"layers", 3> {} layers;
inline constexpr struct inner_dim : mt::dim<"inner", 2> {} inner;
inline constexpr struct parts_dim : mt::dim<"parts", 4> {} parts;
inline constexpr struct d_dim : mt::dim<"d", 2> {} d;
inline constexpr struct e_dim : mt::dim<"e", 3> {} e;

using numbers = std::vector<double>;
template <class Program>
struct in_f64 : mt::precision<Program, mt::f64> {};

numbers of(program const& p, char const* path) { return numbers_of(p.variables.at(path)); }
void check(numbers const& got, numbers const& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(wanted[i]).epsilon(1e-12));
}
/// Layer l adds l + 1 and the running mean of what it saw before; it reads the mean once more behind its update.
struct by_layer {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), d, e);
    auto const offset = s.parameter("offset", layers, mt::constant(1.0));
    auto const y = mt::repeat(s / "blocks", layers, x, offset, [](mt::scope auto r, auto h, auto by) {
      auto const old = r.state("mean", r.real(), d);
      r.update(old, old * 0.5 + mean(h, e));
      auto const count = r.state("count", r.real(), d);
      r.update(count, count + 1);
      auto const again = r.state("mean", r.real(), d);
      return std::tuple(h * 2 + by + old, again);
    });
    s.output("y", std::get<0>(y)), s.output("seen", std::get<1>(y));
    s.output("before", s.state("total", s.real(), d));
  }
};

}  // namespace

TEST_CASE("each iteration of repeat updates the slice that it reads, and every read sees the value before") {
  program p = program::of<in_f64<by_layer>>();
  p.fill("x", {1, 2, 6, -1, 0, 4});
  numbers kept(6, 0.0);
  for (int step = 0; step < 3; ++step) {
    numbers h{1, 2, 6, -1, 0, 4}, seen = kept;
    for (std::size_t l = 0; l < 3; ++l)
      for (std::size_t i = 0; i < 2; ++i) {
        double const old = kept[2 * l + i], mean = (h[3 * i] + h[3 * i + 1] + h[3 * i + 2]) / 3;
        for (std::size_t k = 0; k < 3; ++k) h[3 * i + k] = h[3 * i + k] * 2 + 1 + old;
        kept[2 * l + i] = old * 0.5 + mean;
      }
    mt::blocks const out = p.run();
    check(numbers_of(out.at("y")), h), check(numbers_of(out.at("seen")), seen);
    check(of(p, "blocks/mean"), kept);
    check(of(p, "blocks/count"), numbers(6, step + 1.0));
  }
}

namespace {

/// Loops in loops: along layers and inner layers, with a state of each; in each a scan that carries one of the layer.
struct nested {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), parts, d);
    auto const start = s.input("start", s.real(), d);
    auto const all = s.state("all", s.real(), d);
    auto const y = mt::repeat(s / "outer", layers, start, [&](mt::scope auto r, auto h) {
      auto const mid = mt::repeat(r / "deep", inner, h, [&](mt::scope auto t, auto g) {
        auto const slice = t.state("slice", t.real(), d);
        t.update(slice, slice + g);
        t.update(all, all + g);
        return g * 0.5 + slice;
      });
      auto const [last, each] = mt::scan(r / "along", parts, mid, x, [&](mt::scope auto t, auto g, auto now) {
        auto const seen = t.state("seen", t.real(), d);
        t.update(seen, seen * 0.5 + now);
        return std::tuple(g + seen, g);
      });
      return last * 0.25 + sum(each, parts);
    });
    s.output("y", y);
  }
};

}  // namespace

TEST_CASE("loops in loops: slices of slices, carries of slices, and a carry through both") {
  program p = program::of<in_f64<nested>>();
  p.fill_at_random(-1, 1);
  numbers const x = numbers_of(p.inputs.at("x")), start = numbers_of(p.inputs.at("start"));
  numbers slice(12, 0.0), all(2, 0.0), seen(6, 0.0);
  for (int step = 0; step < 3; ++step) {
    mt::blocks const out = p.run();
    numbers y = start;
    for (std::size_t i = 0; i < 2; ++i) {
      double h = start[i];
      for (std::size_t l = 0; l < 3; ++l) {
        double g = h;
        for (std::size_t k = 0; k < 2; ++k) {
          double& kept = slice[(l * 2 + k) * 2 + i];
          double const old = kept;
          kept += g, all[i] += g;
          g = g * 0.5 + old;
        }
        double total = 0;
        for (std::size_t t = 0; t < 4; ++t) {
          total += g;
          g += seen[l * 2 + i];
          seen[l * 2 + i] = seen[l * 2 + i] * 0.5 + x[t * 2 + i];
        }
        h = g * 0.25 + total;
      }
      y[i] = h;
    }
    check(numbers_of(out.at("y")), y);
    check(of(p, "outer/deep/slice"), slice), check(of(p, "all"), all), check(of(p, "outer/along/seen"), seen);
  }
}

namespace {

/// A stack of residual layers, trained in parts: each layer subtracts the running mean of what it saw in earlier parts.
template <bool Lean>
struct trained {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), parts, d, e);
    auto const [loss, gradients] = mt::accumulate(s / "model", parts, x, [](mt::scope auto m, auto part) {
      auto const layer = [](mt::scope auto r, auto h) {
        auto const old = r.state("mean", r.real(), d);
        r.update(old, old * 0.5 + mean(h, e));
        return h * r.parameter("w", d, mt::constant(0.5)) + h - old;
      };
      auto const y = [&] {
        if constexpr (Lean) return mt::repeat(m / "blocks", layers, part, mt::rematerialize(layer));
        else return mt::repeat(m / "blocks", layers, part, layer);
      }();
      return mt::sum(y * y) * 0.5;
    });
    s.output("loss", loss);
    mt::sgd{.learning_rate = 0.01}.minimize(s / "optimizer", gradients);
  }
};

void check_training(program p) {
  p.fill_at_random(-1, 1);
  numbers const x = numbers_of(p.inputs.at("x"));
  numbers w(6, 0.5), kept(6, 0.0);
  for (int step = 0; step < 3; ++step) {
    mt::blocks const out = p.run();
    numbers dw(6, 0.0);
    double loss = 0;
    for (std::size_t part = 0; part < 4; ++part)
      for (std::size_t i = 0; i < 2; ++i) {
        double h[4][3];
        for (std::size_t k = 0; k < 3; ++k) h[0][k] = x[(part * 2 + i) * 3 + k];
        for (std::size_t l = 0; l < 3; ++l) {
          double& mean = kept[2 * l + i];
          for (std::size_t k = 0; k < 3; ++k) h[l + 1][k] = h[l][k] * (w[2 * l + i] + 1) - mean;
          mean = mean * 0.5 + (h[l][0] + h[l][1] + h[l][2]) / 3;
        }
        for (std::size_t k = 0; k < 3; ++k) {
          double g = h[3][k];
          loss += g * g / 2;
          for (std::size_t l = 3; l-- > 0;) {
            dw[2 * l + i] += g * h[l][k];
            g *= w[2 * l + i] + 1;
          }
        }
      }
    for (std::size_t i = 0; i < 6; ++i) w[i] -= 0.01 * dw[i];
    CHECK(out.at("loss").number_at(0) == doctest::Approx(loss).epsilon(1e-12));
    check(of(p, "model/blocks/w"), w), check(of(p, "model/blocks/mean"), kept);
  }
}

}  // namespace

TEST_CASE("a training in parts carries the means of its layers, and gradients do not pass through them") {
  check_training(program::of<in_f64<trained<false>>>());
  check_training(program::of<in_f64<trained<true>>>());
}

namespace {

/// The state is an output of the body, and its next value depends on a parameter.
struct given_back {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), parts, d);
    auto const w = s.parameter("w", d, mt::constant(0.5));
    auto const kept = s.state("kept", s.real(), d, mt::constant(1.0));
    auto const [last, each] =
        mt::scan(s / "along", parts, sum(x, parts) * 0, x, [&](mt::scope auto r, auto h, auto now) {
          r.update(kept, kept + w * now);
          return std::tuple(h + now, kept);
        });
    s.output("each", each);
    mt::sgd{.learning_rate = 1.0}.minimize(s / "optimizer", sum(each * w) + sum(last) * 0);
  }
};

}  // namespace

TEST_CASE("a body gives back the carried state as it was before the iteration; no gradient comes back by it") {
  program p = program::of<in_f64<given_back>>();
  p.fill("x", {1, 2, 3, 4, 5, 6, 7, 8});
  mt::blocks const out = p.run();
  check(numbers_of(out.at("each")), {1, 1, 1.5, 2, 3, 4, 5.5, 7});
  check(of(p, "kept"), {9, 11});
  check(of(p, "w"), {0.5 - 11, 0.5 - 14});
}
