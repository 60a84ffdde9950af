// SPDX-License-Identifier: Apache-2.0
// Whether a launcher started this process.
#include "meshtensor/job/launch.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>  // setenv

namespace mt = meshtensor;

namespace {
constexpr char const* variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS",
                                     "SLURM_NTASKS"};
int launched_with(char const* variable, char const* value) {
  for (char const* v : variables) unsetenv(v);
  if (variable != nullptr) setenv(variable, value, 1);
  int const n = mt::launched_processes();
  for (char const* v : variables) unsetenv(v);
  return n;
}
}  // namespace

TEST_CASE("no launcher") {
  CHECK(launched_with(nullptr, "") == 0);
  CHECK(launched_with("SLURM_NTASKS", "8") == 0);  // an allocation, not a launch
}

TEST_CASE("each launcher says how many") {
  for (char const* v : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    CHECK(launched_with(v, "4") == 4);
    CHECK(launched_with(v, "1") == 1);
  }
}

TEST_CASE("a job of several tasks that nobody launched") {
  for (char const* v : variables) unsetenv(v);
  CHECK(mt::tasks_around() == 0);
  setenv("SLURM_NTASKS", "4", 1);
  CHECK(mt::tasks_around() == 4);
  setenv("SLURM_STEP_NUM_TASKS", "4", 1);  // srun did
  CHECK(mt::tasks_around() == 0);
  for (char const* v : variables) unsetenv(v);
}

TEST_CASE("what is no number of processes does not count") {
  for (char const* value : {"", "0", "-2", " 4", "4 ", "+4", "4x", "four", "99999999999999"})
    CHECK(launched_with("PMI_SIZE", value) == 0);
}

TEST_CASE("how messages progress and whether ranks keep to their cores are one of two words") {
  struct asked {
    char const *variable, *usual, *other;
    bool (*is_usual)();
    char const* sentence;
  };
  for (asked const& a : {asked{"MESHTENSOR_PROGRESS", "thread", "polls", mt::progress_by_thread,
                               "meshtensor R29: MESHTENSOR_PROGRESS is 'nothing', but takes thread or polls"},
                         asked{"MESHTENSOR_PIN", "yes", "no", mt::keeps_to_own_cores,
                               "meshtensor R29: MESHTENSOR_PIN is 'nothing', but takes yes or no"}}) {
    unsetenv(a.variable);
    CHECK(a.is_usual());
    setenv(a.variable, a.usual, 1);
    CHECK(a.is_usual());
    setenv(a.variable, a.other, 1);
    CHECK(!a.is_usual());
    setenv(a.variable, "nothing", 1);
    CHECK_THROWS_WITH_AS(a.is_usual(), a.sentence, mt::error);
    unsetenv(a.variable);
  }
}
