// SPDX-License-Identifier: Apache-2.0
// Turns an instruction into commands for a device's machine: launches, copies and collectives of all ranks. Each rank
// has an arena in the device's memory.
#pragma once

#include "meshtensor/run/recorded/prepared_nodes.hpp"
#include "meshtensor/run/recorded/rows.hpp"
#include "meshtensor/run/recorded/staged_collectives.hpp"
#include "meshtensor/run/recorded/staged_ports.hpp"
#include "meshtensor/run/recorded/values_on_device.hpp"

namespace meshtensor {

template <recording_device Device>
class command_encoder {
  using program = typename Device::recorded_program;
  using memory = typename program::memory;
  using recorder = typename program::recorder;
  using ports_of_step = staged_ports<Device>;

 public:
  /// Prepares all nodes, then allocates the memory. `remote` runs the collectives if other processes take part in them.
  command_encoder(module const& m, plan const& p, std::span<instruction const> instructions,
                  std::span<rank_context const> ranks, program& kernels, values_on_device<Device> const& values,
                  staged_collectives<Device>* remote)
      : m_(m),
        program_(kernels),
        values_(values),
        remote_(remote),
        ranks_(without_addresses(m, p, ranks)),
        nodes_(m, instructions, ranks_, kernels, remote != nullptr),
        bound_(roots_of(p, instructions)),
        arena_(Device::machine(), static_cast<std::size_t>(ports_of_step::aligned(p.arena_bytes)) * ranks_.size()),
        ports_(m, instructions, ranks_) {
    for (std::size_t k = 0; k < ranks_.size(); ++k)
      ranks_[k].use(arena_.at() + static_cast<std::int64_t>(k) * ports_of_step::aligned(p.arena_bytes));
  }

  std::vector<rank_context>& ranks() { return ranks_; }  // with addresses of the device
  /// The addresses that instructions have bound so far. `bind` binds them again.
  std::vector<std::byte*> bound() const {
    std::vector<std::byte*> all;
    for (rank_context const& r : ranks_)
      for (std::size_t root : bound_) all.push_back(r.base(root));
    return all;
  }
  void bind(std::vector<std::byte*> const& addresses) {
    auto next = addresses.begin();
    for (rank_context& r : ranks_)
      for (std::size_t root : bound_) r.set_base(root, *next++);
  }
  ports_of_step& ports() { return ports_; }
  /// Calls `show(address, bytes)` for each block of the device's memory, except those of values.
  template <class Show>
  void show_blocks(Show const& show) const {
    show(arena_.at(), arena_.bytes());
    ports_.show_blocks(show);
  }

  void record(recorded_commands<Device>& commands, instruction const& i) {
    if (remote_ != nullptr && is_of_collective(i)) return add_remote_collective(commands, i);
    if (i.kind == instruction_kind::start || i.kind == instruction_kind::collective) return add_collective(commands, i);
    if (i.kind == instruction_kind::wait) return;  // commands wait for their dependencies
    for (std::size_t k = 0; k < ranks_.size(); ++k) move(commands, i, k);
  }

 private:
  static std::vector<rank_context> without_addresses(module const& m, plan const& p,
                                                     std::span<rank_context const> ranks) {
    std::vector<rank_context> all;
    for (rank_context const& r : ranks) all.emplace_back(m, p, r.mesh(), r.rank());
    return all;
  }

