// SPDX-License-Identifier: Apache-2.0
// One command of a device's queues with the bytes that it reads and writes, and a check that a list of commands has no
// race.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "meshtensor/tensor/view.hpp"

namespace meshtensor {

/// A range of bytes in a device's memory. The host never reads through its addresses.
struct byte_range {
  std::byte const* begin = nullptr;
  std::byte const* end = nullptr;

  bool empty() const { return begin >= end; }
  bool meets(byte_range const& other) const {
    return !empty() && !other.empty() && begin < other.end && other.begin < end;
  }
};
/// The range is empty if `at` is null, because a rank without elements has no memory.
inline byte_range bytes_at(std::byte const* at, std::int64_t bytes) {
  return at == nullptr ? byte_range{} : byte_range{at, at + bytes};
}
/// The range from the lowest to the highest byte of a view. If the view has strides, the range includes the bytes
/// between its elements.
inline byte_range bytes_of_view(view const& v) {
  if (v.data == nullptr || v.size() == 0) return {};
  std::int64_t lowest = 0, highest = 0;
  for (int d = 0; d < v.count; ++d) (v.stride[d] < 0 ? lowest : highest) += (v.extent[d] - 1) * v.stride[d];
  auto const each = static_cast<std::int64_t>(bytes_of(v.type));
  return bytes_at(v.as<std::byte>() + lowest * each, (highest - lowest + 1) * each);
}

/// A command. Its queue runs it after all earlier commands of this queue and after the commands in `waits`, which are
/// earlier in the list.
struct queued_command {
  int queue = 0;
  std::vector<int> waits;
  std::vector<byte_range> reads, writes;
};

/// Whether two commands must keep their order, because one writes bytes that the other reads or writes.
inline bool conflict(queued_command const& a, queued_command const& b) {
  auto const meet = [](std::vector<byte_range> const& x, std::vector<byte_range> const& y) {
    for (byte_range const& i : x)
      for (byte_range const& j : y)
        if (i.meets(j)) return true;
    return false;
  };
  return meet(a.writes, b.writes) || meet(a.writes, b.reads) || meet(a.reads, b.writes);
}

/// Two commands that conflict, and whose order is fixed by no queue and no wait.
struct command_race {
  int first = 0, second = 0;
};

/// Finds the first race of a list of commands, if only queues and waits order them. It does not use the code that
/// chooses the waits, so it can check that code.
inline std::optional<command_race> find_race(std::vector<queued_command> const& commands) {
  std::vector<std::vector<int>> lists;  // the commands of each queue so far
  // [command][queue]: the last command of the queue that has ended when the command begins
  std::vector<std::vector<int>> known;
  for (queued_command const& t : commands) lists.resize(std::max(lists.size(), static_cast<std::size_t>(t.queue) + 1));
  for (int t = 0; t < static_cast<int>(commands.size()); ++t) {
    queued_command const& command = commands[static_cast<std::size_t>(t)];
    std::vector<int> mine(lists.size(), -1);
    auto const learn = [&](int from) {
      auto const& theirs = known[static_cast<std::size_t>(from)];
      for (std::size_t q = 0; q < mine.size(); ++q) mine[q] = std::max(mine[q], theirs[q]);
      int& there = mine[static_cast<std::size_t>(commands[static_cast<std::size_t>(from)].queue)];
      there = std::max(there, from);
    };
    auto& queue = lists[static_cast<std::size_t>(command.queue)];
    if (!queue.empty()) learn(queue.back());
    for (int w : command.waits) learn(w);
    for (std::size_t q = 0; q < lists.size(); ++q)
      for (auto s = std::ranges::upper_bound(lists[q], mine[q]); s != lists[q].end(); ++s)
        if (conflict(commands[static_cast<std::size_t>(*s)], command)) return command_race{*s, t};
    known.push_back(std::move(mine));
    queue.push_back(t);
  }
  return std::nullopt;
}

}  // namespace meshtensor
