// SPDX-License-Identifier: Apache-2.0
// Defines the members of engine.
// why: members that are defined in a class are compiled with every program, linked or not.
#pragma once

#include "meshtensor/run/engine.hpp"

namespace meshtensor {

template <class Device>
engine<Device>::engine(module const& m, plan const& p, int entry, Device device, std::span<rank_context> processors,
                       std::unique_ptr<exchanges> among)
    : m_(m), device_(std::move(device)), processors_(processors), exchange_(std::move(among)) {
  list_instructions(m, p, entry, [this](instruction const& i) { list_.push_back(i); });
  for (instruction const& i : list_) {
    operands_.resize(std::max<std::size_t>(operands_.size(), m.nodes[i.node].operands.count));
    results_.resize(std::max<std::size_t>(results_.size(), m.nodes[i.node].results.count));
  }
  for (rank_context const& mine : processors)
    for (instruction const& i : list_)
      if (i.kind == instruction_kind::launch) {
        node const& n = m.nodes[i.node];
        load(mine, n);
        kernels_.emplace_back();
        if (has_results(n)) kernels_.back().emplace(prepared(mine, n));
      }
  launches_ = kernels_.size() / std::max<std::size_t>(1, processors.size());
}

template <class Device>
void engine<Device>::run(std::span<external_buffers> external, double const* numbers, std::uint64_t seed,
                         std::uint64_t step) {
  external_ = external;
  for (rank_context& p : processors_) p.context = {numbers, seed, step, 0, 0};
  if (record_) record_->begin_step(now());
  for (std::size_t at = 0; at < list_.size();) at = run_at(at);
  exchange_->end_all();
  if (record_) record_->end_step(now());
}

template <class Device>
std::int64_t engine<Device>::workspace_bytes() const {
  std::int64_t of_kernels = 0;
  if constexpr (requires { device_.workspace_bytes(); }) of_kernels = device_.workspace_bytes();
  return of_kernels + exchange_->workspace_bytes();
}

template <class Device>
bool engine<Device>::has_results(node const& n) const {
  return n.effect ||
         std::any_of(results_.begin(), results_.begin() + n.results.count, [](view const& v) { return v.size() != 0; });
}

template <class Device>
typename Device::kernel engine<Device>::prepared(rank_context const& p, node const& n) {
  if constexpr (runs_regions)
    if (n.kind == primitive::kernel)
      return device_.prepare_region(m_, n, operands_.data(), results_.data(), p.windows());
  return device_.prepare(m_, n, operands_.data(), results_.data());
}

template <class Device>
void engine<Device>::launch(typename Device::kernel& k, evaluation const& e) {
  if constexpr (runs_regions)
    if (e.n.kind == primitive::kernel) return device_.launch_region(k, e);
  device_.launch(k, e);
}

template <class Device>
void engine<Device>::load(rank_context const& p, node const& n) {
  for (int i = 0; i < n.operands.count; ++i) operands_[static_cast<std::size_t>(i)] = p.at(m_.operand(n, i));
  for (int i = 0; i < n.results.count; ++i) results_[static_cast<std::size_t>(i)] = p.at(m_.result(n, i));
}

template <class Device>
std::size_t engine<Device>::run_at(std::size_t at) {
  instruction const& i = list_[at];
  bool const is_of_loop = i.kind != instruction_kind::begin_loop && m_.nodes[i.node].kind == primitive::repeat;
  if (is_of_loop || (!record_ && !observer_)) return do_at(at);
  if (record_) record_->enter(now());
  if (before_) before_(m_.nodes[i.node], processors_);
  std::size_t const next = do_at(at);
  if (observer_) observer_(m_.nodes[i.node], processors_);
  if (record_) record_->leave(i.node, now());
  return next;
}

template <class Device>
std::size_t engine<Device>::do_at(std::size_t at) {
  instruction const& i = list_[at];
  switch (i.kind) {
    case instruction_kind::begin_loop: return run_loop(at);
    case instruction_kind::begin_first:
    case instruction_kind::begin_next: return run_ahead(at);
    case instruction_kind::begin_call: return run_body(at + 1) + 1;
    case instruction_kind::launch: launch(i); break;
    case instruction_kind::start: exchange_->start(processors_, i.node, i.from_value(), i.to_value()); break;
    case instruction_kind::wait: exchange_->wait(static_cast<node_id>(i.from)); break;
    case instruction_kind::exchange:
      exchange_->start(processors_, i.node, i.from_value(), i.to_value());
      exchange_->wait(i.node);
      break;
    default:
      for (std::size_t k = 0; k < processors_.size(); ++k) move(i, processors_[k], external_[k]);
  }
  return at + 1;
}

template <class Device>
std::size_t engine<Device>::run_body(std::size_t at) {
  while (list_[at].kind != instruction_kind::end) at = run_at(at);
  return at;
}

template <class Device>
std::size_t engine<Device>::run_loop(std::size_t at) {
  instruction const& i = list_[at];
  std::uint64_t const before = processors_[0].context.iteration, trips = static_cast<std::uint64_t>(i.trips);
  std::int64_t const index_before = processors_[0].context.index;
  std::size_t end = at;
  for (std::int64_t t = 0; t < i.trips; ++t) {
    std::int64_t const index = i.reversed ? i.trips - 1 - t : t;
    for (rank_context& p : processors_)
      p.context.index = index, p.context.iteration = before * trips + static_cast<std::uint64_t>(index);
    end = run_body(at + 1);
  }
  for (rank_context& p : processors_) p.context.iteration = before, p.context.index = index_before;
  return end + 1;
}

template <class Device>
std::size_t engine<Device>::run_ahead(std::size_t at) {
  instruction const& i = list_[at];
  std::int64_t const before = processors_[0].context.index;
  std::int64_t const index = i.kind == instruction_kind::begin_first ? (i.reversed ? i.trips - 1 : 0)
                             : i.reversed                            ? before - 1
                                                                     : before + 1;
  if (index >= 0 && index < i.trips) {
    for (rank_context& p : processors_) p.context.index = index;
    at = run_body(at + 1);
    for (rank_context& p : processors_) p.context.index = before;
  }
  while (list_[at].kind != instruction_kind::end) ++at;
  return at + 1;
}

template <class Device>
void engine<Device>::launch(instruction const& i) {
  node const& n = m_.nodes[i.node];
  for (std::size_t k = 0; k < processors_.size(); ++k) {
    auto& kernel = kernels_[k * launches_ + i.to];
    if (!kernel) continue;
    load(processors_[k], n);
    launch(*kernel, {m_, n, operands_.data(), results_.data(), processors_[k].context});
  }
  exchange_->progress();
}

template <class Device>
void engine<Device>::move(instruction const& i, rank_context& p, external_buffers& o) {
  using enum instruction_kind;
  switch (i.kind) {
    case bind_input: return p.set_pointer(i.to_value(), o.fed[i.node]);
    case bind_variable: return p.set_pointer(i.to_value(), o.variables[i.from]);
    case bind_slice: return p.set_pointer(i.to_value(), slice_of(p, i.from_value(), i.to_value()));
    case bind_turn: return p.set_pointer(i.to_value(), p.turn(i.to_value(), p.context.index, i.bytes));
    case bind_window: return bind_to_window(i, p);
    case copy: return copy_bytes(p.pointer(i.to_value()), p.pointer(i.from_value()), p.bytes(i.from_value()));
    case copy_to_slice:
      if (std::byte* const to = slice_of(p, i.to_value(), i.from_value()))
        copy_bytes(to, p.pointer(i.from_value()), p.bytes(i.from_value()));
      return;
    case copy_to_store: return copy_bytes(o.variables[i.to], p.pointer(i.from_value()), p.bytes(i.from_value()));
    case copy_to_output:
      if (o.given[i.node] != nullptr) copy_bytes(o.given[i.node], p.pointer(i.from_value()), p.bytes(i.from_value()));
      return;
    case copy_part: return copy_part_of(p, i);
    case zero: std::memset(p.pointer(i.to_value()), 0, static_cast<std::size_t>(p.bytes(i.to_value()))); return;
    case accumulate: return add_to(p.at(i.to_value()), p.at(i.from_value()));
    default: return;
  }
}

template <class Device>
void engine<Device>::bind_to_window(instruction const& i, rank_context& p) {
  node const& n = m_.nodes[i.node];
  load(p, n);
  view const& x = operands_[0];
  positions const at = slice_rule::positions_in({m_, n, operands_.data(), results_.data(), p.context});
  std::int64_t const first = at.first * x.stride[x.find(slice_attributes::of(n).from)];
  p.set_pointer(i.to_value(), x.as<std::byte>() + first * static_cast<std::int64_t>(bytes_of(x.type)));
}

template <class Device>
void engine<Device>::copy_part_of(rank_context& p, instruction const& i) {
  view const x = p.at(i.from_value()), y = p.at(i.to_value());
  int const along = x.find(collective_attributes::of(m_.nodes[i.node]).split);
  std::int64_t const first = (y.origin[along] - x.origin[along]) * x.stride[along];
  detail::copy_by_name(x, first, y, 0, no_id, no_id, y.extent);
}

template <class Device>
void engine<Device>::add_to(view const& total, view const& term) {
  if constexpr (requires { device_.accumulate(total, term); }) device_.accumulate(total, term);
  else meshtensor::accumulate(total, term, 0, total.size());
}

}  // namespace meshtensor
