// SPDX-License-Identifier: Apache-2.0
// One processor of a large mesh with a model of its network. The links are so slow that the time of a step is what the
// model says and, against that, nothing else. A prediction, which runs no kernel, tells the same.
#include "meshtensor/inspect/simulate.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "meshtensor/device/reference.hpp"
#include "meshtensor/inspect/explain.hpp"
#include "meshtensor/inspect/predict.hpp"
#include "meshtensor/inspect/profile.hpp"
#include "meshtensor/nn/adam.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/pass/cost.hpp"
#include "meshtensor/run/executable.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct rows : mt::dim<"rows"> {} rows;
inline constexpr struct width : mt::dim<"width", 8> {} width;
inline constexpr struct inner : mt::dim<"inner", 512> {} inner;
inline constexpr struct blocks : mt::dim<"blocks", 4> {} blocks;
inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model"> {} model;

struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<rows, data>, mt::shard<inner, model>> {};

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, rows, width);
    auto y = repeat(s / "blocks", blocks, x, [](mt::scope auto r, auto h) {
      auto up = r.parameter("up", width, inner, mt::normal(0.3));
      auto down = r.parameter("down", inner, width);
      return h + einsum(tanh(einsum(h, up, mt::to(rows, inner))), down, mt::to(rows, width));
    });
    auto loss = mean(y * y);
    s.output("loss", loss);
    mt::adam{.learning_rate = 0.05}.minimize(s / "optimizer", loss);
  }
};

struct spent {
  double step = 0, exposed = 0, network = 0;
};
/// Seconds of a step.
spent of(std::int64_t on_data, std::int64_t on_model, std::vector<mt::link> links) {
  auto const job = mt::simulated(links);
  mt::store weights(job);
  mt::executable<step, mesh, layout, mt::reference_device> run(weights, rows(2 * on_data), data(on_data),
                                                               model(on_model));
  std::vector<float> x(static_cast<std::size_t>(16 * on_data), 0.5F);
  auto const& modelled = dynamic_cast<mt::simulated_runner const&>(job.get());
  run.record();
  run(mt::feed<"x">(x));
  mt::timeline const& t = *run.recorded()[0];
  CHECK(static_cast<double>(t.step_time()) * 1e-9 >= mt::exposed_communication(run.graph(), t));
  double const network = modelled.communicated();
  mt::predicted_step const predicted = mt::predict(run, links, {1e9, 1e9});
  CHECK(predicted.communicated == doctest::Approx(network));
  CHECK(predicted.seconds == doctest::Approx(predicted.computed + predicted.exposed));
  if (network > 10) {  // beside which kernels take no time
    CHECK(predicted.seconds == doctest::Approx(static_cast<double>(t.step_time()) * 1e-9).epsilon(0.01));
    CHECK(predicted.exposed == doctest::Approx(mt::exposed_communication(run.graph(), t)).epsilon(0.01));
  }
  return {static_cast<double>(t.step_time()) * 1e-9, mt::exposed_communication(run.graph(), t),
          modelled.communicated()};
}

}  // namespace

TEST_CASE("a collective takes its messages, one after the other, and its bytes") {
  mt::link const l{"data", 100, 2};
  mt::collective_call call;
  call.dims = 1, call.extent[0] = 4096;
  CHECK(mt::seconds_of(l, call, 1) == 0);
  CHECK(mt::seconds_of(l, call, 8) == doctest::Approx(2 * 3 * 100 + 2 * 7 * 512 * 4 / 2.0));
  CHECK(mt::seconds_of(l, call, 5) > mt::seconds_of(l, call, 4));
  call.extent[0] = 1;
  CHECK(mt::seconds_of(l, call, 8) == doctest::Approx(3 * 100 + 3 * 4 / 2.0));
  CHECK(mt::seconds_of(l, call, 6) == doctest::Approx(4 * 100 + 3 * 4 / 2.0));
  CHECK(mt::seconds_of(l, call, 512) == doctest::Approx(9 * 100 + 9 * 4 / 2.0));
  call.kind = mt::collective::all_gather, call.join = 0;
  CHECK(mt::seconds_of(l, call, 512) == doctest::Approx(9 * 100 + 511 * 4 / 2.0));
}

