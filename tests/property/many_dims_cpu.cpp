// SPDX-License-Identifier: Apache-2.0
// Tensors of nine and ten dims on the cpu device.
// needs: cpu
// passes: start-up
// timeout: 300
#include "meshtensor/device/cpu/device.hpp"
#include "property/many_dims.hpp"

using namespace property;

TEST_CASE("tensors of nine and ten dims on the cpu device") { at_least(12, many_dims::hold_all<mt::cpu_device>()); }
