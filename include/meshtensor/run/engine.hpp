// SPDX-License-Identifier: Apache-2.0
// Runs the nodes of a plan one after the other, kernels on the device and collectives on the transport: for one rank,
// or for all ranks of a mesh in lockstep on one thread.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "meshtensor/job/rank_context.hpp"
#include "meshtensor/op/detail/accumulate.hpp"
#include "meshtensor/run/timeline.hpp"

namespace meshtensor {

/// The addresses of one processor's buffers outside its arena during a step.
struct external_buffers {
  std::vector<std::byte*> variables;  // by variable id
  std::vector<std::byte*> fed;        // by node id of the input
  std::vector<std::byte*> given;      // by node id of the output: the destination of its copy
};

/// Runs the collectives of an engine's processors.
class exchanges {
 public:
  virtual ~exchanges() = default;
  /// Starts a collective. An earlier one of the same node that was not waited for ends first.
  virtual void start(std::span<rank_context> processors, id node_id, id from, id to) = 0;
  virtual void wait(id node_id) = 0;
  /// Whether a collective is pending.
  virtual bool is_under_way() const { return false; }
  /// Waits for all pending collectives.
  virtual void end_all() {}
  /// Called between nodes: progresses pending collectives.
  virtual void progress() {}
  /// Bytes of workspace of the collectives, besides operands and results.
  virtual std::int64_t workspace_bytes() const { return 0; }
  /// Nanoseconds by which the clock of a network model is ahead of this machine's.
  virtual std::int64_t ahead() const { return 0; }
};

/// Runs the nodes of a plan: kernels on the device, collectives by the exchanges.
template <class Device>
class engine {
 public:
  engine(module const& m, plan const& p, Device device, std::span<rank_context> processors,
         std::unique_ptr<exchanges> among)
      : m_(m), p_(p), device_(std::move(device)), processors_(processors), exchange_(std::move(among)) {
    kernels_.resize(processors.size() * static_cast<std::size_t>(m.node_count));
    for (std::size_t k = 0; k < processors.size(); ++k)
      for (int i = 0; i < m.node_count; ++i)
        if (computes(m.nodes[i])) {
          load(processors[k], m.nodes[i]);
          kernel_of(k, static_cast<id>(i)) = prepared(processors[k], m.nodes[i]);
        }
  }

  /// Runs one step of an entry. `numbers` are the module's numbers, evaluated.
  void run(int entry, std::span<external_buffers> external, double const* numbers, std::uint64_t seed,
           std::uint64_t step) {
    external_ = external;
    for (rank_context& p : processors_) p.context = {numbers, seed, step, 0, 0};
    if (record_) record_->begin_step(now());
    region_nodes(static_cast<id>(entry));
    exchange_->end_all();
    if (record_) record_->end_step(now());
  }

  /// Whether a failed step has left messages that may still write to memory.
  bool is_under_way() const { return exchange_->is_under_way(); }
  /// Starts to record the time of each node, or stops.
  void record(bool on) { record_ = on ? std::make_unique<timeline>(m_.node_count) : nullptr; }
  timeline const* recorded() const { return record_.get(); }
  /// Called after a node has run, while its results are still there; or before it, while its operands are.
  using observer = std::function<void(node const&, std::span<rank_context const>)>;
  void observe(observer seen, observer before = {}) { observer_ = std::move(seen), before_ = std::move(before); }
  Device& device() { return device_; }
  /// Bytes of workspace of kernels and collectives, besides the plan's memory.
  std::int64_t workspace_bytes() const {
    std::int64_t of_kernels = 0;
    if constexpr (requires { device_.workspace_bytes(); }) of_kernels = device_.workspace_bytes();
    return of_kernels + exchange_->workspace_bytes();
  }

 private:
  /// Whether a node only opens a window on its operand.
  bool is_opened(node const& n) const {
    return declared(m_, n).buffer == buffer_use::window && p_.where[m_.result(n)] == place::window;
  }
  bool computes(node const& n) const {
    if (n.kind == primitive::kernel || is_whole(n)) return runs_regions;
    if (is_opened(n)) return false;
    return is_computed(n.kind) && m_.regions[n.region].kind != region_kind::kernel &&
           !(runs_regions && is_in_composite(m_, n));
  }
  /// Whether the device runs a kernel's region in one call. Else the region's nodes would need buffers, which the plan
  /// does not allocate: such a device runs modules without fused kernels.
  static constexpr bool runs_regions =
      requires(Device& d, module const& m, view const* v) { d.prepare_region(m, m.nodes[0], v, v, v); };

