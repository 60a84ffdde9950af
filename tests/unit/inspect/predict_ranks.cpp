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
template <int N>
struct replica_number : mt::dim<"replica_number", N> {};
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
mt::network const fast = network_of(0, 1e15);

/// The mean of what the ranks communicated.
double communicated(mt::predicted_run const& run) {
  double all = 0;
  for (mt::predicted_rank const& r : run.ranks) all += r.communicated;
  return all / static_cast<double>(run.ranks.size());
}
/// The share of its time that a training gains by nothing: by how much it takes longer than without pauses.
template <class Step>
double lost(Step const& step, std::int64_t steps, mt::stragglers const& pauses) {
  return mt::predict(step, fast, processor, steps, pauses).seconds / mt::predict(step, fast, processor, steps).seconds -
         1;
}
/// The steps before which at least one rank pauses.
std::int64_t with_pauses(int count_of_ranks, std::int64_t steps, mt::stragglers const& pauses) {
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < steps; ++k) {
    bool one = false;
    for (int r = 0; r < count_of_ranks; ++r) one = one || pauses.pauses(k, r);
    count += one;
  }
  return count;
}

/// Rows go where an input says, so that no number of the step tells it.
struct sources_from_input {
  constexpr void operator()(mt::scope auto s) const {
    constexpr replica_dim<4> of_four{};
    auto const x = s.input("x", mt::f32, of_four, in);
    s.output("y", permute(x, of_four, s.input("sources", mt::i32, of_four)));
  }
};
/// The same with sources that follow from the number of the step. The branch is taken in every second step.
struct sources_from_step {
  constexpr void operator()(mt::scope auto s) const {
    constexpr replica_dim<4> of_four{};
    auto const x = s.input("x", mt::f32, of_four, in);
    auto const onward = (iota(s, of_four, mt::i64) + 1) % full(s, 4, mt::i64);
    auto const y = cond(
        s, full(s, s.step() % 2, mt::f64) == 0, [&](mt::scope auto) { return permute(x, of_four, onward); },
        [&](mt::scope auto) { return x; });
    s.output("y", y);
  }
};
/// A round of a topology in which the number of the round comes from an input or from the step.
template <bool FromInput>
struct hop_of {
  constexpr void operator()(mt::scope auto s) const {
    constexpr replica_dim<4> of_four{};
    constexpr replica_number<4> also_four{};
    auto const x = tanh(s.input("x", mt::f32, of_four, in));
    auto const before = (iota(s, also_four, mt::i64) + full(s, 3, mt::i64)) % full(s, 4, mt::i64);
    if constexpr (FromInput) s.output("y", permute(x, of_four, before + s.input("round", mt::i64)));
    else s.output("y", permute(x, of_four, before));
  }
};
template <class Program>
mt::draft<mt::executable<Program, mesh, mt::layout<mt::shard<replica_dim<4>{}, ranks>>, fusing_device>> on_four() {
  return mt::draft<mt::executable<Program, mesh, mt::layout<mt::shard<replica_dim<4>{}, ranks>>, fusing_device>>(
      ranks(4));
}

inline constexpr struct examples_dim : mt::dim<"examples"> {} examples;
inline constexpr struct copy_dim : mt::dim<"copy"> {} copy;
inline constexpr struct layers_dim : mt::dim<"layers", 8> {} layers;
inline constexpr mt::layer narrow_layer = [](mt::scope auto s, auto h) {
  auto const w = s.parameter("w", in, out);
  return rename(tanh(einsum(h, w, mt::to(examples, out))), out, in);
};
/// Four layers, one after the other.
struct deep_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const first = narrow_layer(s / "first", s.input("x", mt::f32, examples, in));
    auto const third = narrow_layer(s / "third", narrow_layer(s / "second", first));
    auto const last = narrow_layer(s / "fourth", third);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", mean(last * last));
  }
};
/// Eight layers, as a loop.
struct looped_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const last = repeat(s / "layers", layers, s.input("x", mt::f32, examples, in),
                             [](mt::scope auto b, auto h) { return narrow_layer(b / "layer", h); });
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", mean(last * last));
  }
};
template <class Step>
using step_of_one_model = mt::executable<Step, mesh, mt::layout<mt::shard<examples, ranks>>, fusing_device>;
template <class Step>
using step_of_equal_copies = mt::executable<mt::replicas<Step, copy, mt::synchronous>, mesh,
                                            mt::over_replicas<mt::layout<>, copy, ranks>, fusing_device>;

template <class F>
std::string error_of(F const& f) {
  try {
    f();
  } catch (mt::error const& e) { return e.what(); }
  return "";
}

}  // namespace

