// SPDX-License-Identifier: Apache-2.0
// Random programs under random layouts on the cpu device: what the interpreter gives, in turns and as threads.
// needs: cpu
// passes: start-up
// timeout: 300
#include "meshtensor/device/cpu/device.hpp"
#include "property/random_run.hpp"
#include "support/late_runner.hpp"

using namespace property;

namespace {
void try_programs(std::uint64_t offset, random_run::program_maker make) {
  auto const turns = mt::job::in_lockstep();
  mt::job const late(std::make_unique<meshtensor_test::late_runner>());
  random_run run(100, offset, make);
  run.each(
      random_meshes(),
      [&](layout_trial const& trial) -> std::string {
        mt::cpu_device const device(1);
        held_bytes const wanted = trial.run(turns, device);
        if (std::string const d = trial.compare(wanted); !d.empty()) return "in turns: " + d;
        if (std::string const d = first_difference(trial.run(late, device), wanted); !d.empty())
          return "as late threads: " + d;
        return "";
      },
      mt::capabilities_of<mt::cpu_device>);
  run.say();
  if (!run.is_asked_for()) at_least(100, run.counted());
}
}  // namespace

TEST_CASE("random programs on the cpu device") { try_programs(500000, &whole_programs::of); }
TEST_CASE("random programs of loops that may end early on the cpu device") {
  try_programs(600000, &whole_programs::of_loops_that_may_end_early);
}
TEST_CASE("random graphs of integers near the limits on the cpu device") {
  try_programs(800000, &whole_programs::of_integers_near_limits);
}
