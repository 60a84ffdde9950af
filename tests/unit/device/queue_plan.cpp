// SPDX-License-Identifier: Apache-2.0
// Commands on several queues: none that conflict can change places, and without any one of the waits some can.
#include "meshtensor/device/queue_plan.hpp"

#include <doctest/doctest.h>

#include <array>
#include <random>

namespace mt = meshtensor;

namespace {

std::array<std::byte, 72> memory;

unsigned below(std::mt19937& c, unsigned n) { return static_cast<unsigned>(c() % n); }
std::vector<mt::byte_range> drawn_ranges(std::mt19937& c, unsigned most) {
  std::vector<mt::byte_range> all;
  for (unsigned n = below(c, most + 1); n > 0; --n) {
    unsigned const begin = below(c, 60);
    all.push_back(mt::bytes_at(memory.data() + begin, below(c, 12)));
  }
  return all;
}

}  // namespace

TEST_CASE("random commands on one to five queues") {
  std::mt19937 c(3);
  long waits = 0, beside = 0;
  for (int trial = 0; trial < 300; ++trial) {
    int const queues = 1 + trial % 5;
    mt::queue_plan plan(queues);
    for (int i = 0; i < 30; ++i) {
      auto reads = drawn_ranges(c, 2), writes = drawn_ranges(c, 1);
      CHECK(plan.add(std::move(reads), std::move(writes)) == i);
    }
    std::vector<mt::queued_command> const commands = plan.commands();
    REQUIRE(!mt::find_race(commands));
    for (std::size_t t = 0; t < commands.size(); ++t) {
      CHECK(commands[t].queue < queues);
      beside += commands[t].queue != 0;
      for (std::size_t w = 0; w < commands[t].waits.size(); ++w, ++waits) {
        auto without = commands;
        without[t].waits.erase(without[t].waits.begin() + static_cast<std::ptrdiff_t>(w));
        CHECK(mt::find_race(without));
      }
    }
  }
  CHECK(waits > 1000);
  CHECK(beside > 1000);
}

TEST_CASE("the bytes of a view whose elements go backwards") {
  mt::view v{};
  v.type = mt::dtype::f32, v.count = 2, v.data = memory.data() + 32;
  v.extent[0] = 3, v.stride[0] = -2, v.extent[1] = 2, v.stride[1] = 1;
  mt::byte_range const r = mt::bytes_of_view(v);
  CHECK(r.begin == memory.data() + 16);
  CHECK(r.end == memory.data() + 40);
  v.stride[0] = 2;
  CHECK(mt::bytes_of_view(v).begin == memory.data() + 32);
  CHECK(mt::bytes_of_view(v).end == memory.data() + 56);
  v.extent[1] = 0;
  CHECK(mt::bytes_of_view(v).empty());
}
