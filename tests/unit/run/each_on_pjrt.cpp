// SPDX-License-Identifier: Apache-2.0
// Programs with each, map and steps on a PJRT plugin: the numbers of plain loops, on one rank and with a sharded dim of
// the each.
// passes: start-up
// sanitize: no
// part: pjrt
#include <doctest/doctest.h>

#include "meshtensor/device/pjrt/device.hpp"
#include "support/folder.hpp"
#include "support/pjrt.hpp"
#include "support/programs_of_indices.hpp"

using namespace of_indices;

namespace {

template <class Program, class... Layout>
void same_on_pjrt() {
  auto const wanted = results<Program, by_in, mt::reference_device>(1);
  CHECK(difference(results<Program, by_in, mt::pjrt_device>(1), wanted, 1e-9) == "");
  ((void)[&] { CHECK(difference(results<Program, Layout, mt::pjrt_device>(2), wanted, 1e-9) == ""); }(), ...);
}

}  // namespace

TEST_CASE("programs with each, map and steps") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  SUBCASE("an ensemble") { same_on_pjrt<ensemble, by_member, by_in>(); }
  SUBCASE("gradients of each example") { same_on_pjrt<private_gradients, by_example, by_in>(); }
  SUBCASE("loops and branches that differ") { same_on_pjrt<settling, by_task, by_example, by_in>(); }
  SUBCASE("scans that stop") { same_on_pjrt<stopping, by_member, by_in>(); }
  SUBCASE("steps around a map") { same_on_pjrt<rounds_of_training, by_example, by_in>(); }
  SUBCASE("unequal parts are refused before the first step, with the line") {
    std::string const said = meshtensor_test::sentence([] { results<stopping, by_member, mt::pjrt_device>(3); });
    INFO(said);
    CHECK(said.find("S02: dim 'member' (4) is cut into unequal parts by 3 ranks") != std::string::npos);
    CHECK(said.find("programs_of_indices.hpp:") != std::string::npos);
  }
}
