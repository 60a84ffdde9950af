// SPDX-License-Identifier: Apache-2.0
// Files compiled for different instruction sets in one program: each runs its own kernels. And what is said where a
// processor has fewer instructions than a program wants, or more.
//
// needs: cpu
// with: support/other_level.cpp -mavx2 -mfma
// part: native
#include <doctest/doctest.h>

#include "meshtensor/device/default.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/level_program.hpp"

namespace mt = meshtensor;
using mt::cpu::processor_level;

TEST_CASE("two instruction sets in one program") {
  auto const here = level_program::losses();
  std::vector<float> there;
  try {
    there = losses_of_other_level();
  } catch (mt::error const& e) {
    CHECK(e.code() == "R19");  // this processor does not have the other one
    return;
  }
  CHECK(std::string(level_of_other_file()) == "AVX2");
  REQUIRE(here.size() == there.size());
  for (std::size_t i = 0; i < here.size(); ++i) CHECK(here[i] == doctest::Approx(there[i]).epsilon(1e-5));
}

TEST_CASE("a program for another processor is refused") {
  CHECK_NOTHROW(mt::cpu::check_level());
  CHECK_NOTHROW(mt::cpu::check_level(processor_level::avx, processor_level::avx2));
  CHECK_THROWS_WITH_AS(mt::cpu::check_level(processor_level::avx512, processor_level::avx2),
                       "meshtensor R19: this program was compiled for processors with AVX-512, but this one has AVX2: "
                       "compile it for this one, without -march=native or with another -march",
                       mt::error);
}

TEST_CASE("instructions that lie idle") {
  CHECK(mt::cpu::unused_level(processor_level::avx2, processor_level::avx2).empty());
  CHECK(mt::cpu::unused_level(processor_level::baseline, processor_level::sse4).empty());
  CHECK(mt::cpu::unused_level(processor_level::avx512, processor_level::avx2).empty());
  CHECK(mt::cpu::unused_level(processor_level::sse4, processor_level::avx2) ==
        "R19: compiled for SSE4.2, but this one has AVX2: kernels are faster with -march=native (CMake: "
        "-DMESHTENSOR_NATIVE=ON)");
}
