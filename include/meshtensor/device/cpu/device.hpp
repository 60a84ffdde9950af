// The cpu device: fused kernels, matrix products by libraries, rows moved as a whole; the rest by the rules' own loops.
#pragma once

#include <memory>
#include <variant>

#include "meshtensor/device/cpu/interpreted.hpp"
#include "meshtensor/op/rules.hpp"

namespace meshtensor {

/// Runs the kernels of one processor with a team of threads. A copy is a device of its own, for another processor.
class cpu_device {
 public:
  static constexpr bool fuses = true;  // wants modules whose elementwise nodes are in kernels
  /// What a node needs beside its views.
  struct kernel {
    std::unique_ptr<cpu::fused_kernel> fused;
  };

  cpu_device() : cpu_device(cpu::thread_budget()) {}
  explicit cpu_device(int threads) : threads_(threads), team_(std::make_unique<cpu::thread_team>(threads)) {}
  cpu_device(cpu_device const& o) : cpu_device(o.threads_) {}
  cpu_device& operator=(cpu_device const&) = delete;
  cpu_device(cpu_device&&) = default;

  /// The same device where `processors` of them run at the same time in this process.
  cpu_device shared_by(int processors) const { return cpu_device(std::max(1, threads_ / std::max(1, processors))); }
  int threads() const { return threads_; }

  kernel prepare(module const&, node const&, view const*, view const*) { return {}; }
  void launch(kernel&, evaluation const& e) { evaluate(e); }

  /// A node of kind `kernel`; `inside` has the windows of all values, by id.
  kernel prepare_region(module const& m, node const& n, view const* operands, view const* results, view const* inside) {
    kernel made{std::make_unique<cpu::fused_kernel>()};
    cpu::fused_kernel& k = *made.fused;
    k.reading = read_kernel(m, n);
    cpu::detail::kernel_cutter(m, k).cut(operands, results, inside, threads_);
    cpu::interpreted::bind(k);
    reserve(k.workspace_bytes());
    return made;
  }
  void launch_region(kernel& k, evaluation const& e) {
    cpu::fused_kernel const& f = *k.fused;
    descriptor const& d = f.key();
    cpu::launch_arguments a;
    for (int i = 0; i < d.operand_count; ++i) a.memory[i] = static_cast<std::byte*>(e.operands[i].data);
    for (int i = 0; i < d.result_count; ++i) a.memory[cpu::first_result_stream + i] = static_cast<std::byte*>(e.results[i].data);
    for (int i = 0; i < d.number_count; ++i) a.numbers[i] = e.context.numbers[f.reading.numbers[i]];
    for (int i = 0; i < d.step_count; ++i) {
      if (!is_random(d.step(i).kind)) continue;
      node const& n = e.m.nodes[f.reading.makers[i]];
      a.random[i] = random_stream(random_key{e.context.seed, identity_of(e.m, n.path, n.ordinal), e.context.step}, e.context.iteration);
    }
    cpu::launch(f, a, workspace(), *team_);
  }

 private:
  void reserve(std::int64_t bytes) {
    if (static_cast<std::int64_t>(memory_.size()) < bytes + 64) memory_.resize(static_cast<std::size_t>(bytes + 64));
  }
  std::byte* workspace() {
    auto const address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (64 - address % 64) % 64;
  }

  int threads_;
  std::unique_ptr<cpu::thread_team> team_;
  std::vector<std::byte> memory_;
};

}  // namespace meshtensor
