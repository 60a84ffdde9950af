// SPDX-License-Identifier: Apache-2.0
// Gradients, optimizers and updates of parameters in loops, in branches and in eaches of loops.
// passes: start-up
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/full.hpp"
#include "meshtensor/op/steps.hpp"
#include "meshtensor/op/while_loop.hpp"

#include "unit/op/trial.hpp"

namespace mt = meshtensor;
using mt::to, trial::numbers_of, trial::program;

namespace {

inline constexpr struct rounds_dim : mt::dim<"rounds", 3> {} rounds;
inline constexpr struct member_dim : mt::dim<"member", 2> {} member;
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct in_dim : mt::dim<"in", 2> {} in;
inline constexpr struct out_dim : mt::dim<"out", 3> {} out;

using numbers = std::vector<double>;
template <class Program>
struct in_f64 : mt::precision<Program, mt::f64> {};

numbers of(program const& p, std::string const& path) { return numbers_of(p.variables.at(path)); }
void check(numbers const& got, numbers const& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(wanted[i]).epsilon(1e-11));
}
numbers drawn(std::size_t count, std::uint64_t seed) {
  trial::stream s{seed};
  numbers all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(s.between(-1, 1));
  return all;
}

inline constexpr mt::layer learns = [](mt::scope auto s, auto x, auto y, auto how) {
  auto const h = tanh(mt::nn::linear(s / "first", x, in, out));
  auto const error = sum(h * s.parameter("gain", out, mt::constant(0.5)), out) - y;
  auto const loss = mean(error * error);
  how.minimize(s / "optimizer", loss);
  return loss;
};
constexpr auto scheduled_adam(mt::scope auto s) {
  return mt::adam{.learning_rate = mt::nn::warmup_cosine(s, 0.1, 2, 8), .clip_norm = 0.5};
}
constexpr auto plain_momentum(mt::scope auto) { return mt::momentum{.learning_rate = 0.1, .decay = 0.8}; }
constexpr auto scheduled_adafactor(mt::scope auto s) {
  return mt::adafactor{.learning_rate = mt::nn::inverse_square_root(s, 0.1, 2)};
}

/// One step a call.
template <int Which>
struct alone {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, in);
    auto const y = s.input("y", s.real(), batch);
    auto const net = s / "net";
    if constexpr (Which == 0) s.output("loss", learns(net, x, y, scheduled_adam(net)));
    if constexpr (Which == 1) s.output("loss", learns(net, x, y, plain_momentum(net)));
    if constexpr (Which == 2) s.output("loss", learns(net, x, y, scheduled_adafactor(net)));
  }
};
/// Three steps a call, in a loop.
template <int Which>
struct in_loop {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), rounds, batch, in);
    auto const y = s.input("y", s.real(), rounds, batch);
    auto const [last, losses] = mt::scan(s / "net", rounds, mt::full(s, 0, s.real()), std::tuple(x, y),
                                         [](mt::scope auto r, auto, auto x1, auto y1) {
                                           if constexpr (Which == 0) {
                                             auto const l = learns(r, x1, y1, scheduled_adam(r));
                                             return std::tuple(l, l);
                                           } else if constexpr (Which == 1) {
                                             auto const l = learns(r, x1, y1, plain_momentum(r));
                                             return std::tuple(l, l);
                                           } else {
                                             auto const l = learns(r, x1, y1, scheduled_adafactor(r));
                                             return std::tuple(l, l);
                                           }
                                         });
    s.output("loss", losses);
  }
};

