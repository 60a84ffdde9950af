// SPDX-License-Identifier: Apache-2.0
// Runs the kernels of a host device on a device with memory and queues of its own. This is the least code for a device
// that records its steps.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "meshtensor/comm/reference.hpp"
#include "meshtensor/device/command_list.hpp"
#include "meshtensor/device/owned_memory.hpp"
#include "meshtensor/graph/locate.hpp"
#include "meshtensor/op/detail/accumulate.hpp"
#include "meshtensor/op/detail/copy.hpp"
#include "meshtensor/pass/plan_memory.hpp"

namespace meshtensor {

/// A machine whose work is functions of the host. `host` gives the address at which such a function finds memory of the
/// machine while it runs.
template <class M>
concept loop_machine =
    device_machine<M> && requires(M& d, std::byte* at, launched_work const& about, std::function<void()> work) {
      { d.host(at) } -> std::same_as<std::byte*>;
      d.launch(about, work);
    };

/// A `recorded_program` that takes its kernels from `Kernels`, and runs collectives and sums as plain loops.
template <loop_machine Machine, host_device Kernels>
class program_on_machine {
  using kernels = kernels_of_device<Kernels>;

 public:
  using memory = owned_memory<Machine>;
  using host_block = owned_host_memory<Machine>;
  using recorder = command_list<Machine>;
  /// Adds a node's work to a list. `state` is the machine's copy of the seed, the step and the numbers.
  using work = std::function<void(recorder&, evaluation const&, std::byte* state, std::byte* workspace)>;
  struct captured {};

  program_on_machine(Machine& d, module const& m, plan const&) : machine_(d), m_(m) {}
  program_on_machine(program_on_machine const&) = delete;
  program_on_machine& operator=(program_on_machine const&) = delete;

  work prepare(node const& n, node_views const& v) {
    if (!kernels::has_results(n, v.results)) return {};
    auto const k =
        std::make_shared<typename Kernels::kernel>(kernels::prepare(device_, m_, n, v.operands, v.results, v.inside));
    return
        [this, k](recorder& to_do, evaluation const& e, std::byte* state, std::byte*) { launch(to_do, k, e, state); };
  }
  void prepare_sum(dtype) {}

  /// A collective among ranks that share the machine.
  class device_collective {
   public:
    device_collective(Machine& d, std::string what) : machine_(d), what_(std::move(what)) {}

    /// Records the collective for one group. `calls`, `in` and `out` have the calls and blocks of its members.
    void record(recorder& to_do, std::vector<collective_call const*> const& calls, std::vector<std::byte*> const& in,
                std::vector<std::byte*> const& out) const {
      struct blocks_of_all {
        std::vector<collective_call> calls;
        std::vector<int> members;
        std::vector<void const*> in;
        std::vector<void*> out;
      };
      auto all = std::make_shared<blocks_of_all>();
      launched_work about{what_, {}, {}};
      auto const count = static_cast<int>(calls.size());
      for (int k = 0; k < count; ++k) {
        auto const i = static_cast<std::size_t>(k);
        all->calls.push_back(*calls[i]), all->members.push_back(k);
        all->in.push_back(machine_.host(in[i])), all->out.push_back(machine_.host(out[i]));
        about.reads.push_back(bytes_at(in[i], bytes_of(*calls[i])));
        about.writes.push_back(bytes_at(out[i], result_bytes_of(*calls[i], count, k)));
      }
      to_do.launch(std::move(about), [all] {
        group const g{all->members.data(), static_cast<int>(all->members.size()), 0};
        meshtensor::run_collective(
            [&](int k) -> collective_call const& { return all->calls[static_cast<std::size_t>(k)]; },
            std::span<group const>(&g, 1), all->in.data(), all->out.data());
      });
    }

   private:
    Machine& machine_;
    std::string what_;
  };
  device_collective prepare_collective(node const& n, collective_call const&, int) {
    return device_collective(machine_, name_of_work(n));
  }
  void load() {}

  std::byte* workspace() const { return nullptr; }
  std::int64_t workspace_bytes() const {
    if constexpr (requires { device_.workspace_bytes(); }) return device_.workspace_bytes();
    else return 0;
  }

  /// Copies a box of `x` that begins at its element `first` to all of `y`.
  void copy_part(recorder& to_do, view x, std::int64_t first, view y) const {
    launched_work about{"a copy of a part", {bytes_of_view(x)}, {bytes_of_view(y)}};
    x.data = host(x), y.data = host(y);
    to_do.launch(std::move(about), [=] { detail::copy_by_name(x, first, y, 0, no_id, no_id, y.extent); });
  }
  /// Adds the dense block `term` to `total`.
  void accumulate(recorder& to_do, view total, view term) const {
    launched_work about{"a sum of a loop", {bytes_of_view(total), bytes_of_view(term)}, {bytes_of_view(total)}};
    total.data = host(total), term.data = host(term);
    to_do.launch(std::move(about), [=] { meshtensor::accumulate(total, term, 0, total.size()); });
  }
  void finish(recorder&) const {}
  void play(recorder const& to_do) const { to_do.give_to(machine_); }

 private:
  std::byte* host(view const& v) const { return v.data == nullptr ? nullptr : machine_.host(v.as<std::byte>()); }
  std::string name_of_work(node const& n) const {
    diagnostic d{};
    add_operation(d, m_, n);
    add_line(d, m_, n.site);
    return std::string(d.view());
  }
  void launch(recorder& to_do, std::shared_ptr<typename Kernels::kernel> const& k, evaluation const& e,
              std::byte* state) {
    struct given {
      std::vector<view> operands, results;
      run_context context;
    };
    auto const g = std::make_shared<given>();
    g->context = e.context;
    std::int64_t const state_bytes =
        16 + std::int64_t{m_.number_count} * static_cast<std::int64_t>(sizeof(number_value));
    launched_work about{name_of_work(e.n), {bytes_at(state, state_bytes)}, {}};
    for (int i = 0; i < e.n.operands.count; ++i) {
      about.reads.push_back(bytes_of_view(e.operands[i]));
      g->operands.push_back(e.operands[i]), g->operands.back().data = host(e.operands[i]);
    }
    for (int i = 0; i < e.n.results.count; ++i) {
      about.writes.push_back(bytes_of_view(e.results[i]));
      g->results.push_back(e.results[i]), g->results.back().data = host(e.results[i]);
    }
    to_do.launch(std::move(about), [this, k, g, n = &e.n, from = machine_.host(state)] {
      std::memcpy(&g->context.seed, from, 8), std::memcpy(&g->context.step, from + 8, 8);
      g->context.numbers = reinterpret_cast<number_value const*>(from + 16);
      kernels::launch(device_, *k, {m_, *n, g->operands.data(), g->results.data(), g->context});
    });
  }

  Machine& machine_;
  meshtensor::module const& m_;
  Kernels device_;
};

}  // namespace meshtensor
