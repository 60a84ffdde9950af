// SPDX-License-Identifier: Apache-2.0
// The store holds parameters and state, which outlive a step, once and by name. Executables borrow them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/array/array_view.hpp"
#include "meshtensor/base/bytes.hpp"
#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/base/suggest.hpp"
#include "meshtensor/job/job.hpp"
#include "meshtensor/run/counts.hpp"
#include "meshtensor/run/scratch.hpp"
#include "meshtensor/run/shared_value.hpp"
#include "meshtensor/run/value_source.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// Owns the values that outlive a step. The first executable that names a value initialises it from the seed, the
/// value's path and the global index, so that the order of executables does not matter. `step` counts the steps of all
/// programs that update. Besides, each program has a count of its own, and so has each parameter of an optimizer.
///
///     auto query = weights.get<float>("decoder/attention/query");   // a whole array with named dims, on every rank
///     weights.set("decoder/attention/query", query);
class store {
 public:
  explicit store(job const& p, std::uint64_t seed = 0) : job_(p.get()), seed_(seed) {}
  explicit store(job&&, std::uint64_t seed = 0) = delete;  // a job outlives its stores, so it needs a name

  store(store const&) = delete;
  store& operator=(store const&) = delete;
  ~store() {
    if (job_.has_failed()) stays(values_), steps_.stay();
  }

  meshtensor::job_runner& runner() const { return job_; }
  std::uint64_t seed() const { return seed_; }
  /// Sets the seed of the random numbers of later steps, and of values that are not initialised yet.
  void set_seed(std::uint64_t seed) { seed_ = seed; }
  std::uint64_t step() const { return step_; }
  void advance() { ++step_; }
  /// Sets all counts to one number, including those of programs that no executable has named yet.
  void set_step(std::uint64_t step) {
    step_ = others_.steps = others_.updates = step;
    asks_source_ = false;
    for (counts_by_name* each : {&counts_.steps, &counts_.updates})
      for (auto& [label, n] : *each) n = step;
  }

  /// The steps of each program, by its full name, and the updates by optimizers and averages, by path.
  program_counts const& counts() const { return counts_; }
  /// The steps of a program, even if no executable has named it yet.
  std::uint64_t steps_of(std::string const& program) const {
    auto const found = counts_.steps.find(program);
    return found == counts_.steps.end() ? others_.steps : found->second;
  }
  std::uint64_t updates_of(std::string const& path) const {
    auto const found = counts_.updates.find(path);
    if (found != counts_.updates.end()) return found->second;
    for (value_source const* from = source_.get(); asks_source_ && from != nullptr; from = from->before.get())
      if (auto const n = from->updates(path)) return *n;
    return others_.updates;
  }
  /// References to the counts, valid as long as the store.
  std::uint64_t& count_steps(std::string const& program) {
    return counts_.steps.try_emplace(program, steps_of(program)).first->second;
  }
  std::uint64_t& count_updates(std::string const& path) {
    return counts_.updates.try_emplace(path, updates_of(path)).first->second;
  }
  /// Takes the counts of a checkpoint: `step`, the steps of programs, and the source's updates. If `steps` is null,
  /// each program has `step`.
  void take_counts(std::uint64_t step, counts_by_name const* steps) {
    step_ = step, others_ = {steps == nullptr ? step : 0, 0}, asks_source_ = true;
    for (auto& [label, n] : counts_.steps) n = others_.steps;
    if (steps != nullptr)
      for (auto const& [label, n] : *steps) counts_.steps[label] = n;
    for (auto& [label, n] : counts_.updates) n = source_->updates(label).value_or(n);
  }
  /// Takes the counts of another store.
  void take_counts(store const& from) {
    step_ = from.step_;
    for (auto& [label, n] : counts_.steps) n = from.steps_of(label);
    for (auto& [label, n] : counts_.updates) n = from.updates_of(label);
  }

  std::map<std::string, stored>& values() { return values_; }
  std::map<std::string, stored> const& values() const { return values_; }