template <int Which>
void compare() {
  program one = program::of<in_f64<alone<Which>>>(), many = program::of<in_f64<in_loop<Which>>>();
  for (int call = 0; call < 3; ++call) {
    numbers const x = drawn(24, 3 + static_cast<std::uint64_t>(call)), y = drawn(12, 9);
    many.fill("x", x), many.fill("y", y);
    if (call == 0) {  // both begin with the same numbers
      one.fill("x", numbers(8)), one.fill("y", numbers(4));
      one.run(), many.run();
      one.settings.step = many.settings.step = 0;
      for (auto& [path, b] : many.variables) {
        for (std::int64_t i = 0; i < b.size(); ++i) b.set(i, 0);
        if (path == "net/optimizer/updates") continue;
        mt::block& same = one.variables.at(path);
        numbers const start = path.find("optimizer") == std::string::npos ? drawn(static_cast<std::size_t>(b.size()), 5)
                                                                          : numbers(static_cast<std::size_t>(b.size()));
        for (std::int64_t i = 0; i < b.size(); ++i)
          b.set(i, start[static_cast<std::size_t>(i)]), same.set(i, start[static_cast<std::size_t>(i)]);
      }
    }
    numbers losses;
    for (std::size_t r = 0; r < 3; ++r) {
      one.fill("x", numbers(x.begin() + static_cast<long>(8 * r), x.begin() + static_cast<long>(8 * r + 8)));
      one.fill("y", numbers(y.begin() + static_cast<long>(4 * r), y.begin() + static_cast<long>(4 * r + 4)));
      losses.push_back(numbers_of(one.run().at("loss"))[0]);
    }
    check(numbers_of(many.run().at("loss")), losses);
    for (auto const& [path, b] : one.variables) check(of(many, path), numbers_of(b));
    CHECK(of(many, "net/optimizer/updates")[0] == 3.0 * (call + 1));
  }
}

}  // namespace

TEST_CASE("an optimizer in a loop does what as many calls do: adam with a schedule") { compare<0>(); }
TEST_CASE("an optimizer in a loop does what as many calls do: momentum") { compare<1>(); }
TEST_CASE("an optimizer in a loop does what as many calls do: adafactor with a schedule") { compare<2>(); }

namespace {
/// Two optimizers under one scope, each for parameters of its own.
inline constexpr mt::layer learn_apart = [](mt::scope auto s, auto x) {
  auto const a = s.parameter("a/w", in, mt::constant(1.0)), b = s.parameter("b/w", in, mt::constant(1.0));
  auto const of_a = sum((a - x) * (a - x), in), of_b = sum((b + x) * (b + x), in);
  mt::adam{.learning_rate = mt::nn::warmup_linear(s, 0.1, 2, 8)}.minimize(s / "optimizer", of_a, s / "a");
  mt::adam{.learning_rate = 0.2}.minimize(s / "optimizer", of_b, s / "b");
  return of_a + of_b;
};
struct apart {
  constexpr void operator()(mt::scope auto s) const {
    s.output("loss", learn_apart(s / "net", s.input("x", s.real(), in)));
  }
};
struct apart_in_scan {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), rounds, in);
    auto const [last, losses] =
        mt::scan(s / "net", rounds, mt::full(s, 0, s.real()), x, [](mt::scope auto r, auto, auto x1) {
          auto const loss = learn_apart(r, x1);
          return std::tuple(loss, loss);
        });
    s.output("loss", losses);
  }
};
}  // namespace

TEST_CASE("two optimizers under one scope in a loop count one update in an iteration") {
  program one = program::of<in_f64<apart>>(), many = program::of<in_f64<apart_in_scan>>();
  for (int call = 0; call < 2; ++call) {
    numbers const x = drawn(6, 8 + static_cast<std::uint64_t>(call));
    numbers losses;
    for (std::size_t r = 0; r < 3; ++r) {
      one.fill("x", {x[2 * r], x[2 * r + 1]});
      losses.push_back(numbers_of(one.run().at("loss"))[0]);
    }
    many.fill("x", x);
    check(numbers_of(many.run().at("loss")), losses);
    for (auto const& [path, b] : one.variables) check(of(many, path), numbers_of(b));
    CHECK(of(many, "net/optimizer/updates")[0] == 3.0 * (call + 1));
  }
}