  typename Device::kernel prepared(rank_context const& p, node const& n) {
    if constexpr (runs_regions)
      if (n.kind == primitive::kernel) return device_.prepare_region(m_, n, operands_, results_, p.windows());
    return device_.prepare(m_, n, operands_, results_);
  }
  void launch(typename Device::kernel& k, evaluation const& e) {
    if constexpr (runs_regions)
      if (e.n.kind == primitive::kernel) return device_.launch_region(k, e);
    device_.launch(k, e);
  }
  typename Device::kernel& kernel_of(std::size_t processor_index, id node_id) {
    return kernels_[processor_index * static_cast<std::size_t>(m_.node_count) + node_id];
  }
  void load(rank_context const& p, node const& n) {
    for (int i = 0; i < n.operands.count; ++i) operands_[i] = p.at(m_.operand(n, i));
    for (int i = 0; i < n.results.count; ++i) results_[i] = p.at(m_.result(n, i));
  }

  void region_nodes(id r) {
    for (int i = 0; i < p_.steps.count[r]; ++i) run_node(p_.steps.nodes[p_.steps.first[r] + i]);
  }

  void run_node(id node_id) {
    if (record_) record_->enter(now());
    if (observer_) do_observed(node_id);
    else do_node(node_id);
    if (record_) record_->leave(node_id, now());
  }
  void do_observed(id node_id) {
    if (before_) before_(m_.nodes[node_id], processors_);
    do_node(node_id);
    observer_(m_.nodes[node_id], processors_);
  }
  std::int64_t now() const { return timeline::now() + exchange_->ahead(); }
  void do_node(id node_id) {
    node const& n = m_.nodes[node_id];
    switch (n.kind) {
      case primitive::argument: return;
      case primitive::repeat: return run_repeat(n);
      case primitive::composite:
        if (is_whole(n)) break;
        return region_nodes(m_.region_of(n, 0));
      case primitive::input:
        return each([&](rank_context& p, external_buffers& o) { p.set_pointer(m_.result(n), o.fed[node_id]); });
      case primitive::read:
        return each(
            [&](rank_context& p, external_buffers& o) { p.set_pointer(m_.result(n), o.variables[n.attribute[0]]); });
      case primitive::write:
        return each(
            [&](rank_context& p, external_buffers& o) { copy(o.variables[n.attribute[0]], p, m_.operand(n, 0)); });
      case primitive::output:
        return each([&](rank_context& p, external_buffers& o) {
          if (o.given[node_id] != nullptr) copy(o.given[node_id], p, m_.operand(n, 0));
        });
      case primitive::local_slice: return each([&](rank_context& p, external_buffers&) { cut(p, n); });
      default: break;
    }
    if (is_collective(n.kind)) {
      if (!is_alone(node_id)) return start(node_id);
      return each([&](rank_context& p, external_buffers&) { copy(p.pointer(m_.result(n)), p, m_.operand(n, 0)); });
    }
    if (n.kind == primitive::wait) {
      node const& started = awaited(m_, n);
      if (id const c = m_.values[m_.result(started)].node; !is_alone(c)) exchange_->wait(c);
      return;
    }
    if (shares_memory(n)) return;
    if (is_opened(n)) return open_window(n);
    for (std::size_t k = 0; k < processors_.size(); ++k) {
      load(processors_[k], n);
      launch(kernel_of(k, node_id), {m_, n, operands_, results_, processors_[k].context});
    }
    exchange_->progress();
  }

  /// Whether a collective has one member only: its result is a copy of its operand, most often in the same memory.
  bool is_alone(id node_id) const { return processors_[0].exchange(node_id).with.count == 1; }

