// SPDX-License-Identifier: Apache-2.0
// One collective of a rank of the local transport: its buffers, its stage, and its work at each stage.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/base/parts.hpp"
#include "meshtensor/comm/fold.hpp"
#include "meshtensor/comm/local/rendezvous.hpp"
#include "meshtensor/comm/reference.hpp"

namespace meshtensor::comm {

inline constexpr std::int64_t small_bytes = 1024;  // up to this size a rank reduces a whole all_reduce, else a part

struct local_pending {
  bool active = false, done = false, small = false;
  int stage = 0, stages = 0, index = 0;
  std::int64_t sequence = 0;
  rank_group* over = nullptr;
  rendezvous* shared = nullptr;
  collective_call call;
  void const* in = nullptr;
  void* out = nullptr;
  alignas(64) std::array<std::byte, small_bytes> result{};  // of a small all_reduce, until all have read the inputs
};

/// The work of a member when all members have reached the current stage of `f`.
inline void act(local_pending& f) {
  if (f.stages == 1 || f.stage == 2) return;
  int const count = f.over->count();
  auto const participant = [&](int j) -> rendezvous::participant& {
    return f.shared->participants[static_cast<std::size_t>(j)];
  };
  auto const input = [&](int j) -> void const* { return participant(j).in; };
  if (f.call.kind != collective::all_reduce) {
    if (f.stage == 0) deliver(f.call, count, f.index, input, f.out);
  } else if (f.small) {
    if (f.stage == 0) deliver(f.call, count, f.index, input, f.result.data());
    else copy_bytes(f.out, f.result.data(), bytes_of(f.call));
  } else {  // reduce the own part from all inputs, then copy the others' parts from their results
    auto const size = static_cast<std::int64_t>(bytes_of(f.call.type));
    for (int j = 0; j < count; ++j) {
      if ((f.stage == 0) != (j == f.index)) continue;
      auto const part = part_of(elements_of(f.call), count, j);
      std::int64_t const at = part.begin * size;
      std::byte* const to = static_cast<std::byte*>(f.out) + at;
      if (f.stage == 0)
        fold(f.call, to, part.count, count,
             [&](int k) -> void const* { return static_cast<std::byte const*>(input(k)) + at; });
      else copy_bytes(to, static_cast<std::byte const*>(participant(j).out) + at, part.count * size);
    }
  }
}

}  // namespace meshtensor::comm

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::comm {

/// The members that have not reached the stage for which `f` waits.
inline std::vector<int> missing_members(local_pending const& f) {
  std::vector<int> ranks;
  for (int j = 0; j < f.over->count(); ++j)
    if (f.shared->participants[static_cast<std::size_t>(j)].stages.load() <= f.stage)
      ranks.push_back(f.over->members[static_cast<std::size_t>(j)]);
  return ranks;
}

inline std::string what_is_missing(local_pending const& f) {
  return (f.stage == 0 ? "did not start collective " : "did not complete collective ") + std::to_string(f.sequence) +
         " of " + f.over->text() + " (" + describe(f.call) + ")";
}

}  // namespace meshtensor::comm

#include "meshtensor/base/run_rarely_end.hpp"
