// SPDX-License-Identifier: Apache-2.0
// The store holds parameters and state, which outlive a step, once and by name. Executables borrow them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/array/array_view.hpp"
#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/base/suggest.hpp"
#include "meshtensor/job/job.hpp"
#include "meshtensor/job/rank_context.hpp"
#include "meshtensor/run/counts.hpp"
#include "meshtensor/run/scratch.hpp"
#include "meshtensor/run/shared_value.hpp"
#include "meshtensor/run/store/blocks.hpp"
#include "meshtensor/run/store/counts.hpp"
#include "meshtensor/run/store/sources.hpp"

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
  std::uint64_t step() const { return counts_.step(); }
  void advance() { counts_.advance(); }
  /// Sets all counts to one number, including those of programs that no executable has named yet. An average that has
  /// only its initial values still begins with its first update.
  void set_step(std::uint64_t step) {
    counts_.set_step(step);
    for (auto const& [label, s] : values_)
      if (s.is_initial) counts_.begin_updates(label, true);
  }

  /// The steps of each program, by its full name, and the updates by optimizers and averages, by path.
  program_counts const& counts() const { return counts_.all(); }
  /// The steps of a program, even if no executable has named it yet.
  std::uint64_t steps_of(std::string const& program) const { return counts_.steps_of(program); }
  std::uint64_t updates_of(std::string const& path) const { return counts_.updates_of(path); }
  /// References to the counts, valid as long as the store.
  std::uint64_t& count_steps(std::string const& program) { return counts_.count_steps(program); }
  std::uint64_t& count_updates(std::string const& path) { return counts_.count_updates(path); }
  bool is_counted_apart(std::string const& path, bool in_state, bool is_used) {
    return counts_.is_counted_apart(path, in_state, is_used);
  }
  /// Take the counts of a checkpoint, where each program has `step` if `steps` is null, or those of another store.
  void take_counts(std::uint64_t step, counts_by_name const* steps) { counts_.take(step, steps); }
  void take_counts(store const& from) { counts_.take(from.counts_); }

  bool has_lent() const { return has_lent_; }  // whether a program has the memory of a value, by `local`
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
    if (detail::copy_if_held(s, detail::dense_view(whole, s.type, s.dims))) return;
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
    replace(label, s, detail::dense_view(whole, s.type, s.dims));
  }
  /// Replaces a value from strided memory.
  template <class T>
  void set(std::string const& label, array_view<T> const& whole) {
    stored& s = typed<std::remove_const_t<T>>(label);
    replace(label, s, detail::fitted(label, s, whole));
  }
  /// Copies a whole value into strided memory, and otherwise works like `get`.
  ///
  /// errors  R11 other dims or extents; R13, R14 as `get`
  template <class T>
  void get(std::string const& label, array_view<T> const& to) {
    stored& s = typed<T>(label);
    view const all = detail::fitted(label, s, to);
    if (detail::copy_if_held(s, all)) return;
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
    s.is_lent = has_lent_ = true;
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
  /// initialises each block of zeros. `counted_program` is the program if it updates the variable, and otherwise empty.
  ///
  /// errors  R04 it exists with another dtype, other extents, another layout or another initializer
  stored& provide(module const& m, binding const& b, variable const& v, std::string const& counted_program,
                  dynamic_array<rank_context*> const& held,
                  function_ref<void(view const&, initial_value const&)> make) {
    std::string const label = path_text(m, v.path);
    stored fresh = description_of(m, b, v, counted_program);
    settings start;
    start.seed = seed_;
    initial_value const first = initial_of(m, b, v, start);
    fresh.start = declared_start::of(m, v, first);
    auto const found = values_.find(label);
    if (found != values_.end()) {
      stored& s = found->second;
      require_same(label, s, fresh);
      add_replicas(s, fresh);
      return s;
    }
    value like{};
    like.type = v.type, like.dims = v.dims, like.layout = v.layout;
    for (rank_context* p : held) detail::add_block(fresh, p->window_of(like));
    fresh.is_initial = !sources_.fill(label, fresh);
    if (fresh.is_initial) {
      counts_.begin_updates(label, true);
      for (view const& window : fresh.windows)
        each_equal_start(window, v.equal, [&](view const& part) { make(part, first); });
    }
    return values_.emplace(label, std::move(fresh)).first->second;
  }

  /// The arenas that its executables share.
  meshtensor::scratch& steps() { return steps_; }

  /// Sets the source of values that the store does not have yet. If it lacks a value, the previous source provides the
  /// value.
  void begin_from(std::shared_ptr<value_source> source) { sources_.begin_from(std::move(source)); }
  std::shared_ptr<value_source> const& source() const { return sources_.latest(); }
  /// Copies from the source a whole value that no executable has named yet. It still waits for one. Returns false if no
  /// source has it.
  bool copy_waiting(std::string const& label, dtype type, std::vector<dim_extent> const& dims, void* whole) {
    return sources_.copy(label, type, dims, whole);
  }

 private:
  void replace(std::string const& label, stored& s, view const& whole) {
    if (s.is_initial) counts_.begin_updates(label, false);
    detail::replace_by(s, whole);
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

  meshtensor::job_runner& job_;
  std::uint64_t seed_;
  counts_of_store counts_{sources_};
  std::map<std::string, stored> values_;
  value_sources sources_;
  meshtensor::scratch steps_;
  bool has_lent_ = false;
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"

#include "meshtensor/run/store/text.hpp"
