// SPDX-License-Identifier: Apache-2.0
// The cpu device: fused kernels, matrix products by libraries, whole-row lookups; other nodes by their rules' own
// loops.
#pragma once

#include <memory>
#include <variant>

#include "meshtensor/device/cpu/attention.hpp"
#include "meshtensor/device/cpu/code.hpp"
#include "meshtensor/device/cpu/cutting.hpp"
#include "meshtensor/device/cpu/fill.hpp"
#include "meshtensor/device/cpu/lookup.hpp"
#include "meshtensor/device/cpu/measure_rates.hpp"
#include "meshtensor/device/cpu/processor_level.hpp"
#include "meshtensor/device/cpu/product.hpp"
#include "meshtensor/op/detail/accumulate.hpp"
#include "meshtensor/op/put.hpp"

namespace meshtensor {
inline namespace MESHTENSOR_ARCH {

/// Runs the kernels of one rank with a team of threads. A copy is an independent device, for another rank.
class cpu_device {
 public:
  static constexpr device_capabilities capabilities{true, cpu::is_attention};
  /// The prepared state of a node.
  struct kernel {
    std::variant<std::monostate, std::unique_ptr<cpu::fused_kernel>, std::unique_ptr<cpu::product_chain>,
                 std::unique_ptr<cpu::composite_kernel>, cpu::row_lookup, std::unique_ptr<cpu::strided_copy>,
                 std::unique_ptr<cpu::put_copies>, std::unique_ptr<cpu::row_put>, std::unique_ptr<cpu::padded_copy>>
        how;  // monostate: the rule's own loops
  };

  template <class Any = lazy>
  explicit cpu_device(int threads = cpu::thread_budget()) : cpu_device(cpu::code::for_any_module<Any>(), threads) {}
  explicit cpu_device(cpu::code own, int threads = cpu::thread_budget())
      : code_(own), threads_(threads), team_(std::make_unique<cpu::thread_team>(threads)) {
    cpu::check_level();
  }
  cpu_device(cpu_device const& o) : cpu_device(o.code_, o.threads_) {}
  /// A device that runs only this module, with kernels compiled for it and no interpreter.
  template <module const& Graph>
  static cpu_device compiled_for() {
    return cpu_device(cpu::code::of<Graph>());
  }
  cpu_device& operator=(cpu_device const&) = delete;
  cpu_device(cpu_device&&) = default;

  /// The device for one of `processors` ranks that run in this process at the same time.
  cpu_device shared_by(int processors) const {
    return cpu_device(code_, std::max(1, threads_ / std::max(1, processors)));
  }
  int threads() const { return threads_; }
  /// A sentence about instruction sets of this CPU that the build leaves unused; empty: none.
  static std::string advice() { return cpu::unused_level(); }
  /// Of the kernels prepared so far, which share it one after the other.
  std::int64_t workspace_bytes() const { return static_cast<std::int64_t>(memory_.size()); }
  rates best_rates() { return cpu::measure_rates(*team_); }

  /// Fills a block of zeros with a variable's initial value.
  void fill(view const& where, initial_value const& first) { cpu::fill(where, first, *team_); }

  /// Adds a dense block to another one.
  void accumulate(view const& total, view const& term) {
    constexpr std::int64_t grain = 1 << 14;
    team_->parallel_for(total.size(), grain, [&](std::int64_t first, std::int64_t last) {
      meshtensor::accumulate(total, term, first, last);
    });
  }

  kernel prepare(module const& m, node const& n, view const* operands, view const* results) {
    view const& y = results[0];
    switch (n.kind) {
      case primitive::einsum:
        if (auto chain = cpu::product_chain::make(operands, n.operands.count, y, threads_)) {
          reserve(chain->workspace_bytes());
          return {std::make_unique<cpu::product_chain>(std::move(*chain))};
        }
        return {};
      case primitive::gather: return {cpu::row_lookup(operands[0], operands[1], y, n.attribute[0])};
      case primitive::scatter_add: return {cpu::row_lookup(y, operands[1], operands[0], n.attribute[0])};
      case primitive::transpose:
      case primitive::broadcast: return {copy(operands[0], y, no_id, no_id, y.extent)};
      case primitive::slice: return {copy(operands[0], y, n.attribute[0], n.attribute[1], y.extent)};
      case primitive::pad: return {std::make_unique<cpu::padded_copy>(operands[0], y, n.attribute[0], n.attribute[1])};
      case primitive::put:
        if (put_rule::at_index(n)) return {std::make_unique<cpu::row_put>(operands, y, n.attribute[0])};
        return {std::make_unique<cpu::put_copies>(operands, y, n.attribute[0])};
      case primitive::composite: {
        auto made = code_.compose(m, n, operands, threads_);
        reserve(made->workspace_bytes());
        return {std::move(made)};
      }
      default: return {};
    }
  }
  void launch(kernel& k, evaluation const& e) {
    if (auto* const chain = std::get_if<std::unique_ptr<cpu::product_chain>>(&k.how)) {
      (*chain)->run(e.operands, e.results[0], workspace(), *team_);
    } else if (auto* const whole = std::get_if<std::unique_ptr<cpu::composite_kernel>>(&k.how)) {
      (*whole)->run(e.operands, e.results, workspace(), *team_);
    } else if (auto* const rows = std::get_if<cpu::row_lookup>(&k.how)) {
      if (e.n.kind == primitive::gather) rows->gather(e.operands[0], e.operands[1], e.results[0], *team_);
      else rows->scatter_add(e.operands[0], e.operands[1], e.results[0], *team_);
    } else if (auto* const how = std::get_if<std::unique_ptr<cpu::strided_copy>>(&k.how)) {
      (*how)->run(e.operands[0].as<std::byte>() + start_of(e), e.results[0].data, team_.get());
    } else if (auto* const both = std::get_if<std::unique_ptr<cpu::put_copies>>(&k.how)) {
      view const& y = e.results[0];
      (*both)->run(e.operands, y, put_rule::start_of(e), *team_);
    } else if (auto* const padded = std::get_if<std::unique_ptr<cpu::padded_copy>>(&k.how)) {
      (*padded)->run(e.operands[0], e.results[0], pad_rule::start_of(e), e.number(3), *team_);
    } else if (auto* const into = std::get_if<std::unique_ptr<cpu::row_put>>(&k.how)) {
      (*into)->run(e.operands, e.results[0], *team_);
    } else if (e.n.kind == primitive::call) {
      call_row const& c = e.m.calls[e.n.attribute[0]];
      team_->parallel_for(c.parts(e), 1, [&](std::int64_t first, std::int64_t last) { c.run(e, first, last); });
    } else {
      code_.loops(e);
    }
  }

  /// Prepares a node of kind `kernel`; `inside` has the views of all values, by id.
  kernel prepare_region(module const& m, node const& n, view const* operands, view const* results, view const* inside) {
    auto made = std::make_unique<cpu::fused_kernel>();
    cpu::fused_kernel& k = *made;
    k.reading = read_kernel(m, n);
    cpu::detail::kernel_cutter(m, k).cut(operands, results, inside, threads_);
    if (auto const* own = code_.kernels.find(static_cast<int>(&n - m.nodes))) own->bind(k);
    else code_.interpret(k);
    reserve(k.workspace_bytes());
    return {std::move(made)};
  }
  void launch_region(kernel& k, evaluation const& e) {
    cpu::fused_kernel const& f = *std::get<std::unique_ptr<cpu::fused_kernel>>(k.how);
    descriptor const& d = f.key();
    cpu::launch_arguments a;
    for (int i = 0; i < d.operand_count; ++i) a.memory[i] = static_cast<std::byte*>(e.operands[i].data);
    for (int i = 0; i < d.result_count; ++i)
      a.memory[cpu::first_result_stream + i] = static_cast<std::byte*>(e.results[i].data);
    for (int i = 0; i < d.number_count; ++i) a.numbers[i] = e.context.numbers[f.reading.numbers[i]];
    for (int i = 0; i < d.step_count; ++i) {
      if (!is_random(d.step(i).kind)) continue;
      node const& n = e.m.nodes[f.reading.makers[i]];
      a.random[i] = random_stream(random_key{e.context.seed, identity_of(e.m, n), e.context.step}, e.context.iteration);
    }
    cpu::launch(f, a, workspace(), *team_);
  }

 private:
  static std::unique_ptr<cpu::strided_copy> copy(view const& x, view const& y, int from, int to,
                                                 std::int64_t const* extents) {
    return std::make_unique<cpu::strided_copy>(cpu::copy_by_name(x, y, from, to, extents));
  }
  /// The byte offset in its operand at which a copy starts: of a slice at a number.
  static std::int64_t start_of(evaluation const& e) {
    if (e.n.kind != primitive::slice) return 0;
    return slice_rule::start_of(e) * static_cast<std::int64_t>(bytes_of(e.operands[0].type));
  }
  void reserve(std::int64_t bytes) {
    if (static_cast<std::int64_t>(memory_.size()) < bytes + 64) memory_.resize(static_cast<std::size_t>(bytes + 64));
  }
  std::byte* workspace() {
    auto const address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (64 - address % 64) % 64;
  }

  cpu::code code_;
  int threads_;
  std::unique_ptr<cpu::thread_team> team_;
  std::vector<std::byte> memory_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor
