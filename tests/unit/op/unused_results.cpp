// SPDX-License-Identifier: Apache-2.0
// Gradients beside results that the loss does not need: these have no finite derivative, and take no part.
// passes: start-up
#include "meshtensor/meshtensor.hpp"
#include "unit/op/trial.hpp"

namespace {

namespace mt = meshtensor;
using mt::to;

inline constexpr struct batch_dim : mt::dim<"batch", 3> {} batch;
inline constexpr struct steps_dim : mt::dim<"steps", 4> {} steps;
inline constexpr struct outer_dim : mt::dim<"outer", 2> {} outer;
inline constexpr struct inner_dim : mt::dim<"inner", 2> {} inner;

/// `F` gives `factor` times x; both derivatives of the square of that are known.
template <class F>
struct squared {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, batch);
    auto const y = F{}(s, x);
    auto const dx = gradient(sum(y * y), x);
    s.output("y", y);
    s.output("dx", dx);
    s.output("ddx", gradient(sum(dx * dx), x));
  }
};

template <class F>
void check(char const* what, double factor, F) {
  INFO(std::string(what));
  std::vector<double> const x{0, 4, 9};  // the derivatives of sqrt and log by 0 are not finite
  auto p = trial::program::of<squared<F>>();
  p.fill("x", x);
  mt::blocks const got = p.run();
  double const square = factor * factor;
  for (std::size_t i = 0; i < x.size(); ++i) {
    auto const at = static_cast<std::int64_t>(i);
    CHECK(got.at("y").number_at(at) == doctest::Approx(factor * x[i]));
    CHECK(got.at("dx").number_at(at) == doctest::Approx(2 * square * x[i]));
    CHECK(got.at("ddx").number_at(at) == doctest::Approx(8 * square * square * x[i]));
  }
}

/// The root of x and three times x: a composite with a gradient of its own, by both cotangents.
constexpr auto rooted(auto const& x) {
  return composite_with_gradient(
      "rooted", [](auto a) { return std::tuple(sqrt(a), a * 3); },
      [](auto, auto root, auto, auto d_root, auto dy) {
        auto const half = d_root * 0.5;
        return half / root + dy * 3;
      },
      x);
}

/// Two functions of two tensors; the gradient by the second is made of the second cotangent alone.
constexpr auto beside(auto const& x, auto const& other) {
  return composite_with_gradient(
      "beside", [](auto a, auto b) { return std::tuple(a * 2, sqrt(b)); },
      [](auto, auto b, auto, auto root, auto da, auto db) {
        auto const masked = select(b >= 0, 0 - db, 0);  // operations that are linear in the cotangent
        return std::tuple(da * 2, mt::cast(mt::cast(masked, mt::f32), mt::f64) * -0.5 / root);
      },
      x, other);
}

constexpr auto step = [](auto, auto v, auto w, auto now) { return std::tuple(std::tuple(v * 2 + now, sqrt(w)), v); };
constexpr auto two_iterations = [](auto r, auto v, auto w) {
  return repeat(r / "inner", inner, std::tuple(v, w),
                [](auto, auto a, auto b) { return std::tuple(a * 2, sqrt(b) * a); });
};

struct opaque {
  static void run(std::span<double const> x, std::span<double> y) { std::copy(x.begin(), x.end(), y.begin()); }
};

inline constexpr struct over_axis : mt::axis<"over"> {} over;
struct mesh : mt::mesh<over> {};
struct parts : mt::layout<mt::shard<batch, over>> {};

/// A step of training with all kinds of results that the loss does not need.
struct trained {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch) * s.parameter("scale", mt::ones);
    auto const grown = repeat(s / "loop", outer, std::tuple(x, x), two_iterations);
    auto const v = std::get<0>(grown), w = std::get<1>(grown);  // which a lambda may capture with every compiler
    auto const [y, root] = cond(
        s / "either", sum(w) >= 0, [&](auto) { return std::tuple(v, sqrt(w)); },
        [&](auto) { return std::tuple(v * 2, log(w)); });
    auto const loss = sum(std::get<1>(rooted(y)) / 3);
    s.output("root", root);
    mt::sgd{.learning_rate = 0.001}.minimize(s / "optimizer", loss);
  }
};

