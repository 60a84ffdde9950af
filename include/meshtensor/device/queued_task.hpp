// SPDX-License-Identifier: Apache-2.0
// One task of a device's queues, with the bytes that it reads and writes; and the check that a list of tasks has no
// race.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "meshtensor/tensor/view.hpp"

namespace meshtensor {

/// Bytes of a device's memory: an address, never read through.
struct byte_range {
  std::byte const* begin = nullptr;
  std::byte const* end = nullptr;

  bool empty() const { return begin >= end; }
  bool meets(byte_range const& other) const {
    return !empty() && !other.empty() && begin < other.end && other.begin < end;
  }
};
/// None where there is no memory: a rank without elements has none.
inline byte_range bytes_at(std::byte const* at, std::int64_t bytes) {
  return at == nullptr ? byte_range{} : byte_range{at, at + bytes};
}
/// From the lowest byte of a view to its highest: of a view with strides, what lies between its elements too.
inline byte_range bytes_of_view(view const& v) {
  if (v.data == nullptr || v.size() == 0) return {};
  std::int64_t lowest = 0, highest = 0;
  for (int d = 0; d < v.count; ++d) (v.stride[d] < 0 ? lowest : highest) += (v.extent[d] - 1) * v.stride[d];
  auto const each = static_cast<std::int64_t>(bytes_of(v.type));
  return bytes_at(v.as<std::byte>() + lowest * each, (highest - lowest + 1) * each);
}

/// What a queue does after all that came before it there, and after the tasks of `waits`, which are earlier in the
/// list.
struct queued_task {
  int queue = 0;
  std::vector<int> waits;
  std::vector<byte_range> reads, writes;
};

/// Whether two tasks must not change places: one writes what the other one reads or writes.
inline bool conflict(queued_task const& a, queued_task const& b) {
  auto const meet = [](std::vector<byte_range> const& x, std::vector<byte_range> const& y) {
    for (byte_range const& i : x)
      for (byte_range const& j : y)
        if (i.meets(j)) return true;
    return false;
  };
  return meet(a.writes, b.writes) || meet(a.writes, b.reads) || meet(a.reads, b.writes);
}

/// Two tasks that conflict and that no queue and no wait keeps in their order.
struct task_race {
  int first = 0, second = 0;
};

/// The first race of a list: of tasks whose order nothing but queues and waits decides. It knows nothing of how the
/// waits were chosen.
inline std::optional<task_race> find_race(std::vector<queued_task> const& tasks) {
  std::vector<std::vector<int>> lists;  // by queue: its tasks so far
  std::vector<std::vector<int>> known;  // by task, then by queue: the last task there that has ended when it begins
  for (queued_task const& t : tasks) lists.resize(std::max(lists.size(), static_cast<std::size_t>(t.queue) + 1));
  for (int t = 0; t < static_cast<int>(tasks.size()); ++t) {
    queued_task const& task = tasks[static_cast<std::size_t>(t)];
    std::vector<int> mine(lists.size(), -1);
    auto const learn = [&](int from) {
      auto const& theirs = known[static_cast<std::size_t>(from)];
      for (std::size_t q = 0; q < mine.size(); ++q) mine[q] = std::max(mine[q], theirs[q]);
      int& there = mine[static_cast<std::size_t>(tasks[static_cast<std::size_t>(from)].queue)];
      there = std::max(there, from);
    };
    auto& queue = lists[static_cast<std::size_t>(task.queue)];
    if (!queue.empty()) learn(queue.back());
    for (int w : task.waits) learn(w);
    for (std::size_t q = 0; q < lists.size(); ++q)
      for (auto s = std::ranges::upper_bound(lists[q], mine[q]); s != lists[q].end(); ++s)
        if (conflict(tasks[static_cast<std::size_t>(*s)], task)) return task_race{*s, t};
    known.push_back(std::move(mine));
    queue.push_back(t);
  }
  return std::nullopt;
}

}  // namespace meshtensor
