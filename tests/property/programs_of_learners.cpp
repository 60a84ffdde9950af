// SPDX-License-Identifier: Apache-2.0
// Learners in an each, beside each of them alone: Reptile, replicas that skip bad batches, and networks that are called
// twice before one update.
// passes: start-up
// timeout: 300
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/accumulate_gradients.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/full.hpp"
#include "property/index_by_index.hpp"

using namespace property;
using mt::to;

namespace {

inline constexpr struct rounds : mt::dim<"rounds", 3> {} rounds;
inline constexpr struct shots : mt::dim<"shots", 4> {} shots;
inline constexpr struct hidden : mt::dim<"hidden", 3> {} hidden;
inline constexpr struct in : mt::dim<"in", 2> {} in;

}  // namespace

// ---- Reptile: Nichol, Achiam and Schulman, arXiv:1803.02999 ---------------------------------------------------------

namespace {

inline constexpr struct task : mt::dim<"task", 4> {} task;

/// Three steps of Adam from the weights that all tasks share. Returns the losses and the way that the weights went.
constexpr auto adapt(mt::scope auto m, auto x, auto y) {
  auto first = m.parameter("first", hidden, mt::normal(1)), bias = m.parameter("bias", hidden, mt::zeros);
  auto last = m.parameter("last", hidden, mt::normal(0.5));
  auto [end, losses] = mt::scan(m / "inner", rounds, mt::full(m, 0, m.real()), std::tuple(x, y),
                                [&](mt::scope auto r, auto, auto now_x, auto now_y) {
                                  auto h = tanh(now_x * first + bias);
                                  auto loss = mt::nn::mean_squared_error(einsum(h, last, to(shots)), now_y);
                                  mt::adam{.learning_rate = 0.1, .beta_1 = 0}.minimize(r / "optimizer", loss);
                                  return std::tuple(loss, loss);
                                });
  return std::tuple(losses, std::tuple(first, bias, last));
}
struct reptile {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), task, rounds, shots), y = s.input("y", s.real(), task, rounds, shots);
    auto [all, moved, centre] = mt::each(
        s / "tasks", task, std::tuple(x, y),
        [](mt::scope auto m, auto x1, auto y1) {
          auto [losses, weights] = adapt(m, x1, y1);
          auto outer = [&](auto w) {  // all tasks go on from the same weights
            m.amend(w, w + 0.5 * (mean(mt::across(m.next(w), task), task) - w));
          };
          auto way = m.next(std::get<0>(weights)) - std::get<0>(weights);
          std::apply([&](auto... w) { (outer(w), ...); }, weights);
          return std::tuple(losses, way, m.next(std::get<0>(weights)) - std::get<0>(weights));
        },
        mt::start_equal);
    s.output("losses", all), s.output("way", moved), s.output("centre", centre);
  }
};
struct one_task {
  constexpr void operator()(mt::scope auto s) const {
    auto m = s / "tasks";
    auto x = s.input("x", s.real(), rounds, shots), y = s.input("y", s.real(), rounds, shots);
    inside(m, x, y, s);
  }
  static constexpr void inside(mt::scope auto m, auto x, auto y, mt::scope auto s) {
    mt::layer const go = [&](mt::scope auto n, auto x1) {
      auto [losses, weights] = adapt(n, x1, y);
      s.output("losses", losses), s.output("way", n.next(std::get<0>(weights)) - std::get<0>(weights));
      return losses;
    };
    go(m, x);
  }
};

}  // namespace

