// SPDX-License-Identifier: Apache-2.0
// An arena has as many zeroed bytes as were asked for, aligned, at an address that a move keeps.
#include "meshtensor/base/memory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

using meshtensor::arena;

TEST_CASE("an arena of any size is zeroed, aligned, writable to its end, and keeps its address when it is moved") {
  for (std::size_t const size :
       {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{4097}, arena::small - 1, arena::small,
        arena::small + 1, arena::large_page - 1, arena::large_page, arena::large_page + 4097}) {
    CAPTURE(size);
    for (int round = 0; round < 2; ++round) {  // a block of the heap that was used before is zeroed, too
      arena a(size);
      CHECK(a.size() == size);
      std::size_t const aligned = size < arena::large_page ? arena::alignment : arena::large_page;
      CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % aligned == 0);
      CHECK(std::all_of(a.data(), a.data() + size, [](std::byte b) { return b == std::byte{0}; }));
      std::fill_n(a.data(), size, std::byte{0xff});
      std::byte* const at = a.data();
      arena b(std::move(a));
      CHECK(a.data() == nullptr);
      CHECK((b.data() == at && b.size() == size && b.data()[size - 1] == std::byte{0xff}));
      arena other(7);
      other = std::move(b);
      CHECK((other.data() == at && b.data() == nullptr));
    }
  }
  CHECK(arena(0).data() == nullptr);
}

TEST_CASE("M10: a block that the system does not have") {
  std::size_t const most = std::numeric_limits<std::size_t>::max();
  CHECK_THROWS_WITH_AS(static_cast<void>(arena{most}), doctest::Contains("M10: the system has no block of "),
                       meshtensor::error);
}
