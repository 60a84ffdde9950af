// SPDX-License-Identifier: Apache-2.0
// How ranks that have the same cores split them.
#include "meshtensor/base/cores.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace mt = meshtensor;
using mt::core_set;

namespace {

/// Cores whose numbers say where they lie: four on each processor.
mt::core_place in_order(std::size_t core) {
  return {static_cast<int>(core / 4), static_cast<int>(core % 4), static_cast<int>(core)};
}
/// Two threads a core: those of core i are i and i + 4.
mt::core_place in_pairs(std::size_t core) { return {0, static_cast<int>(core % 4), static_cast<int>(core)}; }

template <class Place>
std::vector<unsigned long> split(std::vector<core_set> const& ranks, Place place) {
  std::vector<unsigned long> own;
  for (std::size_t r = 0; r < ranks.size(); ++r) own.push_back(mt::own_cores(ranks, r, place).to_ulong());
  return own;
}
using sets = std::vector<unsigned long>;

}  // namespace

TEST_CASE("ranks split cores that they all have, and keep those of their own") {
  core_set const all(0xff), low(0x0f), high(0xf0), few(0x03);
  CHECK(split({all}, in_order) == sets{0xff});
  CHECK(split({all, all}, in_order) == sets{0x0f, 0xf0});
  CHECK(split({all, all}, in_pairs) == sets{0x33, 0xcc});
  CHECK(split({all, all, all}, in_order) == sets{0x03, 0x1c, 0xe0});
  CHECK(split({low, high}, in_order) == sets{0x0f, 0xf0});
  CHECK(split({low, high, low, high}, in_order) == sets{0x03, 0x30, 0x0c, 0xc0});
  CHECK(split({all, few}, in_order) == sets{0xff, 0x03});
}

TEST_CASE("more ranks than cores: each has one, and all cores have as many") {
  core_set const few(0x03);
  CHECK(split({few, few, few, few}, in_order) == sets{1, 1, 2, 2});
  CHECK(split({few, few, few}, in_order) == sets{1, 1, 2});
}

TEST_CASE("a rank without cores keeps none, and cores of this machine have places") {
  CHECK(split({core_set(), core_set()}, in_order) == sets{0, 0});
  core_set const here = mt::usable_cores();
  std::vector<core_set> const both{here, here};
  core_set const one = mt::own_cores(both, 0), other = mt::own_cores(both, 1);
  CHECK((one | other).count() == std::max<std::size_t>(here.count(), 1));
  CHECK((one & other).none() == (here.count() > 1));
}
