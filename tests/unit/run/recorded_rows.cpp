// SPDX-License-Identifier: Apache-2.0
// Rows that go to the holders of their experts on a device whose queues run late and out of order, with memory that
// nobody else can touch: every bit of the reference device, in loops, forwards and backwards.
// passes: start-up
#include <doctest/doctest.h>

#include "support/late_machine.hpp"
#include "support/layers_of_experts.hpp"

using namespace layers_of_experts;
using meshtensor_test::late_device;

namespace {

constexpr int steps = 6;

template <class Device>
std::vector<double> losses(int processors, auto const& each) {
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job, 3);
  executable<Device> step(weights, data(processors));
  CHECK(exchanges_rows(step.graph()));
  std::vector<double> all;
  for (int i = 0; i < steps; ++i) each(step, i), all.push_back(one_step(step, i));
  for (auto const& [name, value] : weights.values())
    if (name.ends_with("/up/weight"))
      for (double v : weights.template get<double>(name)) all.push_back(v);
  return all;
}

}  // namespace

TEST_CASE("losses and parameters on one to six processors") {
  for (int processors : {1, 2, 3, 4, 6}) {
    CAPTURE(processors);
    auto const plain = [](auto&, int) {};
    auto const wanted = losses<mt::reference_device>(processors, plain);
    meshtensor_test::late_here const here(static_cast<std::uint64_t>(processors));
    CHECK(losses<late_device>(processors, plain) == wanted);
    CHECK(wanted[steps - 1] < wanted[0]);
    CHECK(wanted.size() == steps + 2 * 6 * 6 * 4);
    CHECK(here.machine.out_of_order > 0);
    CHECK(here.machine.blocks() == 0);
    CHECK(here.machine.host_blocks() == 0);
  }
}

TEST_CASE("single nodes can be looked at, and their time taken") {
  auto const wanted = losses<mt::reference_device>(3, [](auto&, int) {});
  meshtensor_test::late_here const here(7);
  auto const looked_at = losses<late_device>(3, [](auto& step, int number) {
    if (number == 1) step.check_numerics();
    if (number == 2) step.check_numerics(false), step.record();
    if (number != 3) return;
    CHECK(step.recorded().size() == 1);
    step.record(false);
  });
  CHECK(looked_at == wanted);
}
