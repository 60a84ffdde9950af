// SPDX-License-Identifier: Apache-2.0
// Programs on a device whose memory nobody else can touch and whose queues run late and out of order: the losses and
// parameters of plain loops, to the bit; and what a failure leaves behind.
// needs: io
// passes: start-up
#include <doctest/doctest.h>

#include <cmath>

#include "meshtensor/inspect/check.hpp"
#include "meshtensor/io/checkpoint.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/late_machine.hpp"
#include "support/programs.hpp"
#include "support/temporary_folder.hpp"

namespace mt = meshtensor;
using meshtensor_test::late_device;
using meshtensor_test::late_here;

static_assert(mt::device<late_device> && mt::recording_device<late_device> && !mt::host_device<late_device>);
static_assert(mt::device<mt::reference_device> && mt::host_device<mt::reference_device>);
static_assert(mt::queueing_machine<meshtensor_test::late_machine>);
static_assert(!mt::capturing_machine<meshtensor_test::late_machine>);
static_assert(!mt::device<int>);

namespace {

inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};
struct whole : mt::layout<> {};
struct by_batch : mt::layout<mt::shard<programs::batch, data>> {};
struct by_both : mt::layout<mt::shard<programs::batch, data>, mt::shard<programs::inner, model>> {};

using classifier = mt::precision<programs::classifier, mt::f64>;
std::vector<double> waves(std::size_t count, double pace) {
  std::vector<double> all(count);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::sin(pace * static_cast<double>(i) + 0.3);
  return all;
}
std::vector<std::int32_t> labels() {
  std::vector<std::int32_t> all(24);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i * 7 % 5);
  return all;
}

template <class Device, class Layout>
std::vector<double> train(mt::store& weights, int data_size, int model_size, int steps) {
  mt::executable<classifier, mesh, Layout, Device> step(weights, data(data_size), model(model_size));
  auto const x = waves(24 * 12, 0.7);
  auto const label = labels();
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
  auto const wanted = train<mt::reference_device, Layout>(ours, data_size, model_size, 4);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    late_here here(seed);
    mt::store late(job);
    CHECK(train<late_device, Layout>(late, data_size, model_size, 4) == wanted);
    CHECK(here.machine.out_of_order > 0);
    CHECK(here.machine.blocks() > 0);  // values of the store
  }
}

}  // namespace

TEST_CASE("training on a late device: the bits of plain loops") {
  same_as_plain_loops<whole>(1, 1);
  same_as_plain_loops<by_batch>(4, 1);
  same_as_plain_loops<by_both>(2, 2);
}

namespace {

/// Feeds and runs one step; its loss.
template <class Step>
double one_step(Step& step) {
  auto const x = waves(24 * 12, 0.7);
  auto const label = labels();
  return step(mt::feed<"x">(x), mt::feed<"label">(label), mt::set<"rate">(0.1)).template get<"loss">();
}
template <class Device>
using training = mt::executable<classifier, mesh, by_both, Device>;

}  // namespace

TEST_CASE("memory of a parameter that the program has, read and written between steps") {
  late_here here(1);
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job), others(job);
  train<late_device, whole>(weights, 1, 1, 1), train<mt::reference_device, whole>(others, 1, 1, 1);
  double *const mine = weights.local<double>("first/bias").data(), *const wanted =
                                                                       others.local<double>("first/bias").data();
  for (int turn = 0; turn < 3; ++turn) {
    CHECK(train<late_device, whole>(weights, 1, 1, 2) == train<mt::reference_device, whole>(others, 1, 1, 2));
    for (int i = 0; i < 24; ++i) CHECK(mine[i] == wanted[i]);
    for (int i = 0; i < 24; ++i) mine[i] += 0.25 * i, wanted[i] += 0.25 * i;
  }
}

TEST_CASE("memory that is not there is one error, and nothing is lost") {
  mt::job const job = mt::job::in_lockstep();
  mt::store plain(job);
  training<mt::reference_device> reference(plain, data(2), model(2));
  std::vector<double> wanted;
  for (int i = 0; i < 4; ++i) wanted.push_back(one_step(reference));
  late_here here;
  long failures = 0;
  for (long k = 0;; ++k) {
    mt::store weights(job);
    {
      training<mt::reference_device> first(weights, data(2), model(2));
      CHECK(one_step(first) == wanted[0]);
    }
    std::string said;
    here.machine.fails_to_allocate = k;
    try {
      training<late_device> step(weights, data(2), model(2));
      double const loss = one_step(step);
      CHECK(loss == wanted[1]);
    } catch (mt::error const& e) { said = e.what(); }
    bool const has_failed = std::exchange(here.machine.fails_to_allocate, -1) < 0;
    CHECK(here.machine.is_idle());
    CHECK(here.machine.host_blocks() == 0);
    CHECK((said.find("R82") != std::string::npos) == has_failed);
    training<late_device> again(weights, data(2), model(2));
    if (has_failed) CHECK(one_step(again) == wanted[1]);
    CHECK(one_step(again) == wanted[2]);
    CHECK(here.machine.blocks() > 0);
    failures += has_failed;
    if (!has_failed) break;
  }
  CHECK(failures > 10);
  CHECK(here.machine.blocks() == 0);
}

