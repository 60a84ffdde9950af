// SPDX-License-Identifier: Apache-2.0
// The step of a Transformer of 4.9 billion parameters on 512 processors, predicted from its list of instructions: no
// processor is there, and no kernel runs.
// passes: start-up
// timeout: 300
#include "meshtensor/inspect/predict.hpp"

#include <doctest/doctest.h>

#include <chrono>

#include "../../../examples/transformer.hpp"
#include "meshtensor/inspect/explain.hpp"

namespace mt = meshtensor;
namespace net = transformer;

namespace {

struct fusing_device : mt::reference_device {
  static constexpr mt::device_capabilities capabilities{true};
};
using large_step = mt::executable<net::programs, net::train_step, net::mesh, net::layout, fusing_device>;

mt::draft<large_step> planned(std::int64_t data, std::int64_t model) {
  return mt::draft<large_step>(net::data(data), net::model(model), net::batch(512), net::length(2048), net::layers(48),
                               net::d_model(2912), net::heads(32), net::d_head(91), net::d_ff(4 * 2912));
}

double parameters_of(mt::module const& m, mt::binding const& numbers) {
  double all = 0;
  for (int v = 0; v < m.variable_count; ++v)
    if (std::string const path = mt::speller(m).path(m.variables[v].path); path.starts_with("model/"))
      all += static_cast<double>(numbers.size(m.variables[v].dims));
  return all;
}

inline constexpr struct rows_dim : mt::dim<"rows", 64> {} rows;
inline constexpr struct width_dim : mt::dim<"width", 32> {} width;
inline constexpr struct next_dim : mt::dim<"next", 32> {} next;
inline constexpr struct parts_axis : mt::axis<"parts", 4> {} parts;
struct four : mt::mesh<parts> {};
struct by_width : mt::layout<mt::shard<width, parts>> {};

/// A loop with a collective in each iteration, and with the gradient of all.
template <std::int64_t Most>
struct settling {
  constexpr void operator()(mt::scope auto s) const {
    auto const w = s.parameter("w", width, next);
    auto const [ran, last] = while_loop(
        s / "settle", mt::at_most(Most), [](auto, auto h) { return sum(h * h) > 1; },
        [&](auto, auto h) { return rename(tanh(einsum(h, w, mt::to(rows, next))), next, width); },
        s.input("x", mt::f32, rows, width));
    s.output("last", last);
  }
};
template <std::int64_t Most>
mt::predicted_step of_settling() {
  mt::draft<mt::executable<settling<Most>, four, by_width>> const step;
  return mt::predict(step, {{"parts", 5e-6, 25e9}}, {2e14, 2e12});
}

}  // namespace

TEST_CASE("a loop that may end early takes its limit, whatever that is") {
  mt::predicted_step const a = of_settling<2>(), b = of_settling<3>(), c = of_settling<1003>();
  CHECK(b.seconds > a.seconds);
  CHECK(c.seconds - b.seconds == doctest::Approx(1000 * (b.seconds - a.seconds)).epsilon(1e-6));
  CHECK(c.computed - b.computed == doctest::Approx(1000 * (b.computed - a.computed)).epsilon(1e-6));
  CHECK(c.communicated - b.communicated == doctest::Approx(1000 * (b.communicated - a.communicated)).epsilon(1e-6));
  CHECK(c.exposed - b.exposed == doctest::Approx(1000 * (b.exposed - a.exposed)).epsilon(1e-6));
  CHECK(of_settling<1'000'000'000>().seconds > 1e5 * c.seconds);
}

TEST_CASE("4.9 billion parameters on 16 x 32 processors") {
  mt::draft<large_step> const step = planned(16, 32);
  CHECK(step.bound_mesh().size() == 512);
  CHECK(parameters_of(step.graph(), step.planned().numbers) == doctest::Approx(4.9e9).epsilon(0.01));

  std::vector<mt::link> const links{{"data", 5e-6, 25e9}, {"model", 2e-6, 200e9}};
  mt::rates const processor{2e14, 2e12};
  auto const begin = std::chrono::steady_clock::now();
  mt::predicted_step const t = mt::predict(step, links, processor);
  double const took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  MESSAGE("a step of " << t.seconds << " s, of which " << t.computed << " computed and " << t.exposed << " of "
                       << t.communicated << " communicated, predicted in " << took << " s");
  CHECK(took < 30);

  auto const work = mt::work_of(step.graph(), step.planned().numbers);
  CHECK(t.computed > static_cast<double>(work.products) / processor.flops);
  CHECK(t.seconds == doctest::Approx(t.computed + t.exposed));
  CHECK(t.exposed <= t.communicated);
  // What a rank receives at the rate of the faster link, and at that of the slower one.
  auto const bytes = static_cast<double>(mt::traffic_of(step.graph(), step.planned()).bytes);
  CHECK(t.communicated > bytes / 200e9);
  CHECK(t.communicated < bytes / 25e9 + 1);

  mt::predicted_step const faster = mt::predict(step, {{"data", 0, 1e15}, {"model", 0, 1e15}}, processor);
  CHECK(faster.computed == t.computed);
  CHECK(faster.exposed < 1e-3);
  CHECK(faster.seconds < t.seconds);
  mt::draft<large_step> const fewer = planned(8, 32);
  CHECK(mt::predict(fewer, links, processor).computed > 1.5 * t.computed);

  std::string const list = mt::instructions(step);
  CHECK(list.find("begin_loop layers, 48 times\n") != std::string::npos);
  CHECK(list.find("begin_loop layers, 48 times, reversed\n") != std::string::npos);
}
