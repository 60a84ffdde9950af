// SPDX-License-Identifier: Apache-2.0
// Runs the steps of a device with memory and a queue of its own: the instructions are walked once, into a recording
// that is replayed in each step.
#pragma once

#include <map>
#include <mutex>

#include "meshtensor/array/block.hpp"
#include "meshtensor/device/device.hpp"
#include "meshtensor/device/queue_plan.hpp"
#include "meshtensor/run/host_twins.hpp"
#include "meshtensor/run/whole_program.hpp"

namespace meshtensor {

/// A device that runs all processors and keeps values of the store from step to step.
template <class Device>
concept keeps_values = whole_program_device<Device> || recording_device<Device>;

/// A block of a value in a device's memory.
template <class Memory>
class held_block {
 public:
  explicit held_block(std::shared_ptr<Memory> memory) : memory_(std::move(memory)) {}
  std::shared_ptr<Memory> const& memory() const { return memory_; }
  void copy_to(void* home) const {
    auto& device = memory_->where();
    std::lock_guard const turn(device.turns());
    device.download(home, memory_->at(), memory_->bytes());
    device.wait();
  }

 private:
  std::shared_ptr<Memory> memory_;
};

/// One engine has all processors of the mesh, each with an arena of its own in the device's memory. Values of the store
/// stay there from step to step, until something else asks for them. What is recorded are addresses and kernels; seed,
/// step and numbers are memory that is written before each step. It is recorded anew when a value has moved or a number
/// changes that is a place in a tensor; a recording that has run once is captured by the device, if it can be.
///
/// errors  R74 this process does not hold all processors
template <recording_device Device>
class engine<Device> {
  using program = typename Device::recorded_program;
  using memory = typename program::memory;
  using block = held_block<memory>;
  using copies = copy_on_devices<block>;
  using machine = std::remove_cvref_t<decltype(Device::machine())>;

 public:
  engine(module const& m, plan const& p, int entry, Device device, std::span<rank_context> processors,
         std::unique_ptr<exchanges>)
      : m_(m), p_(p), device_(std::move(device)), program_(Device::machine(), m, p) {
    require_whole_mesh(processors);
    for (rank_context const& r : processors) ranks_.emplace_back(m, p, r.mesh(), r.rank());
    list_instructions(m, p, entry, [this](instruction const& i) { list_.push_back(i); });
    values_.resize(static_cast<std::size_t>(m.variable_count)), blocks_.resize(values_.size());
    for (int k = 0; k < m.node_count; ++k)
      if (node const& n = m.nodes[k]; n.kind == primitive::write && n.region == entry)
        written_.push_back(variable_of(n));
    find_places_in_numbers();
    std::lock_guard const turn(Device::machine().turns());
    prepare();
    reserve();
  }
  engine(engine const&) = delete;
  engine& operator=(engine const&) = delete;
  ~engine() { captured_.reset(); }

  /// Names the value of a variable; it must outlive the engine.
  void use(id variable, stored& value) { values_[variable] = &value; }

  void run(std::span<external_buffers> external, double const* numbers, std::uint64_t seed, std::uint64_t step) {
    for (stored* s : values_)
      if (s != nullptr && s->is_stale && dynamic_cast<copies*>(s->on_device.get()) == nullptr) s->come_home();
    std::lock_guard const turn(Device::machine().turns());
    try {
      bool const places_changed = has_other_places(numbers), moved = find_values() || places_changed;
      fill(external, numbers, seed, step);
      if (times_ != nullptr || seen_ || before_) {
        play_node_by_node(numbers, seed, step);
      } else {
        if (moved || !is_recorded_) record(numbers, seed, step);
        play(moved);
        Device::machine().wait();
      }
    } catch (...) {
      try {
        Device::machine().wait();  // nothing may be under way when memory is given back
      } catch (...) {}             // the first failure is the one to tell
      is_recorded_ = false;
      for (stored* s : values_)
        if (s != nullptr && !s->is_stale) s->on_device.reset();
      throw;
    }
    for (id v : written_) values_[v]->is_stale = true;
    for (port_block const& o : outputs_)
      if (std::byte* const to = external[o.rank].given[o.node])
        std::memcpy(to, staged_out_.at() + o.at, static_cast<std::size_t>(o.bytes));
  }

