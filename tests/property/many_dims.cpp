// SPDX-License-Identifier: Apache-2.0
// Tensors of nine and ten dims on plain loops, and on a device whose queues run late.
// passes: start-up
// timeout: 300
#include "property/many_dims.hpp"
#include "support/late_machine.hpp"

using namespace property;

TEST_CASE("tensors of nine and ten dims on plain loops") { at_least(12, many_dims::hold_all<mt::reference_device>()); }
TEST_CASE("tensors of nine and ten dims on a device whose queues run late") {
  at_least(12, many_dims::hold_all<meshtensor_test::late_device>(
                   [] { return std::make_unique<meshtensor_test::late_here>(11, 3); }));
}
