// SPDX-License-Identifier: Apache-2.0
// The rendezvous of one collective of ranks that are threads of one process: the buffers that each member brings, and
// the stage that each has reached.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/comm/collective.hpp"

namespace meshtensor::comm {

/// One collective. It has up to three stages: all members have started, all have read the inputs, and all have read the
/// partial results.
struct rendezvous {
  struct participant {
    void const* in = nullptr;
    void* out = nullptr;
    std::atomic<int> stages{0};  // reached by this member
  };

  explicit rendezvous(int count) : participants(new participant[static_cast<std::size_t>(count)]) {}

  std::int64_t sequence = -1;  // -1 if it is free
  collective_call call;
  int starter = 0;  // the first rank to arrive
  std::unique_ptr<participant[]> participants;
  std::atomic<int> arrived[3] = {0, 0, 0};
  std::atomic<int> left = 0;
  std::atomic<bool> warned = false;  // a member has reported the missing ranks

  /// Member `index` reaches `stage`. True for the last member.
  bool arrive(int stage, int index, int count) {
    participants[static_cast<std::size_t>(index)].stages.store(stage + 1, std::memory_order_relaxed);
    return arrived[stage].fetch_add(1, std::memory_order_acq_rel) + 1 == count;
  }
  bool complete(int stage, int count) const { return arrived[stage].load(std::memory_order_acquire) == count; }
};

/// Whether the calls of two members are of one collective. The extents may differ along a dim of which the blocks are
/// parts, and between the boxes of a move.
inline bool same_collective(collective_call const& a, collective_call const& b) {
  for (int d = 0; d < std::min(a.dims, b.dims); ++d)
    if (a.extent[d] != b.extent[d] && a.kind != collective::move && !(joins(a.kind) && d == a.join && a.joined != 0))
      return false;
  return a.kind == b.kind && a.type == b.type && a.dims == b.dims && (!reduces(a.kind) || a.op == b.op) &&
         (!splits(a.kind) || (a.split == b.split && a.split_grain == b.split_grain)) &&
         (!joins(a.kind) || (a.join == b.join && a.joined == b.joined && a.join_grain == b.join_grain)) &&
         (!has_root(a.kind) || a.root == b.root) &&
         (a.kind != collective::move || (a.at == b.at && *a.moves == *b.moves));
}

/// An all_reduce of no elements, used as a barrier.
inline collective_call barrier_call() {
  collective_call nothing;
  nothing.dims = 1;
  return nothing;
}

inline std::string describe(collective_call const& call) {
  return same_collective(call, barrier_call()) ? "a barrier" : located(call);
}

/// The collectives of one group, found by their sequence number in the group's order of starts.
class rank_group {
 public:
  explicit rank_group(std::vector<int> ranks) : members(std::move(ranks)) { grow(); }

  std::vector<int> const members;

  int count() const { return static_cast<int>(members.size()); }

  std::string text() const { return text_of(group{members.data(), count(), 0}); }

  /// The rendezvous of the collective with this sequence number. errors R24 the member's call differs from that of the
  /// first member to arrive
  rendezvous& join(std::int64_t sequence, collective_call const& call, int index) {
    std::lock_guard const lock(mutex_);
    while (at(sequence).sequence != -1 && at(sequence).sequence != sequence) grow();
    rendezvous& shared = at(sequence);
    if (shared.sequence == -1) {
      shared.sequence = sequence;
      shared.call = call;
      shared.starter = members[static_cast<std::size_t>(index)];
    } else if (!same_collective(shared.call, call)) {
      throw error("R24", {"rank ", members[static_cast<std::size_t>(index)], " starts ", describe(call), " where rank ",
                          shared.starter, " started ", describe(shared.call), ", collective ", sequence, " of ", text(),
                          "; all members start the same collectives in the same order"});
    }
    return shared;
  }

  /// Reserves rendezvous for a member with `pending` collectives in flight. It makes as many as can be live at once,
  /// because one member may be that far ahead of another. More are made when needed.
  void expect(int pending) {
    std::lock_guard const lock(mutex_);
    while (static_cast<int>(shared_.size()) < 2 * pending + 2) grow();
  }

  /// Releases a rendezvous for one member. After the last member has left, it is free again.
  void leave(rendezvous& shared) {
    if (shared.left.fetch_add(1, std::memory_order_acq_rel) + 1 != count()) return;
    std::lock_guard const lock(mutex_);
    for (auto& stage : shared.arrived) stage.store(0, std::memory_order_relaxed);
    for (int j = 0; j < count(); ++j)
      shared.participants[static_cast<std::size_t>(j)].stages.store(0, std::memory_order_relaxed);
    shared.left.store(0, std::memory_order_relaxed);
    shared.warned.store(false, std::memory_order_relaxed);
    shared.sequence = -1;
  }

 private:
  rendezvous& at(std::int64_t sequence) { return *shared_[static_cast<std::size_t>(sequence) % shared_.size()]; }
  // Doubles the capacity, so that two rendezvous with different slots keep different slots.
  void grow() {
    dynamic_array<std::unique_ptr<rendezvous>> before(std::max<std::size_t>(2, 2 * shared_.size()));
    before.swap(shared_);
    for (auto& shared : before)
      if (shared->sequence != -1)
        shared_[static_cast<std::size_t>(shared->sequence) % shared_.size()] = std::move(shared);
    for (auto& shared : shared_)
      if (!shared) shared = std::make_unique<rendezvous>(count());
  }

  std::mutex mutex_;
  dynamic_array<std::unique_ptr<rendezvous>> shared_;  // by sequence number, modulo the capacity
};

}  // namespace meshtensor::comm
