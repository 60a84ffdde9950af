// SPDX-License-Identifier: Apache-2.0
// Runs the collectives of a plan on a transport, each by itself or several joined in one message.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
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
        join(x, m, p, which);
        x.number = t_.prepare(*x.joined);
      } else {
        x.number = t_.prepare(ranks_[0].collective_of(which));
      }
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
  /// A block in a joint message. It is laid out as [outer, rows, inner], and in the message as [rows, outer, inner].
  struct part {
    std::int64_t first, outer, inner;  // bytes, but `outer` is a number
    std::byte const* in = nullptr;
    std::byte *out = nullptr, *next = nullptr;  // destination of the pending result, and of the next one
  };
  struct message {
    int number = 0;  // in the transport
    bool under_way = false;
    std::unique_ptr<planned_collective> joined{};  // the rest is for joined collectives alone
    std::int64_t rows = 1, row_bytes = 0;
    std::int64_t result = 0;          // where the result begins in `memory`. An all_reduce is in place
    std::vector<std::byte> memory{};  // the operand and the result
    dynamic_array<part> parts{};      // in the order of their starts
  };
  struct place_of_node {
    message* in = nullptr;
    std::size_t part = 0;
  };

  void join(message& x, module const& m, plan const& p, node_id last) {
    x.joined = ranks_[0].joined_collective(last);
    bool const moves = x.joined->call.kind == collective::move;
    if (moves) x.rows = x.joined->call.extent[0];
    each_joined(m, p, last, [&](node_id c) {
      places_[c] = {&x, x.parts.size()};
      planned_collective const& one = ranks_[0].collective_of(c);
      std::int64_t outer = 1;
      for (int d = 0; moves && d < one.moves.rows; ++d) outer *= one.call.extent[d];
      std::int64_t const bytes = elements_in_row(one) * static_cast<std::int64_t>(bytes_of(one.call.type));
      x.parts.push_back({x.row_bytes, outer, bytes / std::max<std::int64_t>(outer, 1)});
      x.row_bytes += bytes;
    });
    if (moves) x.result = x.rows * x.row_bytes;
    x.memory.resize(static_cast<std::size_t>(x.result + x.rows * x.row_bytes));
  }
  /// Calls f(place in the message, place in the block, bytes) for the runs of a part that are contiguous in both.
  template <class F>
  static void each_run_of(message const& x, part const& y, F const& f) {
    if (x.rows == 1) return f(y.first, std::int64_t{0}, y.outer * y.inner);
    for (std::int64_t o = 0; o < y.outer; ++o)
      for (std::int64_t row = 0; row < x.rows; ++row)
        f(row * x.row_bytes + y.first + o * y.inner, (o * x.rows + row) * y.inner, y.inner);
  }
  void send(message& x) {
    wait(x);
    for (part& y : x.parts) {
      each_run_of(x, y, [&](std::int64_t to, std::int64_t from, std::int64_t bytes) {
        copy_bytes(x.memory.data() + to, y.in + from, bytes);
      });
      y.out = y.next;
    }
    ranks_[0].set_joined_sources(*x.joined);
    x.under_way = t_.start(x.number, *x.joined, x.memory.data(), x.memory.data() + x.result);
  }
  void wait(message& x) {
    if (!x.under_way) return;
    t_.wait(x.number);
    for (part const& y : x.parts)
      each_run_of(x, y, [&](std::int64_t from, std::int64_t to, std::int64_t bytes) {
        copy_bytes(y.out + to, x.memory.data() + x.result + from, bytes);
      });
    x.under_way = false;
  }

  transport& t_;
  std::span<rank_context> ranks_;
  std::deque<message> messages_;
  dynamic_array<place_of_node> places_;
  std::int64_t workspace_bytes_ = 0;
};

}  // namespace meshtensor
