// SPDX-License-Identifier: Apache-2.0
// Values made ahead of need where the system starts no more threads: the caller makes them, or fewer threads do.
// sanitize: no
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <optional>

#include "meshtensor/datasets/prefetched.hpp"

namespace mt = meshtensor;

TEST_CASE("where the system starts fewer threads, these make the same values, or the caller does") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  rlimit const little{1 << 20, before.rlim_max};
  setrlimit(RLIMIT_AS, &little);
  std::optional<mt::datasets::prefetched<int>> values;
  values.emplace([](std::int64_t number, int& v) { v = static_cast<int>(number); }, 5, 40, 2);
  setrlimit(RLIMIT_AS, &before);
  for (int i = 5; i < 12; ++i) CHECK(values->next() == i);
}
