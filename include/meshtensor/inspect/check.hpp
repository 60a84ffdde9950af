// SPDX-License-Identifier: Apache-2.0
// Finds wrong numbers: compares one step on the processors of a mesh with the same step on whole tensors, value by
// value.
#pragma once

#include <memory>
#include <string>

#include "meshtensor/inspect/reference_check.hpp"
#include "meshtensor/run/executable.hpp"

namespace meshtensor {

/// The result of `check`.
struct check_result {
  int compared = 0;        // values, those in loops once for each iteration
  std::string difference;  // of the first value that differs from the reference; empty: all agree
  bool agrees() const { return difference.empty(); }
};
inline std::string text_of(check_result const& r) {
  return r.agrees() ? fmt::format("all {} values agree with the reference", r.compared)
                    : fmt::format("after {} values that agree: {}", r.compared - 1, r.difference);
}

namespace detail {

/// Runs one step from one state: once on whole tensors, and on a mesh in each way that is to be compared.
class checker {
 public:
  checker(module const& traced, name const& label, mesh_shape const& mesh, plan const& planned)
      : mesh_(mesh), whole_(whole_entry(traced, label)), entry_(find_entry(*whole_, label)) {
    for (int d = 0; d < whole_->dim_count; ++d)
      if (whole_->dims[d].kind == dim_row::dynamic)
        extents_.push_back({whole_->dim_name(d), planned.numbers.extent[d]});
    bound_ = on_heap([&] { return meshtensor::bind(*whole_, mesh_shape{}, extents_); });
  }
  std::span<dim_extent const> extents() const { return extents_; }

  /// Compares the next step of `here` with the reference from the same state. `m` is the module of `here`: a test may
  /// have broken it.
  template <class Device>
  check_result run(module const& m, session<Device>& here, store& values) {
    if (!reference_) run_reference(m, here, values);
    reference_check beside(*whole_, m, here.planned().numbers, reference_->values);
    here.observe([&](node const& n, std::span<rank_context const> all) { beside.look(m, mesh_, n, all); });
    here.step();
    here.observe({});
    return {beside.compared, beside.difference};
  }

 private:
  template <class Device>
  void run_reference(module const& m, session<Device>& here, store& values) {
    settings const now = here.next_numbers();
    blocks state;
    for (int v = 0; v < whole_->variable_count; ++v) {
      std::string const path = path_text(*whole_, whole_->variables[v].path);
      if (!values.values().contains(path)) continue;
      block& b = state[path] = block(whole_->variables[v].type, whole_->variables[v].dims, *bound_);
      values.copy_out(path, b.data());
    }
    wanted_ = origins_in(m, *whole_);
    reference_ = std::make_unique<recording_interpreter>(*whole_, *bound_, wanted_);
    reference_->run(entry_, here.fed(), state, now);
  }

  mesh_shape mesh_;
  std::unique_ptr<module> whole_;
  int entry_;
  std::vector<dim_extent> extents_;
  std::unique_ptr<binding> bound_;
  std::vector<bool> wanted_;
  std::unique_ptr<recording_interpreter> reference_;
};

}  // namespace detail

/// Compares one step of a program on all processors of a mesh, in lockstep on this thread, with the same step on whole
/// tensors by the rules' reference loops, value by value. The result names the first value that differs, with the
/// user's line, the index in the whole tensor and both numbers. Where a kernel's result differs, the program is run
/// again without kernels, to tell a wrong kernel from a wrong rule. Where collectives run beside other work, the step
/// is run three times: they exchange their data at their start, at their wait, and in between.
///
///     auto r = mt::check<train_step, mesh, layout, mt::default_device>(batch(8), mt::feed<"x">(images));
///     mt::print(job, "{}\n", text_of(r));
///
/// Arguments  extents, axis sizes, numbers and feeds of whole arrays, in any order. Parameters and state are those of a
/// new store, or of a store given as the first argument, which is not changed.
///
/// Numbers may differ by a thousandth of a tensor's largest element in f32, by 1e-8 in f64, by a tenth in bf16, for
/// sums in another order round differently. Needs the memory and the time of the reference loops: meant for small
/// sizes.
///
/// errors  those of `executable`
template <class... Args, class... Given>
check_result check(store& from, Given const&... given) {
  using program = executable<Args...>;
  auto const state_from = [&](store& to) {
    for (std::string const& path : to.names())
      if (auto const there = from.values().find(path); there != from.values().end()) {
        auto& s = to.values().at(path);
        if (s.type != there->second.type || s.bytes() != there->second.bytes())
          throw error("R04", {"the store holds '", path, "' as ", there->second.text(), ", but a program reads it as ",
                              s.text()});
        std::vector<double> whole(static_cast<std::size_t>(s.bytes() + 7) / 8);
        from.copy_out(path, whole.data());
        to.copy_in(path, whole.data());
      }
    to.take_counts(from);
  };
  name const label = entry_name<typename program::entry>();
  auto const traced = stored_module<program::stages::traced, program::stages::mark>::load();
  std::unique_ptr<detail::checker> checks;
  check_result result;
  for (exchange_timing const timing : exchange_timings) {
    auto const job = job::in_lockstep(timing);
    store values(job, from.seed());
    values.begin_from(from.source());
    program step(values, given...);
    state_from(values);
    mesh_shape const mesh = step.processors_mesh();
    if (!checks) checks = std::make_unique<detail::checker>(*traced, label, mesh, step.planned());
    check_result const here = checks->run(step.graph(), step.running(), values);
    if (timing == exchange_timing::at_once) result = here;
    if (timing == exchange_timing::at_once && !here.agrees() && capabilities_of<typename program::device>.fuses) {
      auto const plain = lower(*traced, label, mesh, program::layout::rules, checks->extents());
      store others(job, values.seed());
      session<reference_device> again(
          others, plain->graph, plain->planned, mesh, plain->entry, {}, [] {}, counted_name<typename program::entry>());
      state_from(others);
      for (auto const& [input, whole] : step.running().fed()) again.feed(input, whole.data());
      for (auto const& [number, set] : step.running().numbers().named) again.set(number, set);
      detail::checker without_kernels(*traced, label, mesh, plain->planned);
      check_result const without = without_kernels.run(plain->graph, again, others);
      if (!without.agrees()) return without;
      result.difference += "; without kernels all agrees: the device is wrong";
    }
    if (!result.agrees() || count_overlapped(step.graph(), step.planned().steps) == 0) return result;
    if (!here.agrees()) {
      result = here;
      result.difference += std::string("; only if collectives are made ") + text_of(timing) +
                           ": something touches their memory before the wait, please report it";
      return result;
    }
  }
  return result;
}
template <class... Args, class... Given>
check_result check(Given const&... given) {
  auto const job = job::in_lockstep();
  store fresh(job);
  return check<Args...>(fresh, given...);
}

}  // namespace meshtensor
