// SPDX-License-Identifier: Apache-2.0
// Values that ranks put and get by key: from any thread, until all are through; who fails or does not come is named.
// ranks: 2 3 4
// processors: 1
#include "meshtensor/comm/mpi/process_group.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "ranks.hpp"
#include "support/folder.hpp"

namespace mt = meshtensor;
using meshtensor_test::sentence;
using namespace std::chrono_literals;

namespace {

std::string of_rank(int r) { return "of " + std::to_string(r); }

/// A value with every byte, as long as no message that is sent at once.
std::string long_value(int r) {
  std::string all(300'000, '\0');
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<char>(i + static_cast<std::size_t>(r));
  return all;
}

}  // namespace

TEST_CASE("each rank gets what the others have put, also from other threads and in a later call") {
  mt::mpi_world world({.throws = true});
  auto& values = mt::comm::mpi_key_values::of(world);
  CHECK(&values == &mt::comm::mpi_key_values::of(world));
  mt::comm::mpi_process_group processes(world);
  CHECK(&processes.values() == &values);
  CHECK(processes.rank() == world.rank());
  CHECK(processes.ranks_here() == world.ranks_here());
  values.during([&] {
    std::vector<std::thread> threads;
    std::vector<std::string> got(static_cast<std::size_t>(world.size()));
    for (int r = 0; r < world.size(); ++r)
      threads.emplace_back([&, r] { got[static_cast<std::size_t>(r)] = values.get(of_rank(r), 60s).value_or(""); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20 * (world.size() - world.rank())));
    values.put(of_rank(world.rank()), long_value(world.rank()));
    for (std::thread& t : threads) t.join();
    for (int r = 0; r < world.size(); ++r) CHECK((got[static_cast<std::size_t>(r)] == long_value(r)));
    CHECK(!values.find("nothing").has_value());
    CHECK(!values.get("nothing", 20ms).has_value());
    if (world.rank() == 1) values.put("", ""), values.put("replaced", "1"), values.put("replaced", "22");
  });
  values.during([&] {
    CHECK(values.find(of_rank(0)) == long_value(0));
    CHECK(values.find("") == "");
    CHECK(values.find("replaced") == "22");
  });
  CHECK(
      sentence([&] { values.find("replaced"); }) ==
      "meshtensor R78: values are exchanged between processes only while a client is made, a program is compiled, and "
      "its first step runs");
}

TEST_CASE("a rank that fails ends the waits of the others, and the next call is as any") {
  mt::mpi_world world({.limits = {.end = 60s}, .throws = true});
  auto& values = mt::comm::mpi_key_values::of(world);
  for (int fails = 0; fails < world.size(); ++fails) {
    std::string const says = sentence([&] {
      values.during([&] {
        if (world.rank() == fails) throw std::runtime_error("the plugin is gone");
        values.get("never", 20s);
      });
    });
    CHECK(says == (world.rank() == fails
                       ? "the plugin is gone"
                       : "meshtensor R21: " + mt::text_of_ranks({fails}) + " failed: the plugin is gone"));
    values.during([&] { values.put("after", "it"); });
  }
  std::string const says = sentence([&] {  // even where the others are through
    values.during([&] {
      if (world.rank() == 1) std::this_thread::sleep_for(30ms), throw std::runtime_error("late");
    });
  });
  CHECK(says == (world.rank() == 1 ? "late" : "meshtensor R21: rank 1 failed: late"));
}

TEST_CASE("ranks that wait in vain say for whom") {
  std::string warned;
  mt::mpi_world world({.limits = {.warn = 300ms, .end = 700ms, .say = [&](std::string const& said) { warned = said; }},
                       .throws = true});
  auto& values = mt::comm::mpi_key_values::of(world);
  int const late = world.size() - 1;
  auto const says = sentence([&] {
    values.during([&] {
      if (world.rank() != late) return;
      std::this_thread::sleep_for(2500ms);
    });
  });
  CAPTURE(says);
  std::string const lacks =
      " for all ranks to come to the end of a call, which " + mt::text_of_ranks({late}) + " did not";
  if (world.rank() == 0) {
    CHECK(says == "meshtensor R22: it waited 700 ms" + lacks);
    CHECK(warned == "R22: rank 0: it waited 300 ms" + lacks + "; after 700 ms the job ends (MESHTENSOR_WAIT_SECONDS)");
  } else if (world.rank() == late) {
    CHECK(says == "meshtensor R22: it waited 700 ms for rank 0 to answer");
  } else {
    CHECK(says.starts_with("meshtensor R22: it waited 700 ms"));
  }
  CHECK(sentence([&] { values.during([] {}); }).starts_with("meshtensor R21: this rank has waited in vain"));
}
