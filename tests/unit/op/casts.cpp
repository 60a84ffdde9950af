// SPDX-License-Identifier: Apache-2.0
// Casts of floats to integers that do not hold them: plain loops and the kernels of processors agree.
// passes: start-up
// needs: cpu
#include "unit/op/casts.hpp"

#include "meshtensor/device/cpu/device.hpp"
#include "meshtensor/device/reference.hpp"

TEST_CASE("a float gives the nearest integer towards zero, and NaN gives 0") {
  casts::check_all<casts::mt::reference_device>();
  casts::check_all<casts::mt::cpu_device>();
}

TEST_CASE("a constant is cast when it is compiled") {
  static_assert(casts::mt::saturated_integer<std::int32_t>(3e9f) == casts::greatest_i32);
  static_assert(casts::mt::saturated_integer<std::uint8_t>(-3.0) == 0);
  static_assert(casts::mt::saturated_integer<std::int64_t>(std::numeric_limits<float>::quiet_NaN()) == 0);
  static_assert(casts::mt::saturated_integer<std::int32_t>(2147483646.5) == 2147483646);
}
