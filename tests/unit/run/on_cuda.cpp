// SPDX-License-Identifier: Apache-2.0
// Programs on mt::cuda_device: the losses and parameters of plain loops, under several layouts, with kernels that the
// host's compiler makes.
// passes: start-up
// part: cuda
#include <doctest/doctest.h>

#include <cmath>

#include "meshtensor/device/cuda/device.hpp"
#include "meshtensor/inspect/profile.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/early_loops.hpp"
#include "support/host_gpu.hpp"
#include "support/programs.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};
struct whole : mt::layout<> {};
struct by_batch : mt::layout<mt::shard<programs::batch, data>> {};
struct by_width : mt::layout<mt::shard<programs::inner, model>, mt::shard<programs::vocab, data>> {};
struct by_both : mt::layout<mt::shard<programs::batch, data>, mt::shard<programs::inner, model>> {};

template <class T>
std::vector<T> waves(std::int64_t count, double pace) {
  std::vector<T> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<T>(std::sin(pace * static_cast<double>(i) + 0.3));
  return all;
}
std::vector<std::int32_t> labels(std::int64_t count, std::int32_t classes) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i * 7 % 5) % classes;
  return all;
}

using classifier = mt::precision<programs::classifier, mt::f64>;
template <class Device, class Layout>
std::vector<double> train(mt::store& weights, int data_size, int model_size, int steps) {
  mt::executable<classifier, mesh, Layout, Device> step(weights, data(data_size), model(model_size));
  auto const x = waves<double>(24 * 12, 0.7);
  auto const label = labels(24, 12);
  std::vector<double> all;
  for (int i = 0; i < steps; ++i)
    all.push_back(
        step(mt::feed<"x">(x), mt::feed<"label">(label), mt::set<"rate">(0.1 + 0.02 * i)).template get<"loss">());
  auto const gain = weights.get<double>("norm/gain");
  for (std::int64_t i = 0; i < gain.size(); ++i) all.push_back(gain.data()[i]);
  return all;
}

template <class Layout>
void same_as_plain_loops(int data_size, int model_size) {
  mt::job const job = mt::job::in_lockstep();
  mt::store ours(job), theirs(job);
  auto const wanted = train<mt::reference_device, Layout>(ours, data_size, model_size, 6);
  auto const got = train<mt::cuda_device, Layout>(theirs, data_size, model_size, 6);
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - wanted[i]) < 1e-12);
}

/// A key-value cache: one position more in each step, so that a recording holds for one step only.
inline constexpr struct place : mt::dim<"place", 6> {} place;
inline constexpr struct width : mt::dim<"width", 4> {} width;
struct remembers {
  constexpr void operator()(mt::scope auto s) const {
    auto kept = s.state("kept", mt::f32, place, width);
    auto next = put(kept, s.input("x", mt::f32, width), place, s.step());
    s.update(kept, next);
    s.output("sum", sum(next, place));
  }
};
struct alone : mt::mesh<> {};
struct plain : mt::layout<> {};

/// The GPU of a test.
struct stand_in {
  meshtensor_test::host_gpu gpu;
  stand_in() { mt::cuda::given_gpu() = &gpu; }
  ~stand_in() { mt::cuda::given_gpu() = nullptr; }
};

}  // namespace

TEST_CASE("dropout, norms, AdamW and clipping: the losses and parameters of plain loops") {
  stand_in here;
  same_as_plain_loops<whole>(1, 1);
  same_as_plain_loops<by_batch>(4, 1);
  same_as_plain_loops<by_width>(2, 2);
  same_as_plain_loops<by_both>(2, 2);
  // Of six steps the first is given order by order, the second captured, and that and the others replayed.
  CHECK(here.gpu.recordings == 4);
  CHECK(here.gpu.replays == 4 * 5);
  CHECK(here.gpu.loads == 4);
  CHECK(here.gpu.blocks() == 0);
  CHECK(here.gpu.host_blocks() == 0);
  CHECK(here.gpu.loaded == 0);
}

TEST_CASE("values stay on the GPU until somebody else asks for them") {
  stand_in here;
  mt::job const job = mt::job::in_lockstep();
  mt::store turns(job), alone_store(job);
  auto const wanted = train<mt::reference_device, by_both>(alone_store, 2, 2, 6);
  train<mt::cuda_device, by_both>(turns, 2, 2, 2);
  long const uploads = here.gpu.uploads, downloads = here.gpu.downloads;
  train<mt::reference_device, by_both>(turns, 2, 2, 2);
  CHECK(here.gpu.uploads == uploads);
  CHECK(here.gpu.downloads > downloads);
  auto const got = train<mt::cuda_device, by_both>(turns, 2, 2, 2);
  CHECK(here.gpu.uploads > uploads);
  // The rate of a step depends on its number within `train`, so it is the gain that counts its steps.
  CHECK(got.size() == wanted.size() - 4);
  CHECK(turns.step() == 6);
}