TEST_CASE("a rank alone has the clock of the prediction of one step") {
  auto const step = planned<1, mt::synchronous>();
  mt::predicted_step const one = mt::predict(step, {{"ranks", 1e-6, 1e9}}, processor);
  mt::predicted_run const run = mt::predict(step, network_of(1e-6, 1e9), processor, 3);
  REQUIRE(run.ranks.size() == 1);
  CHECK(run.seconds == doctest::Approx(3 * one.seconds));
  CHECK(run.ranks[0].computed == doctest::Approx(3 * one.computed));
  REQUIRE(run.ranks[0].ended.size() == 3);
  for (std::size_t k = 0; k < 3; ++k) CHECK(run.ended(k) == doctest::Approx(static_cast<double>(k + 1) * one.seconds));
}

TEST_CASE("ranks that are alike have the clock of the first one") {
  auto const step = planned<8, mt::synchronous>();
  mt::predicted_step const one = mt::predict(step, {{"ranks", 1e-6, 1e9}}, processor);
  mt::predicted_run const run = mt::predict(step, network_of(1e-6, 1e9), processor, 5);
  for (mt::predicted_rank const& r : run.ranks) {
    CHECK(r.seconds == doctest::Approx(5 * one.seconds));
    CHECK(r.communicated == doctest::Approx(5 * one.communicated));
    CHECK(r.exposed == doctest::Approx(5 * one.exposed));
    CHECK(r.seconds == doctest::Approx(r.computed + r.paused + r.exposed));
  }
}

TEST_CASE("where bytes count, an all_reduce takes 2 (p - 1) / p of a push") {
  mt::network const slow = network_of(0, 1e6);
  double const push = communicated(mt::predict(planned<4, mt::stochastic_gradient_push<>>(), slow, processor, 6));
  double const all = communicated(mt::predict(planned<4, mt::synchronous>(), slow, processor, 6));
  CHECK(all / push == doctest::Approx(1.5).epsilon(1e-3));
  CHECK(push == doctest::Approx(6 * (parameter_bytes + 4) / 1e6));
  // One replica in two is on the same rank: of each period of three rounds, one brings a row and two bring two.
  double const two_each = communicated(mt::predict(planned<8, mt::stochastic_gradient_push<>>(4), slow, processor, 6));
  CHECK(two_each == doctest::Approx(10 * (parameter_bytes + 4) / 1e6));
}

TEST_CASE("a message takes its latency and its bytes, and a link carries one at a time") {
  mt::network slow = network_of(0.25, 1e6);
  double const of_parameters = parameter_bytes / 1e6, of_weight = 4e-6;
  // The weight and the parameters are one message to each rank.
  CHECK(communicated(mt::predict(planned<4, mt::stochastic_gradient_push<>>(), slow, processor, 1)) ==
        doctest::Approx(0.25 + of_parameters + of_weight));
  // On the ring of 4, both neighbours send to each rank at the same time.
  auto const ring = planned<4, mt::stochastic_gradient_push<mt::ring>>();
  mt::rates const at_once{1e18, 1e18};
  CHECK(mt::predict(ring, slow, at_once, 1).seconds == doctest::Approx(0.25 + 2 * (of_parameters + of_weight)));
  slow.shared = {"ranks"};
  CHECK(mt::predict(ring, slow, at_once, 1).seconds == doctest::Approx(0.25 + 8 * (of_parameters + of_weight)));
  auto const reduced = planned<4, mt::synchronous>();
  mt::network own = network_of(0, 1e6), shared = own;
  shared.shared = {"ranks"};
  CHECK(mt::predict(reduced, shared, at_once, 1).seconds ==
        doctest::Approx(4 * mt::predict(reduced, own, at_once, 1).seconds));
}

TEST_CASE("a rank that is late keeps those waiting to whom it sends") {
  auto const step = planned<4, mt::stochastic_gradient_push<>>();
  double const one = mt::predict(step, fast, processor, 1).seconds, late = 100 * one;
  mt::stragglers const first_is_slow{.speeds = {0.01, 1, 1, 1}};
  mt::predicted_run const run = mt::predict(step, fast, processor, 2, first_is_slow);
  auto const ended = [&](std::size_t rank, std::size_t k) { return run.ranks[rank].ended[k]; };
  // In the first round, each gets a message from the rank before it. So only rank 1 waits for rank 0.
  CHECK(ended(0, 0) == doctest::Approx(late));
  CHECK(ended(1, 0) > 0.6 * late);
  CHECK(ended(2, 0) == doctest::Approx(one));
  CHECK(ended(3, 0) == doctest::Approx(one));
  // In the second one, from the rank two before it: 2 waits for 0, and 3 waits for 1, which is late by one step.
  CHECK(ended(0, 1) == doctest::Approx(2 * late));
  CHECK(ended(1, 1) < 1.2 * late);
  CHECK(ended(2, 1) > 1.6 * late);
  CHECK(ended(3, 1) > 0.6 * late);
  CHECK(ended(3, 1) < 1.2 * late);
  CHECK(run.ended(1) == run.seconds);
  // If sends wait for receivers, rank 3 waits until rank 0 has begun to receive.
  mt::network waits = fast;
  waits.sends_wait = true;
  CHECK(mt::predict(step, waits, processor, 1, first_is_slow).ranks[3].seconds > 0.6 * late);
  // All wait for rank 0 in each step of synchronous training.
  auto const reduced = planned<4, mt::synchronous>();
  mt::predicted_run const together = mt::predict(reduced, fast, processor, 2, first_is_slow);
  for (mt::predicted_rank const& r : together.ranks) CHECK(r.seconds > 0.8 * together.seconds);
  CHECK(together.ranks[1].exposed > 0.8 * together.seconds);
  CHECK(together.ranks[1].computed == doctest::Approx(together.ranks[0].computed / 100));
}

