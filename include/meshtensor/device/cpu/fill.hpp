// SPDX-License-Identifier: Apache-2.0
// Fills variables with their initial values by all threads, a register at a time. The bits are those of the plain
// loops.
#pragma once

#include "meshtensor/device/cpu/fill_part.hpp"
#include "meshtensor/device/cpu/threads.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Like fill_part, with a team.
inline void fill(view const& where, initial_value const& first, thread_team& team) {
  if (first.is_zero() || where.size() == 0) return;
  detail::rows_of_block const rows(where);
  auto const all = [&]<class T>(T) {
    constexpr std::int64_t grain = std::int64_t{1} << 14;
    team.parallel_for(where.size(), grain, [&](std::int64_t from, std::int64_t to) { rows.fill<T>(from, to, first); });
  };
  switch (where.type) {
    case dtype::f32: return all(float{});
    case dtype::f64: return all(double{});
    default: return meshtensor::fill(where, first);
  }
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
