// SPDX-License-Identifier: Apache-2.0
// Programs on a PJRT plugin: the losses and parameters of plain loops, under several layouts, and what is refused.
// passes: start-up
// sanitize: no
// part: pjrt
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "meshtensor/device/pjrt/device.hpp"
#include "meshtensor/inspect/check.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/folder.hpp"
#include "support/loops_that_end.hpp"
#include "support/pjrt.hpp"
#include "support/programs.hpp"

namespace mt = meshtensor;
using meshtensor_test::sentence;

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

/// Whether the plugin has so many devices: a machine's GPUs may be fewer than the four of the plugin for processors.
bool has_devices(std::size_t count) {
  return mt::pjrt::device_client::of_file(std::getenv("MESHTENSOR_PJRT")).devices().size() >= count;
}

using classifier = mt::precision<programs::classifier, mt::f64>;
/// The losses of some steps, and then a parameter.
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
void same_as_plain_loops(mt::job const& job, int data_size, int model_size) {
  mt::store ours(job), theirs(job);
  auto const wanted = train<mt::reference_device, Layout>(ours, data_size, model_size, 6);
  auto const got = train<mt::pjrt_device, Layout>(theirs, data_size, model_size, 6);
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - wanted[i]) < 1e-9);
  CHECK(got[5] < got[0]);
  CHECK(theirs.step() == 6);
}

}  // namespace

TEST_CASE("dropout, norms, AdamW and clipping: the losses and parameters of plain loops") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  for (mt::job const& job : {mt::job::in_lockstep(), mt::job::as_threads()}) {
    same_as_plain_loops<whole>(job, 1, 1);
    if (!has_devices(4)) continue;
    same_as_plain_loops<by_batch>(job, 4, 1);
    same_as_plain_loops<by_width>(job, 2, 2);
    same_as_plain_loops<by_both>(job, 2, 2);
  }
}

TEST_CASE("a network of images, its rows whole and its batch in parts") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  using images = mt::precision<programs::images, mt::f32>;
  int const parts = has_devices(4) ? 4 : 1;
  auto const losses = [parts](auto device) {
    mt::job const job = mt::job::in_lockstep();
    mt::store weights(job);
    mt::executable<images, mesh, by_batch, decltype(device)> step(weights, data(parts), model(1));
    auto const x = waves<float>(24 * 9 * 6 * 2, 0.37);
    auto const label = labels(24, 12);
    std::vector<float> all;
    for (int i = 0; i < 4; ++i) all.push_back(step(mt::feed<"x">(x), mt::feed<"label">(label)).template get<"loss">());
    return all;
  };
  auto const wanted = losses(mt::reference_device{}), got = losses(mt::pjrt_device{});
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - wanted[i]) < 1e-4f);
  CHECK(got[3] < got[0]);
}

namespace {

struct by_rows_and_columns : mt::layout<mt::shard<programs::batch, data>, mt::shard<programs::model, model>> {};

/// The losses of some steps, and then a parameter.
template <class Program, class Layout, class Device>
std::vector<double> trained(int data_size, int model_size, std::int64_t places, char const* parameter) {
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<mt::precision<Program, mt::f64>, mesh, Layout, Device> step(weights, data(data_size),
                                                                             model(model_size));
  std::vector<double> all;
  for (int i = 0; i < 5; ++i)
    all.push_back(step(mt::feed<"x">(waves<double>(24 * places * 12, 0.7 + 0.05 * i))).template get<"loss">());
  auto const last = weights.get<double>(parameter);
  all.insert(all.end(), last.data(), last.data() + last.size());
  return all;
}
template <class Program>
void train_alike(std::int64_t places, char const* parameter) {
  auto const compare = [&]<class Layout>(Layout, int data_size, int model_size) {
    auto const wanted = trained<Program, Layout, mt::reference_device>(data_size, model_size, places, parameter);
    auto const got = trained<Program, Layout, mt::pjrt_device>(data_size, model_size, places, parameter);
    REQUIRE(got.size() == wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - wanted[i]) < 1e-9);
    CHECK(got[4] != got[0]);
  };
  compare(whole{}, 1, 1);
  if (has_devices(4)) compare(by_batch{}, 4, 1), compare(by_rows_and_columns{}, 2, 2);
}

}  // namespace