  bool is_under_way() const { return false; }
  /// Starts to record the time of each node, or stops: then each is waited for, and nothing is replayed.
  void record(bool on) { times_ = on ? std::make_unique<timeline>(m_.node_count) : nullptr; }
  timeline const* recorded() const { return times_.get(); }
  using observer = std::function<void(node const&, std::span<rank_context const>)>;
  /// As `engine`: then nodes run one by one, and what they read and give is copied to the host for those who look.
  void observe(observer seen, observer before = {}) {
    seen_ = std::move(seen), before_ = std::move(before);
    twins_.reset();
    if (seen_ || before_) twins_ = std::make_unique<host_twins<machine>>(Device::machine(), m_, p_, ranks_);
  }
  Device& device() { return device_; }
  std::int64_t workspace_bytes() const { return program_.workspace_bytes(); }
  /// What its steps run on, for tests.
  program const& kernels() const { return program_; }

 private:
  /// The part of a staging block that belongs to an input or output of a processor.
  struct port_block {
    node_id node;
    std::size_t rank;
    std::int64_t at, bytes;
  };
  static constexpr std::size_t most_captured = 50'000;  // orders

  void require_whole_mesh(std::span<rank_context> processors) const {
    mesh_shape const& mesh = processors[0].mesh();
    if (static_cast<std::int64_t>(processors.size()) != mesh.size())
      throw error("R74", {"this device runs all ", mesh.size(), " processors of the mesh in one process, but this one ",
                          "holds ", processors.size(), ": start one process"});
  }

  // ---- at start-up ----

  /// The numbers that are places in tensors: a recording holds for their values only.
  void find_places_in_numbers() {
    for (instruction const& i : list_) {
      node const& n = m_.nodes[i.node];
      switch (n.kind) {
        case primitive::slice:
        case primitive::pad:
        case primitive::put:
        case primitive::shift:
        case primitive::move: break;
        default: continue;
      }
      declaration const& d = declared(m_, n);
      for (int k = 0; k < max_attributes; ++k)
        if (d.attributes[k].kind == attribute_kind::number && n.attribute[k] != id{no_id})
          places_.push_back(n.attribute[k]);
    }
  }
  void prepare() {
    for (rank_context& r : ranks_)
      for (instruction const& i : list_)
        if (i.kind == instruction_kind::launch) {
          node const& n = m_.nodes[i.node];
          load(r, n);
          launches_.push_back(program_.prepare(n, {operands_.data(), results_.data(), r.windows()}));
        }
    per_rank_ = launches_.size() / ranks_.size();
    for (instruction const& i : list_) {
      if (i.kind == instruction_kind::accumulate) program_.prepare_sum(m_.values[i.to].type);
      if (i.kind != instruction_kind::start && i.kind != instruction_kind::exchange) continue;
      planned_collective const& c = ranks_[0].exchange(i.node);
      exchanges_.emplace(i.node, program_.prepare_exchange(m_.nodes[i.node], c.call, c.with.count));
    }
    program_.load();
  }
  static std::int64_t aligned(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }
  void reserve() {
    auto& gpu = Device::machine();
    std::int64_t const arena_bytes = aligned(p_.arena_bytes);
    arena_ = memory(gpu, static_cast<std::size_t>(arena_bytes) * ranks_.size());
    std::int64_t in = aligned(static_cast<std::int64_t>((2 + static_cast<std::size_t>(m_.number_count)) * 8)), out = 0;
    for (std::size_t k = 0; k < ranks_.size(); ++k) {
      ranks_[k].use(arena_.at() + static_cast<std::int64_t>(k) * arena_bytes);
      for (instruction const& i : list_) {
        if (i.kind == instruction_kind::bind_input) {
          inputs_.push_back({i.node, k, in, ranks_[k].bytes(i.to_value())});
          in += aligned(inputs_.back().bytes);
        }
        if (i.kind == instruction_kind::copy_to_output) {
          outputs_.push_back({i.node, k, out, ranks_[k].bytes(i.from_value())});
          out += aligned(outputs_.back().bytes);
        }
      }
    }
    in_bytes_ = in, out_bytes_ = out;
    in_ = memory(gpu, static_cast<std::size_t>(in)), out_ = memory(gpu, static_cast<std::size_t>(out));
    gpu.clear(out_.at(), static_cast<std::size_t>(out));  // what lies between outputs is copied, too
    gpu.wait();
    staged_in_ = host_block(gpu, static_cast<std::size_t>(in)),
    staged_out_ = host_block(gpu, static_cast<std::size_t>(out));
  }
  void load(rank_context const& r, node const& n) {
    operands_.resize(std::max<std::size_t>(operands_.size(), n.operands.count));
    results_.resize(std::max<std::size_t>(results_.size(), n.results.count));
    for (int i = 0; i < n.operands.count; ++i) operands_[static_cast<std::size_t>(i)] = r.at(m_.operand(n, i));
    for (int i = 0; i < n.results.count; ++i) results_[static_cast<std::size_t>(i)] = r.at(m_.result(n, i));
  }

