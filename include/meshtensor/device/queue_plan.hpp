// SPDX-License-Identifier: Apache-2.0
// Spreads the commands of a step over a device's queues: it chooses each command's queue, and the commands of other
// queues for which it waits. Commands come in list order, with the bytes that they touch. In any order that queues and
// waits allow, the bytes are the same as in list order.
#pragma once

#include <algorithm>
#include <map>
#include <span>

#include "meshtensor/device/queued_command.hpp"

namespace meshtensor {

/// A command goes to the queue of the last command on which it depends, if nothing has been added to this queue since.
/// Otherwise it goes to the queue that was used least recently. It does not wait for commands that its queue already
/// knows to have ended.
class queue_plan {
 public:
  explicit queue_plan(int queues) : last_(static_cast<std::size_t>(queues), -1) {}

  /// Adds the next command and returns its number.
  int add(std::vector<byte_range> reads, std::vector<byte_range> writes) {
    int const number = size();
    std::vector<int> before;
    for (byte_range const& r : writes) touch(r, number, true, before);
    for (byte_range const& r : reads) touch(r, number, false, before);
    std::ranges::sort(before, std::greater<>());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    std::erase(before, number);
    int const queue = queue_after(before);
    commands_.push_back({queue, {}, std::move(reads), std::move(writes)});
    known_.push_back(last_[index(queue)] < 0 ? std::vector<int>(last_.size(), -1) : known_[index(last_[index(queue)])]);
    std::vector<int>& known = known_.back();
    for (int b : before) {  // later ones first, because they may have waited for earlier ones
      int const there = commands_[index(b)].queue;
      if (there == queue || known[index(there)] >= b) continue;
      commands_.back().waits.push_back(b);
      for (std::size_t q = 0; q < known.size(); ++q) known[q] = std::max(known[q], known_[index(b)][q]);
    }
    known[index(queue)] = last_[index(queue)] = number;
    return number;
  }
  int size() const { return static_cast<int>(commands_.size()); }
  queued_command const& operator[](int number) const { return commands_[index(number)]; }
  std::vector<queued_command> const& commands() const { return commands_; }

 private:
  /// A run of bytes with the last command that wrote it, or -1 if there is none, and the commands that have read it
  /// since.
  struct segment {
    std::byte const* end;
    int writer;
    std::vector<int> readers;
  };
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  int queue_after(std::vector<int> const& before) const {
    for (int b : before)
      if (last_[index(commands_[index(b)].queue)] == b) return commands_[index(b)].queue;
    return static_cast<int>(std::ranges::min_element(last_) - last_.begin());
  }
  /// Cuts the run that contains this address in two.
  void cut(std::byte const* at) {
    auto next = segments_.lower_bound(at);
    if (next == segments_.begin()) return;
    auto& [begin, s] = *std::prev(next);
    if (begin == at || s.end <= at) return;
    segments_.emplace(at, s);
    s.end = at;
  }
  void touch(byte_range const& r, int number, bool writes, std::vector<int>& before) {
    if (r.empty()) return;
    cut(r.begin), cut(r.end);
    auto const first = segments_.lower_bound(r.begin), last = segments_.lower_bound(r.end);
    std::byte const* reached = r.begin;
    std::vector<byte_range> untouched;
    for (auto at = first; at != last; ++at) {
      if (reached < at->first) untouched.push_back({reached, at->first});
      reached = at->second.end;
      if (at->second.writer >= 0) before.push_back(at->second.writer);
      if (writes) before.insert(before.end(), at->second.readers.begin(), at->second.readers.end());
      else at->second.readers.push_back(number);
    }
    if (reached < r.end) untouched.push_back({reached, r.end});
    if (writes) {
      segments_.erase(first, last);
      segments_.emplace(r.begin, segment{r.end, number, {}});
    } else {
      for (byte_range const& u : untouched) segments_.emplace(u.begin, segment{u.end, -1, {number}});
    }
  }

  std::vector<queued_command> commands_;
  std::vector<std::vector<int>> known_;  // [command][queue]: the last command that has ended when this one has
  std::vector<int> last_;                // the last command of each queue
  std::map<std::byte const*, segment> segments_;
};

}  // namespace meshtensor