TEST_CASE("Reptile adapts each task as if it were alone, and moves all towards their mean") {
  at_least(
      24, hold_index_by_index<reptile, one_task>(
              "reptile",
              {.dim = "task",
               .extent = 4,
               .steps = 3,
               .fill =
                   [](mt::blocks& inputs, int step) {
                     rng c{3 + static_cast<std::uint64_t>(step)};
                     for (int t = 0; t < 4; ++t) {
                       double const amplitude = 1 + t, phase = 0.3 * c.below(10);
                       for (int k = 0; k < 12; ++k) {
                         double const at = 0.1 * (c.below(100) - 50);
                         inputs["x"].set(12 * t + k, at), inputs["y"].set(12 * t + k, amplitude * std::sin(at - phase));
                       }
                     }
                   },
               .moved = {"tasks/first", "tasks/bias", "tasks/last"}},
              [](mt::blocks const& given) {
                for (int k = 0; k < 3; ++k) {
                  double sum = 0;
                  for (int t = 0; t < 4; ++t) sum += given.at("way").number_at(3 * t + k);
                  CHECK(sum != 0);
                  for (int t = 0; t < 4; ++t)
                    CHECK(given.at("centre").number_at(3 * t + k) == doctest::Approx(0.5 * sum / 4).epsilon(1e-10));
                }
              }));
}

// ---- Replicas that skip a batch -------------------------------------------------------------------------------------

namespace {

inline constexpr struct replica : mt::dim<"replica", 3> {} replica;

inline constexpr mt::layer network = [](mt::scope auto s, auto x) {
  auto h = tanh(mt::nn::linear(s / "first", x, in, hidden));
  return einsum(h, s.parameter("last", hidden, mt::normal(0.5)), to(shots));
};
/// An update by gradients that are finite.
inline constexpr mt::layer learn_if_finite = [](mt::scope auto m, auto x, auto y) {
  auto loss = mt::nn::mean_squared_error(network(m / "network", x), y);
  auto gradients = mt::gradient_by_parameters<m.compute>(loss);
  auto size = mt::full(m, 0, m.real());
  for (int i = 0; i < gradients.size(); ++i) size = size + sum(abs(gradients[i].gradient));
  return mt::cond(
      m / "guard", size < 1e30,
      [&](mt::scope auto b) {
        mt::adam{.learning_rate = 0.1}.minimize(b / "optimizer", gradients);
        return loss;
      },
      [&](mt::scope auto b) { return mt::full(b, -1, b.real()); });
};
/// An update that computes its gradients in the branch, by a loss that was computed outside.
inline constexpr mt::layer learn_by_loss = [](mt::scope auto m, auto x, auto y) {
  auto loss = mt::nn::mean_squared_error(network(m / "network", x), y);
  return mt::cond(
      m / "guard", abs(loss) < 1e30,
      [&](mt::scope auto b) {
        mt::adam{.learning_rate = 0.1}.minimize(b / "optimizer", loss);
        return loss;
      },
      [&](mt::scope auto b) { return mt::full(b, -1, b.real()); });
};
template <bool IsAlone, auto const& Learn>
struct replicas {
  constexpr void operator()(mt::scope auto s) const {
    auto x = input_of<IsAlone>(s, "x", s.real(), replica, shots, in);
    auto y = input_of<IsAlone>(s, "y", s.real(), replica, shots);
    s.output("losses", each_or_alone<IsAlone>(s / "replicas", replica, std::tuple(x, y), Learn));
  }
};

}  // namespace

TEST_CASE("a replica whose gradient is not finite keeps its weights, and others learn") {
  at_least(24, hold_index_by_index<replicas<false, learn_if_finite>, replicas<true, learn_if_finite>>(
                   "replicas",
                   {.dim = "replica",
                    .extent = 3,
                    .steps = 3,
                    .fill =
                        [](mt::blocks& inputs, int step) {
                          // The loss of an infinite x is finite, because tanh is, but its gradient is not.
                          inputs["x"].set(8 * (step % 3) + 3,
                                          step == 1 ? std::numeric_limits<double>::infinity() : std::nan(""));
                        }},
                   [number = 0](mt::blocks const& given) mutable {
                     for (int i = 0; i < 3; ++i) CHECK((given.at("losses").number_at(i) == -1) == (i == number));
                     ++number;
                   }));
}
TEST_CASE("a branch minimizes a loss that was computed before it") {
  at_least(24, hold_index_by_index<replicas<false, learn_by_loss>, replicas<true, learn_if_finite>>(
                   "replicas by their losses",
                   {.dim = "replica", .extent = 3, .steps = 3, .fill = [](mt::blocks& inputs, int step) {
                      inputs["x"].set(8 * (step % 3) + 3, std::nan(""));
                    }}));
}

