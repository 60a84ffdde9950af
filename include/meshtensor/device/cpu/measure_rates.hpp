// SPDX-License-Identifier: Apache-2.0
// Measures the peak rates of this rank's threads, with a large product and with a loop over more memory than the caches
// hold.
#pragma once

#include <chrono>
#include <vector>

#include "meshtensor/base/cache_size.hpp"
#include "meshtensor/device/cpu/matmul.hpp"
#include "meshtensor/pass/cost.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

namespace detail {

/// The shortest time of a few calls, in seconds.
template <class F>
double least_seconds(F const& f) {
  using clock = std::chrono::steady_clock;
  double least = 1e30;
  for (int i = 0; i < 5; ++i) {
    auto const begin = clock::now();
    f();
    least = std::min(least, std::chrono::duration<double>(clock::now() - begin).count());
  }
  return least;
}

}  // namespace detail

/// Takes about a tenth of a second. The bytes are those of c = a + 3 b, which has two reads and one write.
template <class = lazy>
rates measure_rates(thread_team& team) {
  constexpr std::int64_t side = 768, length = std::int64_t{1} << 24;
  rates best;
  std::vector<float> a(length, 0.5f), b(length, 0.5f), c(length);
  matmul_problem p;
  p.m = p.n = p.k = side;
  p.a.row = p.b.row = p.c.row = side;
  p.a.column = p.b.column = p.c.column = 1;
  matmul_plan plan(p, team.size());
  std::vector<std::byte> workspace(plan.workspace_bytes() + 64);
  auto const address = reinterpret_cast<std::uintptr_t>(workspace.data());
  std::byte* const aligned = workspace.data() + (64 - address % 64) % 64;
  double const product = detail::least_seconds([&] { plan.execute(a.data(), b.data(), c.data(), aligned, &team); });
  best.flops = 2.0 * side * side * side / product;
  double const triad = detail::least_seconds([&] {
    team.parallel_for(length, length / team.size() / 4, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) c.data()[i] = a.data()[i] + 3 * b.data()[i];
    });
  });
  double const touched = 3.0 * sizeof(float) * length;
  best.cache = static_cast<double>(largest_cache_bytes());
  if (touched > 2 * best.cache) best.bytes = touched / triad;  // otherwise the loop has measured the cache
  return best;
}

#if MESHTENSOR_COMPILED_CPU
extern template rates measure_rates<lazy>(thread_team&);
#endif

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
