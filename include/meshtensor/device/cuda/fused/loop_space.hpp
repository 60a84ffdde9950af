// SPDX-License-Identifier: Apache-2.0
// Maps the space of a fused kernel to loops over kept rows, over reduced rows and along a vector. Neighbouring loops
// are merged if the strides of all operands and results allow it.
#pragma once

#include <algorithm>

#include "meshtensor/pass/fuse/read_kernel.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::cuda {

/// The indices of the followers, which advance with the loops: operands, results, then the steps that give positions or
/// random numbers.
inline constexpr int first_result = max_kernel_operands, first_step = max_kernel_operands + max_kernel_results;
inline constexpr int max_followers = first_step + max_kernel_steps;

struct loop_space {
  int loops = 0, kept_loops = 0;  // outermost first, and reduced loops last
  std::int64_t extent[max_dims_of_one + 1] = {};
  std::int64_t stride[max_followers][max_dims_of_one + 1] = {};
  std::int64_t across[max_followers] = {};          // strides along the vector
  std::int64_t base[max_followers] = {};            // first indices of positions and random numbers
  std::int64_t width = 1;                           // the vector's extent
  bool along = false, over = false, total = false;  // the kinds of reductions that the kernel has

  /// `inside` has the views of all values, by id.
  loop_space(module const& m, kernel_reading const& r, view const* operands, view const* results, view const* inside)
      : d_(r.key), r_(r) {
    for (int i = 0; i < d_.step_count; ++i) {
      along = along || goes_along(d_.step(i).kind);
      over = over || goes_over(d_.step(i).kind);
      total = total || is_total(d_.step(i).kind);
    }
    auto const extent_of = [&](int dim) {
      for (int i = 0; i < d_.result_count; ++i)
        if (int const p = results[i].find(dim); p >= 0) return results[i].extent[p];
      for (int i = 0; i < d_.operand_count; ++i)
        if (int const p = operands[i].find(dim); p >= 0) return operands[i].extent[p];
      for (int i = r.first_node; i < r.end_node; ++i)  // only broadcasts inside have this dim
        if (view const& v = inside[m.result(m.nodes[i])]; v.find(dim) >= 0) return v.extent[v.find(dim)];
      throw error("R31", "none of a kernel's values has one of its dims");
    };
    for (int i = 0; i < r.rows.count; ++i) extent[i] = extent_of(r.rows.at[i]);
    if (r.vector >= 0) width = extent_of(r.vector);
    loops = r.rows.count, kept_loops = r.kept;
    for (int i = 0; i < d_.operand_count; ++i) follow(i, operands[i]);
    for (int i = 0; i < d_.result_count; ++i) follow(first_result + i, results[i]);
    for (int i = 0; i < d_.step_count; ++i)
      if (walks(i)) follow_index(first_step + i, inside[m.result(m.nodes[r.makers[i]])]);
    for (int i = loops; i-- > 0;)
      if (extent[i] == 1) remove(i);
    merge();
  }

  /// Whether a step has an index of its own.
  bool walks(int step) const { return d_.step(step).kind == step_kind::position || is_random(d_.step(step).kind); }
  std::int64_t kept() const { return product(0, kept_loops); }
  std::int64_t reduced() const { return product(kept_loops, loops); }

 private:
  std::int64_t product(int from, int end) const {
    std::int64_t n = 1;
    for (int i = from; i < end; ++i) n *= extent[i];
    return n;
  }
  void follow(int s, view const& v) {
    for (int i = 0; i < loops; ++i) {
      int const p = v.find(r_.rows.at[i]);
      stride[s][i] = p < 0 ? 0 : v.stride[p];
    }
    int const p = r_.vector < 0 ? -1 : v.find(r_.vector);
    across[s] = p < 0 ? 0 : v.stride[p];
  }
  /// The index of a position counts along its dim. The index of a random number counts over the whole tensor,
  /// row-major.
  void follow_index(int s, view v) {
    std::int64_t whole = 1;
    for (int i = v.count; i-- > 0;) v.stride[i] = whole, base[s] += whole * v.origin[i], whole *= v.total[i];
    follow(s, v);
  }
  template <class F>
  bool all_followers(F f) const {
    for (int i = 0; i < d_.operand_count; ++i)
      if (!f(i)) return false;
    for (int i = 0; i < d_.result_count; ++i)
      if (!f(first_result + i)) return false;
    for (int i = 0; i < d_.step_count; ++i)
      if (walks(i) && !f(first_step + i)) return false;
    return true;
  }
  void remove(int i) {
    for (int j = i; j + 1 < loops; ++j) {
      extent[j] = extent[j + 1];
      for (auto& s : stride) s[j] = s[j + 1];
    }
    kept_loops -= i < kept_loops;
    --loops;
  }
  void merge() {
    for (int i = loops - 1; i-- > 0;) {
      if (i + 1 == kept_loops) continue;
      if (!all_followers([&](int s) { return stride[s][i] == stride[s][i + 1] * extent[i + 1]; })) continue;
      extent[i + 1] *= extent[i];
      remove(i);
    }
    // Merges the last loop into the vector, if both are kept or both are reduced.
    bool const may = loops > 0 && !along && (loops > kept_loops ? total && !over : !total);
    if (may && all_followers([&](int s) { return stride[s][loops - 1] == across[s] * width; })) {
      width *= extent[loops - 1];
      remove(loops - 1);
    }
  }

  descriptor const& d_;
  kernel_reading const& r_;
};

}  // namespace meshtensor::cuda