namespace {
inline constexpr mt::layer learns_alone = [](mt::scope auto s, auto x, auto how) {
  auto const error = sum(tanh(x * s.parameter("w", in)), in);
  how.minimize(s / "optimizer", error * error);
  return error;
};
/// Layers that learn by themselves, in a loop that has a slice of the parameters for each of them, or in an `each`.
template <bool InLoop>
struct layers_that_learn {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), in);
    mt::adam const how{.learning_rate = 0.1, .clip_norm = 0.5};
    if constexpr (InLoop)
      s.output("sum", repeat(s / "net", rounds, mt::full(s, 0, s.real()),
                             [=](mt::scope auto r, auto all) { return all + learns_alone(r, x, how); }));
    else
      s.output("sum", sum(mt::each(s / "net", rounds, x,
                                   [=](mt::scope auto m, auto one) { return learns_alone(m, one, how); })));
  }
};
}  // namespace

TEST_CASE("the state of a layer's parameter in a loop is a slice, too") {
  program looped = program::of<in_f64<layers_that_learn<true>>>(),
          wide = program::of<in_f64<layers_that_learn<false>>>();
  for (int step = 0; step < 3; ++step) {
    numbers const x = drawn(2, 20 + static_cast<std::uint64_t>(step));
    looped.fill("x", x), wide.fill("x", x);
    check(numbers_of(looped.run().at("sum")), numbers_of(wide.run().at("sum")));
  }
  for (auto const& [path, b] : wide.variables)
    if (path.find("w") != std::string::npos) check(of(looped, path), numbers_of(b));
  CHECK(looped.variables.size() >= wide.variables.size());
}

namespace {
/// Inner steps of gradient descent on fast weights, in a loop, differentiated again outside of it.
struct inner_steps {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), in);
    auto const w = s.input("w", s.real(), in);
    auto const fast = mt::repeat(s, rounds, w, [&](mt::scope auto, auto v) {
      auto const e = sum(v * x, in) - 1;
      return v - 0.1 * gradient(e * e, v);
    });
    auto const l = sum(fast * fast, in);
    s.output("fast", fast), s.output("g", gradient(l, w)), s.output("h", gradient(l, x));
  }
};
}  // namespace

TEST_CASE("a gradient in a loop is that of the iteration, and is differentiated with the loop") {
  program p = program::of<in_f64<inner_steps>>();
  numbers const x{0.5, -1.25}, w{0.75, 0.25};
  auto const run = [](numbers const& at_x, numbers v) {
    for (int i = 0; i < 3; ++i) {
      double const e = v[0] * at_x[0] + v[1] * at_x[1] - 1;
      v = {v[0] - 0.1 * 2 * e * at_x[0], v[1] - 0.1 * 2 * e * at_x[1]};
    }
    return v;
  };
  p.fill("x", x), p.fill("w", w);
  mt::blocks const given = p.run();
  check(numbers_of(given.at("fast")), run(x, w));
  auto const loss = [&](numbers const& at_x, numbers const& at_w) {
    numbers const v = run(at_x, at_w);
    return v[0] * v[0] + v[1] * v[1];
  };
  for (std::size_t i = 0; i < 2; ++i) {
    numbers up = w, down = w;
    up[i] += 1e-6, down[i] -= 1e-6;
    CHECK(numbers_of(given.at("g"))[i] == doctest::Approx((loss(x, up) - loss(x, down)) / 2e-6).epsilon(1e-6));
    up = down = x;
    up[i] += 1e-6, down[i] -= 1e-6;
    CHECK(numbers_of(given.at("h"))[i] == doctest::Approx((loss(up, w) - loss(down, w)) / 2e-6).epsilon(1e-6));
  }
}

