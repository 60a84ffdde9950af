// SPDX-License-Identifier: Apache-2.0
// Runs the steps of a device with memory and a queue of its own. It walks the instructions once, into a recording that
// is replayed in each step. The recording has several parts if collectives leave the process, rows are exchanged, or a
// loop may end early.
#pragma once

#include <optional>

#include "meshtensor/run/recorded/loops.hpp"
#include "meshtensor/run/recorded/orders.hpp"
#include "meshtensor/run/recorded/places_in_numbers.hpp"
#include "meshtensor/run/recorded/walk.hpp"
#include "meshtensor/run/watched_nodes.hpp"

namespace meshtensor {

/// A device that runs all ranks and keeps values of the store from step to step.
template <class Device>
concept keeps_values = whole_program_device<Device> || recording_device<Device>;

/// One engine has the ranks that this process holds, which are all of the mesh or only one. Each has an arena of its
/// own in the device's memory. Values of the store stay there from step to step, until other code requests them. A
/// recording contains addresses and kernels, whereas seed, step and numbers are memory that is written before each
/// step. A step is therefore recorded again when a value has moved, or when a number that is a position in a tensor
/// changes. If the device can capture, it captures each part after the part has run once. Iterations of loops that may
/// end early are recorded when they first run.
template <recording_device Device>
class engine<Device> {
  using program = typename Device::recorded_program;
  using machine = std::remove_cvref_t<decltype(Device::machine())>;

 public:
  engine(module const& m, plan const& p, int entry, Device device, std::span<rank_context> processors,
         std::unique_ptr<exchanges> among)
      : m_(m),
        device_(std::move(device)),
        program_(Device::machine(), m, p),
        list_(listed(m, p, entry)),
        places_(m, list_),
        values_(m.variable_count, processors.size()),
        watched_(m, p) {
    if (static_cast<std::int64_t>(processors.size()) != processors[0].mesh().size())
      remote_.emplace(std::move(among), processors);
    for (int k = 0; k < m.node_count; ++k)
      if (node const& n = m.nodes[k]; n.kind == primitive::write && n.region == entry)
        written_.push_back(variable_of(n));
    std::lock_guard const turn(Device::machine().turns());
    orders_.emplace(m, p, list_, processors, program_, values_, remote_ ? &*remote_ : nullptr);
    known_.emplace(list_);
  }
  engine(engine const&) = delete;
  engine& operator=(engine const&) = delete;

  /// Names the value of a variable. The value must outlive the engine.
  void use(id variable, stored& value) { values_.use(variable, value); }

  void run(std::span<external_buffers> external, number_value const* numbers, std::uint64_t seed, std::uint64_t step) {
    values_.bring_home();
    std::lock_guard const turn(Device::machine().turns());
    try {
      bool const places_changed = places_.have_changed(numbers), moved = values_.find() || places_changed;
      orders_->ports().fill(external, numbers, seed, step);
      if (remote_) remote_->begin_step({numbers, seed, step, 0, 0});
      for (rank_context& r : orders_->ranks()) r.context = {numbers, seed, step, 0, 0};
      bool const stays = !moved && is_recorded_ && !watched_.any();
      captures_ = may_capture(stays);
      if (watched_.any()) {
        play_node_by_node();
      } else {
        if (!stays) record();
        play(tasks_);
        Device::machine().wait();
      }
    } catch (...) {
      try {
        Device::machine().wait();  // no work may be in flight when memory is freed
      } catch (...) {}             // the first failure is reported
      is_recorded_ = false;
      values_.forget_copies();
      throw;
    }
    for (id v : written_) values_.mark_written(v);
    orders_->ports().give(external);
  }

  bool is_under_way() const { return remote_ && remote_->is_under_way(); }
  /// Starts or stops recording the time of each node. Meanwhile the host waits for each node, and nothing is replayed.
  void record(bool on, int warm_up = 0) { watched_.take_times(on, warm_up); }
  timeline const* recorded() const { return watched_.times(); }
  using observer = typename watched_nodes<machine>::observer;
  /// Like `observe` of the general engine. Nodes then run one by one, and the engine copies their operands and results
  /// to the host for the observer.
  void observe(observer seen, observer before = {}) {
    watched_.observe(std::move(seen), std::move(before), Device::machine(), orders_->ranks());
  }
  Device& device() { return device_; }
  std::int64_t workspace_bytes() const {
    return program_.workspace_bytes() + (remote_ ? remote_->workspace_bytes() : 0);
  }
  /// The device's program, for tests.
  program const& kernels() const { return program_; }

