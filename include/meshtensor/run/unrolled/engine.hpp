// SPDX-License-Identifier: Apache-2.0
// Runs the step of a static program. The compiler generates one function for each instruction, with its constants
// inside, and calls them in order. Loops remain loops. Therefore the binary has no list, and no switch over kinds of
// instructions.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "meshtensor/run/engine.hpp"
#include "meshtensor/run/unrolled/code.hpp"

namespace meshtensor {

/// A device that runs nothing but the instructions of `Code`, an unrolled_code.
template <class Device, class Code>
struct device_of_code : Device {
  using code = Code;
  device_of_code(Device d) : Device(std::move(d)) {}
};

template <class Device>
concept unrolled_device = requires { typename Device::code; };

/// The results are bit for bit those of the engine that reads a list.
template <unrolled_device Device>
class engine<Device> {
  using code = typename Device::code;
  using kernels = kernels_of_device<Device>;

 public:
  static constexpr bool reads_instructions = false;

  engine(module const& m, plan const& p, int, std::span<instruction const>, Device device,
         std::span<rank_context> ranks, transport* among)
      : m_(m), device_(std::move(device)), contexts_(ranks), collectives_(*among, m, p, ranks) {
    for (node_id const which : code::launched) {
      node const& n = m.nodes[which];
      for (int i = 0; i < n.operands.count; ++i) add_view(p, m.operand(n, i));
      for (int i = 0; i < n.results.count; ++i) add_view(p, m.result(n, i));
    }
    for (rank_context const& mine : ranks) prepare(mine, ranks_.emplace_back());
  }

  void run(std::span<external_buffers> external, number_value const* numbers, std::uint64_t seed, std::uint64_t step) {
    external_ = external;
    for (std::size_t k = 0; k < contexts_.size(); ++k) {
      contexts_[k].context = {numbers, seed, step, 0, 0, &external[k].unchanged};
      if (contexts_[k].arena() != ranks_[k].arena) place_in_arena(contexts_[k], ranks_[k]);
    }
    recorder_.begin_step(collectives_.ahead());
    (this->*step_)();
    collectives_.end_all();
    recorder_.end_step(collectives_.ahead());
  }

  bool is_under_way() const { return collectives_.is_under_way(); }
  void record(bool on, int warm_up = 0) {
    recorder_.record(on, m_.node_count, warm_up);
    choose_step();
  }
  timeline const* recorded() const { return recorder_.recorded(); }
  using observer = step_recorder::observer;
  void observe(observer seen, observer before = {}) {
    recorder_.observe(std::move(seen), std::move(before));
    choose_step();
  }
  Device& device() { return device_; }
  std::int64_t workspace_bytes() const {
    std::int64_t of_kernels = 0;
    if constexpr (requires { device_.workspace_bytes(); }) of_kernels = device_.workspace_bytes();
    return of_kernels + collectives_.workspace_bytes();
  }

 private:
  /// The views and kernels of a rank, in the order of launches. The views are those of all operands and results.
  struct kernels_of_rank {
    std::vector<view> views;
    std::vector<std::optional<typename Device::kernel>> kernels;  // empty if all results are empty
    std::byte* arena = nullptr;                                   // to which the views point
  };

  static constexpr std::int64_t moves = -1;
  void add_view(plan const& p, value_id v) {
    values_.push_back(v);
    offset_.push_back(code::stays(v) ? p.offset[p.root[v]] : moves);
  }
  void prepare(rank_context const& mine, kernels_of_rank& r) {
    for (value_id const v : values_) r.views.push_back(mine.at(v));
    for (std::size_t i = 0; i < code::launched.size(); ++i) {
      node const& n = m_.nodes[code::launched[i]];
      view const *operands = r.views.data() + code::first_view[i], *results = operands + n.operands.count;
      r.kernels.emplace_back();
      if (kernels::has_results(n, results))
        r.kernels.back().emplace(kernels::prepare(device_, m_, n, operands, results, mine.windows()));
    }
    place_in_arena(mine, r);
  }
  void place_in_arena(rank_context const& mine, kernels_of_rank& r) const {
    r.arena = mine.arena();
    for (std::size_t i = 0; i < offset_.size(); ++i)
      if (offset_[i] != moves) r.views[i].data = r.arena + offset_[i];
  }

