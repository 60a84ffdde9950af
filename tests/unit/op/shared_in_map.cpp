// SPDX-License-Identifier: Apache-2.0
// Variables that the indices of a map share, updated there after gradients by them, beside programs without map.
// passes: start-up
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/full.hpp"
#include "meshtensor/op/softmax.hpp"

#include "unit/op/trial.hpp"

namespace mt = meshtensor;
using mt::to, trial::numbers_of, trial::program;

namespace {

inline constexpr struct task_dim : mt::dim<"task", 3> {} task;
inline constexpr struct shots_dim : mt::dim<"shots", 2> {} shots;
inline constexpr struct rounds_dim : mt::dim<"rounds", 3> {} rounds;
inline constexpr struct in_dim : mt::dim<"in", 2> {} in;

template <class Program>
struct in_f64 : mt::precision<Program, mt::f64> {};

void same(mt::block const& got, mt::block const& wanted) {
  auto const a = numbers_of(got), b = numbers_of(wanted);
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == doctest::Approx(b[i]).epsilon(1e-12));
}
/// Runs two programs with equal inputs and variables for some steps, and compares all that they give.
template <class Program, class Reference>
void check_steps() {
  program p = program::of<in_f64<Program>>(), q = program::of<in_f64<Reference>>();
  p.fill_at_random(-1.5, 1.5), q.fill_at_random(-1.5, 1.5);
  for (int step = 0; step < 3; ++step) {
    p.settings.step = q.settings.step = static_cast<std::uint64_t>(step);
    mt::blocks const got = p.run(), wanted = q.run();
    REQUIRE(got.size() == wanted.size());
    for (auto const& [label, b] : wanted) same(got.at(label), b);
    REQUIRE(p.variables.size() == q.variables.size());
    for (auto const& [label, b] : q.variables) {
      INFO(label);
      same(p.variables.at(label), b);
    }
  }
}
template <class Program>
std::string refusal() {
  try {
    program::of<in_f64<Program>>();
    return "";
  } catch (mt::error const& e) { return e.what(); }
}

// ---- one step, in which the weights have a version of their own -----------------------------------------------------

/// The loss of one task. What the weights make by themselves, and their size, are used behind the gradient, too.
constexpr auto loss_of(auto const& x, auto const& w, auto const& flat, auto const& size) {
  auto const error = einsum(x, flat * w, to()) - 0.5;
  return error * error + 0.01 * size;
}
struct with_map {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, in);
    auto const losses = mt::map(s, task, x, [](mt::scope auto m, auto one) {
      auto const w = m.parameter("w", in, mt::constant(0.75));
      auto const speed = m.state("speed", m.real(), in);
      auto const flat = tanh(w) + 1;
      auto const size = sum(w * w);
      auto const loss = loss_of(one, w, flat, size);
      auto const g = mean(mt::across(gradient(loss, w), task), task);
      auto const next_speed = 0.5 * speed + g;
      m.update(speed, next_speed);
      m.update(w, w - 0.1 * next_speed * flat / (1 + size));
      m.output("size", size);
      return loss;
    });
    s.output("losses", losses);
  }
};
struct without_map {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, in);
    auto const w = s.parameter("w", in, mt::constant(0.75));
    auto const speed = s.state("speed", s.real(), in);
    auto const flat = tanh(w) + 1;
    auto const size = sum(w * w);
    auto const error = einsum(x, flat * w, to(task)) - 0.5;
    auto const losses = error * error + 0.01 * size;
    auto const g = gradient(mean(losses), w);
    auto const next_speed = 0.5 * speed + g;
    s.update(speed, next_speed);
    s.update(w, w - 0.1 * next_speed * flat / (1 + size));
    s.output("size", size);
    s.output("losses", losses);
  }
};

// ---- several steps in a loop ----------------------------------------------------------------------------------------

struct loop_in_map {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, rounds, in);
    auto const [all, far] = mt::map(s, task, x, [](mt::scope auto m, auto mine) {
      auto const w = m.parameter("w", in, mt::constant(0.75));
      auto const [last, losses] =
          mt::scan(m, rounds, mt::full(m, 0, m.real()), mine, [&](mt::scope auto r, auto, auto one) {
            auto const error = einsum(one, tanh(w), to()) - 0.5;
            auto const loss = error * error;
            r.update(w, w - 0.1 * mean(mt::across(gradient(loss, w), task), task));
            return std::tuple(loss, loss);
          });
      return std::tuple(losses, last + sum(m.next(w), in));
    });
    s.output("losses", all), s.output("far", far);
  }
};
struct loop_without_map {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, rounds, in);
    auto const w = s.parameter("w", in, mt::constant(0.75));
    auto const zeros = mt::full(s, 0, s.real(), to(task));
    auto const [last, losses] =
        mt::scan(s, rounds, zeros, transpose(x, to(rounds, task, in)), [&](mt::scope auto r, auto, auto all) {
          auto const error = einsum(all, tanh(w), to(task)) - 0.5;
          auto const loss = error * error;
          r.update(w, w - 0.1 * gradient(mean(loss), w));
          return std::tuple(loss, loss);
        });
    s.output("losses", transpose(losses, to(task, rounds))), s.output("far", last + sum(s.next(w), in));
  }
};

