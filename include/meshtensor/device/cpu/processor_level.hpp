// SPDX-License-Identifier: Apache-2.0
// Detects instruction sets of x86-64: the one for which this file is compiled, and the one that this CPU has.
#pragma once

#include <cstdint>
#include <string>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/diagnostic.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Each level includes the previous ones.
enum class processor_level : std::uint8_t { baseline, sse4, avx, avx2, avx512 };

constexpr char const* text_of(processor_level l) {
  constexpr char const* names[] = {"any x86-64 processor", "SSE4.2", "AVX", "AVX2", "AVX-512"};
  return names[static_cast<int>(l)];
}

inline constexpr processor_level compiled_level = processor_level::MESHTENSOR_ARCH;

inline processor_level level_of_this_processor() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return processor_level::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return processor_level::avx2;
  if (__builtin_cpu_supports("avx")) return processor_level::avx;
  if (__builtin_cpu_supports("sse4.2")) return processor_level::sse4;
#endif
  return processor_level::baseline;
}

/// Compares the instructions for which the program is compiled with those of this CPU.
///
/// errors  R19 this CPU lacks some of the instructions
inline void check_level(processor_level compiled = compiled_level,
                        processor_level present = level_of_this_processor()) {
  if (compiled > present)
    throw error("R19", {"this program was compiled for processors with ", text_of(compiled), ", but this one has ",
                        text_of(present), ": compile it for this one, without -march=native or with another -march"});
}
/// A sentence about instructions of the CPU that a program leaves unused. It is empty if there are none that matter.
inline std::string unused_level(processor_level compiled = compiled_level,
                                processor_level present = level_of_this_processor()) {
  if (compiled >= present || present < processor_level::avx2) return "";
  std::string sentence = "R19: compiled for ";  // g++ 12 sees overflows in sums of literals and strings
  sentence.append(text_of(compiled)).append(", but this one has ").append(text_of(present));
  return sentence.append(": kernels are faster with -march=native (CMake: -DMESHTENSOR_NATIVE=ON)");
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