TEST_CASE("of 8, 64 and 512 processors") {
  for (std::int64_t processors : {8, 64, 512}) {
    CAPTURE(processors);
    double const latency = 1000;
    spent const t = of(processors, 1, {{"data", latency, 1e30}, {"model", latency, 1e30}});
    // Of each of four layers both matrices as one, by parts; the loss. One axis carries one after the other.
    double const levels = std::log2(static_cast<double>(processors));
    CHECK(t.network == doctest::Approx((2 * 4 + 1) * levels * latency));
    CHECK(t.step == doctest::Approx(t.network).epsilon(0.01));
    CHECK(t.exposed == doctest::Approx(t.network).epsilon(0.01));
  }
}

TEST_CASE("what is computed meanwhile hides what travels") {
  spent const slow = of(8, 1, {{"data", 0, 1e3}, {"model", 0, 1e3}}),
              fast = of(8, 1, {{"data", 0, 1e15}, {"model", 0, 1e15}});
  CHECK(slow.network > 10);
  CHECK(slow.exposed <= 1.01 * slow.network);  // the clock also counts what starts the messages
  CHECK(fast.exposed < fast.step / 2);
}

TEST_CASE("a prediction hides what travels behind what is computed") {
  auto const predicted = [](double rate) {
    mt::draft<mt::executable<step, mesh, layout>> const plan(rows(16), data(8), model(1));
    return mt::predict(plan, {{"data", 0, 1e6}, {"model", 0, 1e6}}, {rate, rate});
  };
  mt::predicted_step const slow = predicted(1e3), fast = predicted(1e15);
  CHECK(slow.communicated == fast.communicated);
  CHECK(fast.seconds == doctest::Approx(fast.exposed).epsilon(0.01));
  CHECK(slow.exposed < slow.communicated / 2);
  CHECK(slow.seconds > slow.computed);
}

TEST_CASE("two axes are busy at the same time, one axis with one thing at a time") {
  spent const both = of(2, 2, {{"data", 1000, 1e30}, {"model", 1000, 1e30}});
  spent const data_alone = of(2, 2, {{"data", 1000, 1e30}, {"model", 0, 1e30}});
  spent const model_alone = of(2, 2, {{"data", 0, 1e30}, {"model", 1000, 1e30}});
  CHECK(both.network == doctest::Approx(data_alone.network + model_alone.network));
  CHECK(both.step < both.network * 0.99);
  CHECK(both.step > data_alone.step * 0.99);
}

TEST_CASE("an axis without a link is named, and a link that carries nothing") {
  for (std::vector<mt::link> const& links :
       {std::vector<mt::link>{{"data", 1e-6, 1e9}}, std::vector<mt::link>{{"data", 1e-6, 1e9}, {"model", 1e-6}}}) {
    std::string code, text;
    try {
      of(2, 2, links);
    } catch (mt::error const& e) { code = e.code(), text = e.what(); }
    CHECK(code == "R28");
    CHECK(text.find("'model'") != std::string::npos);
  }
}

namespace {

struct by_layer : mt::layout<mt::shard<rows, data>, mt::shard<blocks, data>> {};

}  // namespace

TEST_CASE("layers that other processors hold take the time of their way, and no address") {
  auto const job = mt::simulated({{"data", 1, 1e30}, {"model", 1, 1e30}});
  mt::store weights(job);
  mt::executable<step, mesh, by_layer> run(weights, rows(8), data(4), model(1));
  std::vector<float> const x(64, 0.5F);
  auto const& modelled = dynamic_cast<mt::simulated_runner const&>(job.get());
  run(mt::feed<"x">(x));
  double const once = modelled.communicated();
  CHECK(once > 10);
  run(mt::feed<"x">(x));
  CHECK(modelled.communicated() == doctest::Approx(2 * once));
}