// ---- Two forwards before one update ---------------------------------------------------------------------------------

namespace {

/// Two views of a batch, of which the second may be missing. Then the first one is used twice.
inline constexpr mt::layer compare_views = [](mt::scope auto m, auto x, auto other, auto has_other) {
  auto second = mt::cond(m / "second", has_other, [&](auto) { return 1 / other; }, [&](auto) { return x; });
  auto see = [&](auto v) {
    return tanh(mt::nn::batch_norm(m / "norm", mt::nn::linear(m / "first", v, in, hidden), hidden));
  };
  auto a = see(x), b = see(second);
  auto loss = mean((a - b) * (a - b)) + 0.1 * mean(a * b);
  mt::momentum{.learning_rate = 0.1}.minimize(m / "optimizer", loss);
  auto [dx, d_other] = gradient(loss, x, other);
  return std::tuple(loss, dx, d_other);
};
template <bool IsAlone>
struct siamese {
  constexpr void operator()(mt::scope auto s) const {
    auto x = input_of<IsAlone>(s, "x", s.real(), replica, shots, in);
    auto other = input_of<IsAlone>(s, "other", s.real(), replica, shots, in);
    auto has_other = input_of<IsAlone>(s, "has_other", mt::boolean, replica);
    auto [loss, dx, d_other] =
        each_or_alone<IsAlone>(s / "replicas", replica, std::tuple(x, other, has_other), compare_views);
    s.output("loss", loss), s.output("dx", dx), s.output("d_other", d_other);
  }
};

}  // namespace

TEST_CASE("a network with batch norm is called twice before one update, and missing views spoil nothing") {
  at_least(24, hold_index_by_index<siamese<false>, siamese<true>>(
                   "siamese",
                   {.dim = "replica",
                    .extent = 3,
                    .steps = 3,
                    .fill =
                        [](mt::blocks& inputs, int step) {
                          for (int i = 0; i < 3; ++i) {
                            bool const has = (step + i) % 3 != 1;
                            inputs["has_other"].set(i, has);
                            for (int k = 0; k < 8 && !has; ++k)
                              inputs["other"].set(8 * i + k, k % 2 == 0 ? 0 : std::numeric_limits<double>::quiet_NaN());
                          }
                        }},
                   [](mt::blocks const& given) {
                     for (auto const& [label, b] : given)
                       for (std::int64_t k = 0; k < b.size(); ++k) CHECK(std::isfinite(b.number_at(k)));
                   }));
}

// ---- Gradients of parts --------------------------------------------------------------------------------------------

namespace {

/// Each replica adds up the gradients of the parts of its batch, and updates once.
inline constexpr mt::layer learn_in_parts = [](mt::scope auto m, auto x, auto y) {
  auto [loss, gradients] =
      mt::accumulate(m / "model", rounds, std::tuple(x, y), [](mt::scope auto p, auto now_x, auto now_y) {
        return mt::nn::mean_squared_error(network(p / "network", now_x), now_y) / extent(rounds);
      });
  mt::adam{.learning_rate = 0.1, .clip_norm = 1}.minimize(m / "optimizer", gradients);
  return loss;
};
template <bool IsAlone>
struct in_parts {
  constexpr void operator()(mt::scope auto s) const {
    auto x = input_of<IsAlone>(s, "x", s.real(), replica, rounds, shots, in);
    auto y = input_of<IsAlone>(s, "y", s.real(), replica, rounds, shots);
    s.output("losses", each_or_alone<IsAlone>(s / "replicas", replica, std::tuple(x, y), learn_in_parts));
  }
};

}  // namespace

TEST_CASE("each replica accumulates the gradients of the parts of its own batch") {
  at_least(24, hold_index_by_index<in_parts<false>, in_parts<true>>("gradients of parts",
                                                                    {.dim = "replica", .extent = 3, .steps = 3}));
}