 private:
  static constexpr std::size_t most_captured = 50'000;  // commands of a part
  static constexpr std::size_t most_kept = 100'000;     // commands of iterations of loops that may end early

  static std::vector<instruction> listed(module const& m, plan const& p, int entry) {
    std::vector<instruction> instructions;
    list_instructions(m, p, entry, [&](instruction const& i) { instructions.push_back(i); });
    return instructions;
  }

  void record() {
    forget();
    tasks_.begin_step();
    orders_->ports().record_upload(tasks_);
    walk();
    orders_->ports().record_download(tasks_);
    finish(tasks_);
    is_recorded_ = true;
  }
  void forget() {
    is_recorded_ = false;
    tasks_.forget();
    kept_ = 0;
  }
  void finish(recorded_tasks<Device>& tasks) {
    for (auto& part : tasks.parts()) program_.finish(part.to_do);
  }
  void walk() {
    if (remote_) remote_->begin_recording();
    walk_into(tasks_).whole();
    if (remote_) remote_->end_all(tasks_);
  }
  auto walk_into(recorded_tasks<Device>& tasks) {
    return recorded_walk(
        list_, orders_->ranks(), [this, &tasks](instruction const& i) { orders_->record(tasks, i); },
        [this](instruction const& i, auto const& work) { this->do_node(i, work); },
        [this, &tasks](std::size_t at) {
          if (watched_.any()) play_loop_now(at);
          else record_loop(tasks, at);
        });
  }
  void play(recorded_tasks<Device>& tasks) {
    for (auto& part : tasks.parts()) {
      give(part, captures_ && part.has_run);
      part.has_run = true;
      if (!part.then) continue;
      if (part.waits_for_machine) Device::machine().wait();
      else remote_->progress();
      part.then();
    }
  }

  // ---- loops that may end early ----

  /// The address on the device of the number of iterations that are known to run.
  std::byte* known_on_device(instruction const& loop) { return orders_->ranks()[0].pointer(loop.from_value()); }
  /// Calls `body` for each iteration that runs. The host gets the number before each iteration, or in a reversed loop
  /// before the first one.
  template <class Body>
  void each_that_runs(instruction const& i, Body const& body) {
    each_known_iteration(orders_->ranks(), i.trips, i.reversed, [&] { return known_->number(); }, body);
  }

  void record_loop(recorded_tasks<Device>& tasks, std::size_t at) {
    auto const loop = std::make_shared<recorded_loop<Device>>();
    loop->at = at, loop->around = orders_->ranks()[0].context, loop->bound = orders_->bound();
    if (remote_) loop->pending = remote_->pending();
    known_->record(tasks, known_on_device(list_[at]));
    tasks.cut(true, [this, loop] { play_loop(*loop); });
  }
  /// Runs the loop. The machine has completed the work before the loop, and on return also the loop.
  void play_loop(recorded_loop<Device>& loop) {
    instruction const& i = list_[loop.at];
    for (rank_context& r : orders_->ranks())
      r.context.index = loop.around.index, r.context.iteration = loop.around.iteration;
    each_that_runs(i, [&] {
      play_iteration(loop, orders_->ranks()[0].context.index);
      if (!i.reversed || queueing_machine<machine>) Device::machine().wait();
    });
    Device::machine().wait();
  }
  void play_iteration(recorded_loop<Device>& loop, std::int64_t index) {
    if (auto const known = loop.iterations.find(index); known != loop.iterations.end()) return play(known->second);
    recorded_tasks<Device> tasks;
    record_iteration(tasks, loop);
    std::size_t const kept_before = kept_;
    if (kept_ += tasks.orders(); kept_ <= most_kept)
      return play(loop.iterations.emplace(index, std::move(tasks)).first->second);
    play(tasks);
    Device::machine().wait();  // no work may be in flight when a recording is destroyed
    kept_ = kept_before;
  }
  void record_iteration(recorded_tasks<Device>& tasks, recorded_loop<Device> const& loop) {
    instruction const& i = list_[loop.at];
    tasks.begin_step();
    orders_->bind(loop.bound);
    if (remote_) remote_->begin_recording(loop.pending);
    walk_into(tasks).body(loop.at + 1);
    if (!i.reversed) known_->record(tasks, known_on_device(i));
    finish(tasks);
  }

