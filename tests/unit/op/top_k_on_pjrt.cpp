// SPDX-License-Identifier: Apache-2.0
// The greatest elements and their positions on a PJRT plugin.
//
// passes: start-up
// sanitize: no
// part: pjrt
#include <doctest/doctest.h>

#include <cstdlib>

#include "meshtensor/device/pjrt/device.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/folder.hpp"
#include "support/pjrt.hpp"
#include "unit/op/top_k.hpp"

using namespace chosen;

TEST_CASE("on every layout what sorting gives") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  auto const devices = mt::pjrt::device_client::of_file(std::getenv("MESHTENSOR_PJRT")).devices().size();
  for (auto const& [d, m] : {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}, {1, 4}}) {
    if (static_cast<std::size_t>(d * m) > devices) continue;
    run<spread, mt::pjrt_device>(d, m);
    run<gathered, mt::pjrt_device>(d, m);
  }
}

TEST_CASE("more than there are") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  auto const job = mt::job::in_lockstep();
  mt::store none(job);
  CHECK(meshtensor_test::sentence([&] {
          mt::executable<choose_too_many, mesh, whole, mt::pjrt_device>(none, data(1), model(1));
        }) == refused_too_many);
}
