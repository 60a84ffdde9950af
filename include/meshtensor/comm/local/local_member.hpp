// SPDX-License-Identifier: Apache-2.0
// A rank of the local transport, which publishes its buffers and reads those of its peers directly.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/comm/communicator.hpp"
#include "meshtensor/comm/local/pending_collective.hpp"
#include "meshtensor/comm/local/world_state.hpp"
#include "meshtensor/comm/wait_limits.hpp"

namespace meshtensor {

/// One rank of a local world, for use by one thread at a time. It models `communicator`, and needs no workspace.
class local_member {
 public:
  /// A collective in flight. If it is destroyed before it is complete, it poisons the world.
  class request {
   public:
    request() = default;
    request(request&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)), slot_(other.slot_) {}
    request& operator=(request&& other) noexcept {
      std::swap(owner_, other.owner_), std::swap(slot_, other.slot_);
      return *this;
    }
    ~request() {
      if (owner_ != nullptr) owner_->abandon(slot_);
    }

   private:
    friend class local_member;
    request(local_member* owner, std::size_t slot) : owner_(owner), slot_(slot) {}
    local_member* owner_ = nullptr;
    std::size_t slot_ = 0;
  };

  local_member(comm::world_state& world, int rank, wait_limits const& limits)
      : world_(world), rank_(rank), limits_(limits) {
    for (int r = 0; r < world.size(); ++r) everybody_.push_back(r);
  }

  int rank() const { return rank_; }
  int size() const { return world_.size(); }
  std::int64_t workspace_bytes(collective_call const&, int) const { return 0; }

  /// Reserves memory. It is called once for each collective of the group that may be in flight.
  void prepare(group const& g) {
    place& p = find(g);
    p.over->expect(++p.prepared);
  }

  request start(collective_call const& call, group const& g, void const* in, void* out, void* = nullptr) {
    require_valid(call, g.count, g.index);
    if (world_.failed()) world_.raise();
    place& p = find(g);
    std::size_t const slot = free_slot();
    pending_collective& f = *pending_[slot];
    f.sequence = p.next++, f.over = p.over, f.index = g.index, f.call = call, f.in = in, f.out = out;
    try {
      f.shared = &p.over->join(f.sequence, call, g.index);
    } catch (error const& e) {
      world_.poison("R21", rank_, "rank " + std::to_string(rank_) + " failed: " + e.what());
      throw;
    }
    auto& participant = f.shared->participants[static_cast<std::size_t>(g.index)];
    participant.in = in, participant.out = out;
    bool const moves = !is_empty(call, g.count);
    f.small = bytes_of(call) <= comm::small_bytes;
    f.stages = !moves ? 1 : call.kind == collective::all_reduce && !f.small ? 3 : 2;
    f.stage = 0, f.done = false, f.active = true;
    arrive(f);
    return request(this, slot);
  }