  // ---- in each step ----

  /// Brings values to the device that are not there; whether the address of any is another one than before.
  bool find_values() {
    bool moved = false, uploaded = false;
    for (std::size_t v = 0; v < values_.size(); ++v) {
      if (values_[v] == nullptr) continue;
      stored& s = *values_[v];
      auto& mine = blocks_[v];
      if (auto* const there = dynamic_cast<copies*>(s.on_device.get())) {
        bool same = mine.size() == there->parts.size();
        for (std::size_t k = 0; same && k < mine.size(); ++k) same = mine[k] == there->parts[k].memory();
        if (same) continue;
        mine.clear(), moved = true;
        for (block const& b : there->parts) mine.push_back(b.memory());
        continue;
      }
      moved = moved || mine.empty();
      auto made = std::make_unique<copies>();
      for (std::size_t k = 0; k < ranks_.size(); ++k) {
        auto const bytes = static_cast<std::size_t>(s.windows[k].bytes());
        if (mine.size() <= k) mine.push_back(std::make_shared<memory>(Device::machine(), bytes));
        Device::machine().upload(mine[k]->at(), s.read_block(k), bytes);
        made->parts.emplace_back(mine[k]);
      }
      s.on_device = std::move(made), uploaded = true;
    }
    if (uploaded) Device::machine().wait();
    return moved;
  }
  bool has_other_places(double const* numbers) {
    bool other = false;
    known_places_.resize(places_.size());
    for (std::size_t i = 0; i < places_.size(); ++i) {
      double const now = numbers[places_[i]];
      other = other || std::memcmp(&now, &known_places_[i], sizeof now) != 0;
      known_places_[i] = now;
    }
    return other;
  }
  void fill(std::span<external_buffers> external, double const* numbers, std::uint64_t seed, std::uint64_t step) {
    std::byte* const to = staged_in_.at();
    std::memcpy(to, &seed, 8), std::memcpy(to + 8, &step, 8);
    std::memcpy(to + 16, numbers, static_cast<std::size_t>(m_.number_count) * 8);
    for (port_block const& i : inputs_)
      if (i.bytes != 0) std::memcpy(to + i.at, external[i.rank].fed[i.node], static_cast<std::size_t>(i.bytes));
  }
  void record(double const* numbers, std::uint64_t seed, std::uint64_t step) {
    forget();
    if constexpr (queueing_machine<machine>) queues_ = std::make_unique<queue_plan>(Device::machine().queues());
    task([&] { return touched{{}, {bytes_at(in_.at(), in_bytes_)}}; },
         [&] { to_do_.upload(in_.at(), staged_in_.at(), in_bytes_); });
    walk(numbers, seed, step);
    task([&] { return touched{{bytes_at(out_.at(), out_bytes_)}, {}}; },
         [&] { to_do_.download(staged_out_.at(), out_.at(), out_bytes_); });
    program_.finish(to_do_);
    is_recorded_ = true;
  }
  void forget() {
    captured_.reset();
    is_recorded_ = false;
    to_do_.forget();
    queues_.reset();
  }
  void walk(double const* numbers, std::uint64_t seed, std::uint64_t step) {
    for (rank_context& r : ranks_) r.context = {numbers, seed, step, 0, 0};
    for (std::size_t at = 0; at < list_.size();) at = record_at(at);
  }
  void play_node_by_node(double const* numbers, std::uint64_t seed, std::uint64_t step) {
    auto& gpu = Device::machine();
    forget();
    if (twins_ != nullptr) show_blocks();
    if (times_ != nullptr) times_->begin_step(timeline::now());
    gpu.upload(in_.at(), staged_in_.at(), static_cast<std::size_t>(in_bytes_));
    gpu.wait();
    walk(numbers, seed, step);
    gpu.download(staged_out_.at(), out_.at(), static_cast<std::size_t>(out_bytes_));
    gpu.wait();
    if (times_ != nullptr) times_->end_step(timeline::now());
  }
  void show_blocks() {
    for (memory const* b : {&arena_, &in_, &out_}) twins_->add(b->at(), b->bytes());
    for (auto const& of_variable : blocks_)
      for (auto const& b : of_variable) twins_->add(b->at(), b->bytes());
  }
  /// Does what was recorded since the last node, and waits for it.
  void finish_node(node_id which) {
    program_.finish(to_do_);
    program_.play(to_do_);
    to_do_.forget();
    Device::machine().wait();
    if (seen_) seen_(m_.nodes[which], twins_->of(m_.nodes[which], ranks_));
    if (times_ != nullptr) times_->leave(which, timeline::now());
  }
  /// The first time it runs as it is: libraries prepare themselves then.
  void play(bool moved) {
    if constexpr (capturing_machine<machine>) {
      auto& gpu = Device::machine();
      if (!moved && to_do_.size() <= most_captured && has_run_) {
        if (captured_ == nullptr) {
          gpu.begin_recording();
          program_.play(to_do_);
          captured_ = gpu.end_recording();
        }
        return gpu.replay(*captured_);
      }
    }
    program_.play(to_do_);
    has_run_ = true;
  }

