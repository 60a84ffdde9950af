// SPDX-License-Identifier: Apache-2.0
// Reads the list of instructions of a step as the times of kernels and copies, and the starts and waits of messages.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "meshtensor/base/saturating.hpp"
#include "meshtensor/job/rank_context.hpp"
#include "meshtensor/pass/cost.hpp"
#include "meshtensor/pass/passes.hpp"

namespace meshtensor::detail {

enum class timed_kind : std::uint8_t {
  compute,
  start,  // a message
  wait,   // for a message
  loop,   // repeats what follows up to its end
  next,   // what follows up to its end runs for the next iteration of the loop, if there is one
  end,
};
struct timed_instruction {
  timed_kind kind;
  int message = -1;              // of a start and a wait
  std::int64_t nanoseconds = 0;  // of a computation
  double seconds = 0;            // the same, not rounded
  std::int64_t trips = 0;        // of a loop, and of a next in it
  value_id runs{no_id};          // of a loop that may end early: how many iterations run, before the loop
  bool stays = false;            // whether an iteration leaves this number as it is
  std::size_t behind = 0;        // of a loop and a next: the index after its end
};
/// Collectives that travel as one message. It starts with the last of them.
struct timed_message {
  planned_collective const* what;
  int parts;
};

/// The instructions of a step of the first rank of a mesh. A kernel takes the longer of two times, those of its
/// operations and of its bytes.
class timed_list {
 public:
  timed_list(module const& m, plan const& p, mesh_shape const& mesh, rates best)
      : m_(m), p_(p), best_(best), first_(m, p, mesh, 0) {
    require(best.flops > 0 && best.bytes > 0, "R28: a processor needs rates above 0");
    int entry = 0;
    while (m.regions[entry].kind != region_kind::entry) ++entry;
    dynamic_array<instruction> const from = instructions_of_entry(m, p, entry);
    for (int i = 0; i < m.node_count; ++i)
      if (is_collective(m.nodes[i].kind)) count(static_cast<node_id>(i));
    for (std::size_t at = 0; at < from.size();) at = read(from, at);
  }

  std::vector<timed_instruction> const& instructions() const { return all_; }
  std::vector<timed_message> const& messages() const { return messages_; }

 private:
  int message_of(node_id which) const {
    return number_.at(p_.joined[which] == 0 ? which : node_id(p_.joined[which] - 1));
  }
  void count(node_id which) {
    node_id const last = p_.joined[which] == 0 ? which : node_id(p_.joined[which] - 1);
    auto const [place, is_new] = number_.try_emplace(last, static_cast<int>(messages_.size()));
    if (is_new) {
      if (p_.joined[which] != 0) joined_.push_back(first_.joined_collective(last));
      messages_.push_back({p_.joined[which] != 0 ? joined_.back().get() : &first_.collective_of(which), 0});
    }
    ++messages_[static_cast<std::size_t>(place->second)].parts;
  }

  /// Computations between two messages become one.
  void compute(double seconds) {
    if (all_.empty() || all_.back().kind != timed_kind::compute) all_.push_back({timed_kind::compute});
    timed_instruction& last = all_.back();
    last.nanoseconds = saturated_sum(last.nanoseconds, saturated_count(seconds * 1e9));
    last.seconds += seconds;
  }
  void touch(std::int64_t bytes) { compute(static_cast<double>(bytes) / best_.bytes); }
  void message(timed_kind kind, node_id which) {
    all_.push_back({kind});
    all_.back().message = message_of(which);
  }
  double seconds_of_kernel(node const& n) const {
    return std::max(static_cast<double>(flops_within(m_, p_.numbers, n)) / best_.flops,
                    static_cast<double>(bytes_touched(m_, p_.numbers, n)) / best_.bytes);
  }

  using list = dynamic_array<instruction>;
  void read_body(list const& from, std::size_t at) {
    while (from[at].kind != instruction_kind::end) at = read(from, at);
  }
  void read_inside(list const& from, std::size_t at, timed_instruction begin) {
    std::size_t const own = all_.size();
    all_.push_back(begin);
    read_body(from, at + 1);
    all_.push_back({timed_kind::end});
    all_[own].behind = all_.size();
  }
  timed_instruction loop_at(instruction const& i) const {
    timed_instruction begin{timed_kind::loop};
    begin.trips = i.trips;
    if (i.from == id{no_id}) return begin;
    region const& body = m_.regions[m_.region_of(m_.nodes[i.node], 0)];
    begin.runs = m_.operand(m_.nodes[i.node], 0);
    begin.stays = m_.link(body.results, 0) == m_.link(body.arguments, 0);
    return begin;
  }
  /// Returns the index of the next instruction.
  std::size_t read(list const& from, std::size_t at) {
    using enum instruction_kind;
    instruction const& i = from[at];
    switch (i.kind) {
      case launch: compute(seconds_of_kernel(m_.nodes[i.node])); break;
      case copy:
      case copy_to_slice:
      case copy_to_store:
      case copy_to_output: touch(2 * i.bytes); break;
      case copy_part: touch(2 * p_.numbers.local_bytes(m_.values[i.to])); break;
      case zero: touch(i.bytes); break;
      case accumulate: touch(3 * i.bytes); break;
      case start: message(timed_kind::start, i.node); break;
      case wait: message(timed_kind::wait, static_cast<node_id>(i.from)); break;
      case collective: message(timed_kind::start, i.node), message(timed_kind::wait, i.node); break;
      case begin_loop: read_inside(from, at, loop_at(i)); return meshtensor::behind(from, at);
      case begin_next: {
        timed_instruction begin{timed_kind::next};
        begin.trips = i.trips;
        read_inside(from, at, begin);
        return meshtensor::behind(from, at);
      }
      case begin_first:
      case begin_call: read_body(from, at + 1); return meshtensor::behind(from, at);
      default: break;
    }
    return at + 1;
  }

  meshtensor::module const& m_;
  plan const& p_;
  rates best_;
  rank_context first_;
  std::vector<std::unique_ptr<planned_collective>> joined_;
  std::vector<timed_message> messages_;
  std::map<node_id, int> number_;  // of a message, by the last collective in it
  std::vector<timed_instruction> all_;
};

}  // namespace meshtensor::detail