  /// Advances every collective in flight as far as possible, so that waits may come in any order.
  void progress() {
    if (world_.failed()) world_.raise();
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      pending_collective& f = *pending_[i];
      while (f.active && !f.done && f.shared->complete(f.stage, f.over->count())) {
        world_.while_reading(rank_, [&] { comm::act(f); });
        if (++f.stage < f.stages) arrive(f);
        else f.done = true, f.over->leave(*f.shared);
      }
    }
  }

  bool test(request& r) {
    if (r.owner_ == nullptr) return true;
    progress();
    if (!pending_[r.slot_]->done) return false;
    pending_[r.slot_]->active = false;
    r.owner_ = nullptr;
    return true;
  }

  void wait(request& r) {
    using clock = std::chrono::steady_clock;
    auto const one_sleep = std::min<std::chrono::milliseconds>(std::chrono::seconds(1), limits_.first());
    waiting_time waited;
    for (bool first = true;; first = false) {
      std::uint64_t const seen = world_.at(rank_).events();
      if (test(r)) return;
      pending_collective const& f = *pending_[r.slot_];
      look_for_the_gone(f);
      if (first) waited.restart();
      if (world_.at(rank_).doze(seen, limits_.endless() ? clock::time_point::max() : clock::now() + one_sleep))
        continue;
      auto const so_far = waited.look();
      bool const ends = limits_.end.count() != 0 && so_far >= limits_.end;
      if (!ends && (limits_.warn.count() == 0 || so_far < limits_.warn)) continue;
      look_for_the_late(f, ends);
    }
  }

  void barrier() {
    request r = start(comm::barrier_call(), {everybody_.data(), size(), rank_}, nullptr, nullptr);
    wait(r);
  }

  /// Poisons the world and throws.
  [[noreturn]] void abort(std::string_view message) {
    world_.fail("R21", rank_, "rank " + std::to_string(rank_) + " failed: " + std::string(message));
  }

 private:
  using pending_collective = comm::local_pending;

  struct place {  // a group, as seen by this member
    comm::rank_group* over;
    std::int64_t next = 0;
    int prepared = 0;  // collectives that may be in flight
  };

  place& find(group const& g) {
    for (place& p : places_)
      if (p.over->count() == g.count && std::equal(g.members, g.members + g.count, p.over->members.begin())) return p;
    return places_.emplace_back(place{&world_.group_of(g, rank_)});
  }

  std::size_t free_slot() {
    for (std::size_t i = 0; i < pending_.size(); ++i)
      if (!pending_[i]->active) return i;
    pending_.push_back(std::make_unique<pending_collective>());
    return pending_.size() - 1;
  }

  void arrive(pending_collective& f) {
    comm::rank_group const& over = *f.over;
    if (f.shared->arrive(f.stage, f.index, over.count()))
      for (int rank : over.members) world_.at(rank).post();
  }

  // Fails all ranks if a rank that `f` waits for has returned from its program.
  void look_for_the_gone(pending_collective const& f) {
    for (int const rank : f.over->members)
      if (world_.at(rank).gone.load()) fail_if_late(f, rank);  // loaded before its stages, which are then final
  }
  void fail_if_late(pending_collective const& f, int rank);
  // Warns of the missing ranks, once for each collective. If the wait `ends`, it fails all ranks instead.
  void look_for_the_late(pending_collective const& f, bool ends);
  void abandon(std::size_t slot) noexcept;

  comm::world_state& world_;
  int rank_;
  wait_limits limits_;
  std::vector<int> everybody_;
  dynamic_array<place> places_;
  dynamic_array<std::unique_ptr<pending_collective>> pending_;
};

static_assert(communicator<local_member>);

}  // namespace meshtensor

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

inline void local_member::fail_if_late(pending_collective const& f, int rank) {
  auto const late = comm::missing_members(f);
  if (std::find(late.begin(), late.end(), rank) != late.end())
    world_.fail("R21", rank,
                "rank " + std::to_string(rank) + " failed: it left the program and " + comm::what_is_missing(f));
}

inline void local_member::look_for_the_late(pending_collective const& f, bool ends) {
  auto const late = comm::missing_members(f);
  if (late.empty() || (!ends && (!limits_.say || f.shared->warned.exchange(true)))) return;
  std::string const sentence = text_of_ranks(late) + " " + comm::what_is_missing(f) + " within " +
                               text_of(ends ? limits_.end : limits_.warn) + " of rank " + std::to_string(rank_);
  if (ends) world_.fail("R22", late[0], sentence);
  limits_.say("R22: " + sentence + consequence(limits_));
}

inline void local_member::abandon(std::size_t slot) noexcept {
  pending_collective& f = *pending_[slot];
  if (!f.done)
    world_.poison("R21", rank_,
                  "rank " + std::to_string(rank_) + " failed: it abandoned collective " + std::to_string(f.sequence) +
                      " of " + f.over->text());
  f.active = false;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