TEST_CASE("loops that end early and branches are trained as by plain loops") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  train_alike<loops_that_end::layers_until<1'000, 9>>(1, "up");
  train_alike<loops_that_end::within_a_scan>(6, "seen");
  train_alike<loops_that_end::branches_within>(1, "w");
}

TEST_CASE("two devices take turns with one store") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  mt::job const job = mt::job::in_lockstep();
  mt::store turns(job), alone(job);
  int const n = has_devices(4) ? 2 : 1;
  auto first = train<mt::pjrt_device, by_both>(turns, n, n, 3);
  auto const second = train<mt::reference_device, by_both>(turns, n, n, 3);
  auto const wanted = train<mt::reference_device, by_both>(alone, n, n, 3);
  auto const after = train<mt::reference_device, by_both>(alone, n, n, 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(first[i] - wanted[i]) < 1e-9);
  for (std::size_t i = 0; i < second.size(); ++i) CHECK(std::abs(second[i] - after[i]) < 1e-9);
}

TEST_CASE("values stay on the devices, until somebody asks for them") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job), others(job);
  int const n = has_devices(4) ? 2 : 1;
  train<mt::pjrt_device, by_both>(weights, n, n, 2), train<mt::reference_device, by_both>(others, n, n, 2);
  mt::stored& bias = weights.values().at("first/bias");
  CHECK(bias.on_device != nullptr);
  CHECK(bias.is_stale);
  auto const read = weights.get<double>("first/bias"), wanted = others.get<double>("first/bias");
  for (std::int64_t i = 0; i < read.size(); ++i) CHECK(std::abs(read.data()[i] - wanted.data()[i]) < 1e-9);
  CHECK(bias.on_device != nullptr);  // reading leaves it there
  CHECK(!bias.is_stale);
  std::vector<double> const halves(24, 0.5);
  weights.set("first/bias", halves), others.set("first/bias", halves);
  CHECK(bias.on_device == nullptr);
  auto const got = train<mt::pjrt_device, by_both>(weights, n, n, 2);
  auto const same = train<mt::reference_device, by_both>(others, n, n, 2);
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - same[i]) < 1e-9);
}

TEST_CASE("memory of a parameter that the program has, read and written between steps") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job), others(job);
  train<mt::pjrt_device, whole>(weights, 1, 1, 1), train<mt::reference_device, whole>(others, 1, 1, 1);
  double *const mine = weights.local<double>("first/bias").data(), *const wanted =
                                                                       others.local<double>("first/bias").data();
  for (int turn = 0; turn < 3; ++turn) {
    auto const got = train<mt::pjrt_device, whole>(weights, 1, 1, 2);
    auto const same = train<mt::reference_device, whole>(others, 1, 1, 2);
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - same[i]) < 1e-9);
    for (int i = 0; i < 24; ++i) CHECK(std::abs(mine[i] - wanted[i]) < 1e-9);
    for (int i = 0; i < 24; ++i) mine[i] += 0.25 * i, wanted[i] += 0.25 * i;
  }
}

namespace {

inline constexpr struct place : mt::dim<"place", 8> {} place;
inline constexpr struct four : mt::dim<"four", 4> {} four;
inline constexpr struct longer : mt::dim<"longer", 10> {} longer;
struct by_place : mt::layout<mt::shard<place, data>> {};

/// A slice, a pad and a put at numbers of the step.
struct cut {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, place);
    auto const at = s.number("at", 0), by = s.number("by", 1);
    auto const part = slice(x, place, four, at, by);
    s.output("inside", pad(part, four, longer, at + 3, 0.5 * at, by));
    s.output("y", put(x, sum(part, four), place, at));
  }
};
/// What three steps give at these numbers, and what is said of the second one where it is refused.
template <class Device>
std::vector<std::string> cuts(double at, double by, int parts) {
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<cut, mesh, by_place, Device> step(weights, data(parts), model(1));
  auto const x = waves<float>(8, 0.7);
  std::vector<std::string> told;
  double const numbers[][2] = {{0, 2}, {at, by}, {1, 1}};
  for (auto const& [first, stride] : numbers)
    told.push_back(sentence([&] {
      auto const r = step(mt::feed<"x">(x), mt::set<"at">(first), mt::set<"by">(stride));
      std::string all;
      auto const inside = r.template get<"inside">().gather();
      auto const y = r.template get<"y">().gather();
      for (std::int64_t i = 0; i < inside.size(); ++i) all += std::to_string(inside.data()[i]) + " ";
      for (std::int64_t i = 0; i < y.size(); ++i) all += std::to_string(y.data()[i]) + " ";
      told.push_back(all);
    }));
  return told;
}

}  // namespace