// ---- a gradient outside of the loop goes through updates in it ------------------------------------------------------

struct through_steps {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, rounds, in);
    auto const rate = s.parameter("rate", mt::constant(0.1));
    auto const ends = mt::map(s, task, x, [&](mt::scope auto m, auto mine) {
      auto const w = m.parameter("w", in, mt::constant(0.75));
      mt::scan(m, rounds, mt::full(m, 0, m.real()), mine, [&](mt::scope auto r, auto l, auto one) {
        auto const error = einsum(one, tanh(w), to()) - 0.5;
        r.update(w, w - rate * mean(mt::across(gradient(error * error, w), task), task));
        return std::tuple(l, l);
      });
      auto const error = sum(m.next(w) * m.next(w), in) - 0.25;
      return error * error;
    });
    s.update(rate, rate - 0.01 * gradient(mean(ends), rate));
    s.output("ends", ends);
  }
};
struct through_steps_without_map {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, rounds, in);
    auto const rate = s.parameter("rate", mt::constant(0.1));
    auto const w = s.parameter("w", in, mt::constant(0.75));
    mt::scan(s, rounds, mt::full(s, 0, s.real()), transpose(x, to(rounds, task, in)),
             [&](mt::scope auto r, auto l, auto all) {
               auto const error = einsum(all, tanh(w), to(task)) - 0.5;
               r.update(w, w - rate * gradient(mean(error * error), w));
               return std::tuple(l, l);
             });
    auto const error = sum(s.next(w) * s.next(w), in) - 0.25;
    s.update(rate, rate - 0.01 * gradient(error * error, rate));
    s.output("ends", broadcast(error * error, to(task)));
  }
};

// ---- a map in a map, and Adam ---------------------------------------------------------------------------------------

struct map_in_map {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, shots, in);
    s.output("losses", mt::map(s, task, x, [](mt::scope auto m, auto mine) {
               auto const w = m.parameter("w", in, mt::constant(0.75));
               auto const inner = mt::map(m, shots, mine, [&](mt::scope auto n, auto one) {
                 auto const flat = tanh(w);
                 auto const l = loss_of(one, w, flat, sum(w * flat));
                 auto const g = mean(mt::across(mt::across(gradient(l, w), shots), task), task);
                 n.update(w, w - 0.1 * flat * mean(g, shots));
                 return l;
               });
               return inner;
             }));
  }
};
struct map_in_map_without {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, shots, in);
    auto const w = s.parameter("w", in, mt::constant(0.75));
    auto const error = einsum(x, tanh(w) * w, to(task, shots)) - 0.5;
    auto const losses = error * error + 0.01 * sum(w * tanh(w));
    s.update(w, w - 0.1 * tanh(w) * gradient(mean(losses), w));
    s.output("losses", losses);
  }
};

struct adam_in_map {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, in);
    s.output("losses", mt::map(s, task, x, [](mt::scope auto m, auto one) {
               auto const w = m.parameter("w", in, mt::constant(0.75));
               auto const loss = loss_of(one, w, tanh(w), sum(w * w));
               auto all = mt::gradient_by_parameters<mt::f64>(loss);
               mt::tensor<mt::f64, in_dim> const g(all.owner, all[0].gradient.id);
               all.values.at[0] = mean(mt::across(g, task), task).id;
               mt::adam{.learning_rate = 0.1}.minimize(m / "optimizer", all);
               return loss;
             }));
  }
};
struct adam_without_map {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, in);
    auto const w = s.parameter("w", in, mt::constant(0.75));
    auto const error = einsum(x, tanh(w) * w, to(task)) - 0.5;
    auto const losses = error * error + 0.01 * sum(w * w);
    mt::adam{.learning_rate = 0.1}.minimize(s / "optimizer", mean(losses));
    s.output("losses", losses);
  }
};

// ---- decisions ------------------------------------------------------------------------------------------------------

