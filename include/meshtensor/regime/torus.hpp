// SPDX-License-Identifier: Apache-2.0
// The torus: workers in rows and columns, which exchange values with their neighbours in both.
#pragma once

#include "meshtensor/regime/topology.hpp"

namespace meshtensor {

/// Each worker exchanges its value with its four neighbours on a torus, and all of them count alike. There are as many
/// rows as the largest divisor of n that is at most its square root. A row or column of two has one neighbour there. If
/// n is prime, the torus is a ring.
struct torus {
  static constexpr int period(int) { return 1; }
  static constexpr int slots(int) { return 4; }
  static constexpr edge incoming(int n, std::int64_t round, int worker, int slot) {
    int const rows = rows_of(n), columns = n / rows;
    bool const along_row = slot < 2;
    int const extent = along_row ? columns : rows;
    if (slot % 2 >= neighbours(extent)) return {};
    int const hops = slot % 2 == 0 ? 1 : extent - 1, row = worker / columns, column = worker % columns;
    int const source = along_row ? row * columns + detail::worker_before(columns, column, hops)
                                 : detail::worker_before(rows, row, hops) * columns + column;
    return {source, kept(n, round, worker)};
  }
  static constexpr double kept(int n, std::int64_t, int) {
    return 1.0 / (1 + neighbours(rows_of(n)) + neighbours(n / rows_of(n)));
  }

 private:
  static constexpr int rows_of(int n) {
    int rows = 1;
    for (int r = 2; r <= n / r; ++r)
      if (n % r == 0) rows = r;
    return rows;
  }
  static constexpr int neighbours(int extent) { return extent < 3 ? extent - 1 : 2; }
};

}  // namespace meshtensor
