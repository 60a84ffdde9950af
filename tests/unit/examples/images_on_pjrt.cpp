// SPDX-License-Identifier: Apache-2.0
// The example of images on a PJRT plugin: ResNet-18 has the losses of the cpu device under four layouts, and a
// checkpoint that was taken on one device goes on on the other.
// passes: start-up
// needs: cpu io
// sanitize: no
// alone
// part: pjrt
// timeout: 600
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "../../../examples/resnet/learner_of.hpp"
#include "meshtensor/device/cpu/device.hpp"
#include "meshtensor/device/pjrt/device.hpp"
#include "meshtensor/io/checkpoint.hpp"
#include "support/pjrt.hpp"
#include "support/temporary_folder.hpp"

using namespace resnet;

namespace {

template <class Program>
using computed = mt::precision<Program, mt::f32, mt::f32>;
struct learn : computed<train_step<basic, with_nesterov>> {};
struct look : computed<evaluate<basic, false>> {};
struct look_at_average : computed<evaluate<basic, true>> {};
struct move_average : computed<follow<basic>> {};
template <class Device>
using learner_on = learner_of<Device, basic, false, learn, look, look_at_average, move_average>;

using extents = std::map<std::string, std::int64_t>;
options small(extents const& mesh) {
  options o;
  o.depth = 18, o.width = 4, o.size = 64, o.batch = 8, o.learning_rate = 0.05, o.warmup = 0;
  for (auto const& [axis, n] : mesh) o.mesh[axis] = n;
  return o;
}

mt::datasets::image_batch batch_of(int number) {
  std::mt19937 generator(static_cast<unsigned>(number));
  mt::datasets::image_batch b;
  for (int i = 0; i < 8; ++i) b.labels.push_back(static_cast<std::int32_t>(generator() % 4)), b.counts.push_back(1);
  for (int i = 0; i < 8 * 64 * 64 * 3; ++i)
    b.pixels.push_back(static_cast<float>(generator() % 1000) / 500 - 1 +
                       0.5f * static_cast<float>(b.labels[static_cast<std::size_t>(i / (64 * 64 * 3))]));
  return b;
}
/// The losses of steps from the store's on, up to this one.
template <class Device>
std::vector<double> losses(mt::store& weights, extents const& mesh, int until) {
  options const o = small(mesh);
  learner_on<Device> by({weights, o, 4, 10, 5});
  std::vector<double> all;
  while (static_cast<int>(weights.step()) < until)
    all.push_back(by.learn(batch_of(static_cast<int>(weights.step()))).nats);
  return all;
}
template <class Device>
std::vector<double> losses(extents const& mesh, int until) {
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  return losses<Device>(weights, mesh, until);
}
void check_close(std::vector<double> const& got, std::vector<double> const& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(got[i] - wanted[i]) < 1e-4);
  }
}

}  // namespace

TEST_CASE("ResNet-18 under four layouts") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  for (extents const& mesh : {extents{}, {{"data", 4}}, {{"data", 2}, {"rows", 2}}, {{"data", 2}, {"model", 2}}}) {
    auto const wanted = losses<mt::cpu_device>(mesh, 4);
    CHECK(wanted.back() < wanted.front());
    check_close(losses<mt::pjrt_device>(mesh, 4), wanted);
  }
}

template <class First, class Second>
void go_on(std::vector<double> const& wanted) {
  mt::job const job = mt::job::in_lockstep();
  meshtensor_test::temporary_folder const folder;
  {
    mt::store weights(job);
    check_close(losses<First>(weights, {{"data", 2}}, 2), {wanted[0], wanted[1]});
    mt::save(weights, (folder / "second").string());
  }
  mt::store weights(job, 9);
  options const o = small({{"model", 2}});
  learner_on<Second> by({weights, o, 4, 10, 5});
  mt::load(weights, (folder / "second").string());
  CHECK(weights.step() == 2);
  check_close({by.learn(batch_of(2)).nats, by.learn(batch_of(3)).nats}, {wanted[2], wanted[3]});
}
TEST_CASE("a checkpoint goes on on another device") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  auto const wanted = losses<mt::cpu_device>({}, 4);
  go_on<mt::cpu_device, mt::pjrt_device>(wanted);
  go_on<mt::pjrt_device, mt::cpu_device>(wanted);
}