struct branch_for_all {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, in);
    s.output("losses", mt::map(s, task, x, [](mt::scope auto m, auto one) {
               auto const w = m.parameter("w", in, mt::constant(0.75));
               auto const size = sum(w * w);
               auto const loss = loss_of(one, w, tanh(w), size);
               auto const g = mean(mt::across(gradient(loss, w), task), task);
               return mt::cond(
                   m, size > 0.5,  // the same for all indices, although a gradient by w needs copies of `size`
                   [&](mt::scope auto b) {
                     b.update(w, w - 0.1 * g);
                     return loss + mean(mt::across(loss, task), task);
                   },
                   [&](mt::scope auto) { return loss; });
             }));
  }
};
struct branch_without_map {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, in);
    auto const w = s.parameter("w", in, mt::constant(0.75));
    auto const size = sum(w * w);
    auto const error = einsum(x, tanh(w) * w, to(task)) - 0.5;
    auto const losses = error * error + 0.01 * size;
    auto const g = gradient(mean(losses), w);
    s.output("losses", mt::cond(
                           s, size > 0.5,
                           [&](mt::scope auto b) {
                             b.update(w, w - 0.1 * g);
                             return losses + mean(losses);
                           },
                           [&](mt::scope auto) { return losses; }));
  }
};

}  // namespace

TEST_CASE("a step in map updates shared variables as the step without map does") {
  check_steps<with_map, without_map>();
  check_steps<adam_in_map, adam_without_map>();
  check_steps<map_in_map, map_in_map_without>();
}
TEST_CASE("steps in a loop in map update shared variables as the loop without map does") {
  check_steps<loop_in_map, loop_without_map>();
  check_steps<through_steps, through_steps_without_map>();
}
TEST_CASE("a branch that all indices take updates a shared variable, and may compare indices") {
  check_steps<branch_for_all, branch_without_map>();
}

namespace {
/// The next value depends on the gradient of one index (0), on its loss (1), or only on values that are equal for all.
template <int By>
struct differing {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, in);
    s.output("losses", mt::map(s, task, x, [](mt::scope auto m, auto one) {
               auto const w = m.parameter("w", in, mt::constant(0.75));
               auto const h = softmax(w, in);
               auto const loss = einsum(one, w * h, to());
               auto const g = gradient(loss, w);
               if constexpr (By == 0) m.update(w, w - 0.1 * g);
               if constexpr (By == 1) m.update(w, w - 0.1 * mean(mt::across(g, task), task) * loss);
               if constexpr (By == 2) m.update(w, w - 0.1 * mean(mt::across(g, task), task));
               if constexpr (By == 3) m.update(w, w - 0.1 * h * mean(mt::across(g, task), task));
               return loss;
             }));
  }
};
}  // namespace

TEST_CASE("next values that differ by index are refused") {
  CHECK(refusal<differing<0>>().find("G47") != std::string::npos);
  CHECK(refusal<differing<1>>().find("G47") != std::string::npos);
  CHECK(refusal<differing<2>>() == "");
  CHECK(refusal<differing<3>>() == "");
}

namespace {
/// Each example's gradient is clipped by the length of all parameters' gradients together.
struct clipped_in_map {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, in);
    auto const losses = mt::map(s, task, x, [](mt::scope auto m, auto one) {
      auto const error = sum(one * m.parameter("w", in, mt::constant(0.75))) + m.parameter("b", mt::constant(0.25));
      auto const mine = mt::gradient_by_parameters<mt::f64>(error * error);
      auto const scale = 1 / maximum(1, mt::global_norm(mine) / 0.5);
      auto const of_all = mine.transformed([&](auto g) { return mean(mt::across(g * scale, task), task); });
      mt::momentum{.learning_rate = 0.1}.minimize(m / "optimizer", of_all);
      return error * error;
    });
    s.output("losses", losses);
  }
};
struct clipped_without_map {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, in);
    auto const w = s.parameter("w", in, mt::constant(0.75));
    auto const b = s.parameter("b", mt::constant(0.25));
    auto const error = einsum(x, w, to(task)) + b;
    auto const scale = 1 / maximum(1, sqrt(4 * error * error * (sum(x * x, in) + 1)) / 0.5);
    // The gradient of this loss is the mean of the clipped gradients.
    auto const loss = mean(mt::stop_gradient(scale) * error * error);
    mt::momentum{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
    s.output("losses", error * error);
  }
};
using pair_of_set = mt::gradients<mt::dtype::f64>;
using value_of_pair = decltype((std::declval<pair_of_set&>()[0].gradient));
static_assert(!std::is_assignable_v<value_of_pair, mt::any_tensor<mt::dtype::f64>>);  // it would be lost
}  // namespace

TEST_CASE("an optimizer takes gradients of examples that the program has clipped") {
  check_steps<clipped_in_map, clipped_without_map>();
}
