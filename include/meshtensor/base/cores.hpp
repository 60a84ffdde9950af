// SPDX-License-Identifier: Apache-2.0
// CPU cores of this machine: those that a thread may run on, and their division among the ranks of a job.
#pragma once

#include <sched.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"

namespace meshtensor {

/// Cores of one machine, by number. A plain value that processes can send to each other.
using core_set = std::bitset<1024>;

/// The cores that the calling thread may run on, as restricted by taskset, mpirun's binding or a container. Empty if
/// the system does not tell, or has more than a core_set holds.
inline core_set allowed_cores() {
  core_set result;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (std::size_t i = 0; i < result.size() && i < CPU_SETSIZE; ++i) result[i] = CPU_ISSET(i, &set);
  return result;
}
/// The allowed cores or, if the system does not tell them, as many as it has.
inline core_set usable_cores() {
  core_set result = allowed_cores();
  auto const count = std::max(1u, std::thread::hardware_concurrency());
  if (result.none())
    for (std::size_t i = 0; i < result.size() && i < count; ++i) result[i] = true;
  return result;
}

/// The number of threads that MESHTENSOR_THREADS requests for a process, or 0 if it is not set.
///
/// errors  R29 it is no number
inline int asked_threads() {
  char const* const given = std::getenv("MESHTENSOR_THREADS");
  if (given == nullptr || *given == '\0') return 0;
  char* end = nullptr;
  long const threads = std::strtol(given, &end, 10);
  if (end == given || *end != '\0' || threads < 0 || threads > 1 << 20)
    throw error("R29",
                {"MESHTENSOR_THREADS is '", given, "', but takes a number of threads, or 0 for one on each core"});
  return static_cast<int>(threads);
}
/// The number of threads that a process may use: MESHTENSOR_THREADS or, if it is 0, the number of cores that the
/// calling thread may run on. It is at least one.
inline int usable_threads() {
  int const asked = asked_threads();
  return std::max(1, asked > 0 ? asked : static_cast<int>(usable_cores().count()));
}

/// Binds the calling thread, and threads that it starts from now on, to these cores. False if the system refuses.
inline bool stay_on(core_set const& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (std::size_t i = 0; i < cores.size() && i < CPU_SETSIZE; ++i)
    if (cores[i]) CPU_SET(i, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

/// The place of a core: its processor, the core on it, and the hardware thread of that core. A number is 0 if the
/// system does not tell it.
using core_place = std::array<int, 3>;

inline core_place place_of_core(std::size_t core) {
  auto const asked = [&](char const* what) {
    int number = 0;
    std::string const file = "/sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/" + what;
    if (std::FILE* const f = std::fopen(file.c_str(), "r")) {
      if (std::fscanf(f, "%d", &number) != 1) number = 0;
      std::fclose(f);
    }
    return number;
  };
  return {asked("physical_package_id"), asked("core_id"), static_cast<int>(core)};
}

/// The share of its cores that a rank should use, given the cores of all ranks on its machine. Ranks with the same
/// cores split them, so that each one gets adjacent cores. If there are more ranks than cores, several share one. A
/// rank keeps all its cores if no other rank has exactly the same ones.
template <class Place>
core_set own_cores(std::span<core_set const> of_ranks, std::size_t self, Place place) {
  core_set const& all = of_ranks[self];
  std::size_t sharers = 0, before = 0;
  for (std::size_t r = 0; r < of_ranks.size(); ++r) {
    if (of_ranks[r] != all) continue;
    ++sharers;
    before += r < self;
  }
  if (sharers == 1 || all.none()) return all;
  std::vector<std::size_t> cores;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i]) cores.push_back(i);
  std::vector<core_place> places(all.size());
  for (std::size_t const core : cores) places[core] = place(core);
  std::sort(cores.begin(), cores.end(), [&](std::size_t a, std::size_t b) { return places[a] < places[b]; });
  std::size_t const first = before * cores.size() / sharers, last = (before + 1) * cores.size() / sharers;
  core_set own;
  for (std::size_t i = first; i < std::max(last, first + 1); ++i) own[cores[i]] = true;
  return own;
}
inline core_set own_cores(std::span<core_set const> of_ranks, std::size_t self) {
  return own_cores(of_ranks, self, place_of_core);
}

}  // namespace meshtensor
