// SPDX-License-Identifier: Apache-2.0
// Binds the extents that an executable is given: by its caller, by the environment, and by the number of ranks.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "meshtensor/base/config.hpp"
#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/mesh/read_axes.hpp"
#include "meshtensor/tensor/dim.hpp"

namespace meshtensor::detail {

/// The extents among the arguments of an executable. Those of axes are bound at once, and those of dims are kept.
class given_extents {
 public:
  explicit given_extents(mesh_shape& mesh) : mesh_(mesh) {}

  /// Takes one argument, which need not be an extent.
  template <class Given>
  void operator()(Given const& g) {
    using G = std::remove_cvref_t<decltype(g)>;
    if constexpr (std::is_same_v<G, axis_extent>) mesh_.bind(g);
    else if constexpr (std::is_same_v<G, dim_extent>) dims_.push_back(g);
    else if constexpr (std::is_same_v<G, std::vector<dim_extent>>) dims_.insert(dims_.end(), g.begin(), g.end());
    else if constexpr (std::is_same_v<G, std::vector<axis_extent>>)
      for (axis_extent const& a : g) mesh_.bind(a);
  }
  std::vector<dim_extent> const& dims() const { return dims_; }

 private:
  mesh_shape& mesh_;
  std::vector<dim_extent> dims_;
};

/// Binds the axes that MESHTENSOR_MESH names, as in `data=2,model=2`.
///
/// errors  S01 the type or the program gives the axis another size; S04 the mesh lacks the axis; S27 the text has
///         another form
template <class = lazy>
void bind_axes_of_environment(mesh_shape& mesh) {
  char const* const text = std::getenv("MESHTENSOR_MESH");
  if (text == nullptr || mesh.count == 0) return;
  read_axes(text, "MESHTENSOR_MESH", [&](axis_extent a) {
    try {
      mesh.bind(a);
    } catch (error const& e) { throw error(e.code(), e.sentence() + "; --mesh or MESHTENSOR_MESH asks for it"); }
  });
}

#if MESHTENSOR_COMPILED
extern template void bind_axes_of_environment<lazy>(mesh_shape&);
#endif

/// Binds the first axis that the type and the caller leave open, so that the mesh has as many ranks as processes were
/// started. Without a launcher the axis gets the size 1.
inline void bind_open_axis(mesh_shape& mesh, int started) {
  int open = -1;
  std::int64_t others = 1;
  for (int a = 0; a < mesh.count; ++a) {
    if (mesh.axes[a].extent != 0) others *= mesh.axes[a].extent;
    else if (open < 0) open = a;
  }
  if (open < 0) return;
  if (started == 0) started = static_cast<int>(others);
  if (started % others != 0)
    throw error("R05", {started, (started == 1 ? " process was" : " processes were"), " started, but the axis '",
                        mesh.axes[open].label, "' is open and the other axes of the mesh need ", others,
                        ": start a multiple of that, as by mpirun -n ", 2 * others, ", or give the axis its size, ",
                        mesh.axes[open].label, "(2), and let mt::job::as_threads() make the ranks"});
  mesh.bind({mesh.axes[open].label, started / others});
}

}  // namespace meshtensor::detail