  /// Whether the machine has freed its capture.
  static bool is_freed(auto const& captured) {
    if constexpr (requires { captured.is_freed; }) return captured.is_freed;
    else return false;
  }
  /// Whether parts that have run before may be captured or replayed in this step. If the device communicates with other
  /// devices, all ranks must capture in the same step and later replay these captures, because NCCL requires that. They
  /// would capture each iteration of a loop that may end early in a different step, so with such a loop they capture
  /// nothing. `stays` says whether the recording is still valid.
  bool may_capture(bool stays) {
    if constexpr (requires { program_.has_remote_groups(); })
      if (program_.has_remote_groups()) {
        bool fits = stays && !known_->are_asked_for(), is_kept = fits;
        for (auto& part : tasks_.parts()) {
          fits = fits && can_capture(part);
          is_kept = is_kept && (part.to_do.size() == 0 || (part.captured != nullptr && !is_freed(*part.captured)));
        }
        constexpr unsigned captures = 1, replays = 2;
        unsigned const all = program_.common_bits((fits ? captures : 0) | (fits && is_kept ? replays : 0));
        if ((all & replays) == 0)
          for (auto& part : tasks_.parts()) part.captured.reset();
        return (all & captures) != 0;
      }
    return true;
  }
  /// Whether a part can be captured by itself. It cannot if its tasks wait for tasks of an earlier part.
  bool can_capture(recorded_part<Device> const& part) {
    return part.to_do.size() <= most_captured && (!queueing_machine<machine> || tasks_.parts().size() == 1);
  }
  void give(recorded_part<Device>& part, bool again) {
    if constexpr (capturing_machine<machine>) {
      auto& gpu = Device::machine();
      if (again && part.to_do.size() != 0 && can_capture(part)) {
        if (part.captured == nullptr || is_freed(*part.captured)) {
          gpu.begin_recording();
          try {
            program_.play(part.to_do);
          } catch (...) {
            try {
              gpu.end_recording();  // otherwise the queue would accept no more work
            } catch (...) {}        // the first failure is reported
            throw;
          }
          part.captured = gpu.end_recording();
        }
        return gpu.replay(*part.captured);
      }
    }
    program_.play(part.to_do);
  }

  // ---- node by node, to observe or time nodes ----

  void play_node_by_node() {
    forget();
    if (watched_.are_shown()) {
      auto const show = [this](std::byte const* at, std::size_t bytes) { watched_.add(at, bytes); };
      orders_->show_blocks(show), values_.show_blocks(show);
    }
    watched_.begin_step();
    orders_->ports().upload_now();
    walk();
    play_now();
    orders_->ports().download_now();
    watched_.end_step();
  }
  /// Runs a node at once, if a tool observes or times nodes.
  template <class Work>
  void do_node(instruction const& i, Work const& work) {
    bool const is_of_loop = i.kind != instruction_kind::begin_loop && m_.nodes[i.node].kind == primitive::repeat;
    if (is_of_loop || !watched_.any()) return work();
    watched_.begin(i.node, orders_->ranks());
    work();
    play_now();
    watched_.end(i.node, orders_->ranks());
  }
  void play_now() {
    finish(tasks_);
    play(tasks_);
    tasks_.forget();
    Device::machine().wait();
  }
  void play_loop_now(std::size_t at) {
    instruction const& i = list_[at];
    auto const read = [&] { play_now(), known_->read(known_on_device(i)); };
    read();
    each_that_runs(i, [&] {
      walk_into(tasks_).body(at + 1);
      if (!i.reversed) read();
    });
  }

  meshtensor::module const& m_;
  Device device_;
  program program_;
  std::vector<instruction> list_;
  places_in_numbers places_;
  values_on_device<Device> values_;
  std::vector<id> written_;                         // variables
  std::optional<staged_exchanges<Device>> remote_;  // if other processes hold ranks
  std::optional<recorded_orders<Device>> orders_;   // made while this engine holds the device's lock
  std::optional<known_iterations<Device>> known_;   // likewise
  recorded_tasks<Device> tasks_;
  bool is_recorded_ = false, captures_ = false;
  std::size_t kept_ = 0;  // commands of iterations of loops that may end early
  watched_nodes<machine> watched_;
};

}  // namespace meshtensor
