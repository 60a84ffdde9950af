// SPDX-License-Identifier: Apache-2.0
// Programs with each, map and steps on a device whose queues run late and out of order: the bits of plain loops, on one
// rank and with a sharded dim of the each.
// passes: start-up
#include <doctest/doctest.h>

#include "support/late_machine.hpp"
#include "support/programs_of_indices.hpp"

using namespace of_indices;
using meshtensor_test::late_device;
using meshtensor_test::late_here;

namespace {

template <class Program, class Layout>
void same_on_late_machine_by() {
  std::vector<double> const alone = results<Program, Layout, mt::reference_device>(1);
  for (int const ranks : {1, 2, 3}) {
    CAPTURE(ranks);
    auto const wanted = results<Program, Layout, mt::reference_device>(ranks);
    CHECK(difference(wanted, alone, 1e-12) == "");
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      late_here here(seed);
      CHECK(results<Program, Layout, late_device>(ranks) == wanted);
    }
  }
}
template <class Program, class... Layout>
void same_on_late_machine() {
  (same_on_late_machine_by<Program, Layout>(), ...);
}

}  // namespace

TEST_CASE("an ensemble") { same_on_late_machine<ensemble, by_member, by_in>(); }
TEST_CASE("gradients of each example") { same_on_late_machine<private_gradients, by_example, by_in>(); }
TEST_CASE("loops and branches that differ") { same_on_late_machine<settling, by_task, by_example, by_in>(); }
TEST_CASE("scans that stop") { same_on_late_machine<stopping, by_member, by_in>(); }
TEST_CASE("steps around a map") { same_on_late_machine<rounds_of_training, by_example, by_in>(); }
