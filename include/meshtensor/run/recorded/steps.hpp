// SPDX-License-Identifier: Apache-2.0
// Runs the steps of a device with memory and a queue of its own. It walks the instructions once, into a recording that
// is replayed in each step. The recording has several parts if collectives leave the process, rows are exchanged, or a
// loop may end early.
#pragma once

#include <optional>

#include "meshtensor/pass/list_instructions.hpp"
#include "meshtensor/run/recorded/captured_parts.hpp"
#include "meshtensor/run/recorded/command_encoder.hpp"
#include "meshtensor/run/recorded/loops.hpp"
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
  static constexpr bool reads_instructions = true;

  engine(module const& m, plan const& p, int entry, std::span<instruction const> instructions, Device device,
         std::span<rank_context> ranks, transport* among)
      : m_(m),
        device_(std::move(device)),
        program_(Device::machine(), m, p),
        list_(instructions),
        places_(m, list_),
        values_(m.variable_count, ranks.size()),
        watched_(m, p) {
    if (static_cast<std::int64_t>(ranks.size()) != ranks[0].mesh().size()) remote_.emplace(*among, m, p, ranks);
    for (int k = 0; k < m.node_count; ++k)
      if (node const& n = m.nodes[k]; n.kind == primitive::write && n.region == entry)
        written_.push_back(variable_of(n));
    std::lock_guard const turn(Device::machine().submission_lock());
    encoder_.emplace(m, p, list_, ranks, program_, values_, remote_ ? &*remote_ : nullptr);
    known_.emplace(list_);
  }
  engine(engine const&) = delete;
  engine& operator=(engine const&) = delete;

  /// Names the value of a variable. The value must outlive the engine.
  void use(id variable, stored& value) { values_.use(variable, value); }

  void run(std::span<external_buffers> external, number_value const* numbers, std::uint64_t seed, std::uint64_t step) {
    values_.bring_home();
    std::lock_guard const turn(Device::machine().submission_lock());
    try {
      bool const places_changed = places_.have_changed(numbers), moved = values_.find() || places_changed;
      encoder_->ports().fill(external, numbers, seed, step);
      if (remote_) remote_->begin_step({numbers, seed, step, 0, 0});
      for (rank_context& r : encoder_->ranks()) r.context = {numbers, seed, step, 0, 0};
      bool const stays = !moved && is_recorded_ && !watched_.any();
      captures_ = captured_.may_capture(stays && !known_->are_asked_for());
      if (watched_.any()) {
        play_node_by_node();
      } else {
        if (!stays) record();
        play(commands_);
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
    encoder_->ports().give(external);
  }

  bool is_under_way() const { return remote_ && remote_->is_under_way(); }
  /// Starts or stops recording the time of each node. Meanwhile the host waits for each node, and nothing is replayed.
  void record(bool on, int warm_up = 0) { watched_.take_times(on, warm_up); }
  timeline const* recorded() const { return watched_.times(); }
  using observer = typename watched_nodes<machine>::observer;
  /// Like `observe` of the general engine. Nodes then run one by one, and the engine copies their operands and results
  /// to the host for the observer.
  void observe(observer seen, observer before = {}) {
    watched_.observe(std::move(seen), std::move(before), Device::machine(), encoder_->ranks());
  }
  Device& device() { return device_; }
  std::int64_t workspace_bytes() const {
    return program_.workspace_bytes() + (remote_ ? remote_->workspace_bytes() : 0);
  }
  /// The device's program, for tests.
  program const& kernels() const { return program_; }

 private:
  void record() {
    forget();
    commands_.begin_step();
    encoder_->ports().record_upload(commands_);
    walk();
    encoder_->ports().record_download(commands_);
    finish(commands_);
    is_recorded_ = true;
  }
  void forget() {
    is_recorded_ = false;
    commands_.forget();
    kept_.forget();
  }
  void finish(recorded_commands<Device>& commands) {
    for (auto& part : commands.parts()) program_.finish(part.to_do);
  }
  void walk() {
    if (remote_) remote_->begin_recording();
    walk_into(commands_).whole();
    if (remote_) remote_->end_all(commands_);
  }
  auto walk_into(recorded_commands<Device>& commands) {
    return recorded_walk(
        list_, encoder_->ranks(), [this, &commands](instruction const& i) { encoder_->record(commands, i); },
        [this](instruction const& i, auto const& work) { this->do_node(i, work); },
        [this, &commands](std::size_t at) {
          if (watched_.any()) play_loop_now(at);
          else record_loop(commands, at);
        });
  }
  void play(recorded_commands<Device>& commands) {
    for (auto& part : commands.parts()) {
      captured_.give(part, captures_ && part.has_run);
      part.has_run = true;
      if (!part.then) continue;
      if (part.waits_for_machine) Device::machine().wait();
      else remote_->progress();
      part.then();
    }
  }

  // ---- loops that may end early ----

  /// The address on the device of the number of iterations that are known to run.
  std::byte* known_on_device(instruction const& loop) { return encoder_->ranks()[0].pointer(loop.from_value()); }
  /// Calls `body` for each iteration that runs. The host gets the number before each iteration, or in a reversed loop
  /// before the first one.
  template <class Body>
  void each_that_runs(instruction const& i, Body const& body) {
    each_known_iteration(encoder_->ranks(), i.trips, i.reversed, [&] { return known_->number(); }, body);
  }

  void record_loop(recorded_commands<Device>& commands, std::size_t at) {
    auto const loop = std::make_shared<recorded_loop<Device>>();
    loop->at = at, loop->around = encoder_->ranks()[0].context, loop->bound = encoder_->bound();
    if (remote_) loop->pending = remote_->pending();
    known_->record(commands, known_on_device(list_[at]));
    commands.cut(true, [this, loop] { play_loop(*loop); });
  }
  /// Runs the loop. The machine has completed the work before the loop, and on return also the loop.
  void play_loop(recorded_loop<Device>& loop) {
    instruction const& i = list_[loop.at];
    for (rank_context& r : encoder_->ranks())
      r.context.index = loop.around.index, r.context.iteration = loop.around.iteration;
    each_that_runs(i, [&] {
      kept_.play(
          loop, encoder_->ranks()[0].context.index,
          [&](recorded_commands<Device>& commands) { record_iteration(commands, loop); },
          [this](recorded_commands<Device>& commands) { play(commands); });
      if (!i.reversed || queueing_machine<machine>) Device::machine().wait();
    });
    Device::machine().wait();
  }
  void record_iteration(recorded_commands<Device>& commands, recorded_loop<Device> const& loop) {
    instruction const& i = list_[loop.at];
    commands.begin_step();
    encoder_->bind(loop.bound);
    if (remote_) remote_->begin_recording(loop.pending);
    walk_into(commands).body(loop.at + 1);
    if (!i.reversed) known_->record(commands, known_on_device(i));
    finish(commands);
  }

  // ---- node by node, to observe or time nodes ----

  void play_node_by_node() {
    forget();
    if (watched_.are_shown()) {
      auto const show = [this](std::byte const* at, std::size_t bytes) { watched_.add(at, bytes); };
      encoder_->show_blocks(show), values_.show_blocks(show);
    }
    watched_.begin_step();
    encoder_->ports().upload_now();
    walk();
    play_now();
    encoder_->ports().download_now();
    watched_.end_step();
  }
  /// Runs a node at once, if a tool observes or times nodes.
  template <class Work>
  void do_node(instruction const& i, Work const& work) {
    bool const is_of_loop = i.kind != instruction_kind::begin_loop && m_.nodes[i.node].kind == primitive::repeat;
    if (is_of_loop || !watched_.any()) return work();
    watched_.begin(i.node, encoder_->ranks());
    work();
    play_now();
    watched_.end(i.node, encoder_->ranks());
  }
  void play_now() {
    finish(commands_);
    play(commands_);
    commands_.forget();
    Device::machine().wait();
  }
  void play_loop_now(std::size_t at) {
    instruction const& i = list_[at];
    auto const read = [&] { play_now(), known_->read(known_on_device(i)); };
    read();
    each_that_runs(i, [&] {
      walk_into(commands_).body(at + 1);
      if (!i.reversed) read();
    });
  }

  meshtensor::module const& m_;
  Device device_;
  program program_;
  std::span<instruction const> list_;
  places_in_numbers places_;
  values_on_device<Device> values_;
  std::vector<id> written_;                           // variables
  std::optional<staged_collectives<Device>> remote_;  // if other processes hold ranks
  std::optional<command_encoder<Device>> encoder_;    // made while this engine holds the device's lock
  std::optional<known_iterations<Device>> known_;     // likewise
  recorded_commands<Device> commands_;
  captured_parts<Device> captured_{program_, commands_};
  bool is_recorded_ = false, captures_ = false;
  kept_iterations<Device> kept_;
  watched_nodes<machine> watched_;
};

}  // namespace meshtensor
