// SPDX-License-Identifier: Apache-2.0
// Runs the collectives of one rank's engine on its transport, each by itself or small ones joined in a bucket.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/job/transport.hpp"
#include "meshtensor/pass/join_collectives.hpp"
#include "meshtensor/run/session.hpp"

namespace meshtensor {

/// The collective that carries all collectives that are joined to `last`. It concatenates their blocks.
planned_collective joined_exchange(module const& m, plan const& p, rank_context const& mine, node_id last);

class by_transport final : public exchanges {
 public:
  /// Registers all collectives with the transport. All ranks must do this in the same order.
  by_transport(transport& t, module const& m, plan const& p, rank_context const& mine)
      : t_(t), ways_(static_cast<std::size_t>(m.node_count)) {
    prepare(m, p, mine);
  }

  by_transport(by_transport const&) = delete;
  by_transport& operator=(by_transport const&) = delete;
  /// Abandons collectives that are still pending after a failed step, because their memory is freed now.
  ~by_transport() override {
    if (is_under_way()) {
      t_.abandon();
      return;
    }
    for (way const& w : ways_)
      if (w.number >= 0) t_.release(w.number);
    for (auto const& b : buckets_) t_.release(b->number);
  }

  void start(std::span<rank_context> one, node_id which, value_id from, value_id to) override {
    way& w = ways_[which];
    if (w.in != nullptr) {
      part& mine = w.in->parts[w.place];
      mine.in = one[0].pointer(from), mine.next = one[0].pointer(to);
      if (w.place + 1 == w.in->parts.size()) send(*w.in);
      return;
    }
    wait(which);
    t_.start(w.number, one[0].exchange_now(which), one[0].pointer(from), one[0].pointer(to));
    w.under_way = true;
  }
  void wait(node_id which) override {
    way& w = ways_[which];
    if (w.in != nullptr) return receive(*w.in);
    if (w.under_way) t_.wait(w.number);
    w.under_way = false;
  }
  bool is_under_way() const override {
    return std::ranges::any_of(ways_, &way::under_way) || std::ranges::any_of(buckets_, &bucket::under_way);
  }
  void end_all() override {
    for (node_id const which : alone_) wait(which);
    for (auto const& b : buckets_) receive(*b);
  }
  void progress() override { t_.progress(); }
  std::int64_t workspace_bytes() const override { return workspace_bytes_; }
  std::int64_t ahead() const override { return t_.ahead(); }
  bool only_mpi_touches(node_id which) const override { return ways_[which].only_mpi_touches; }

 private:
  struct part {
    std::int64_t first, bytes;
    std::byte const* in = nullptr;
    std::byte *out = nullptr, *next = nullptr;  // destination of the pending result, and of the next one
  };
  struct bucket {
    planned_collective with;
    std::vector<std::byte> memory;
    dynamic_array<part> parts;  // in the order of their starts
    int number = 0;
    bool under_way = false;
  };
  struct way {
    bucket* in = nullptr;  // null if it is not joined
    std::size_t place = 0;
    int number = -1;  // of the collective, in the transport, or -1 if it is in a bucket or is no collective
    bool under_way = false, only_mpi_touches = false;
  };

  void prepare(module const& m, plan const& p, rank_context const& mine);
  void add_bucket(module const& m, plan const& p, rank_context const& mine, node_id last);
  void send(bucket& b) {
    receive(b);
    for (part& x : b.parts) {
      copy_bytes(b.memory.data() + x.first, x.in, x.bytes);
      x.out = x.next;
    }
    t_.start(b.number, b.with, b.memory.data(), b.memory.data());
    b.under_way = true;
  }
  void receive(bucket& b) {
    if (!b.under_way) return;
    t_.wait(b.number);
    for (part const& x : b.parts) copy_bytes(x.out, b.memory.data() + x.first, x.bytes);
    b.under_way = false;
  }

  transport& t_;
  dynamic_array<way> ways_;       // by node
  dynamic_array<node_id> alone_;  // collectives that are not joined
  std::int64_t workspace_bytes_ = 0;
  dynamic_array<std::unique_ptr<bucket>> buckets_;
};

namespace detail {
template <class>
std::unique_ptr<exchanges> exchanges_by(transport& t, module const& m, plan const& p, rank_context const& mine) {
  return std::make_unique<by_transport>(t, m, p, mine);
}
#if MESHTENSOR_COMPILED
extern template std::unique_ptr<exchanges> exchanges_by<lazy>(transport&, module const&, plan const&,
                                                              rank_context const&);
#endif
}  // namespace detail

}  // namespace meshtensor

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

inline planned_collective joined_exchange(module const& m, plan const& p, rank_context const& mine, node_id last) {
  planned_collective const& one = mine.exchange(last);
  planned_collective all;
  all.members = one.members, all.axes = one.axes, all.with = one.with, all.with.members = all.members.data();
  all.call.type = one.call.type, all.call.op = one.call.op, all.call.kind = one.call.kind;
  all.call.file = one.call.file, all.call.line = one.call.line, all.call.together = one.call.together;
  all.call.dims = 1, all.call.extent[0] = 0;
  for (int i = 0; i < m.node_count; ++i)
    if (p.joined[i] == last + 1) all.call.extent[0] += elements_of(mine.exchange(static_cast<node_id>(i)).call);
  return all;
}

inline void by_transport::prepare(module const& m, plan const& p, rank_context const& mine) {
  std::int64_t const before = t_.workspace_bytes();  // of other executables
  for (int i = 0; i < m.node_count; ++i) {
    if (!is_collective(m.nodes[i].kind)) continue;
    auto const which = static_cast<node_id>(i);
    if (p.joined[i] == 0) {
      ways_[which].number = t_.prepare(mine.exchange(which)), alone_.push_back(which);
      ways_[which].only_mpi_touches = t_.only_mpi_touches(mine.exchange(which));
    } else if (!goes_with_another(p, i)) {
      add_bucket(m, p, mine, which);
    }
  }
  workspace_bytes_ = t_.workspace_bytes() - before;
  for (auto const& b : buckets_) workspace_bytes_ += static_cast<std::int64_t>(b->memory.size());
}

inline void by_transport::add_bucket(module const& m, plan const& p, rank_context const& mine, node_id last) {
  bucket& b = *buckets_.emplace_back(std::make_unique<bucket>());
  b.with = joined_exchange(m, p, mine, last);
  std::int64_t at = 0;
  region_id const r = m.nodes[last].region;
  for (int i = 0; i < p.steps.count[r]; ++i) {
    node_id const c = p.steps.nodes[p.steps.first[r] + i];
    if (p.joined[c] != last + 1) continue;
    ways_[c].in = &b, ways_[c].place = b.parts.size();
    b.parts.push_back({at, bytes_of(mine.exchange(c).call)});
    at += b.parts.back().bytes;
  }
  b.memory.resize(static_cast<std::size_t>(at));
  b.number = t_.prepare(b.with);
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
