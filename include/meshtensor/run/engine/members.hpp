// SPDX-License-Identifier: Apache-2.0
// Defines the members of engine.
// why: members that are defined in a class are compiled with every program, even if a library has them.
#pragma once

#include "meshtensor/pass/list_instructions.hpp"
#include "meshtensor/run/engine.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

template <class Device>
engine<Device>::engine(module const& m, plan const& p, int, std::span<instruction const> instructions, Device device,
                       std::span<rank_context> ranks, transport* among)
    : m_(m), device_(std::move(device)), contexts_(ranks), collectives_(*among, m, p, ranks), list_(instructions) {
  for (instruction const& i : list_) {
    operands_.resize(std::max<std::size_t>(operands_.size(), m.nodes[i.node].operands.count));
    results_.resize(std::max<std::size_t>(results_.size(), m.nodes[i.node].results.count));
  }
  for (rank_context const& mine : ranks)
    for (instruction const& i : list_)
      if (i.kind == instruction_kind::launch) {
        node const& n = m.nodes[i.node];
        load(mine, n);
        kernels_.emplace_back();
        if (kernels::has_results(n, results_.data()))
          kernels_.back().emplace(kernels::prepare(device_, m, n, operands_.data(), results_.data(), mine.windows()));
      }
  launches_ = kernels_.size() / std::max<std::size_t>(1, ranks.size());
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

namespace meshtensor {

template <class Device>
void engine<Device>::run(std::span<external_buffers> external, number_value const* numbers, std::uint64_t seed,
                         std::uint64_t step) {
  external_ = external;
  for (std::size_t k = 0; k < contexts_.size(); ++k)
    contexts_[k].context = {numbers, seed, step, 0, 0, &external[k].unchanged};
  recorder_.begin_step(collectives_.ahead());
  for (std::size_t at = 0; at < list_.size();) at = run_at(at);
  collectives_.end_all();
  recorder_.end_step(collectives_.ahead());
}

template <class Device>
std::int64_t engine<Device>::workspace_bytes() const {
  std::int64_t of_kernels = 0;
  if constexpr (requires { device_.workspace_bytes(); }) of_kernels = device_.workspace_bytes();
  return of_kernels + collectives_.workspace_bytes();
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
  if (is_of_loop || !recorder_.is_on()) return do_at(at);
  recorder_.enter(m_.nodes[i.node], contexts_, collectives_.ahead());
  std::size_t const next = do_at(at);
  recorder_.leave(i.node, m_.nodes[i.node], contexts_, collectives_.ahead());
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
    case instruction_kind::start: collectives_.start(i.node, i.from_value(), i.to_value()); break;
    case instruction_kind::wait: collectives_.wait(static_cast<node_id>(i.from)); break;
    case instruction_kind::collective:
      collectives_.start(i.node, i.from_value(), i.to_value());
      collectives_.wait(i.node);
      break;
    default:
      for (std::size_t k = 0; k < contexts_.size(); ++k) move(i, contexts_[k], external_[k]);
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
  std::size_t end = at;
  each_iteration(contexts_, i.trips, i.reversed, i.from, [&] { end = run_body(at + 1); });
  return end == at ? behind(list_, at) : end + 1;  // `behind` if there was no iteration
}

template <class Device>
std::size_t engine<Device>::run_ahead(std::size_t at) {
  instruction const& i = list_[at];
  one_ahead(contexts_, i.kind == instruction_kind::begin_first, i.trips, i.reversed, [&] { run_body(at + 1); });
  while (list_[at].kind != instruction_kind::end) ++at;
  return at + 1;
}

template <class Device>
void engine<Device>::launch(instruction const& i) {
  node const& n = m_.nodes[i.node];
  for (std::size_t k = 0; k < contexts_.size(); ++k) {
    auto& kernel = kernels_[k * launches_ + i.to];
    if (!kernel) continue;
    load(contexts_[k], n);
    kernels::launch(device_, *kernel, {m_, n, operands_.data(), results_.data(), contexts_[k].context});
  }
  collectives_.progress();
}

template <class Device>
void engine<Device>::move(instruction const& i, rank_context& p, external_buffers& o) {
  using enum instruction_kind;
  read_instruction const it{i};
  switch (i.kind) {
    case bind_input: return act<bind_input>(it, m_, device_, p, o);
    case bind_variable: return act<bind_variable>(it, m_, device_, p, o);
    case bind_slice: return act<bind_slice>(it, m_, device_, p, o);
    case bind_buffer: return act<bind_buffer>(it, m_, device_, p, o);
    case bind_window: return act<bind_window>(it, m_, device_, p, o);
    case copy: return act<copy>(it, m_, device_, p, o);
    case copy_to_slice: return act<copy_to_slice>(it, m_, device_, p, o);
    case copy_to_store: return act<copy_to_store>(it, m_, device_, p, o);
    case copy_to_output: return act<copy_to_output>(it, m_, device_, p, o);
    case copy_part: return act<copy_part>(it, m_, device_, p, o);
    case zero: return act<zero>(it, m_, device_, p, o);
    case accumulate: return act<accumulate>(it, m_, device_, p, o);
    default: return;
  }
}

}  // namespace meshtensor