TEST_CASE("slices, pads and puts at numbers of the step, within their dims and beyond") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  double const numbers[][2] = {{3, 1}, {6, -2}, {4, 1}, {7, -2}, {5, 1}, {-1, 1}, {2, -1}, {0, 0}};
  for (int parts : {1, 2}) {
    if (!has_devices(static_cast<std::size_t>(parts))) continue;
    for (auto const& [at, by] : numbers) {
      CAPTURE(at);
      CAPTURE(by);
      CHECK(cuts<mt::pjrt_device>(at, by, parts) == cuts<mt::reference_device>(at, by, parts));
    }
  }
  auto const told = cuts<mt::pjrt_device>(5, 1, 1);
  CHECK(told.size() == 5);  // two steps with results, and what is said of all three
  CHECK(told[2] == "meshtensor R10: a slice of 'place' from 5 on, 4 long, reaches beyond its extent, 8");
}

TEST_CASE("what is refused") {
  std::string const plugin = meshtensor_test::pjrt_plugin();
  if (plugin.empty()) return;
  mt::job const job = mt::job::in_lockstep();
  auto const made = [&](int data_size) {
    mt::store weights(job);
    return sentence(
        [&] { mt::executable<classifier, mesh, by_batch, mt::pjrt_device>(weights, data(data_size), model(1)); });
  };
  if (has_devices(4))
    CHECK(made(6) == "meshtensor R73: the mesh has 6 ranks, but the PJRT plugin '" + plugin +
                         "' has 4 devices here: take a smaller mesh");
  mt::store weights(job);
  mt::executable<classifier, mesh, by_batch, mt::pjrt_device> step(weights, data(has_devices(2) ? 2 : 1), model(1));
  CHECK(sentence([&] { step.check_numerics(); }) ==
        "meshtensor R74: check_numerics and check see single operations, but this device runs programs whole: use them "
        "on another device, such as mt::default_device");
  setenv("MESHTENSOR_PJRT", "", 1);
  std::string const path = std::getenv("PATH");
  for (char const* where : {"PATH", "HOME", "VIRTUAL_ENV"}) setenv(where, "/absent", 1);
  CHECK(made(2) ==
        "meshtensor R70: no PJRT plugin is named, and no installed Python package has one for this machine: set "
        "MESHTENSOR_PJRT to its file, such as libtpu.so, or install jax-cuda13-pjrt, libtpu or xla-cpu-pjrt with pip");
  setenv("PATH", path.c_str(), 1);
  setenv("MESHTENSOR_PJRT", "/absent.so", 1);
  CHECK(sentence([&] {
          mt::check<classifier, mesh, by_batch, mt::pjrt_device>(data(2), model(1));
        }).starts_with("meshtensor R74: check_numerics and check see single operations"));  // nothing is compiled
  CHECK(made(2).starts_with("meshtensor R70: the PJRT plugin '/absent.so' cannot be loaded: "));
  setenv("MESHTENSOR_PJRT", "libm.so.6", 1);
  CHECK(made(2) == "meshtensor R70: 'libm.so.6' is no PJRT plugin: it has no function GetPjrtApi");
  meshtensor_test::own_folder const here;
  std::filesystem::path const before = std::filesystem::current_path();
  std::filesystem::current_path(here.path());
  std::ofstream("plugin.so") << "no library";
  setenv("MESHTENSOR_PJRT", "plugin.so", 1);
  CHECK(made(2).starts_with("meshtensor R70: the PJRT plugin 'plugin.so' cannot be loaded: ./plugin.so: "));
  std::filesystem::current_path(before);
  setenv("MESHTENSOR_PJRT", plugin.c_str(), 1);
}