template <bool Holds>
void check_branches() {
  check("of which the first one alone reads a carry", 16, [](auto s, auto x) {
    return std::get<0>(repeat(s / "loop", steps, std::tuple(x, x, x, x), [&](auto r, auto v, auto a, auto b, auto w) {
      auto const next =
          cond(r / "either", (sum(v) > 0) == Holds, [&](auto) { return a * 2; }, [&](auto) { return b * 2; });
      return std::tuple(next, v * 2, v * 2, sqrt(w));
    }));
  });
  check("of cond", 2, [](auto s, auto x) {
    return std::get<0>(cond(
        s / "either", (sum(x) > 0) == Holds, [&](auto) { return std::tuple(x * 2, sqrt(x)); },
        [&](auto) { return std::tuple(x * 2, log(x)); }));
  });
  check("of cond in a loop", 16, [](auto s, auto x) {
    return std::get<0>(repeat(s / "loop", steps, std::tuple(x, x), [&](auto r, auto v, auto w) {
      return cond(
          r / "either", (sum(v) > 0) == Holds, [&](auto) { return std::tuple(v * 2, sqrt(w)); },
          [&](auto) { return std::tuple(v * 2, log(w) * v); });
    }));
  });
  check("of a loop in cond", 16, [](auto s, auto x) {
    return std::get<0>(cond(
        s / "either", (sum(x) > 0) == Holds,
        [&](auto r) {
          return repeat(r / "loop", steps, std::tuple(x, x),
                        [](auto, auto v, auto w) { return std::tuple(v * 2, sqrt(w)); });
        },
        [&](auto) { return std::tuple(x * 16, x); }));
  });
}

}  // namespace

TEST_CASE("carries") {
  check("of repeat", 16, [](auto s, auto x) {
    return std::get<0>(
        repeat(s / "loop", steps, std::tuple(x, x), [](auto, auto v, auto w) { return std::tuple(v * 2, sqrt(w)); }));
  });
  check("of scan", 16, [](auto s, auto x) {
    auto const nothing = full(s, 0, mt::f64, to(steps, batch));
    return std::get<0>(std::get<0>(scan(s / "loop", steps, std::tuple(x, x), nothing, step)));
  });
  check("of scan, whose stack alone is used", 15, [](auto s, auto x) {
    auto const nothing = full(s, 0, mt::f64, to(steps, batch));
    return sum(std::get<1>(scan(s / "loop", steps, std::tuple(x, x), nothing, step)), steps);
  });
  check("of while_loop, of which the condition reads one", 16, [](auto s, auto x) {
    return std::get<1>(while_loop(
        s / "loop", mt::at_most(4), [](auto, auto, auto w) { return sum(w) >= 0; },
        [](auto, auto v, auto w) { return std::tuple(v * 2, sqrt(w)); }, x, x));
  });
  check("of a loop that recomputes iterations", 16, [](auto s, auto x) {
    return std::get<1>(while_loop(
        s / "loop", mt::at_most(4).recomputing(2), [](auto, auto, auto w) { return sum(w) >= 0; },
        [](auto, auto v, auto w) { return std::tuple(v * 2, sqrt(w)); }, x, x));
  });
  check("that lead to each other", 16, [](auto s, auto x) {
    return std::get<0>(repeat(s / "loop", steps, std::tuple(x, x, x, x), [](auto, auto v, auto a, auto b, auto c) {
      return std::tuple(v * 2, sqrt(c), log(a), sqrt(b + v));
    }));
  });
  check("that lead to the one that is used", 16, [](auto s, auto x) {
    return std::get<0>(repeat(s / "loop", steps, std::tuple(x, x, x, x), [](auto, auto v, auto a, auto b, auto w) {
      return std::tuple(a * 2, b * 2, v * 2, sqrt(w));
    }));
  });
  check("that count as constants where they are used", 16, [](auto s, auto x) {
    return std::get<0>(repeat(s / "loop", steps, std::tuple(x, x), [](auto, auto v, auto w) {
      return std::tuple(v * 2 + (sign(w + 1) - 1) + (floor(w) - floor(w)) + stop_gradient(w - w), sqrt(w));
    }));
  });
  check("whose start alone has no finite derivative", 16, [](auto s, auto x) {
    return std::get<1>(
        repeat(s / "loop", steps, std::tuple(x, sqrt(x)), [](auto, auto v, auto) { return std::tuple(v * 2, v * 2); }));
  });
  check("without a gradient", 16, [](auto s, auto x) {
    return std::get<0>(repeat(s / "loop", steps, std::tuple(x, x),
                              [](auto, auto v, auto w) { return std::tuple(v * 2, mt::call<opaque>(w)); }));
  });
}

