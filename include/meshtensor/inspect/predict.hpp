// SPDX-License-Identifier: Apache-2.0
// Predicts the time of a step from its list of instructions, a network and the rates of a rank. It runs no kernel and
// allocates none of the plan's memory.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "meshtensor/base/saturating.hpp"
#include "meshtensor/inspect/link_clock.hpp"
#include "meshtensor/job/rank_context.hpp"
#include "meshtensor/pass/cost.hpp"
#include "meshtensor/pass/passes.hpp"

namespace meshtensor {

/// One step of one rank, in seconds.
struct predicted_step {
  double seconds = 0;
  double computed = 0;      // of kernels and copies
  double communicated = 0;  // of collectives, hidden or not
  double exposed = 0;       // in which the rank only waits for collectives
};

namespace detail {

/// Reads a list of instructions as the engine does, on a clock of its own, for the first rank of a mesh. A kernel takes
/// the longer of two times, those of its operations and of its bytes. A loop that may end early takes all its
/// iterations, and so a cond takes both branches.
class step_clock {
 public:
  step_clock(module const& m, plan const& p, mesh_shape const& mesh, std::vector<link> links, rates best)
      : m_(m), p_(p), best_(best), links_(std::move(links)), seconds_(static_cast<std::size_t>(m.node_count)) {
    require(best.flops > 0 && best.bytes > 0, "R28: a processor needs rates above 0");
    int entry = 0;
    while (m.regions[entry].kind != region_kind::entry) ++entry;
    list_ = instructions_of_entry(m, p, entry);
    for (instruction const& i : list_)
      if (i.kind == instruction_kind::launch) seconds_[i.node] = seconds_of_kernel(m.nodes[i.node]);
    rank_context const mine(m, p, mesh, 0);
    for (int i = 0; i < m.node_count; ++i) {
      if (!is_collective(m.nodes[i].kind)) continue;
      auto const which = static_cast<node_id>(i);
      message& e = messages_[first_of(which)];
      ++e.parts;
      if (goes_with_another(p, i)) continue;
      e.number = links_.prepare(p.joined[i] == 0 ? mine.collective_of(which) : *mine.joined_collective(which));
    }
  }

  predicted_step run() {
    for (std::size_t at = 0; at < list_.size();) at = run_at(at);
    for (auto& [node, e] : messages_) receive(e);
    double const second = 1e-9;
    return {static_cast<double>(now_) * second, computed_, static_cast<double>(links_.taken()) * second,
            static_cast<double>(waited_) * second};
  }

 private:
  /// Collectives that are sent as one message.
  struct message {
    int number = -1, parts = 0, started = 0;
    bool under_way = false;
  };

  node_id first_of(node_id which) const { return p_.joined[which] == 0 ? which : node_id(p_.joined[which] - 1); }
  message& message_of(node_id which) { return messages_.at(first_of(which)); }

  void send(message& e) {
    if (++e.started < e.parts) return;
    receive(e);
    links_.start(e.number, now_);
    e.started = 0, e.under_way = true;
  }
  void receive(message& e) {
    if (!e.under_way) return;
    std::int64_t const until = std::max(now_, links_.done(e.number));
    waited_ += until - now_;
    now_ = until, e.under_way = false;
  }
  void compute(double seconds) {
    computed_ += seconds;
    now_ = saturated_sum(now_, saturated_count(seconds * 1e9));
  }
  void touch(std::int64_t bytes) { compute(static_cast<double>(bytes) / best_.bytes); }

  double seconds_of_kernel(node const& n) const {
    return std::max(static_cast<double>(flops_within(m_, p_.numbers, n)) / best_.flops,
                    static_cast<double>(bytes_touched(m_, p_.numbers, n)) / best_.bytes);
  }

  void run_body(std::size_t at) {
    while (list_[at].kind != instruction_kind::end) at = run_at(at);
  }
  /// Nothing is in flight between two iterations of a loop that may end early, so they take as long as the second one.
  /// Therefore a limit of a billion iterations costs no more than two.
  void run_loop(instruction const& i, std::size_t at) {
    std::int64_t const before = iteration_, run = i.from == id{no_id} ? i.trips : std::min<std::int64_t>(i.trips, 2);
    std::int64_t now = now_, waited = waited_, taken = links_.taken();
    double computed = computed_;
    for (iteration_ = 0; iteration_ < run; ++iteration_) {
      now = now_, waited = waited_, taken = links_.taken(), computed = computed_;
      run_body(at + 1);
    }
    iteration_ = before;
    std::int64_t const more = i.trips - run;
    now_ = saturated_sum(now_, saturated_product(more, now_ - now));
    waited_ = saturated_sum(waited_, saturated_product(more, waited_ - waited));
    computed_ += static_cast<double>(more) * (computed_ - computed);
    links_.take(saturated_product(more, links_.taken() - taken));
  }
  /// Returns the index of the next instruction.
  std::size_t run_at(std::size_t at) {
    using enum instruction_kind;
    instruction const& i = list_[at];
    switch (i.kind) {
      case launch: compute(seconds_[i.node]); break;
      case copy:
      case copy_to_slice:
      case copy_to_store:
      case copy_to_output: touch(2 * i.bytes); break;
      case copy_part: touch(2 * p_.numbers.local_bytes(m_.values[i.to])); break;
      case zero: touch(i.bytes); break;
      case accumulate: touch(3 * i.bytes); break;
      case start: send(message_of(i.node)); break;
      case wait: receive(message_of(static_cast<node_id>(i.from))); break;
      case collective: send(message_of(i.node)), receive(message_of(i.node)); break;
      case begin_loop: run_loop(i, at); return behind(list_, at);
      case begin_next:
        if (iteration_ + 1 < i.trips) run_body(at + 1);
        return behind(list_, at);
      case begin_first:
      case begin_call: run_body(at + 1); return behind(list_, at);
      default: break;
    }
    return at + 1;
  }

  meshtensor::module const& m_;
  plan const& p_;
  rates best_;
  link_clock links_;
  dynamic_array<instruction> list_;
  std::vector<double> seconds_;          // of kernels, by node
  std::map<node_id, message> messages_;  // by the last collective of a joined group
  std::int64_t now_ = 0, waited_ = 0, iteration_ = 0;
  double computed_ = 0;
};

}  // namespace detail

/// The time of a step of an executable or a draft, on a mesh that need not be here. It follows from the list of
/// instructions, a link for each mesh axis, and the rates that one rank reaches.
///
///     mt::draft<step_of_large> const large(data(16), model(32), batch(512));
///     double const seconds = mt::predict(large, {{"data", 5e-6, 25e9}, {"model", 5e-6, 25e9}}, {1e14, 2e12}).seconds;
///
/// errors  R28 an axis has no link, or a rate is 0
template <class Planned>
predicted_step predict(Planned const& step, std::vector<link> links, rates const& of_processor) {
  return detail::step_clock(step.graph(), step.planned(), step.bound_mesh(), std::move(links), of_processor).run();
}

}  // namespace meshtensor