namespace {
/// An optimizer that skips a step whose gradient is not finite, and variables that one branch or both update.
struct skipping {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), in);
    auto const w = s.parameter("w", in, mt::constant(1.0));
    auto const both = s.state("both", s.real());
    auto const seen = s.state("seen", mt::i64);
    auto const l = sum(w * w * x, in);
    auto const g = gradient(l, w);
    auto const after = mt::cond(
        s / "guard", all(abs(g) < 100, in),
        [&](mt::scope auto b) {
          b.update(w, w - 0.1 * g), b.update(both, both + 1);
          b.update(b.state("taken", b.real()), b.state("taken", b.real()) + l);
          return l * 2;
        },
        [&](mt::scope auto b) {
          b.update(both, both * 10), b.update(seen, seen + 1);
          return l;
        });
    s.output("after", after + 0 * both);
  }
};
/// The same in a loop, for each member.
struct skipping_in_loop {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), rounds, in);
    auto const [last, ys] = mt::scan(s, rounds, mt::full(s, 0, s.real()), x, [](mt::scope auto r, auto, auto x1) {
      auto const w = r.parameter("w", in, mt::constant(1.0));
      auto const both = r.state("both", r.real());
      auto const seen = r.state("seen", mt::i64);
      auto const l = sum(w * w * x1, in);
      auto const g = gradient(l, w);
      auto const after = mt::cond(
          r / "guard", all(abs(g) < 100, in),
          [&](mt::scope auto b) {
            b.update(w, w - 0.1 * g), b.update(both, both + 1);
            b.update(b.state("taken", b.real()), b.state("taken", b.real()) + l);
            return l * 2;
          },
          [&](mt::scope auto b) {
            b.update(both, both * 10), b.update(seen, seen + 1);
            return l;
          });
      return std::tuple(after, after);
    });
    s.output("after", ys);
  }
};
}  // namespace

TEST_CASE("a branch updates variables, and those of the branch that does not run keep their values") {
  program p = program::of<in_f64<skipping>>(), q = program::of<in_f64<skipping_in_loop>>();
  numbers const xs{0.5, -1, 300, 1, 2, 0.25};
  numbers w{1, 1}, afters;
  double both = 0, seen = 0, taken = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    numbers const x{xs[2 * i], xs[2 * i + 1]};
    p.fill("x", x);
    double const l = w[0] * w[0] * x[0] + w[1] * w[1] * x[1];
    numbers const g{2 * w[0] * x[0], 2 * w[1] * x[1]};
    bool const fine = std::abs(g[0]) < 100 && std::abs(g[1]) < 100;
    afters.push_back(fine ? 2 * l : l);
    CHECK(numbers_of(p.run().at("after"))[0] == doctest::Approx(afters.back()));
    if (fine) w = {w[0] - 0.1 * g[0], w[1] - 0.1 * g[1]}, both += 1, taken += l;
    else both *= 10, seen += 1;
    check(of(p, "w"), w), check(of(p, "both"), {both}), check(of(p, "seen"), {seen});
    check(of(p, "guard/taken"), {taken});
  }
  q.fill("x", xs);
  check(numbers_of(q.run().at("after")), afters);
  check(of(q, "w"), w), check(of(q, "both"), {both}), check(of(q, "seen"), {seen}),
      check(of(q, "guard/taken"), {taken});
}

namespace {
/// An unchanged program, as many steps a call.
template <bool Stacked>
struct many_steps {
  constexpr void operator()(mt::scope auto s) const {
    if constexpr (Stacked) mt::steps(s, rounds, alone<0>{}, mt::every_step);
    else mt::steps(s, rounds, alone<0>{});
  }
};
/// Steps of an ensemble, and an ensemble of steps.
template <bool Outer>
struct steps_of_members {
  constexpr void operator()(mt::scope auto s) const {
    if constexpr (Outer) {
      mt::each(s, member, [](mt::scope auto m) { mt::steps(m, rounds, alone<1>{}, mt::every_step); });
    } else {
      mt::steps(
          s, rounds, [](mt::scope auto r) { mt::each(r, member, [](mt::scope auto m) { alone<1>{}(m); }); },
          mt::every_step);
    }
  }
};
}  // namespace

TEST_CASE("steps runs an unchanged program many times in one call") {
  program one = program::of<in_f64<in_loop<0>>>(), last = program::of<in_f64<many_steps<false>>>(),
          all = program::of<in_f64<many_steps<true>>>();
  numbers const x = drawn(24, 2), y = drawn(12, 3);
  for (program* p : {&one, &last, &all}) {
    p->fill("x", x), p->fill("y", y);
    p->run();
    p->settings.step = 0;
    for (auto& [path, b] : p->variables)
      for (std::int64_t i = 0; i < b.size(); ++i)
        b.set(i, path.find("optimizer") == std::string::npos ? 0.1 * static_cast<double>(i) - 0.2 : 0);
  }
  for (int call = 0; call < 2; ++call) {
    numbers const losses = numbers_of(one.run().at("loss"));
    check(numbers_of(all.run().at("loss")), losses);
    check(numbers_of(last.run().at("loss")), {losses.back()});
    for (auto const& [path, b] : one.variables)
      if (path != "net/optimizer/updates") check(of(all, path), numbers_of(b)), check(of(last, path), numbers_of(b));
    CHECK(!all.variables.contains("net/optimizer/updates"));
  }
}