TEST_CASE("a kernel that fails is one error with its line; from the checkpoint all goes on as if it had not") {
  mt::job const job = mt::job::in_lockstep();
  mt::store plain(job), weights(job);
  training<mt::reference_device> reference(plain, data(2), model(2));
  std::vector<double> wanted;
  for (int i = 0; i < 5; ++i) wanted.push_back(one_step(reference));
  {
    late_here here;
    meshtensor_test::temporary_folder const folder;
    training<late_device> step(weights, data(2), model(2));
    for (int i = 0; i < 2; ++i) CHECK(one_step(step) == wanted[static_cast<std::size_t>(i)]);
    mt::save(weights, folder / "second");
    for (char const* kernel : {"einsum", "upload", "all_reduce", "download"}) {
      INFO(std::string(kernel));
      here.machine.fails_at = kernel;
      std::string said;
      try {
        one_step(step);
      } catch (mt::error const& e) { said = e.what(); }
      here.machine.fails_at = "";
      CHECK(said.find("R81: the test's device: the kernel of " + std::string(kernel)) != std::string::npos);
      if (kernel[0] == 'e') CHECK(said.find(".hpp:") != std::string::npos);
      CHECK(here.machine.is_idle());
      mt::load(weights, folder / "second");
      CHECK(one_step(step) == wanted[2]);
      CHECK(one_step(step) == wanted[3]);
      mt::load(weights, folder / "second");
    }
    CHECK(one_step(step) == wanted[2]);
    // Values come home for another device, and go back.
    training<mt::reference_device> other(weights, data(2), model(2));
    CHECK(one_step(other) == wanted[3]);
    CHECK(one_step(step) == wanted[4]);
    for (auto& [path, s] : weights.values()) s.block_of(0);
  }
}

TEST_CASE("work on memory that was given back is told") {
  late_here here;
  auto& d = here.machine;
  std::byte *const a = d.allocate(64), *const b = d.allocate(64);
  d.clear(a, 64);
  d.copy(b, a, 64);
  d.release(a);
  try {
    d.wait();
    FAIL("nothing was said");
  } catch (mt::error const& e) {
    CHECK(std::string(e.what()).find("memory is given back while work on it waits") != std::string::npos);
  }
  d.wait();
  d.copy(b, a, 64);
  CHECK_THROWS_AS(d.wait(), mt::error);
  CHECK(d.is_idle());
  d.release(b);
}

namespace {

inline constexpr struct many : mt::dim<"many", 8> {} many;
inline constexpr struct few : mt::dim<"few", 4> {} few;
struct watching {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, many, few);
    auto h = einsum(x, s.parameter("w", few, mt::constant(0.5)), mt::to(many));
    s.watch("h", h);
    auto loss = mean(log(h));
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
inline constexpr struct two : mt::axis<"two", 2> {} two;
struct pair : mt::mesh<two> {};
struct along : mt::layout<mt::shard<many, two>> {};

}  // namespace

TEST_CASE("check, check_numerics and what is watched work without a look at the device's memory") {
  late_here here;
  std::vector<float> x(32, 0.5f);
  {
    mt::check_result const r = mt::check<watching, pair, along, late_device>(mt::feed<"x">(x));
    CHECK(text_of(r).find("values agree with the reference") != std::string::npos);
    CHECK(r.compared > 5);
  }
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<watching, pair, along, late_device> step(weights);
  step.check_numerics();
  step(mt::feed<"x">(x));
  x[20] = -1000.0f;
  try {
    step(mt::feed<"x">(x));
    FAIL("nothing was said");
  } catch (mt::error const& e) {
    CHECK(e.code() == "R32");
    CHECK(std::string(e.what()).find("log (on_late_machine.cpp") != std::string::npos);
    CHECK(std::string(e.what()).find("many=5") != std::string::npos);
    CHECK(std::string(e.what()).find("on rank 1") != std::string::npos);
  }
  step.check_numerics(false);
  x[20] = 0.5f;
  step(mt::feed<"x">(x));
}

namespace {

inline constexpr struct wide : mt::dim<"wide", 1024> {} wide;
/// Parameters of 4096 bytes, which the device puts side by side.
struct neighbours {
  constexpr void operator()(mt::scope auto s) const {
    auto y = s.input("x", mt::f32, wide) * s.parameter("first", wide, mt::normal(0.5)) +
             s.parameter("second", wide, mt::normal(0.5)) * s.parameter("third", wide, mt::normal(0.5));
    auto loss = mean(y * y);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct by_width : mt::layout<mt::shard<wide, two>> {};

}  // namespace

TEST_CASE("values that are side by side in the device's memory are all seen") {
  late_here here;
  std::vector<float> const x(1024, 0.5f);
  mt::check_result const whole = mt::check<neighbours, pair, mt::layout<>, late_device>(mt::feed<"x">(x)),
                         parts = mt::check<neighbours, pair, by_width, late_device>(mt::feed<"x">(x));
  CHECK(whole.difference == "");
  CHECK(parts.difference == "");
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<neighbours, pair, mt::layout<>, late_device> step(weights);
  step(mt::feed<"x">(x));
  auto first = weights.get<float>("first");
  first.data()[1023] = std::nanf("");
  weights.set("first", first);
  step.check_numerics();
  try {
    step(mt::feed<"x">(x));
    FAIL("nothing was said");
  } catch (mt::error const& e) {
    CHECK(std::string(e.what()).find("the parameter or state 'first'") != std::string::npos);
    CHECK(std::string(e.what()).find(": 1 of 1024 elements are not finite") != std::string::npos);
  }
}
