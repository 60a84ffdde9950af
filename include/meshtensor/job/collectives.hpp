// SPDX-License-Identifier: Apache-2.0
// Runs the collectives of a plan on a transport, each by itself or small ones joined in one message.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/job/rank_context.hpp"
#include "meshtensor/job/transport.hpp"
#include "meshtensor/pass/join_collectives.hpp"

namespace meshtensor {

/// The collectives of an engine, which has one rank or, in lockstep, all ranks.
class collectives {
 public:
  /// Registers all collectives with the transport. All ranks must do this in the same order.
  collectives(transport& t, module const& m, plan const& p, std::span<rank_context> ranks)
      : t_(t), ranks_(ranks), places_(static_cast<std::size_t>(m.node_count)) {
    std::int64_t const before = t_.workspace_bytes();  // of other executables
    for (node_id which{}; which < m.node_count; which = static_cast<node_id>(which + 1)) {
      bool const is_joined = p.joined[which] != 0 && ranks_.size() == 1;  // in lockstep nothing is sent
      if (!is_collective(m.nodes[which].kind) || (is_joined && goes_with_another(p, which))) continue;
      message& x = messages_.emplace_back();
      places_[which].in = &x;
      if (is_joined) {
        x.joined = ranks_[0].joined_collective(which);
        x.memory.resize(static_cast<std::size_t>(bytes_of(x.joined.call)));
        each_joined(m, p, which, [&, first = std::int64_t{0}](node_id c) mutable {
          places_[c] = {&x, x.parts.size()};
          x.parts.push_back({first, bytes_of(ranks_[0].collective_of(c).call)});
          first += x.parts.back().bytes;
        });
      }
      x.number = t_.prepare(is_joined ? x.joined : ranks_[0].collective_of(which));
      workspace_bytes_ += static_cast<std::int64_t>(x.memory.size());
    }
    workspace_bytes_ += t_.workspace_bytes() - before;
  }
  collectives(collectives const&) = delete;
  /// Abandons collectives that are still pending after a failed step, because their memory is freed now.
  ~collectives() {
    if (is_under_way()) t_.abandon();
    else
      for (message const& x : messages_) t_.release(x.number);
  }

  /// Starts a collective. If an earlier one of the same node was not waited for, that one ends first.
  void start(node_id which, value_id from, value_id to) {
    message& x = *places_[which].in;
    if (x.parts.empty()) {
      wait(x);
      for (rank_context& r : ranks_)
        x.under_way = t_.start(x.number, r.collective_now(which), r.pointer(from), r.pointer(to));
      return;
    }
    part& mine = x.parts[places_[which].part];
    mine.in = ranks_[0].pointer(from), mine.next = ranks_[0].pointer(to);
    if (&mine == &x.parts.back()) send(x);
  }
  void wait(node_id which) { wait(*places_[which].in); }
  bool is_under_way() const { return std::ranges::any_of(messages_, &message::under_way); }
  void end_all() {
    for (message& x : messages_) wait(x);
  }
  void progress() { t_.progress(); }
  std::int64_t ahead() const { return t_.ahead(); }
  std::int64_t workspace_bytes() const { return workspace_bytes_; }
  bool takes_device_memory(node_id which) const {
    return places_[which].in->parts.empty() && t_.takes_device_memory(ranks_[0].collective_of(which));
  }

 private:
  struct part {
    std::int64_t first, bytes;
    std::byte const* in = nullptr;
    std::byte *out = nullptr, *next = nullptr;  // destination of the pending result, and of the next one
  };
  struct message {
    int number = 0;  // in the transport
    bool under_way = false;
    planned_collective joined{};  // the rest is for joined collectives alone
    std::vector<std::byte> memory{};
    dynamic_array<part> parts{};  // in the order of their starts
  };
  struct place_of_node {
    message* in = nullptr;
    std::size_t part = 0;
  };

  void send(message& x) {
    wait(x);
    for (part& y : x.parts) {
      copy_bytes(x.memory.data() + y.first, y.in, y.bytes);
      y.out = y.next;
    }
    x.under_way = t_.start(x.number, x.joined, x.memory.data(), x.memory.data());
  }
  void wait(message& x) {
    if (!x.under_way) return;
    t_.wait(x.number);
    for (part const& y : x.parts) copy_bytes(y.out, x.memory.data() + y.first, y.bytes);
    x.under_way = false;
  }

  transport& t_;
  std::span<rank_context> ranks_;
  std::deque<message> messages_;
  dynamic_array<place_of_node> places_;
  std::int64_t workspace_bytes_ = 0;
};

}  // namespace meshtensor