TEST_CASE("steps and each nest in either order") {
  program outer = program::of<in_f64<steps_of_members<true>>>(), inner = program::of<in_f64<steps_of_members<false>>>();
  numbers const x = drawn(48, 2), y = drawn(24, 3);  // [rounds, member, …]
  for (program* p : {&outer, &inner}) {
    p->fill("x", x), p->fill("y", y);
    p->run();
    for (auto& [path, b] : p->variables)
      for (std::int64_t i = 0; i < b.size(); ++i) b.set(i, path == "net/gain" ? 0.1 * static_cast<double>(i) : 0);
  }
  numbers const a = numbers_of(outer.run().at("loss")), b = numbers_of(inner.run().at("loss"));
  REQUIRE(a.size() == 6);
  for (std::size_t m = 0; m < 2; ++m)
    for (std::size_t r = 0; r < 3; ++r) CHECK(a[m * 3 + r] == doctest::Approx(b[r * 2 + m]).epsilon(1e-12));
  for (auto const& [path, v] : outer.variables) check(of(inner, path), numbers_of(v));
}

namespace {
/// Reads and replaces the next value of a variable; two forwards with batch norm in one step.
struct amended {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, in);
    auto const w = s.parameter("w", in, mt::constant(1.0));
    mt::sgd{.learning_rate = 0.5}.minimize(s / "optimizer", sum(w * w * mean(x, batch), in));
    s.output("before", w), s.output("next", s.next(w));
    s.amend(w, s.next(w) * 0.5);
    s.output("amended", s.next(w));
    auto const first = mt::nn::batch_norm(s / "norm", x, in);
    auto const second = mt::nn::batch_norm(s / "norm", x + 1, in);
    s.output("y", first + second);
    auto const each = mt::each(s / "members", member, [](mt::scope auto m) {
      auto const v = m.state("v", m.real());
      m.update(v, v + cast(mt::index(m, member) + 1, m.real()));
      m.amend(v, m.next(v) * 2);
      return m.next(v);
    });
    s.output("each", each);
  }
};
}  // namespace

TEST_CASE("amend replaces an update of the same step, and next reads it") {
  program p = program::of<in_f64<amended>>();
  numbers const x{1, 2, 3, -2, 0, 1, 4, 3};
  p.fill("x", x);
  mt::blocks const given = p.run();
  check(numbers_of(given.at("before")), {1, 1});
  check(numbers_of(given.at("next")), {1 - 2.0, 1 - 1.0});
  check(numbers_of(given.at("amended")), {-0.5, 0});
  check(of(p, "w"), {-0.5, 0});
  check(numbers_of(given.at("each")), {2, 4}), check(of(p, "members/v"), {2, 4});
  numbers const centre{2, 1};
  for (std::size_t c = 0; c < 2; ++c)
    CHECK(of(p, "norm/mean")[c] == doctest::Approx(centre[c] * 0.1 * 0.9 + (centre[c] + 1) * 0.1).epsilon(1e-12));
  p.run();
  check(of(p, "members/v"), {6, 12});
}

