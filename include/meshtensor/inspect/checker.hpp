// SPDX-License-Identifier: Apache-2.0
// Runs one step on whole tensors and, from the same state, on a mesh in each way that is to be compared.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "meshtensor/inspect/check.hpp"
#include "meshtensor/inspect/reference_check.hpp"

namespace meshtensor::detail {

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
  /// What the compared step was fed.
  blocks const& fed() const { return fed_; }

  /// Compares the next step of `here` with the reference from the same state. `m` is the module of `here`, which a test
  /// may have broken.
  check_result run(module const& m, checked_step& here, store& values) {
    if (!reference_) run_reference(m, here, values);
    reference_check beside(*whole_, m, here.planned().numbers, reference_->values);
    here.observe([&](node const& n, std::span<rank_context const> all) { beside.look(m, mesh_, n, all); });
    here.step();
    here.observe({});
    return {beside.compared, beside.undecided, beside.difference};
  }

 private:
  void run_reference(module const& m, checked_step& here, store& values) {
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
    fed_ = here.fed();
    reference_->run(entry_, fed_, state, now);
  }

  mesh_shape mesh_;
  std::unique_ptr<module> whole_;
  int entry_;
  std::vector<dim_extent> extents_;
  std::unique_ptr<binding> bound_;
  std::vector<bool> wanted_;
  std::unique_ptr<recording_interpreter> reference_;
  blocks fed_;
};

/// Copies the values and counts that both stores have.
inline void copy_state(store& from, store& to) {
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
}

/// Compares the same step without kernels, to tell a wrong kernel from a wrong rule.
inline check_result compare_without_kernels(checked_program const& program, store& from, std::uint64_t seed,
                                            mesh_shape const& mesh, checked_step const& step,
                                            std::span<dim_extent const> extents, blocks const& fed) {
  auto const job = job::in_lockstep(collective_timing::at_once);
  auto const plain = lower(program.traced, program.label, mesh, program.layout, extents);
  store others(job, seed);
  session<reference_device> again(others, plain->graph, plain->planned, mesh, plain->entry, {}, [] {}, program.counted);
  copy_state(from, others);
  for (auto const& [input, whole] : fed) again.feed(input, whole.data());
  for (auto const& [number, set] : step.numbers().named) again.set(number, set);
  checker without_kernels(program.traced, program.label, mesh, plain->planned);
  checked_session<reference_device> here(again);
  return without_kernels.run(plain->graph, here, others);
}

template <class>
check_result compare_steps(checked_program const& program, store& from, step_maker make) {
  std::unique_ptr<checker> checks;
  check_result result;
  bool is_done = false;
  auto const compare = [&](collective_timing timing, store& values, mesh_shape const& mesh, checked_step& step) {
    copy_state(from, values);
    if (!checks) checks = std::make_unique<checker>(program.traced, program.label, mesh, step.planned());
    check_result const here = checks->run(step.graph(), step, values);
    if (timing == collective_timing::at_once) result = here;
    if (timing == collective_timing::at_once && !here.agrees() && program.fuses) {
      check_result const without =
          compare_without_kernels(program, from, values.seed(), mesh, step, checks->extents(), checks->fed());
      if (!without.agrees()) {
        result = without, is_done = true;
        return;
      }
      result.difference += "; without kernels all agrees: the device is wrong";
    }
    is_done = !result.agrees() || count_overlapped(step.graph(), step.planned().steps) == 0;
    if (is_done || here.agrees()) return;
    result = here, is_done = true;
    result.difference += std::string("; only if collectives are made ") + text_of(timing) +
                         ": something touches their memory before the wait, please report it";
  };
  for (collective_timing const timing : collective_timings) {
    if (is_done) break;
    auto const job = job::in_lockstep(timing);
    store values(job, from.seed());
    values.begin_from(from.source());
    make(values, [&](mesh_shape const& mesh, checked_step& step) { compare(timing, values, mesh, step); });
  }
  return result;
}

}  // namespace meshtensor::detail