  // ---- the walk: as that of engine, with orders in the place of work ----

  std::size_t record_body(std::size_t at) {
    while (list_[at].kind != instruction_kind::end) at = record_at(at);
    return at;
  }
  std::size_t record_loop(std::size_t at) {
    instruction const& i = list_[at];
    run_context const before = ranks_[0].context;
    auto const trips = static_cast<std::uint64_t>(i.trips);
    std::size_t end = at;
    for (std::int64_t t = 0; t < i.trips; ++t) {
      std::int64_t const index = i.reversed ? i.trips - 1 - t : t;
      for (rank_context& r : ranks_)
        r.context.index = index, r.context.iteration = before.iteration * trips + static_cast<std::uint64_t>(index);
      end = record_body(at + 1);
    }
    for (rank_context& r : ranks_) r.context = before;
    if (i.trips == 0)
      for (int depth = 1; depth != 0;)
        depth += begins(list_[++end].kind) ? 1 : list_[end].kind == instruction_kind::end ? -1 : 0;
    return end + 1;
  }
  std::size_t record_ahead(std::size_t at) {
    instruction const& i = list_[at];
    std::int64_t const before = ranks_[0].context.index;
    std::int64_t const index = i.kind == instruction_kind::begin_first ? (i.reversed ? i.trips - 1 : 0)
                               : i.reversed                            ? before - 1
                                                                       : before + 1;
    if (index >= 0 && index < i.trips) {
      for (rank_context& r : ranks_) r.context.index = index;
      at = record_body(at + 1);
      for (rank_context& r : ranks_) r.context.index = before;
    }
    while (list_[at].kind != instruction_kind::end) ++at;
    return at + 1;
  }
  std::size_t record_at(std::size_t at) {
    instruction const& i = list_[at];
    bool const is_of_loop = i.kind != instruction_kind::begin_loop && m_.nodes[i.node].kind == primitive::repeat;
    if (is_of_loop || (times_ == nullptr && twins_ == nullptr)) return record_one(at);
    if (times_ != nullptr) times_->enter(timeline::now());
    if (before_) before_(m_.nodes[i.node], twins_->of(m_.nodes[i.node], ranks_));
    std::size_t const next = record_one(at);
    finish_node(i.node);
    return next;
  }
  std::size_t record_one(std::size_t at) {
    instruction const& i = list_[at];
    switch (i.kind) {
      case instruction_kind::begin_loop: return record_loop(at);
      case instruction_kind::begin_first:
      case instruction_kind::begin_next: return record_ahead(at);
      case instruction_kind::begin_call: return record_body(at + 1) + 1;
      case instruction_kind::start:
      case instruction_kind::exchange: exchange(i); break;
      case instruction_kind::wait: break;  // what was started is done: there is one queue
      default:
        for (std::size_t k = 0; k < ranks_.size(); ++k) move(i, k);
    }
    return at + 1;
  }
  void exchange(instruction const& i) {
    for (rank_context& first : ranks_) {
      planned_collective const& c = first.exchange_now(i.node);
      if (c.with.index != 0) continue;
      std::vector<std::byte*> in, out;
      std::vector<collective_call const*> calls;
      for (int k = 0; k < c.with.count; ++k) {
        rank_context& member = ranks_[static_cast<std::size_t>(c.with.members[k])];
        calls.push_back(&member.exchange_now(i.node).call);
        in.push_back(member.pointer(i.from_value())), out.push_back(member.pointer(i.to_value()));
      }
      task(
          [&] {
            touched t;
            for (std::size_t k = 0; k < calls.size(); ++k) {
              t.reads.push_back(bytes_at(in[k], bytes_of(*calls[k])));
              t.writes.push_back(bytes_at(out[k], result_bytes_of(*calls[k], c.with.count, static_cast<int>(k))));
            }
            return t;
          },
          [&] { exchanges_.at(i.node).record(to_do_, calls, in, out); });
    }
  }