namespace {
/// Training whose parameters an average follows, with a decay that is a schedule.
struct averaged {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, in);
    auto const y = s.input("y", s.real(), batch);
    auto const net = s / "net";
    s.output("loss", learns(net, x, y, plain_momentum(net)));
    mt::moving_average{.decay = mt::nn::warmup_constant(s, 0.75, 4)}.follow(s / "average", net);
  }
};
struct averaged_steps {
  constexpr void operator()(mt::scope auto s) const { mt::steps(s, rounds, averaged{}, mt::every_step); }
};
/// An average that follows only if the branch runs, which itself uses no parameter.
struct averaged_in_branch {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real());
    auto const net = s / "net";
    auto const w = inside(net);
    s.update(w, w * 2);
    auto const y = mt::cond(
        s / "now", x > 0,
        [&](mt::scope auto b) {
          mt::moving_average{.decay = 0.75}.follow(b / "average", net);
          return x;
        },
        [&](mt::scope auto) { return -x; });
    s.output("y", y);
  }
  static constexpr mt::layer inside = [](mt::scope auto s) { return s.parameter("w", mt::constant(1.0)); };
};
}  // namespace

TEST_CASE("moving_average in steps follows after every step, as in as many calls") {
  program one = program::of<in_f64<averaged>>(), many = program::of<in_f64<averaged_steps>>();
  for (int call = 0; call < 3; ++call) {
    numbers const x = drawn(24, 3 + static_cast<std::uint64_t>(call)), y = drawn(12, 9);
    many.fill("x", x), many.fill("y", y);
    if (call == 0) {  // both begin with the same numbers
      one.fill("x", numbers(8)), one.fill("y", numbers(4));
      one.run(), many.run();
      one.settings.step = many.settings.step = 0;
      for (auto& [path, b] : many.variables) {
        for (std::int64_t i = 0; i < b.size(); ++i) b.set(i, 0.1 * static_cast<double>(i) - 0.2);
        for (std::int64_t i = 0; i < b.size(); ++i) one.variables.at(path).set(i, b.number_at(i));
      }
    }
    numbers losses;
    for (std::size_t r = 0; r < 3; ++r) {
      one.fill("x", numbers(x.begin() + static_cast<long>(8 * r), x.begin() + static_cast<long>(8 * r + 8)));
      one.fill("y", numbers(y.begin() + static_cast<long>(4 * r), y.begin() + static_cast<long>(4 * r + 4)));
      losses.push_back(numbers_of(one.run().at("loss"))[0]);
    }
    check(numbers_of(many.run().at("loss")), losses);
    CHECK(one.variables.contains("average/first/weight"));
    for (auto const& [path, b] : one.variables) check(of(many, path), numbers_of(b));
  }
}

TEST_CASE("moving_average in a branch follows if the branch runs") {
  program p = program::of<in_f64<averaged_in_branch>>();
  double w = 1, mean = 0;
  bool first = true;
  for (double const x : {-1.0, 2.0, -3.0, -1.0, 1.0, 4.0}) {
    p.fill("x", {x});
    p.run();
    w *= 2;
    if (x > 0) mean = first ? w : 0.75 * mean + 0.25 * w, first = false;
    check(of(p, "net/w"), {w});
    if (!first) check(of(p, "now/average/w"), {mean});
  }
}

namespace {
/// A loop whose next carry is an f32, although the carry is an f64.
template <bool ByScan>
struct narrowed {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, rounds, in);
    auto const start = mt::full(s, 1, mt::f64, mt::to(in));
    if constexpr (ByScan) {
      auto const [last, all] = mt::scan(s, rounds, start, x, [](auto, auto, auto now) {
        auto const next = mt::cast<mt::f32>(now);
        return std::tuple(next, next);
      });
      s.output("last", last);
    } else {
      auto const [count, last] = mt::while_loop(
          s, mt::at_most(3), [](auto, auto h) { return sum(h) < 9; },
          [](auto, auto h) { return mt::cast<mt::f32>(h * 2); }, start);
      s.output("last", last);
    }
  }
};
template <class Program>
std::string refusal() {
  try {
    program::of<Program>();
    return "";
  } catch (mt::error const& e) { return e.what(); }
}
}  // namespace

TEST_CASE("a carry of another dtype is refused with both types") {
  std::string const both = "T02: a loop's carry is f64[in], but its next value is f32[in]: cast it";
  CHECK(refusal<narrowed<false>>().find(both) != std::string::npos);
  CHECK(refusal<narrowed<true>>().find(both) != std::string::npos);
}