  // `Seen` says whether nodes are recorded or observed.

  void choose_step() { step_ = recorder_.is_on() ? &engine::run_body<-1, true> : &engine::run_body<-1, false>; }
  /// Runs the body of an instruction, or the step if `Begin` is -1.
  template <int Begin, bool Seen>
  void run_body() {
    constexpr int length = static_cast<int>(code::template body_of<Begin>.size());
    [&]<int... Part>(std::integer_sequence<int, Part...>) {
      (run_part<Begin, Seen, Part * part_length>(
           std::make_integer_sequence<int, std::min(part_length, length - Part * part_length)>()),
       ...);
    }(std::make_integer_sequence<int, (length + part_length - 1) / part_length>());
  }
  /// why: compilers limit the length of one expression, and are slow for long functions
  static constexpr int part_length = 48;
  template <int Begin, bool Seen, int First, int... K>
  void run_part(std::integer_sequence<int, K...>) {
    (run_one<code::template body_of<Begin>[static_cast<std::size_t>(First + K)], Seen>(), ...);
  }

  template <int At, bool Seen>
  void run_one() {
    constexpr instruction i = code::list[At];
    constexpr bool is_of_loop =
        i.kind != instruction_kind::begin_loop && code::graph.nodes[i.node].kind == primitive::repeat;
    if constexpr (Seen && !is_of_loop) {
      recorder_.enter(m_.nodes[i.node], contexts_, collectives_.ahead());
      execute<At, Seen>();
      recorder_.leave(i.node, m_.nodes[i.node], contexts_, collectives_.ahead());
    } else {
      execute<At, Seen>();
    }
  }

  template <int At, bool Seen>
  void execute() {
    using enum instruction_kind;
    constexpr instruction i = code::list[At];
    if constexpr (i.kind == begin_loop) {
      each_iteration(contexts_, i.trips, i.reversed, i.from, [this] { run_body<At, Seen>(); });
    } else if constexpr (i.kind == begin_first || i.kind == begin_next) {
      one_ahead(contexts_, i.kind == begin_first, i.trips, i.reversed, [this] { run_body<At, Seen>(); });
    } else if constexpr (i.kind == begin_call) {
      run_body<At, Seen>();
    } else if constexpr (i.kind == launch) {
      launch_one<At>();
    } else if constexpr (i.kind == start || i.kind == collective) {
      collectives_.start(i.node, i.from_value(), i.to_value());
      if constexpr (i.kind == collective) collectives_.wait(i.node);
    } else if constexpr (i.kind == wait) {
      collectives_.wait(static_cast<node_id>(i.from));
    } else {
      for (std::size_t k = 0; k < contexts_.size(); ++k)
        act<i.kind>(known_instruction<code, At>(), m_, device_, contexts_[k], external_[k]);
    }
  }

  template <int At>
  void launch_one() {
    constexpr instruction i = code::list[At];
    constexpr int operands = code::graph.nodes[i.node].operands.count;
    constexpr auto& moving = code::template moving<At>;
    for (std::size_t k = 0; k < contexts_.size(); ++k) {
      auto& kernel = ranks_[k].kernels[i.to];
      if (!kernel) continue;
      view* const views = ranks_[k].views.data() + code::first_view[i.to];
      [&]<std::size_t... V>(std::index_sequence<V...>) {
        ((views[moving[V].place].data = contexts_[k].base(moving[V].root)), ...);
      }(std::make_index_sequence<moving.size()>());
      kernels::launch(device_, *kernel, {m_, m_.nodes[i.node], views, views + operands, contexts_[k].context});
    }
    if constexpr (code::communicates) collectives_.progress();
  }

  meshtensor::module const& m_;
  Device device_;
  std::span<rank_context> contexts_;
  collectives collectives_;
  std::vector<kernels_of_rank> ranks_;
  std::vector<value_id> values_;      // of the views of all kernels
  std::vector<std::int64_t> offset_;  // likewise: in the arena, or `moves`
  std::span<external_buffers> external_;
  step_recorder recorder_;
  void (engine::*step_)() = &engine::run_body<-1, false>;
};

}  // namespace meshtensor