  // ---- tasks of several queues ----

  /// The bytes that a task reads and writes.
  struct touched {
    std::vector<byte_range> reads, writes;
  };
  /// Records what belongs together: on a machine with several queues, on one of them, after what it depends on.
  template <class Touches, class Record>
  void task([[maybe_unused]] Touches touches, Record record_it) {
    if constexpr (queueing_machine<machine>)
      if (queues_ != nullptr) {
        touched t = touches();
        int const number = queues_->add(std::move(t.reads), std::move(t.writes));
        queued_task const& placed = (*queues_)[number];
        to_do_.on(placed.queue);
        for (int w : placed.waits) to_do_.wait_for(w);
        record_it();
        return to_do_.record(number);
      }
    record_it();
  }
  touched touched_by_launch(node const& n) const {
    touched t{{bytes_at(in_.at(), 16 + std::int64_t{m_.number_count} * 8)}, {}};
    for (int i = 0; i < n.operands.count; ++i) t.reads.push_back(bytes_of_view(operands_[static_cast<std::size_t>(i)]));
    for (int i = 0; i < n.results.count; ++i) t.writes.push_back(bytes_of_view(results_[static_cast<std::size_t>(i)]));
    if (program_.workspace() != nullptr) t.writes.push_back(bytes_at(program_.workspace(), program_.workspace_bytes()));
    if (n.effect) t.writes.push_back(bytes_at(&effects_, 1));  // effects stay in their order
    return t;
  }
  void copy_task(std::byte* to, std::byte* from, std::int64_t bytes) {
    task([&] { return touched{{bytes_at(from, bytes)}, {bytes_at(to, bytes)}}; },
         [&] { to_do_.copy(to, from, bytes); });
  }