  void start(id node_id) {
    node const& n = m_.nodes[node_id];
    exchange_->start(processors_, node_id, m_.operand(n, 0), m_.result(n));
    if (ends_behind_loop(n) && p_.where[p_.root[m_.result(n)]] != place::filled) exchange_->wait(node_id);
  }

  void open_window(node const& n) {
    for (rank_context& p : processors_) {
      load(p, n);
      std::int64_t const first = slice_rule::start_of({m_, n, operands_, results_, p.context});
      p.set_pointer(m_.result(n), operands_[0].as<std::byte>() + first * bytes_of(operands_[0].type));
    }
  }

  template <class F>
  void each(F f) {
    for (std::size_t k = 0; k < processors_.size(); ++k) f(processors_[k], external_[k]);
  }
  static void copy(std::byte* to, rank_context const& p, id v) {
    if (to != p.pointer(v)) std::memcpy(to, p.pointer(v), static_cast<std::size_t>(p.bytes(v)));
  }
  // Slices this processor's part from a value that it holds whole.
  void cut(rank_context& p, node const& n) {
    view x = p.at(m_.operand(n, 0)), y = p.at(m_.result(n));
    int const along = x.find(n.attribute[1]);
    std::int64_t const first = (y.origin[along] - x.origin[along]) * x.stride[along];
    detail::copy_by_name(x, first, y, 0, no_id, no_id, y.extent);
  }

  void run_repeat(node const& n) {
    loop const l = loop::of(n);
    auto const& body = m_.regions[m_.region_of(n, 0)];
    std::int64_t const trips = p_.numbers.extent[l.dim];
    auto argument = [&](int i) { return m_.link(body.arguments, i); };
    auto given = [&](int i) { return m_.link(body.results, i); };
    std::uint64_t const before = processors_[0].context.iteration;
    std::int64_t const index_before = processors_[0].context.index;
    each([&](rank_context& p, external_buffers&) {
      for (int i = 0; i < l.carries; ++i) copy(p.pointer(argument(i)), p, m_.operand(n, i));
      for (int i = l.carries; i < l.carries + l.sums; ++i)
        std::memset(p.pointer(m_.result(n, i)), 0, static_cast<std::size_t>(p.bytes(m_.result(n, i))));
    });
    for (std::int64_t t = 0; t < trips; ++t) {
      std::int64_t const index = l.reversed ? trips - 1 - t : t;
      each([&](rank_context& p, external_buffers&) {
        p.context.index = index;
        p.context.iteration = before * static_cast<std::uint64_t>(trips) + static_cast<std::uint64_t>(index);
        for (int i = l.carries; i < l.carries + l.stacked; ++i)
          p.set_pointer(argument(i), p.pointer(m_.operand(n, i)) + index * p.bytes(argument(i)));
        for (int i = l.carries + l.sums; i < body.results.count; ++i)
          if (is_filled_by(m_, p_, m_.region_of(n, 0), given(i)))
            p.set_pointer(given(i), p.pointer(m_.result(n, i)) + index * p.bytes(given(i)));
      });
      region_nodes(m_.region_of(n, 0));
      each([&](rank_context& p, external_buffers&) {
        for (int i = l.carries; i < body.results.count; ++i) {
          if (i < l.carries + l.sums) add_to(p.at(m_.result(n, i)), p.at(given(i)));
          else copy(p.pointer(m_.result(n, i)) + index * p.bytes(given(i)), p, given(i));
        }
        for (int i = 0; i < l.carries; ++i) copy(p.pointer(argument(i)), p, given(i));
      });
    }
    each([&](rank_context& p, external_buffers&) { p.context.iteration = before, p.context.index = index_before; });
  }
  /// Adds the term of one iteration to a sum of a loop.
  void add_to(view const& total, view const& term) {
    if constexpr (requires { device_.accumulate(total, term); }) device_.accumulate(total, term);
    else accumulate(total, term, 0, total.size());
  }

  meshtensor::module const& m_;
  plan const& p_;
  Device device_;
  std::span<rank_context> processors_;
  std::unique_ptr<exchanges> exchange_;
  std::vector<typename Device::kernel> kernels_;
  std::span<external_buffers> external_;
  std::unique_ptr<timeline> record_;
  observer observer_, before_;
  view operands_[192], results_[8];
};

}  // namespace meshtensor
