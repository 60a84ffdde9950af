// SPDX-License-Identifier: Apache-2.0
// Compiler and build settings, and the limits of a program. Few other files test for a compiler.
#pragma once

#include <cstdint>

#include "meshtensor/base/lazy.hpp"

#define MESHTENSOR_VERSION_MAJOR 0
#define MESHTENSOR_VERSION_MINOR 1
#define MESHTENSOR_VERSION_PATCH 0

#ifndef MESHTENSOR_MAX_NODES  // raise it for a larger program, but every pass returns a module of this capacity
#  define MESHTENSOR_MAX_NODES 4096
#endif

#ifndef MESHTENSOR_EARLY  // if 0, only the trace runs at compile time, and every later pass at start-up
#  define MESHTENSOR_EARLY 1
#endif

#ifndef MESHTENSOR_COMPILED  // if 1, code that is the same for all programs is linked: see compiled/
#  define MESHTENSOR_COMPILED 0
#endif
#ifndef MESHTENSOR_COMPILED_IO  // if 1, the code that saves and loads checkpoints is linked, too
#  define MESHTENSOR_COMPILED_IO 0
#endif
#define MESHTENSOR_COMPILED_CPU (MESHTENSOR_COMPILED && MESHTENSOR_WITH_ONEDNN && MESHTENSOR_WITH_TBB)

// The instruction set that a file is compiled for. It is part of the names of all functions that depend on it, so that
// files compiled for different sets can be linked.
#if defined(__AVX512F__)
#  define MESHTENSOR_ARCH avx512
#elif defined(__AVX2__)
#  define MESHTENSOR_ARCH avx2
#elif defined(__AVX__)
#  define MESHTENSOR_ARCH avx
#elif defined(__SSE4_2__)
#  define MESHTENSOR_ARCH sse4
#else
#  define MESHTENSOR_ARCH baseline
#endif

// Marks a function whose call is an error, which is the template argument `Reason`. At the line of the call, g++ says
// that the function is unavailable, with the types. There, clang leaves out the types. However, it says them for an
// assertion in the function, and then the line of the call (tensor/call.hpp).
#if defined(__clang__)
#  define MESHTENSOR_REFUSES
#else
#  define MESHTENSOR_REFUSES __attribute__((unavailable("meshtensor refuses this call, for this Reason")))
#endif

#define MESHTENSOR_QUOTED(word) #word
#define MESHTENSOR_TEXT_OF(macro) MESHTENSOR_QUOTED(macro)
#define MESHTENSOR_VERSION                     \
  MESHTENSOR_TEXT_OF(MESHTENSOR_VERSION_MAJOR) \
  "." MESHTENSOR_TEXT_OF(MESHTENSOR_VERSION_MINOR) "." MESHTENSOR_TEXT_OF(MESHTENSOR_VERSION_PATCH)

// Options under which a float operation may differ from IEEE 754.
#if defined(__FAST_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__ASSOCIATIVE_MATH__) || \
    defined(__NO_SIGNED_ZEROS__) || __FINITE_MATH_ONLY__
#  define MESHTENSOR_ARITHMETIC "loose arithmetic (-ffast-math, or a part of it)"
#else
#  define MESHTENSOR_ARITHMETIC "strict arithmetic"
#endif
// The build options of a file that macros reveal and results depend on, one on each line.
#define MESHTENSOR_BUILD \
  "compiler " __VERSION__ "\ninstructions " MESHTENSOR_TEXT_OF(MESHTENSOR_ARCH) "\n" MESHTENSOR_ARITHMETIC "\n"

#ifdef __OPTIMIZE__
#  define MESHTENSOR_OPTIMIZES 1
#else  // the compiler's own time then matters more
#  define MESHTENSOR_OPTIMIZES 0
#endif

namespace meshtensor {

inline constexpr bool optimizes = MESHTENSOR_OPTIMIZES != 0;
inline constexpr bool early = MESHTENSOR_EARLY != 0;
inline constexpr bool links_passes = MESHTENSOR_COMPILED != 0;
#if MESHTENSOR_COMPILED_CPU
inline constexpr bool links_cpu = true;
#else
inline constexpr bool links_cpu = false;
#endif
#if MESHTENSOR_WITH_MPI
inline constexpr bool with_mpi = true;
#else
inline constexpr bool with_mpi = false;
#endif

inline constexpr int max_nodes = MESHTENSOR_MAX_NODES;
inline constexpr int max_values = max_nodes + max_nodes / 2;
inline constexpr int max_links = max_nodes * 6;  // operand, result, argument and region lists of all nodes together
/// A table's capacity: `usual`, and proportionally more if MESHTENSOR_MAX_NODES is above its default.
constexpr int in_proportion(int usual) { return max_nodes <= 4096 ? usual : usual * (max_nodes / 256) / 16; }
inline constexpr int max_operands = 1024;  // operands of one node, or results
inline constexpr int max_regions = in_proportion(512);
inline constexpr int max_dims = 128;        // dims of one program
inline constexpr int max_dims_of_one = 10;  // dims of one value
inline constexpr int max_axes = 6;          // axes of one mesh
inline constexpr int max_ranks = 1 << 20;   // ranks of one mesh
inline constexpr int max_names = in_proportion(512);
inline constexpr int max_paths = in_proportion(2048);
inline constexpr int max_numbers = in_proportion(2048);
inline constexpr int max_variables = in_proportion(1024);
inline constexpr int max_updates = in_proportion(1024);  // of states, in loops under construction
inline constexpr int max_calls = 64;                     // user-defined operations
inline constexpr int max_extensions = 16;                // operations declared outside of the library
inline constexpr int max_windows = in_proportion(256);   // of convolutions and pools
inline constexpr int max_windows_of_one = 3;
inline constexpr int max_reshapes = 256;  // pairs of dims, or of a dim and its parts, that name the same elements
inline constexpr int max_watched = 64;    // tensors that a program watches
inline constexpr int max_rules = 64;      // rules of one layout

}  // namespace meshtensor
