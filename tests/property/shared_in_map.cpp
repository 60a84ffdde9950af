// SPDX-License-Identifier: Apache-2.0
// A variable that the indices of a map share, updated in a loop there after gradients by it, under many layouts.
// passes: start-up
// timeout: 300
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/full.hpp"
#include "meshtensor/op/softmax.hpp"
#include "property/program.hpp"

using namespace property;
using mt::to;

namespace {

inline constexpr struct task : mt::dim<"task", 4> {} task;
inline constexpr struct rounds : mt::dim<"rounds", 2> {} rounds;
inline constexpr struct shots : mt::dim<"shots", 3> {} shots;
inline constexpr struct in : mt::dim<"in", 3> {} in;

/// Tasks take steps from common weights to common weights, and their last gradient goes through the weights' softmax.
struct common_weights {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, rounds, shots, in);
    auto const y = s.input("y", s.real(), task, rounds, shots);
    auto const [all, ends] = mt::map(s / "tasks", task, std::tuple(x, y), [](mt::scope auto m, auto x1, auto y1) {
      auto const w = m.parameter("w", in, mt::normal(0.5)), scale = m.parameter("scale", in, mt::ones);
      auto const speed = m.state("speed", m.real(), in);
      auto const error = [&](auto const& now_x, auto const& now_y) {
        return mt::nn::mean_squared_error(einsum(now_x, tanh(w) * scale, to(shots)), now_y);
      };
      auto const [last, losses] = mt::scan(m / "inner", rounds, mt::full(m, 0, m.real()), std::tuple(x1, y1),
                                           [&](mt::scope auto r, auto, auto now_x, auto now_y) {
                                             auto const loss = error(now_x, now_y) + 0.1 * sum(w * w, in);
                                             auto const g = mean(mt::across(gradient(loss, w), task), task);
                                             r.update(speed, 0.5 * speed + g);
                                             r.update(w, w - 0.1 * r.next(speed) * (1 + tanh(w)));
                                             return std::tuple(loss, loss);
                                           });
      auto const parts = softmax(scale, in);
      auto const end = last * sum(parts * scale * m.next(w), in);
      m.update(scale, scale - 0.1 * parts * mean(mt::across(gradient(end, scale), task), task));
      return std::tuple(losses, end);
    });
    s.output("losses", all), s.output("ends", ends);
  }
};
struct common_weights_in_f64 : mt::precision<common_weights, mt::f64> {};

}  // namespace

TEST_CASE("weights that tasks share and update are the same under every layout") {
  tally all;
  std::unique_ptr<mt::module> const traced(new mt::module(mt::trace<common_weights_in_f64>()));
  hold_under_every_layout("weights that tasks share", *traced, mt::entry_name<common_weights_in_f64>(),
                          {.assignments = 60, .drawn = 12, .steps = 2}, all);
  at_least(24, all.tried);
}