TEST_CASE("what is set by the user is there in the next step") {
  stand_in here;
  mt::job const job = mt::job::in_lockstep();
  mt::store ours(job), theirs(job);
  auto const run = [](auto device, mt::store& weights) {
    mt::executable<classifier, mesh, by_batch, decltype(device)> step(weights, data(2), model(1));
    auto const x = waves<double>(24 * 12, 0.7);
    auto const label = labels(24, 12);
    std::vector<double> all;
    for (int i = 0; i < 6; ++i) {
      if (i == 3) {
        auto gain = weights.get<double>("norm/gain");
        for (std::int64_t k = 0; k < gain.size(); ++k) gain.data()[k] = 0.5;
        weights.set("norm/gain", gain);
      }
      all.push_back(step(mt::feed<"x">(x), mt::feed<"label">(label), mt::set<"rate">(0.1)).template get<"loss">());
    }
    return all;
  };
  auto const wanted = run(mt::reference_device{}, ours), got = run(mt::cuda_device{}, theirs);
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - wanted[i]) < 1e-12);
  CHECK(here.gpu.recordings == 1);  // it is copied to where it was
}

TEST_CASE("a place that changes from step to step is recorded anew") {
  stand_in here;
  mt::job const job = mt::job::in_lockstep();
  mt::store ours(job), theirs(job);
  mt::executable<remembers, alone, plain, mt::cuda_device> step(ours);
  mt::executable<remembers, alone, plain> other(theirs);
  for (int i = 0; i < 4; ++i) {
    std::vector<float> const x{1.0f, 2.0f * static_cast<float>(i), -1.0f, 0.5f};
    auto const got = step(mt::feed<"x">(x)).get<"sum">().gather();
    auto const wanted = other(mt::feed<"x">(x)).get<"sum">().gather();
    for (std::int64_t k = 0; k < 4; ++k) CHECK(got.data()[k] == wanted.data()[k]);
  }
  CHECK(here.gpu.replays == 0);
}

TEST_CASE("loops that may end early: iterations are captured when they have run once") {
  mt::job const job = mt::job::in_lockstep();
  auto const plain_steps = [](auto&, int) {};
  auto const hold = [&]<class Program>(Program) {
    auto const run = [&](auto device) {
      return early_loops::all_steps<Program, early_loops::by_both, decltype(device)>(job, 2, 2, plain_steps);
    };
    auto const wanted = run(mt::reference_device{});
    stand_in here;
    auto const got = run(mt::cuda_device{});
    REQUIRE(got.size() == wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - wanted[i]) < 1e-11);
    CHECK(here.gpu.blocks() == 0);
    CHECK(here.gpu.host_blocks() == 0);
    return std::pair(here.gpu.recordings, here.gpu.replays);
  };
  auto const [recordings, replays] = hold(early_loops::one());
  // Steps with 2, 0, 3, 1, 4, 4, 2, 4 and 0 iterations. The three parts around both loops are given order by order in
  // the first step, each iteration, forwards and backwards, in the first step in which it runs.
  CHECK(recordings == 3 + 2 * 4);
  CHECK(replays == 3 * 8 + 2 * ((7 - 1) + (6 - 1) + (4 - 1) + (3 - 1)));
  hold(early_loops::nested());
  hold(early_loops::in_layers());
}

TEST_CASE("an operation that does not run there is refused with its line") {
  stand_in here;
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  try {
    mt::executable<programs::choosing, mesh, whole, mt::cuda_device> step(weights, data(1), model(1));
    FAIL("nothing was refused");
  } catch (mt::error const& e) {
    CHECK(e.code() == "R84");
    CHECK(e.sentence().find("call of a C++ function (") == 0);
    CHECK(e.sentence().find(".hpp:") != std::string::npos);
  }
  CHECK(here.gpu.blocks() == 0);
}

TEST_CASE("a profile has the time of each node") {
  stand_in here;
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<classifier, mesh, whole, mt::cuda_device> step(weights, data(1), model(1));
  auto const x = waves<double>(24 * 12, 0.7);
  auto const label = labels(24, 12);
  double const first = step(mt::feed<"x">(x), mt::feed<"label">(label), mt::set<"rate">(0.1)).get<"loss">();
  step.record();
  double const second = step().get<"loss">();
  CHECK(mt::profile(step).find("einsum") != std::string::npos);
  step.record(false);
  double const third = step().get<"loss">();
  CHECK(second < first);
  CHECK(third < second);
}
