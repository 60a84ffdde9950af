// SPDX-License-Identifier: Apache-2.0
// Steps of replicas with a clock for each rank: pauses, slow ranks, messages between neighbours, shared links.
// passes: start-up
#include "meshtensor/inspect/predict_ranks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "meshtensor/inspect/explain.hpp"
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/regime/regime.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct in_dim : mt::dim<"in", 256> {} in;
inline constexpr struct out_dim : mt::dim<"out", 256> {} out;
inline constexpr struct ranks_axis : mt::axis<"ranks"> {} ranks;
template <int N>
struct replica_dim : mt::dim<"replica", N> {};
struct mesh : mt::mesh<ranks> {};

struct fusing_device : mt::reference_device {
  static constexpr mt::device_capabilities capabilities{true};
};

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const h = einsum(s.input("x", mt::f32, batch, in), s.parameter("w", in, out), mt::to(batch, out));
    auto const error = h - s.input("y", mt::f32, batch, out);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", mean(error * error));
  }
};
struct nothing {};

template <int N, class Policy>
using step_of = mt::executable<mt::replicas<train_step, replica_dim<N>{}, Policy>, mesh,
                               mt::over_replicas<mt::layout<>, replica_dim<N>{}, ranks>, fusing_device>;
template <int N, class Policy>
mt::draft<step_of<N, Policy>> planned(std::int64_t p = N) {
  return mt::draft<step_of<N, Policy>>(ranks(p));
}

constexpr double parameter_bytes = 256 * 256 * 4;
mt::rates const processor{1e9, 1e9};
mt::network network_of(double latency, double bytes_per_second) { return {{{"ranks", latency, bytes_per_second}}}; }

}  // namespace

TEST_CASE("a rank alone has the clock of the prediction of one step") {
  auto const step = planned<1, mt::synchronous>();
  mt::predicted_step const one = mt::predict(step, {{"ranks", 1e-6, 1e9}}, processor);
  mt::predicted_run const run = mt::predict(step, network_of(1e-6, 1e9), processor, 3);
  CHECK(run.ranks[0].seconds == doctest::Approx(3 * one.seconds));
  MESSAGE(one.seconds);
}

TEST_CASE("playground") {
  auto show = [](char const* what, auto const& step) {
    MESSAGE(what << "\n" << mt::instructions(step));
    mt::predicted_run const r = mt::predict(step, network_of(1e-6, 1e9), processor, 8);
    for (auto const& k : r.ranks)
      MESSAGE(k.seconds << " computed " << k.computed << " communicated " << k.communicated << " exposed "
                        << k.exposed);
  };
  show("sync", planned<4, mt::synchronous>());
  show("push", planned<4, mt::stochastic_gradient_push<>>());
  show("overlapped", planned<4, mt::overlapped_gradient_push<>>());
  show("local", planned<4, mt::local_sgd<4>>());
}