TEST_CASE("pauses of one in a hundred steps cost 32 ranks a quarter of their time, and hardly an overlapped push") {
  mt::stragglers const pauses{.probability = 0.01, .steps = 1};
  std::int64_t const steps = 1500;
  double const synchronous = lost(planned<32, mt::synchronous>(), steps, pauses);
  CHECK(synchronous == doctest::Approx(static_cast<double>(with_pauses(32, steps, pauses)) / steps).epsilon(0.01));
  CHECK(synchronous == doctest::Approx(1 - std::pow(0.99, 32)).epsilon(0.12));
  double const push = lost(planned<32, mt::stochastic_gradient_push<>>(), steps, pauses);
  double const overlapped = lost(planned<32, mt::overlapped_gradient_push<>>(), steps, pauses);
  double const local = lost(planned<32, mt::local_sgd<16>>(), steps, pauses);
  MESSAGE("lost: synchronous " << synchronous << ", push " << push << ", overlapped " << overlapped << ", local "
                               << local);
  CHECK(overlapped < synchronous / 3);
  CHECK(push < synchronous);
  CHECK(local < synchronous);
}

TEST_CASE("a branch counts in the steps that take it") {
  mt::network const slow = network_of(0, 1e6);
  auto const step = planned<4, mt::local_sgd<4>>();
  double const once = communicated(mt::predict(planned<4, mt::synchronous>(), slow, processor, 1));
  CHECK(communicated(mt::predict(step, slow, processor, 3)) == 0);
  CHECK(communicated(mt::predict(step, slow, processor, 4)) == doctest::Approx(once));
  CHECK(communicated(mt::predict(step, slow, processor, 11)) == doctest::Approx(2 * once));
  double const one_clock = mt::predict(step, slow.links, processor).communicated;  // counts both branches
  CHECK(one_clock == doctest::Approx(once));
  auto const moved = on_four<sources_from_step>();
  double const row_and_sources = (1024 + 3 * 8) / 1e6;
  CHECK(communicated(mt::predict(moved, slow, processor, 1)) == doctest::Approx(row_and_sources));
  CHECK(communicated(mt::predict(moved, slow, processor, 8)) == doctest::Approx(4 * row_and_sources));
}

namespace {
/// Every fifth step validates, which costs more than the step.
struct sometimes_validates {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, in);
    auto const validated = cond(
        s / "validate", full(s, s.step() % 5, mt::f64) == 4,
        [&](mt::scope auto b) { return sum(einsum(x, b.parameter("w", in, out), mt::to(batch, out))); },
        [](mt::scope auto b) { return full(b, 0, mt::f32); });
    s.output("y", sum(x) + validated);
  }
};
}  // namespace
TEST_CASE("a pause of one step is as long as the step before which it comes") {
  mt::draft<mt::executable<sometimes_validates, mesh, mt::layout<>, fusing_device>> const step(ranks(2));
  auto const plain = mt::predict(step, fast, processor, 20);
  auto const paused = mt::predict(step, fast, processor, 20, {.probability = 1, .steps = 1});
  CHECK(paused.ranks[0].paused == doctest::Approx(plain.ranks[0].computed));
  double const of_first = plain.ended(0), of_validation = plain.ended(4) - plain.ended(3);
  CHECK(of_validation > 2 * of_first);
  CHECK(paused.ended(0) == doctest::Approx(2 * of_first).epsilon(0.01));
  CHECK(paused.ended(4) - paused.ended(3) == doctest::Approx(2 * of_validation).epsilon(0.01));
}
TEST_CASE("without known sources, each rank waits for all others") {
  mt::predicted_run const run = mt::predict(on_four<sources_from_input>(), network_of(0, 1e6), processor, 1);
  double const row_and_sources = (1024 + 3 * 4) / 1e6;
  CHECK(communicated(run) == doctest::Approx(row_and_sources));
  CHECK(mt::predict(on_four<sources_from_input>(), {{"ranks", 0, 1e6}}, processor).communicated ==
        doctest::Approx(row_and_sources));
}

