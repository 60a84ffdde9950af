// SPDX-License-Identifier: Apache-2.0
// One training under every layout on a device whose queues run late and out of order, with memory of its own: the bits
// of the reference device, twenty losses on one to eight processors.
// timeout: 300
#include "property/one_training.hpp"
#include "property/sample.hpp"
#include "support/late_machine.hpp"

using namespace training;

TEST_CASE("twenty losses of a Transformer on one to eight processors: each bit of the reference device") {
  auto const traced = traced_in<mt::dtype::f32>();
  auto const turns = mt::job::in_lockstep();
  std::vector<spread> all = all_spreads();
  all.insert(all.begin(), {"alone", {}, {}});
  long tried = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!property::is_in_even_sample(k)) continue;
    ++tried;
    INFO(std::string(all[k].what));
    meshtensor_test::late_here here(k + 1, 2 + static_cast<int>(k % 3));
    course const wanted = train(turns, *traced, all[k], mt::reference_device()),
                 late = train(turns, *traced, all[k], meshtensor_test::late_device());
    CHECK(late.losses.back() < late.losses.front() - 0.5);
    CHECK(late.losses == wanted.losses);
    CHECK(late.held == wanted.held);
    CHECK(here.machine.out_of_order > 0);
    CHECK(here.machine.blocks() == 0);
    CHECK(here.machine.host_blocks() == 0);
    MESSAGE(std::string(all[k].what) << ": " << here.machine.out_of_order << " of " << here.machine.launches
                                     << " kernels ran out of the list's order");
  }
  property::at_least(8, tried);
}
