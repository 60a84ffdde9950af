// SPDX-License-Identifier: Apache-2.0
// Defines the cpu device. It has kernels of several nodes, composites that run whole, and the kernels of
// device/cpu/nodes. Other nodes run by their rules' own loops.
#pragma once

#include <memory>

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/device/cpu/attention.hpp"
#include "meshtensor/device/cpu/code.hpp"
#include "meshtensor/device/cpu/fill.hpp"
#include "meshtensor/device/cpu/measure_rates.hpp"
#include "meshtensor/device/cpu/nodes/fused_node.hpp"
#include "meshtensor/device/cpu/processor_level.hpp"
#include "meshtensor/op/detail/accumulate.hpp"

namespace meshtensor {
inline namespace MESHTENSOR_ARCH {

/// Runs the kernels of one rank with a team of threads. A copy is an independent device, for another rank.
class cpu_device {
 public:
  static constexpr device_capabilities capabilities{
      true, cpu::is_attention, cpu::joins_epilogues ? epilogues::of_convolutions : epilogues::none};
  /// The prepared state of a node. It is null if the rule's own loops run the node.
  struct kernel {
    std::unique_ptr<cpu::node_kernel> how;
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

  /// The device for one of `ranks` ranks that run in this process at the same time.
  cpu_device shared_by(int ranks) const { return cpu_device(code_, std::max(1, threads_ / std::max(1, ranks))); }
  int threads() const { return threads_; }
  /// A sentence about instruction sets of this CPU that the build leaves unused. It is empty if there are none.
  static std::string advice() { return cpu::unused_level(); }
  /// The workspace of the kernels prepared so far, which use it one after the other.
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

  void copy_bytes(std::byte* to, std::byte const* from, std::int64_t bytes) {
    constexpr std::int64_t grain = 1 << 17;
    if (bytes < 2 * grain) return meshtensor::copy_bytes(to, from, bytes);
    team_->parallel_for(bytes, grain, [&](std::int64_t first, std::int64_t last) {
      meshtensor::copy_bytes(to + first, from + first, last - first);
    });
  }

  kernel prepare(module const& m, node const& n, view const* operands, view const* results) {
    if (n.kind == primitive::composite) return prepared(code_.compose(m, n, operands, results, threads_));
    return prepared(code_.prepare({m, n, operands, results[0], threads_}));
  }
  void launch(kernel& k, evaluation const& e) {
    if (k.how != nullptr) k.how->run(e, workspace(), *team_);
    else code_.loops(e);
  }

  /// Prepares a node of kind `kernel`. `inside` has the views of all values, by their ids.
  kernel prepare_region(module const& m, node const& n, view const* operands, view const* results, view const* inside) {
    auto made = std::make_unique<cpu::fused_node>();
    cpu::fused_kernel& k = made->kernel;
    k.reading = read_kernel(m, n);
    cpu::detail::kernel_cutter(m, k).cut(operands, results, inside, threads_);
    if (auto const* own = code_.kernels.find(static_cast<int>(&n - m.nodes))) own->bind(k);
    else code_.interpret(k);
    return prepared(std::move(made));
  }
  void launch_region(kernel& k, evaluation const& e) { k.how->run(e, workspace(), *team_); }

 private:
  kernel prepared(std::unique_ptr<cpu::node_kernel> made) {
    if (made != nullptr) reserve(made->workspace_bytes());
    return {std::move(made)};
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
