// SPDX-License-Identifier: Apache-2.0
// Before the first step what it needs is compared with what the devices have free.
// passes: start-up
// sanitize: no
// part: pjrt
#include <doctest/doctest.h>
#include <unistd.h>

#include "meshtensor/device/pjrt/device.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/folder.hpp"
#include "support/pjrt.hpp"

#ifndef MESHTENSOR_WRAPPED_PLUGIN
#  define MESHTENSOR_WRAPPED_PLUGIN ""
#endif

namespace mt = meshtensor;
using meshtensor_test::sentence;

namespace {

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct in : mt::dim<"in", 1000> {} in;
inline constexpr struct out : mt::dim<"out", 500> {} out;
inline constexpr struct halves : mt::axis<"halves", 2> {} halves;

/// 2 MB of parameters, 4 KB of an input for each of the batch.
struct forward {
  constexpr void operator()(mt::scope auto s) const {
    auto y = einsum(s.input("x", mt::f32, batch, in), s.parameter("w", in, out), mt::to(batch, out));
    s.output("z", sum(tanh(y)));
  }
};
/// As the sentences name it.
std::string device_of(int number) {
  char host[64] = "";
  REQUIRE(gethostname(host, sizeof host - 1) == 0);
  REQUIRE(host[0] != '\0');
  return std::string(host) + " cpu:" + std::to_string(number) + " (cpu)";
}
std::string step_with(std::int64_t bytes, std::int64_t texts, bool again = false) {
  setenv("MESHTENSOR_WRAPPED_BYTES", std::to_string(bytes).c_str(), 1);
  setenv("MESHTENSOR_WRAPPED_USED", "1000000", 1);
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  std::vector<float> const x(static_cast<std::size_t>(texts * 1000), 0.5f);
  return sentence([&] {
    mt::executable<forward, mt::mesh<>, mt::layout<>, mt::pjrt_device> step(weights, batch(texts));
    step(mt::feed<"x">(x));
    if (!again) return;
    setenv("MESHTENSOR_WRAPPED_USED", "3000000", 1);  // the parameters are there
    mt::executable<forward, mt::mesh<>, mt::layout<>, mt::pjrt_device> other(weights, batch(texts));
    other(mt::feed<"x">(x));
  });
}

}  // namespace

TEST_CASE("bytes in words") {
  using mt::bytes_text;
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(999) == "999 B");
  CHECK(bytes_text(100000) == "100 kB");
  CHECK(bytes_text(63763906560) == "63.8 GB");
  CHECK(bytes_text(2'500'000) == "2.50 MB");
}

TEST_CASE("a step that needs more than a device has is refused before it runs, with the batch that would fit") {
  std::string const plugin = meshtensor_test::pjrt_plugin();
  if (plugin.empty()) return;
  setenv("MESHTENSOR_WRAPPED", plugin.c_str(), 1), setenv("MESHTENSOR_PJRT", MESHTENSOR_WRAPPED_PLUGIN, 1);
  CHECK(step_with(100'000'000, 1000) == "");
  std::string const large = step_with(6'000'000, 1000);  // 1 MB is in use
  CAPTURE(large);
  CHECK(large.starts_with("meshtensor M11: a step needs "));
  CHECK(large.find(" of each device, but 5.00 MB are free on " + device_of(0) + ": about ") != large.npos);
  CHECK(large.find(" of 'batch' would fit instead of 1000; else shard more dims, or take a smaller model") !=
        large.npos);
  auto const at = large.find("about ");
  REQUIRE(at != large.npos);
  int const fits = std::stoi(large.substr(at + 6));
  CHECK((fits > 200 && fits < 900));
  CHECK(step_with(6'000'000, fits) == "");
  std::string const none = step_with(2'040'000, 10);
  CHECK(none.find(" 1.04 MB are free on " + device_of(0) + ": shard more dims, or take a smaller model") != none.npos);
}

TEST_CASE("the device that has too little is named") {
  std::string const plugin = meshtensor_test::pjrt_plugin();
  if (plugin.empty()) return;
  setenv("MESHTENSOR_WRAPPED", plugin.c_str(), 1), setenv("MESHTENSOR_PJRT", MESHTENSOR_WRAPPED_PLUGIN, 1);
  setenv("MESHTENSOR_WRAPPED_BYTES", "20000000", 1), setenv("MESHTENSOR_WRAPPED_USED", "1000000", 1);
  mt::job const job = mt::job::in_lockstep();
  std::vector<float> const x(1000 * 1000, 0.5f);
  auto const of_two = [&](char const* more_on_second) {
    setenv("MESHTENSOR_WRAPPED_MORE", more_on_second, 1);
    return sentence([&] {
      mt::store weights(job);
      mt::executable<forward, mt::mesh<halves>, mt::layout<mt::shard<batch, halves>>, mt::pjrt_device> step(
          weights, batch(1000));
      step(mt::feed<"x">(x));
    });
  };
  CHECK(of_two("0") == "");
  std::string const second = of_two("16000000");
  unsetenv("MESHTENSOR_WRAPPED_MORE");
  CAPTURE(second);
  CHECK(second.find(", but 3.00 MB are free on " + device_of(1) + ": about ") != second.npos);
}

TEST_CASE("arguments that are more than a device has are refused before anything is compiled") {
  std::string const plugin = meshtensor_test::pjrt_plugin();
  if (plugin.empty()) return;
  setenv("MESHTENSOR_WRAPPED", plugin.c_str(), 1), setenv("MESHTENSOR_PJRT", MESHTENSOR_WRAPPED_PLUGIN, 1);
  CHECK(step_with(1'900'000, 10) ==
        "meshtensor M11: the inputs, parameters and state of a step alone need 2.04 MB of each device, but " +
            device_of(0) + " has 1.90 MB: take a smaller batch, or shard more dims");
  CHECK(step_with(5'000'000, 1000).starts_with("meshtensor M11: the inputs, parameters and state of a step alone "));
  CHECK(step_with(100'000'000, 1000) == "");
}

TEST_CASE("parameters that are on the devices already count once") {
  std::string const plugin = meshtensor_test::pjrt_plugin();
  if (plugin.empty()) return;
  setenv("MESHTENSOR_WRAPPED", plugin.c_str(), 1), setenv("MESHTENSOR_PJRT", MESHTENSOR_WRAPPED_PLUGIN, 1);
  CHECK(step_with(4'000'000, 10, true) == "");
  CHECK(step_with(2'900'000, 10) != "");
}