  /// The values whose addresses instructions bind.
  static std::vector<std::size_t> roots_of(plan const& p, std::span<instruction const> instructions) {
    std::vector<std::size_t> all;
    for (instruction const& i : instructions)
      if (i.kind <= instruction_kind::bind_window) all.push_back(p.root[i.to]);
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
  static bool is_of_collective(instruction const& i) {
    return i.kind == instruction_kind::start || i.kind == instruction_kind::collective ||
           i.kind == instruction_kind::wait;
  }
  void add_remote_collective(recorded_commands<Device>& commands, instruction const& i) {
    if (i.kind != instruction_kind::wait && add_device_collective(commands, i)) return;
    if (i.kind != instruction_kind::wait) remote_->start(commands, i, ranks_[0]);
    if (i.kind != instruction_kind::start)
      remote_->wait(commands, i.kind == instruction_kind::wait ? static_cast<node_id>(i.from) : i.node);
  }
  /// Records a collective among the devices of several processes as a command. Returns false if the device does not
  /// support it.
  bool add_device_collective(recorded_commands<Device>& commands, instruction const& i) {
    planned_collective const& c = ranks_[0].collective_of(i.node);
    if (!prepared_nodes<Device>::takes_remote_collective(program_, c)) return false;
    std::byte *const in = ranks_[0].pointer(i.from_value()), *const out = ranks_[0].pointer(i.to_value());
    if constexpr (requires(recorder& r) { program_.record_remote_collective(r, c.call, c.with, in, out); })
      commands.add(
          [&] {
            std::int64_t const bytes = result_bytes_of(c.call, c.with.count, c.with.index);
            return touched_bytes{{bytes_at(in, bytes_of(c.call))}, {bytes_at(out, bytes)}};
          },
          [&](recorder& r) { program_.record_remote_collective(r, c.call, c.with, in, out); });
    return true;
  }
  void add_collective(recorded_commands<Device>& commands, instruction const& i) {
    if (m_.nodes[i.node].kind == primitive::move_rows)
      return rows_.record(commands, i.node, i.from_value(), i.to_value(), ranks_);
    for (rank_context& first : ranks_) {
      planned_collective const& c = first.collective_now(i.node);
      if (c.with.index != 0) continue;
      std::vector<std::byte*> in, out;
      std::vector<collective_call const*> calls;
      for (int k = 0; k < c.with.count; ++k) {
        rank_context& member = ranks_[static_cast<std::size_t>(c.with.members[k])];
        calls.push_back(&member.collective_now(i.node).call);
        in.push_back(member.pointer(i.from_value())), out.push_back(member.pointer(i.to_value()));
      }
      commands.add(
          [&] {
            touched_bytes t;
            for (std::size_t k = 0; k < calls.size(); ++k) {
              t.reads.push_back(bytes_at(in[k], bytes_of(*calls[k])));
              t.writes.push_back(bytes_at(out[k], result_bytes_of(*calls[k], c.with.count, static_cast<int>(k))));
            }
            return t;
          },
          [&](recorder& r) { nodes_.collective_at(i.node).record(r, calls, in, out); });
    }
  }
  void launch(recorded_commands<Device>& commands, instruction const& i, std::size_t k) {
    auto const& work = nodes_.launch(i, k);
    if (!work) return;
    node const& n = m_.nodes[i.node];
    node_views const v = nodes_.views(ranks_[k], n);
    commands.add([&] { return touched_by(n, v); },
                 [&](recorder& r) {
                   work(r, {m_, n, v.operands, v.results, ranks_[k].context}, ports_.state(), program_.workspace());
                 });
  }
  touched_bytes touched_by(node const& n, node_views const& v) const {
    touched_bytes t{{bytes_at(ports_.state(), ports_.state_bytes())}, {}};
    for (int i = 0; i < n.operands.count; ++i) t.reads.push_back(bytes_of_view(v.operands[i]));
    for (int i = 0; i < n.results.count; ++i) t.writes.push_back(bytes_of_view(v.results[i]));
    if (program_.workspace() != nullptr) t.writes.push_back(bytes_at(program_.workspace(), program_.workspace_bytes()));
    if (n.effect) t.writes.push_back(bytes_at(&effects_, 1));  // keeps effects in order
    return t;
  }

  void move(recorded_commands<Device>& commands, instruction const& i, std::size_t k) {
    rank_context& r = ranks_[k];
    auto const copy_to = [&](std::byte* to) { commands.copy(to, r.pointer(i.from_value()), r.bytes(i.from_value())); };
    switch (i.kind) {
      case instruction_kind::launch: return launch(commands, i, k);
      case instruction_kind::bind_input: return r.set_pointer(i.to_value(), ports_.input(i.node, k));
      case instruction_kind::bind_variable: return r.set_pointer(i.to_value(), values_.at(i.from, k));
      case instruction_kind::bind_slice:
        return r.set_pointer(i.to_value(), address_of_slice(r, i.from_value(), i.to_value()));
      case instruction_kind::bind_buffer:
        return r.set_pointer(i.to_value(), r.turn(i.to_value(), r.context.index, i.bytes));
      case instruction_kind::bind_window:
        return r.set_pointer(i.to_value(), detail::window_of(m_, m_.nodes[i.node], r));
      case instruction_kind::copy: return copy_to(r.pointer(i.to_value()));
      case instruction_kind::copy_to_slice:
        if (std::byte* const to = address_of_slice(r, i.to_value(), i.from_value())) copy_to(to);
        return;
      case instruction_kind::copy_to_store: return copy_to(values_.at(i.to, k));
      case instruction_kind::copy_to_output: return copy_to(ports_.output(i.node, k));
      case instruction_kind::copy_part: {
        view const x = r.at(i.from_value()), y = r.at(i.to_value());
        std::int64_t const first = detail::begin_of_part(m_.nodes[i.node], x, y);
        return commands.add([&] { return touched_bytes{{bytes_of_view(x)}, {bytes_of_view(y)}}; },
                            [&](recorder& to_do) { program_.copy_part(to_do, x, first, y); });
      }
      case instruction_kind::zero: {
        std::byte* const to = r.pointer(i.to_value());
        std::int64_t const bytes = r.bytes(i.to_value());
        return commands.add([&] { return touched_bytes{{}, {bytes_at(to, bytes)}}; },
                            [&](recorder& to_do) { to_do.clear(to, bytes); });
      }
      case instruction_kind::accumulate: {
        view const total = r.at(i.to_value()), term = r.at(i.from_value());
        return commands.add(
            [&] { return touched_bytes{{bytes_of_view(total), bytes_of_view(term)}, {bytes_of_view(total)}}; },
            [&](recorder& to_do) { program_.accumulate(to_do, total, term); });
      }
      default: return;
    }
  }
  /// The address of the iteration's slice, or null if another rank holds it.
  static std::byte* address_of_slice(rank_context const& r, value_id stack, value_id of_iteration) {
    return detail::slice_of(r, r.windows()[stack], r.pointer(stack), r.bytes(of_iteration));
  }

  meshtensor::module const& m_;
  program& program_;
  values_on_device<Device> const& values_;
  staged_collectives<Device>* remote_;
  std::vector<rank_context> ranks_;
  prepared_nodes<Device> nodes_;
  recorded_rows<Device> rows_;
  std::vector<std::size_t> bound_;  // of the plan's roots
  memory arena_;
  ports_of_step ports_;
  std::byte effects_{};
};

}  // namespace meshtensor
