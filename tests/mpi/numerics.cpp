// SPDX-License-Identifier: Apache-2.0
// What is not finite on one rank: that rank says which value it is, and no rank goes on. A loss that is wrong on one
// rank is wrong on all. A signal that one rank gets stops all at one step.
// passes: start-up
// ranks: 2 3
#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "meshtensor/meshtensor.hpp"
#include "meshtensor/train/loss_guard.hpp"
#include "meshtensor/train/stop_request.hpp"
#include "ranks.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct batch : mt::dim<"batch", 12> {} batch;
inline constexpr struct width : mt::dim<"width", 4> {} width;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>> {};

constexpr int line_of_root = __LINE__ + 4;
struct train {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, width);
    auto const root = sqrt(x) * s.parameter("w", width, mt::ones);
    auto const loss = mean(root);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

int last() { return ranks::count() - 1; }

}  // namespace

TEST_CASE("a value that one rank has: it is named there, and the others are told, soon") {
  mt::job const job(MPI_COMM_WORLD);
  mt::store weights(job);
  mt::executable<train, mesh, layout, mt::reference_device> step(weights, data(ranks::count()));
  step.check_numerics();
  std::vector<float> x(48, 4);
  step(mt::feed<"x">(x));
  MPI_Barrier(MPI_COMM_WORLD);  // a rank that is still in this step would be told in it
  x[47] = -4;                   // the last rank's
  auto const begin = std::chrono::steady_clock::now();
  std::string said;
  try {
    step(mt::feed<"x">(x));
    // Numbers of this rank alone may be through before the other's word comes: then the next step has it.
    if (ranks::rank() != last()) step(mt::feed<"x">(x));
  } catch (mt::error const& e) { said = e.what(); }
  std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - begin;
  INFO(said);
  std::string const named = "R32: sqrt (numerics.cpp:" + std::to_string(line_of_root) +
                            ") gives f32[batch/data, width]: 1 of " + std::to_string(48 / ranks::count()) +
                            " elements are not finite, the first is nan, at batch=11, width=3 on rank " +
                            std::to_string(last()) + " in step 1";
  CHECK(said.find(named) != std::string::npos);
  CHECK(said.starts_with(ranks::rank() == last() ? "meshtensor R32: " : "meshtensor R21: rank "));
  MESSAGE("rank " << ranks::rank() << " knew after " << taken.count() << " s");
}

TEST_CASE("a loss that is wrong on one rank") {
  mt::job const job(MPI_COMM_WORLD);
  mt::loss_guard is_wrong(job, {.factor = 10, .last = 3});
  double const mine = ranks::rank();
  for (int i = 0; i < 3; ++i) CHECK_FALSE(is_wrong(1 + mine));
  CHECK_FALSE(is_wrong(9));
  CHECK(is_wrong(ranks::rank() == last() ? std::numeric_limits<double>::quiet_NaN() : 1));
  CHECK(is_wrong.reason() == "the loss is not finite");
  CHECK(is_wrong(ranks::rank() == 0 ? 1e6 : 1));
  CHECK(is_wrong.reason().starts_with("the loss of 1000000.000000 is far above "));
  CHECK_FALSE(is_wrong(2));
}

TEST_CASE("a signal that one rank gets is one for all, at one step") {
  mt::job const job(MPI_COMM_WORLD);
  for (int who : {0, last()}) {
    mt::stop_request stop(job);
    int step = 0;
    for (; step < 50 && !stop(); ++step)
      if (step == 10 && ranks::rank() == who) std::raise(who == 0 ? SIGTERM : SIGUSR1);
    CHECK(step == 11);
    CHECK(stop.reason() == std::string(who == 0 ? "SIGTERM" : "SIGUSR1"));
  }
  mt::stop_request stop(job, {.seconds = ranks::rank() == last() ? 0.05 : 3600});
  std::int64_t steps = 0;
  while (!stop()) std::this_thread::sleep_for(std::chrono::milliseconds(1)), ++steps;
  mt::agreement greatest(job);
  CHECK(greatest(static_cast<double>(steps)) == static_cast<double>(steps));
  CHECK(stop.reason() == std::string("the time limit"));
}