  /// The names of all values, parameters and state.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (auto const& [label, value] : values_) all.push_back(label);
    return all;
  }

  /// A whole value, on every process. If processes hold parts of it, all of them must call this, because they exchange
  /// the parts.
  ///
  /// errors  R13 no value has this name; R14 it holds another dtype
  template <class T>
  any_array<T> get(std::string const& label) {
    any_array<T> whole(typed<T>(label).dims);
    copy_out(label, whole.data());
    return whole;
  }
  /// Copies a whole value into dense memory that has room for it, in the order of the value's dims. errors R13
  void copy_out(std::string const& label, void* whole) {
    stored& s = named(label);
    if (static_cast<std::int64_t>(s.blocks.size()) == s.mesh.size()) {
      view const all = detail::dense_view(whole, s.type, s.dims);
      for (std::size_t k = 0; k < s.blocks.size(); ++k) copy(s.windows[k], s.read_block(k), all, true);
      return;
    }
    int const size = static_cast<int>(s.mesh.size());
    if (!s.bring) s.bring = std::make_unique<gathering>(s.mesh, job_.held(size)[0], s.layout, s.windows[0], s.grains);
    job_.run(size, [&](int, transport& t) { s.bring->run(t, s.read_block(0), whole); });
  }

  /// Replaces a value by an array, which must be the same on every rank. Its dims may have another order.
  ///
  /// errors  R11 other extents; R12 other dims; R13 no value has this name; R14 it holds another dtype
  template <class T>
  void set(std::string const& label, any_array<T> const& whole) {
    stored& s = typed<T>(label);
    std::vector<name> order;
    for (dim_extent const& d : s.dims) order.push_back(d.label);
    any_array<T> const same = whole.ordered(order);
    for (std::size_t i = 0; i < order.size(); ++i)
      if (same.dims()[i].extent != s.dims[i].extent)
        throw error("R11", {"the store holds '", label, "' as ", s.text(), ", but it was given an array ",
                            detail::text_of(same.dims())});
    copy_in(label, same.data());
  }
  /// Replaces a value from dense memory, in the order of the value's dims. errors R13
  void copy_in(std::string const& label, void const* whole) {
    stored& s = named(label);
    view const all = detail::dense_view(whole, s.type, s.dims);
    s.replace([&](std::size_t k, std::byte* block) { copy(s.windows[k], block, all, false); });
  }
  /// Replaces a value from strided memory.
  template <class T>
  void set(std::string const& label, array_view<T> const& whole) {
    stored& s = typed<std::remove_const_t<T>>(label);
    view const all = fitted(label, s, whole);
    s.replace([&](std::size_t k, std::byte* block) { copy(s.windows[k], block, all, false); });
  }
  /// Copies a whole value into strided memory, and otherwise works like `get`.
  ///
  /// errors  R11 other dims or extents; R13, R14 as `get`
  template <class T>
  void get(std::string const& label, array_view<T> const& to) {
    stored& s = typed<T>(label);
    view const all = fitted(label, s, to);
    if (s.blocks.size() == static_cast<std::size_t>(s.mesh.size())) {
      for (std::size_t k = 0; k < s.blocks.size(); ++k) copy(s.windows[k], s.read_block(k), all, true);
      return;
    }
    any_array<T> const whole = get<T>(label);
    view from = whole.window();
    detail::copy_by_name(from, 0, all, 0, no_id, no_id, all.extent);
  }
  /// The only part of a value that this process holds, without a copy, to be read or written between steps. A device
  /// that keeps values (`pjrt_device`, `cuda_device`) copies this value in and out with each step from then on.
  ///
  /// errors  R06 this process holds several ranks; R13, R14 as `get`
  template <class T>
  array_view<T> local(std::string const& label) {
    stored& s = typed<T>(label);
    if (s.blocks.size() != 1)
      throw error("R06", {"local() gives one rank's part of '", label, "', but this process holds ", s.blocks.size(),
                          ": use get and set"});
    std::vector<strided_extent> dims;
    for (std::size_t i = 0; i < s.dims.size(); ++i)
      dims.push_back({{s.dims[i].label, s.windows[0].extent[i]}, s.windows[0].stride[i]});
    s.copies[0].forbid();
    s.is_lent = true;
    return {reinterpret_cast<T*>(s.block_of(0)), dims};
  }
  /// Replaces a value from a range of all its elements, in the order of its dims.
  template <std::ranges::contiguous_range R>
  requires(!any_array_like<R>)
  void set(std::string const& label, R const& elements) {
    using T = std::ranges::range_value_t<R>;
    set(label, any_array<T>(typed<T>(label).dims, elements));
  }

  /// The value of a partitioned module's variable. If it does not exist yet, a source fills it, or else `make`
  /// initialises each block of zeros.
  ///
  /// errors  R04 it exists with another dtype, other extents, another layout or another initializer
  stored& provide(module const& m, binding const& b, variable const& v, dynamic_array<rank_context*> const& held,
                  function_ref<void(view const&, initial_value const&)> make) {
    std::string const label = path_text(m, v.path);
    stored fresh = description_of(m, b, v);
    settings start;
    start.seed = seed_;
    initial_value const first = initial_of(m, b, v, start);
    fresh.start = declared_start::of(m, v, first);
    auto const found = values_.find(label);
    if (found != values_.end()) {
      stored& s = found->second;
      require_same(label, s, fresh);
      return s;
    }
    value like{};
    like.type = v.type, like.dims = v.dims, like.layout = v.layout;
    for (rank_context* p : held) add_block(fresh, p->window_of(like));
    value_source* from = source_.get();
    while (from != nullptr && !from->fill(label, fresh)) from = from->before.get();
    if (from == nullptr)
      for (view const& window : fresh.windows) make(window, first);
    return values_.emplace(label, std::move(fresh)).first->second;
  }

  /// The arenas that its executables share.
  meshtensor::scratch& steps() { return steps_; }

  /// Sets the source of values that the store does not have yet. If it lacks a value, the previous source provides the
  /// value.
  void begin_from(std::shared_ptr<value_source> source) {
    auto const lacks = [&](std::string const& label) { return !source->has(label); };
    bool keeps = false;
    if (source && source != source_)
      for (value_source const* from = source_.get(); !keeps && from != nullptr; from = from->before.get())
        keeps = std::ranges::any_of(from->waiting(), lacks);
    if (keeps) source->before = source_;
    source_ = std::move(source);
  }
  std::shared_ptr<value_source> const& source() const { return source_; }
  /// Copies from the source a whole value that no executable has named yet. Returns false if the source does not have
  /// it.
  bool copy_waiting(std::string const& label, dtype type, std::vector<dim_extent> const& dims, void* whole) {
    value_source* from = source_.get();
    while (from != nullptr && !from->has(label)) from = from->before.get();
    if (from == nullptr) return false;
    stored alone{};
    alone.type = type, alone.dims = dims, alone.axes.resize(dims.size()), alone.grains.assign(dims.size(), 1);
    add_block(alone, detail::dense_view(nullptr, type, dims));
    if (!from->fill(label, alone)) return false;
    copy_bytes(whole, alone.block_of(0), alone.bytes());
    return true;
  }

 private:
  static void add_block(stored& s, view window) {
    s.blocks.emplace_back(static_cast<std::size_t>(window.bytes()));
    s.copies.emplace_back();
    window.data = s.blocks.back().data();
    s.windows.push_back(window);
  }
  /// A view of the caller's memory, with its dims in the value's order.
  template <class T>
  static view fitted(std::string const& label, stored const& s, array_view<T> const& there) {
    view const v = there.as(detail::dense_view(nullptr, s.type, s.dims),
                            [&](int i) { return s.dims[static_cast<std::size_t>(i)].label; });
    if (v.count < 0)
      throw error("R11", {"the store holds '", label, "' as ", s.text(), ", but it was given a view ",
                          detail::text_of(there.dims())});
    return v;
  }

  stored& named(std::string const& label) {
    auto const found = values_.find(label);
    if (found == values_.end())
      throw error("R13", {"the store has no value '", label, "'",
                          (values_.empty() ? std::string(": the executables that are made on it name its values")
                                           : did_you_mean(label, names()))});
    return found->second;
  }
  template <class T>
  stored& typed(std::string const& label) {
    stored& s = named(label);
    if (s.type != dtype_of<T>)
      throw error("R14", {"the store holds '", label, "' as ", s.text(), ", not as ", text_of(dtype_of<T>)});
    return s;
  }
  /// Copies one rank's block to its position in the whole value, or from there.
  static void copy(view part, std::byte* block, view whole, bool into_whole) {
    part.data = block;
    std::int64_t first = 0;
    for (int i = 0; i < whole.count; ++i) {
      whole.dim[i] = part.dim[i];
      first += whole.stride[i] * part.origin[i];
    }
    if (into_whole) detail::copy_by_name(part, 0, whole, first, no_id, no_id, part.extent);
    else detail::copy_by_name(whole, first, part, 0, no_id, no_id, part.extent);
  }

  meshtensor::job_runner& job_;
  std::uint64_t seed_, step_ = 0;
  program_counts counts_;
  struct {
    std::uint64_t steps = 0, updates = 0;
  } others_;                  // the initial counts
  bool asks_source_ = false;  // whether the source is asked first for the initial count of updates
  std::map<std::string, stored> values_;
  std::shared_ptr<value_source> source_;
  meshtensor::scratch steps_;
};

/// The counts that the steps of an entry change, one a line, for example `transformer::train_step = 1200`.
inline std::string text_of_counts(store const& s, std::string const& program, module const& m, int entry) {
  std::string lines = program + " = " + std::to_string(s.steps_of(program)) + "\n";
  counted_paths const counted(m, entry);
  for (std::string const& path : counted.labels()) lines += path + " = " + std::to_string(s.updates_of(path)) + "\n";
  return lines;
}

/// One value a line: its name, dtype, dims and layout, its bytes, and the bytes of one rank's part.
inline std::string text_of(store const& s) {
  std::string t;
  for (auto const& [label, value] : s.values()) {
    t += label + ": " + value.text() + ", " + std::to_string(value.bytes()) + " bytes";
    if (value.local_bytes() != value.bytes()) t += ", " + std::to_string(value.local_bytes()) + " on each rank";
    t += "\n";
  }
  return t;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
