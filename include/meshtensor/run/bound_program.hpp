// SPDX-License-Identifier: Apache-2.0
// Binds a program to a mesh and to numbers. The compiler does this if it knows all sizes, and otherwise the same
// functions do it at start-up.
#pragma once

#include <concepts>
#include <memory>
#include <vector>

#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/pass/lower.hpp"
#include "meshtensor/pass/stored.hpp"
#include "meshtensor/run/pass_log.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {
namespace detail {

/// Whether all axes and dims are bound.
constexpr bool knows_all(module const& m) {
  for (int d = 0; d < m.dim_count; ++d)
    if (m.dims[d].kind == dim_row::dynamic) return false;
  for (int a = 0; a < m.axis_count; ++a)
    if (m.axes[a].extent == 0) return false;
  return true;
}

}  // namespace detail

/// The graph and the plan of one entry. With `MESHTENSOR_EARLY=0` the compiler only traces, which checks names and
/// types. Every later pass then runs at start-up. This is useful for quick edits, and to run passes in a debugger.
template <class Programs, class Entry, mesh_type Mesh, layout_type Layout, class Device, std::uint64_t Fingerprint>
class bound_program {
 public:
  using stages = lowered<Programs, Entry, Mesh, Layout, Device, Fingerprint>;

  /// Whether the compiler made the plan, because all axes and dims are bound.
  static constexpr bool is_static = [] {
    if constexpr (early) return detail::knows_all(stages::graph);
    else return false;
  }();

  /// `is_root` says whether this rank prints the passes that the environment asks to see.
  bound_program(mesh_shape const& mesh, std::vector<dim_extent> const& extents, bool is_root = false) {
    if constexpr (!early) {
      pass_log log(is_root, entry_name<Entry>().text());
      lowering_ = lower(*stored_module<stages::traced, stages::fingerprint>::load(), entry_name<Entry>(), mesh,
                        Layout::sharding_rules, extents, capabilities_of<Device>, &log);
    } else {
      graph_ = stored_module<stages::graph>::load();
      if (is_root) say_that_passes_have_run(entry_name<Entry>());
      if constexpr (is_static) {
        if (!extents.empty()) raise(meshtensor::bind(*graph_, mesh, extents).report);
        plan_ = compilers_plan();
      } else {
        static_assert(is_valid<stages::partitioned>);
        if constexpr (nothing_found<decltype(detail::error_of<stages::partitioned>())>)  // or it is said once more
          static_assert(stages::template has_valid_plan<pass_input::device>);
        plan_ = plan_at_start(*graph_, entry(), mesh, extents);
      }
    }
  }

  /// The program as the compiler planned it. No pass is linked.
  bound_program()
  requires(is_static)
      : graph_(stored_module<stages::graph>::load()), plan_(compilers_plan()) {}

  meshtensor::module const& graph() const {
    if constexpr (early) return *graph_;
    else return lowering_->graph;
  }
  plan const& planned() const {
    if constexpr (early) return *plan_;
    else return lowering_->planned;
  }
  /// The device of this program. It has generated code if the compiler knows the graph and the device generates code.
  Device device() const {
    if constexpr (early) {  // an `if` of its own, because naming the graph makes the compiler build it
      if constexpr (requires {
                      { Device::template compiled_for<stages::graph>() } -> std::convertible_to<Device>;
                    })
        return Device::template compiled_for<stages::graph>();
      else return Device();
    } else {
      return Device();
    }
  }
  int entry() const { return find_entry(graph(), entry_name<Entry>()); }

 private:
  static std::unique_ptr<plan const> compilers_plan() {
    static_assert(is_valid<stages::partitioned>);
    if constexpr (nothing_found<decltype(detail::error_of<stages::partitioned>())>)  // or it is said once more
      static_assert(stages::template has_valid_plan<pass_input::numbers>);
    return stored_plan<stages::planned, stages::graph>::load();
  }

  std::unique_ptr<module const> graph_;
  std::unique_ptr<plan const> plan_;
  std::unique_ptr<lowering> lowering_;
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