  void move(instruction const& i, std::size_t k) {
    using enum instruction_kind;
    rank_context& r = ranks_[k];
    switch (i.kind) {
      case launch: {
        auto const& work = launches_[k * per_rank_ + i.to];
        if (!work) return;
        load(r, m_.nodes[i.node]);
        return task([&] { return touched_by_launch(m_.nodes[i.node]); },
                    [&] {
                      work(to_do_, {m_, m_.nodes[i.node], operands_.data(), results_.data(), r.context}, in_.at(),
                           program_.workspace());
                    });
      }
      case bind_input: return r.set_pointer(i.to_value(), in_.at() + staged(inputs_, i.node, k));
      case bind_variable: return r.set_pointer(i.to_value(), blocks_[i.from][k]->at());
      case bind_slice: return r.set_pointer(i.to_value(), slice_of(r, i.from_value(), i.to_value()));
      case bind_turn: return r.set_pointer(i.to_value(), r.turn(i.to_value(), r.context.index, i.bytes));
      case bind_window: return bind_to_window(i, r);
      case copy: return copy_task(r.pointer(i.to_value()), r.pointer(i.from_value()), r.bytes(i.from_value()));
      case copy_to_slice:
        if (std::byte* const to = slice_of(r, i.to_value(), i.from_value()))
          copy_task(to, r.pointer(i.from_value()), r.bytes(i.from_value()));
        return;
      case copy_to_store: return copy_task(blocks_[i.to][k]->at(), r.pointer(i.from_value()), r.bytes(i.from_value()));
      case copy_to_output:
        return copy_task(out_.at() + staged(outputs_, i.node, k), r.pointer(i.from_value()), r.bytes(i.from_value()));
      case copy_part: {
        view const x = r.at(i.from_value()), y = r.at(i.to_value());
        int const along = x.find(collective_attributes::of(m_.nodes[i.node]).split);
        std::int64_t const first = (y.origin[along] - x.origin[along]) * x.stride[along];
        return task([&] { return touched{{bytes_of_view(x)}, {bytes_of_view(y)}}; },
                    [&] { program_.copy_part(to_do_, x, first, y); });
      }
      case zero: {
        std::byte* const to = r.pointer(i.to_value());
        std::int64_t const bytes = r.bytes(i.to_value());
        return task([&] { return touched{{}, {bytes_at(to, bytes)}}; }, [&] { to_do_.clear(to, bytes); });
      }
      case accumulate: {
        view const total = r.at(i.to_value()), term = r.at(i.from_value());
        return task([&] { return touched{{bytes_of_view(total), bytes_of_view(term)}, {bytes_of_view(total)}}; },
                    [&] { program_.accumulate(to_do_, total, term); });
      }
      default: return;
    }
  }
  static std::int64_t staged(std::vector<port_block> const& ports, node_id node, std::size_t rank) {
    return std::ranges::find_if(ports, [&](port_block const& p) { return p.node == node && p.rank == rank; })->at;
  }
  /// Null: another processor holds the slice.
  static std::byte* slice_of(rank_context const& r, value_id stack, value_id slice) {
    view const& held = r.windows()[stack];
    std::int64_t const index = r.context.index - held.origin[0];
    return index < 0 || index >= held.extent[0] ? nullptr : r.pointer(stack) + index * r.bytes(slice);
  }
  void bind_to_window(instruction const& i, rank_context& r) {
    node const& n = m_.nodes[i.node];
    load(r, n);
    view const& x = operands_[0];
    positions const at = slice_rule::positions_in({m_, n, operands_.data(), results_.data(), r.context});
    std::int64_t const first = at.first * x.stride[x.find(slice_attributes::of(n).from)];
    r.set_pointer(i.to_value(), x.as<std::byte>() + first * static_cast<std::int64_t>(bytes_of(x.type)));
  }

  using host_block = typename program::host_block;
  using recorder = typename program::recorder;

  meshtensor::module const& m_;
  plan const& p_;
  Device device_;
  program program_;
  std::vector<rank_context> ranks_;  // with addresses of the device
  std::vector<instruction> list_;
  std::vector<typename program::work> launches_;  // by processor, then as they are launched
  std::size_t per_rank_ = 0;
  std::map<node_id, typename program::exchange> exchanges_;
  std::vector<stored*> values_;                               // by variable
  std::vector<std::vector<std::shared_ptr<memory>>> blocks_;  // likewise, and by processor
  std::vector<id> written_;                                   // variables
  std::vector<id> places_;                                    // rows of the table of numbers
  std::vector<double> known_places_;
  memory arena_, in_, out_;
  host_block staged_in_, staged_out_;
  std::int64_t in_bytes_ = 0, out_bytes_ = 0;
  std::vector<port_block> inputs_, outputs_;
  recorder to_do_;
  std::unique_ptr<typename program::captured> captured_;
  bool is_recorded_ = false, has_run_ = false;
  std::unique_ptr<timeline> times_;
  observer seen_, before_;
  std::unique_ptr<host_twins<machine>> twins_;
  std::unique_ptr<queue_plan> queues_;  // of the recorded step, on a machine with several queues
  std::byte effects_{};
  std::vector<view> operands_, results_;  // of the node that is recorded
};

}  // namespace meshtensor