TEST_CASE("unknown sources hold up a rank that gets nothing from the late one") {
  mt::stragglers const first_is_slow{.speeds = {1e-3, 1, 1, 1}};
  auto const of = [&](auto const& step) { return mt::predict(step, fast, processor, 1, first_is_slow); };
  mt::predicted_run const known = of(on_four<hop_of<false>>()), unknown = of(on_four<hop_of<true>>());
  CHECK(known.ranks[1].seconds > 0.5 * known.seconds);
  CHECK(known.ranks[2].seconds < 0.01 * known.seconds);
  CHECK(unknown.ranks[2].seconds > 0.5 * unknown.seconds);
}

TEST_CASE("runs are the same again, and another seed pauses other ranks") {
  auto const step = planned<4, mt::stochastic_gradient_push<>>();
  auto const seconds = [&](std::uint64_t seed) {
    std::vector<double> all;
    mt::stragglers const slow{.speeds = {1, 0.9, 1, 1}, .probability = 0.2, .seconds = 1e-3, .seed = seed};
    for (mt::predicted_rank const& r : mt::predict(step, network_of(1e-5, 1e8), processor, 50, slow).ranks) {
      all.insert(all.end(), r.ended.begin(), r.ended.end());
      CHECK(r.seconds == doctest::Approx(r.computed + r.paused + r.exposed));
    }
    return all;
  };
  CHECK(seconds(1) == seconds(1));
  CHECK(seconds(1) != seconds(2));
}

TEST_CASE("an impossible network, speed or pause is refused") {
  auto const step = planned<4, mt::synchronous>();
  auto const refused = [&](mt::network const& n, mt::rates const& best, std::int64_t steps,
                           mt::stragglers const& slow) {
    return error_of([&] { mt::predict(step, n, best, steps, slow); });
  };
  CHECK(refused({}, processor, 1, {}).find("R28: the mesh axis 'ranks' has no link") != std::string::npos);
  CHECK(refused(network_of(0, 0), processor, 1, {}).find("carries no bytes") != std::string::npos);
  for (double const latency : {std::nan(""), HUGE_VAL, -1.0})
    CHECK(refused(network_of(latency, 1e9), processor, 1, {}).find("a latency of ") != std::string::npos);
  CHECK(refused(fast, {0, 1e9}, 1, {}).find("R28: a processor needs rates above 0") != std::string::npos);
  CHECK(refused(fast, processor, -1, {}).find("R28: a prediction of -1 steps") != std::string::npos);
  CHECK(refused({fast.links, {"data"}}, processor, 1, {}).find("has no such axis") != std::string::npos);
  CHECK(refused(fast, processor, 1, {.speeds = {1, 1}}).find("has 4 ranks, but 2 speeds") != std::string::npos);
  CHECK(refused(fast, processor, 1, {.speeds = {1, 1, 0, 1}}).find("speed of rank 2 is 0") != std::string::npos);
  CHECK(refused(fast, processor, 1, {.probability = 1.5}).find("pause is 1.5: give a number from 0 to 1") !=
        std::string::npos);
  CHECK(refused(fast, processor, 1, {.steps = -1}).find("a pause of 0 seconds and -1 steps") != std::string::npos);
}

TEST_CASE_TEMPLATE("synchronous replicas hide their all_reduces as well as one model does", Step, deep_step,
                   looped_step) {
  for (int const n : {2, 4, 32, 512}) {
    CAPTURE(n);
    constexpr std::int64_t of_one = 1024;
    mt::draft<step_of_one_model<Step>> const whole(ranks(n), examples(n * of_one));
    mt::draft<step_of_equal_copies<Step>> const copies(ranks(n), copy(n), examples(of_one));
    mt::rates const quick{1e11, 1e12};
    // An all_reduce takes as long as half of a layer's gradients.
    double const layer = 4.0 * of_one * 256 * 256 / quick.flops;
    std::vector<mt::link> const links{{"ranks", 0, 2 * parameter_bytes / (layer / 2)}};
    mt::predicted_step const one = mt::predict(whole, links, quick), many = mt::predict(copies, links, quick);
    CHECK(many.communicated == doctest::Approx(one.communicated));
    CHECK(one.exposed < 0.5 * one.communicated);
    CHECK(many.exposed <= 1.05 * one.exposed);
    CHECK(many.seconds <= 1.01 * one.seconds);
    MESSAGE(n << " ranks: exposed " << 100 * many.exposed / many.seconds << " % of a step, as one model "
              << 100 * one.exposed / one.seconds << " %, time " << many.seconds / one.seconds);
  }
}
