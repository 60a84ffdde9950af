// SPDX-License-Identifier: Apache-2.0
// Programs on a device whose memory nobody else can touch and whose queues run late and out of order: the losses and
// parameters of plain loops, to the bit; and what a failure leaves behind.
// passes: start-up
#include <doctest/doctest.h>

#include <cmath>

#include "meshtensor/inspect/check.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/late_machine.hpp"
#include "support/programs.hpp"

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
    CHECK(!mt::find_race(here.machine.tasks()));
  }
}

}  // namespace

TEST_CASE("training on a late device: the bits of plain loops") {
  same_as_plain_loops<whole>(1, 1);
  same_as_plain_loops<by_batch>(4, 1);
  same_as_plain_loops<by_both>(2, 2);
}
