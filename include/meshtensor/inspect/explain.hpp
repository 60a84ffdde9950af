// SPDX-License-Identifier: Apache-2.0
// Prints the plan of an executable, and draws which rank holds which elements, also for a larger mesh than the job has.
#pragma once

#include <string>
#include <vector>

#include "meshtensor/base/quantity.hpp"
#include "meshtensor/emit/drawing.hpp"
#include "meshtensor/emit/graphviz.hpp"
#include "meshtensor/emit/picture.hpp"
#include "meshtensor/emit/print_instructions.hpp"
#include "meshtensor/emit/report.hpp"
#include "meshtensor/run/bound_program.hpp"
#include "meshtensor/run/executable.hpp"

namespace meshtensor {

/// The work of an executable on each rank, and the memory of this process: `mt::print(job, "{}", mt::explain(step))`.
/// See emit/report.hpp.
template <class... Args>
std::string explain(executable<Args...> const& e) {
  memory_use const use = e.memory();
  return report(e.graph(), e.planned(), e.bound_mesh()) + "beside it, in this process: " + bytes_text(use.workspace) +
         " of workspace for kernels, libraries and messages, " + bytes_text(use.process) +
         " of code, libraries and plans\n";
}
/// Shows which rank holds which elements, and what each move sends where. See emit/picture.hpp.
template <class... Args>
std::string pictures(executable<Args...> const& e) {
  return pictures(e.graph(), e.planned(), e.bound_mesh());
}
/// Draws which rank holds which elements, as an SVG image. See emit/drawing.hpp.
template <class... Args>
std::string drawing(executable<Args...> const& e) {
  return drawing(e.graph(), e.planned(), e.bound_mesh());
}

/// The plan of an executable on a mesh that need not be here. A draft starts no ranks and allocates none of the plan's
/// memory.
///
///     mt::draft<mt::executable<train_step, mesh, layout>> step(data(64), model(8), batch(512));
///     mt::print(job, "{}", mt::explain(step));
///
/// errors  S codes: sizes that do not fit
template <class Executable>
class draft {
  using program = typename Executable::bound;

 public:
  template <class... Extents>
  explicit draft(Extents const&... extents) : mesh_(Executable::mesh::shape) {
    std::vector<dim_extent> dims;
    [[maybe_unused]] auto take = [&](auto const& e) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(e)>, axis_extent>) mesh_.bind(e);
      else dims.push_back(e);
    };
    (take(extents), ...);
    program_ = std::make_unique<program>(mesh_, dims);
  }

  meshtensor::module const& graph() const { return program_->graph(); }
  plan const& planned() const { return program_->planned(); }
  mesh_shape const& bound_mesh() const { return mesh_; }

 private:
  mesh_shape mesh_;
  std::unique_ptr<program> program_;
};
template <class Executable>
std::string explain(draft<Executable> const& d) {
  return report(d.graph(), d.planned(), d.bound_mesh());
}
template <class Executable>
std::string pictures(draft<Executable> const& d) {
  return pictures(d.graph(), d.planned(), d.bound_mesh());
}
template <class Executable>
std::string drawing(draft<Executable> const& d) {
  return drawing(d.graph(), d.planned(), d.bound_mesh());
}

namespace detail {
template <class = lazy>
std::string text_of_instructions(module const& m, plan const& p) {
  int entry = 0;
  while (m.regions[entry].kind != region_kind::entry) ++entry;
  return text_of(instructions_of_entry(m, p, entry), m, p);
}
#if MESHTENSOR_COMPILED
extern template std::string text_of_instructions<lazy>(module const&, plan const&);
#endif
}  // namespace detail

/// The list of instructions that each rank of an executable or a draft runs in a step, one on each line.
template <class Planned>
std::string instructions(Planned const& step) {
  return detail::text_of_instructions(step.graph(), step.planned());
}

}  // namespace meshtensor
