// SPDX-License-Identifier: Apache-2.0
// Random programs under random layouts, as threads: what the interpreter gives, the same bits in turns, as threads and
// where everything is as late as it may be.
// timeout: 300
#include "meshtensor/device/reference.hpp"
#include "property/random_run.hpp"
#include "support/late_runner.hpp"

using namespace property;

TEST_CASE("random programs under random layouts") {
  auto const threads = mt::job::as_threads();
  mt::job const late(std::make_unique<meshtensor_test::late_runner>());
  random_run run(2000);
  run.each(random_meshes(), [&](layout_trial const& trial) -> std::string {
    mt::reference_device const device;
    held_bytes const wanted = trial.run(mt::job::in_lockstep(), device);
    if (std::string const d = trial.compare(wanted); !d.empty()) return "in turns: " + d;
    for (mt::exchange_timing const timing : {mt::exchange_timing::results_late, mt::exchange_timing::operands_late})
      if (std::string const d = first_difference(trial.run(mt::job::in_lockstep(timing), device), wanted); !d.empty())
        return std::string("in turns ") + mt::text_of(timing) + ": " + d;
    if (std::string const d = first_difference(trial.run(threads, device), wanted); !d.empty())
      return "as threads: " + d;
    if (std::string const d = first_difference(trial.run(late, device), wanted); !d.empty())
      return "as late threads: " + d;
    return "";
  });
  run.say();
  if (!run.is_asked_for()) at_least(2000, run.counted());
}
