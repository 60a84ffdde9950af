// SPDX-License-Identifier: Apache-2.0
// A PJRT plugin in several processes, each with one device: they exchange values while a client is made, each has the
// device of its number on this machine, and runs its part of a step. The plugin stands for one of GPUs: it is that for
// processors, which does not communicate.
// passes: start-up
// sanitize: no
// ranks: 2 3
// part: pjrt
#include <doctest/doctest.h>

#include "meshtensor/device/pjrt/device.hpp"
#include "meshtensor/meshtensor.hpp"
#include "ranks.hpp"
#include "support/folder.hpp"
#include "support/pjrt.hpp"

#ifndef MESHTENSOR_WRAPPED_PLUGIN
#  define MESHTENSOR_WRAPPED_PLUGIN ""
#endif

namespace mt = meshtensor;
using meshtensor_test::sentence;

namespace {

inline constexpr struct rows : mt::dim<"rows", 12> {} rows;
inline constexpr struct width : mt::dim<"width", 5> {} width;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<rows, data>> {};

/// Each row by itself: no rank needs anything of another one.
struct grow {
  constexpr void operator()(mt::scope auto s) const {
    auto const w = s.state("w", mt::f32, rows, width);
    s.update(w, w * 0.5 + s.input("x", mt::f32, rows, width));
  }
};

/// One product of each row.
struct multiply {
  constexpr void operator()(mt::scope auto s) const {
    auto const w = s.parameter("w", rows, width);
    s.output("y", sum(w * s.input("x", mt::f32, rows, width), width));
  }
};
/// No memory for first values on the last rank.
struct without_memory : mt::pjrt_device {
  static void fill(mt::view const& where, mt::initial_value const& first) {
    if (ranks::rank() == ranks::count() - 1) throw std::bad_alloc();
    mt::pjrt_device::fill(where, first);
  }
};

/// The plugin for processors in the place of one that joins processes; none, if it is not here.
bool use_plugin(bool wrapped, char const* options) {
  std::string const plugin = meshtensor_test::pjrt_plugin();
  if (plugin.empty()) return false;
  if (std::getenv("MESHTENSOR_WRAPPED") == nullptr) setenv("MESHTENSOR_WRAPPED", plugin.c_str(), 1);
  setenv("MESHTENSOR_PJRT", wrapped ? MESHTENSOR_WRAPPED_PLUGIN : std::getenv("MESHTENSOR_WRAPPED"), 1);
  setenv("MESHTENSOR_PJRT_OPTIONS", options, 1);
  return true;
}
std::vector<float> some_x(int step) {
  std::vector<float> x(60);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<int>(i) % 7 - 3 + step);
  return x;
}
template <class Device>
std::vector<float> after_steps(mt::job const& job) {
  mt::store weights(job);
  mt::executable<grow, mesh, layout, Device> step(weights, data(ranks::count()));
  for (int k = 0; k < 3; ++k) step(mt::feed<"x">(some_x(k)));
  auto const w = weights.get<float>("w");
  return {w.begin(), w.end()};
}
std::string said(mt::job const& job) {
  return sentence([&] { after_steps<mt::pjrt_device>(job); });
}

}  // namespace

TEST_CASE("more ranks than devices on a machine are refused") {
  if (!use_plugin(true, "visible_devices=[2]")) return;
  mt::job const job(MPI_COMM_WORLD);
  CHECK(said(job) == "meshtensor R77: this machine runs " + std::to_string(ranks::count()) +
                         " ranks, but the PJRT plugin '" MESHTENSOR_WRAPPED_PLUGIN
                         "' may use 1 device here: start one rank for each device");
}

TEST_CASE("a plugin that does not join processes is refused") {
  if (!use_plugin(false, "")) return;
  mt::job const job(MPI_COMM_WORLD);
  std::string const says = said(job);  // by this rank, or by another one before
  CAPTURE(says);
  CHECK(says.ends_with(std::string("meshtensor R78: ranks 0 and 1 both have device 0 of the PJRT plugin '") +
                       std::getenv("MESHTENSOR_WRAPPED") +
                       "', which does not join the devices of several processes: start one process"));
}

TEST_CASE("a value that no process puts ends the wait of all") {
  if (!use_plugin(true, "visible_devices=[0,1,2]")) return;
  setenv("MESHTENSOR_WRAPPED_SILENT", "1", 1);
  mt::job const job(MPI_COMM_WORLD);
  std::string const says = said(job);
  unsetenv("MESHTENSOR_WRAPPED_SILENT");
  CAPTURE(says);
  CHECK(says.find("no process has put 'of_node_1' within 300 ms") != says.npos);
}

TEST_CASE("each rank has the device of its number, and runs its part of each step") {
  if (!use_plugin(true, "visible_devices=[3,1,0]")) return;
  mt::job const job(MPI_COMM_WORLD);
  auto const got = after_steps<mt::pjrt_device>(job);
  std::string all;
  for (int r = 0; r < ranks::count(); ++r) all += "value of " + std::to_string(r) + ";";
  CHECK(std::getenv("MESHTENSOR_WRAPPED_GOT") == all + "5: no process has put 'nobody'");
  CHECK(std::string(std::getenv("MESHTENSOR_WRAPPED_VISIBLE")) == std::string(1, "310"[ranks::rank()]));
  CHECK(std::string(std::getenv("MESHTENSOR_WRAPPED_ASSIGNED")) == "all");
  CHECK(got == after_steps<mt::reference_device>(job));
}

TEST_CASE("a rank that has no memory for the first values ends the start of all") {
  if (!use_plugin(true, "visible_devices=[3,1,0]")) return;
  mt::job const job(MPI_COMM_WORLD);
  mt::store weights(job);
  std::string const says = sentence([&] {
    mt::executable<multiply, mesh, layout, without_memory> step(weights, data(ranks::count()));
    step(mt::feed<"x">(some_x(0)));
  });
  int const last = ranks::count() - 1;
  std::string const begins =
      ranks::rank() == last ? "meshtensor M10: " : "meshtensor R21: rank " + std::to_string(last);
  CHECK_MESSAGE(says.starts_with(begins), says);
  CHECK_MESSAGE(says.find("M10: ") != says.npos, says);
  MPI_Barrier(MPI_COMM_WORLD);  // while the job is there, nobody waits for the one that failed
  mt::executable<multiply, mesh, layout, mt::pjrt_device> step(weights, data(ranks::count()));
  step(mt::feed<"x">(some_x(0)));
}
