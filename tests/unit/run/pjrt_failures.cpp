// SPDX-License-Identifier: Apache-2.0
// A step that fails on the devices of a plugin leaves each value what it was, or it is lost: that is said where it is
// read, used and saved, until it is set or loaded.
// passes: start-up
// needs: io
// sanitize: no
// part: pjrt
#include <doctest/doctest.h>

#include "meshtensor/device/pjrt/device.hpp"
#include "meshtensor/io/checkpoints.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/folder.hpp"
#include "support/pjrt.hpp"

#ifndef MESHTENSOR_WRAPPED_PLUGIN
#  define MESHTENSOR_WRAPPED_PLUGIN ""
#endif

namespace mt = meshtensor;
using meshtensor_test::sentence;

namespace {

inline constexpr struct rows : mt::dim<"rows", 4> {} rows;
inline constexpr struct halves : mt::axis<"halves"> {} halves;
struct mesh : mt::mesh<halves> {};
struct layout : mt::layout<mt::shard<rows, halves>> {};

constexpr int line = __LINE__ + 7;
/// Two values that each step doubles and one that it only reads.
struct grow {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, rows), read = s.state("read", mt::f32, rows);
    auto const w = s.state("w", mt::f32, rows), v = s.state("v", mt::f32, rows);
    s.output("sum", sum(x + read));
    s.update(w, w + w + x);
    s.update(v, v + v + x);
  }
};
struct look {
  constexpr void operator()(mt::scope auto s) const { s.output("sum", sum(s.state("w", mt::f32, rows))); }
};
using both = mt::programs<grow, look>;
template <class Program, class Device>
using on = mt::executable<both, Program, mesh, layout, Device>;

bool use_plugin() {
  std::string const plugin = meshtensor_test::pjrt_plugin();
  if (plugin.empty()) return false;
  if (plugin != MESHTENSOR_WRAPPED_PLUGIN) setenv("MESHTENSOR_WRAPPED", plugin.c_str(), 1);
  setenv("MESHTENSOR_PJRT", MESHTENSOR_WRAPPED_PLUGIN, 1), setenv("MESHTENSOR_WRAPPED_RESULTS", "3", 1);
  return true;
}
std::vector<float> const ones(4, 1);
float first(mt::store& weights, char const* label) { return *weights.get<float>(label).begin(); }
/// A step that fails so.
template <class Step>
std::string fails(Step& step, char const* how) {
  setenv("MESHTENSOR_WRAPPED_FAILS", how, 1);
  std::string const says = sentence([&] { step(mt::feed<"x">(ones)); });
  unsetenv("MESHTENSOR_WRAPPED_FAILS");
  return says;
}
std::string lost(char const* label, int at) {
  return "meshtensor R85: '" + std::string(label) +
         "' is lost: its only copy was on the devices, and a step that failed there had begun to update it "
         "(pjrt_failures.cpp:" +
         std::to_string(at) + "): load a checkpoint, or set it, to go on";
}
std::string const gone =
    "meshtensor R72: the PJRT plugin '" MESHTENSOR_WRAPPED_PLUGIN "' says: 13: the hardware is gone";

}  // namespace

TEST_CASE("a step that fails before it has begun leaves all values") {
  if (!use_plugin()) return;
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  on<grow, mt::pjrt_device> step(weights, halves(2));
  step(mt::feed<"x">(ones)), step(mt::feed<"x">(ones));
  CHECK(fails(step, "before") == gone);
  CHECK((first(weights, "w") == 3 && first(weights, "v") == 3 && weights.step() == 2));
  step(mt::feed<"x">(ones));
  CHECK(fails(step, "before") == gone);
  step(mt::feed<"x">(ones));
  CHECK((first(weights, "w") == 15 && first(weights, "v") == 15 && weights.step() == 4));
}

TEST_CASE("what a failed step has taken is lost, and what the host had is not") {
  if (!use_plugin()) return;
  for (char const* how : {"after", "wait"}) {
    CAPTURE(how);
    mt::job const job = mt::job::in_lockstep();
    mt::store weights(job);
    on<grow, mt::pjrt_device> step(weights, halves(2));
    on<look, mt::pjrt_device> looks(weights, halves(2));
    on<look, mt::reference_device> looks_elsewhere(weights, halves(2));
    step(mt::feed<"x">(ones)), step(mt::feed<"x">(ones));
    CHECK(first(weights, "v") == 3);  // it is at home now
    CHECK(fails(step, how) == gone);
    std::string const of_w = lost("w", line);
    CHECK(sentence([&] { weights.get<float>("w"); }) == of_w);
    CHECK(sentence([&] { step(mt::feed<"x">(ones)); }) == of_w);
    CHECK(sentence([&] { looks(); }) == of_w);
    CHECK(sentence([&] { looks_elsewhere(); }) == of_w);
    meshtensor_test::own_folder const folder;
    CHECK(sentence([&] { mt::save(weights, folder.path()); }) == of_w);
    CHECK((first(weights, "v") == 3 && first(weights, "read") == 0 && weights.step() == 2));
    weights.set("w", std::vector<float>(4, 3));
    step(mt::feed<"x">(ones));
    CHECK((first(weights, "w") == 7 && first(weights, "v") == 7 && weights.step() == 3));
  }
}

TEST_CASE("a checkpoint brings back what is lost") {
  if (!use_plugin()) return;
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  on<grow, mt::pjrt_device> step(weights, halves(2));
  step(mt::feed<"x">(ones));
  meshtensor_test::own_folder const folder;
  mt::save(weights, folder.path());
  step(mt::feed<"x">(ones)), step(mt::feed<"x">(ones));
  CHECK(fails(step, "wait") == gone);
  CHECK(sentence([&] { weights.get<float>("v"); }) == lost("v", line + 1));
  mt::load(weights, folder.path());
  CHECK((first(weights, "w") == 1 && first(weights, "v") == 1 && weights.step() == 1));
  step(mt::feed<"x">(ones));
  CHECK((first(weights, "w") == 3 && first(weights, "v") == 3 && weights.step() == 2));
}

TEST_CASE("a plugin that does not say which arguments a run took is believed to have taken those of its results") {
  if (!use_plugin()) return;
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  on<grow, mt::pjrt_device> step(weights, halves(2));
  step(mt::feed<"x">(ones));
  setenv("MESHTENSOR_WRAPPED_MUTE", "1", 1);
  CHECK(fails(step, "before") == gone);
  unsetenv("MESHTENSOR_WRAPPED_MUTE");
  CHECK(sentence([&] { weights.get<float>("w"); }) == lost("w", line));
  CHECK(first(weights, "read") == 0);
}