TEST_CASE("stacks") {
  check("of scan", 16, [](auto s, auto x) {
    auto const nothing = full(s, 0, mt::f64, to(steps, batch));
    return std::get<0>(scan(s / "loop", steps, x, nothing, [](auto, auto v, auto now) {
      return std::tuple(v * 2, std::tuple(sqrt(v + now), log(now)));
    }));
  });
  check("of scan, one of two", 15, [](auto s, auto x) {
    auto const nothing = full(s, 0, mt::f64, to(steps, batch));
    auto const all = std::get<1>(scan(s / "loop", steps, x, nothing, [](auto, auto v, auto now) {
      return std::tuple(v * 2, std::tuple(sqrt(v + now), v));
    }));
    return sum(std::get<1>(all), steps);
  });
}

TEST_CASE("results of branches") {
  check_branches<true>();
  check_branches<false>();
}

TEST_CASE("nested loops") {
  check("the inner one carries what the outer one does", 16,
        [](auto s, auto x) { return std::get<0>(repeat(s / "loop", outer, std::tuple(x, x), two_iterations)); });
  check("the inner one runs again", 16, [](auto s, auto x) {
    return std::get<0>(repeat(s / "loop", outer, std::tuple(x, x), mt::rematerialize(two_iterations)));
  });
  check("what the inner one stacks is not used", 16, [](auto s, auto x) {
    auto const nothing = full(s, 0, mt::f64, to(inner, batch));
    return std::get<0>(repeat(s / "loop", outer, std::tuple(x, x), [&](auto r, auto v, auto w) {
      auto const [last, roots] = scan(r / "inner", inner, std::tuple(v, w), nothing, [](auto, auto a, auto b, auto z) {
        return std::tuple(std::tuple(a * 2 + z, sqrt(b)), sqrt(a));
      });
      return std::tuple(std::get<0>(last), std::get<1>(last) + sum(roots, inner));
    }));
  });
}

TEST_CASE("results of composites") {
  check("by its own gradient", 3, [](auto, auto x) { return std::get<1>(rooted(x)); });
  check("by its own gradient, in a loop", 16, [](auto s, auto x) {
    return repeat(s / "loop", steps, x, [](auto, auto v) { return std::get<1>(rooted(v)) * (2.0 / 3); });
  });
  check("one operand of which the loss needs no result", 2,
        [](auto, auto x) { return std::get<0>(beside(x, sqrt(x))); });
  check("one operand of which the loss needs no result, in a loop", 16, [](auto s, auto x) {
    return std::get<0>(repeat(s / "loop", steps, std::tuple(x, x), [](auto, auto v, auto w) {
      auto const [a, b] = beside(v, w);
      return std::tuple(a, b);
    }));
  });
  check("by the body", 3, [](auto, auto x) {
    return std::get<1>(composite("both", [](auto a) { return std::tuple(sqrt(a), a * 3); }, x));
  });
  check("by the body, beside a gradient that takes the first cotangent alone", 16, [](auto s, auto x) {
    return std::get<0>(repeat(s / "loop", steps, std::tuple(x, x), [](auto, auto v, auto w) {
      auto const [root, double_v, both] = composite_with_gradient(
          "first", [](auto a, auto b) { return std::tuple(sqrt(b), a * 2, b * 2); },
          [](auto a, auto, auto r, auto, auto, auto d) { return std::tuple(a * 0, d * 0.5 / r); }, v, w);
      return std::tuple(double_v, root + both);
    }));
  });
}

TEST_CASE("on meshes") {
  for (int const processors : {1, 2, 3}) {
    mt::job const job = mt::job::as_threads();
    mt::store values(job);
    mt::executable<trained, mesh, parts> learning(values, over(processors));
    std::vector<float> const x{0, 4, 9};
    for (int i = 0; i < 2; ++i) learning(mt::feed<"x">(x));
    double wanted = 1;  // the loss is scale * 16 * 13
    for (int i = 0; i < 2; ++i) wanted -= 0.001 * 16 * 13;
    CHECK(values.get<float>("scale").item() == doctest::Approx(wanted).epsilon(1e-5));
  }
}
