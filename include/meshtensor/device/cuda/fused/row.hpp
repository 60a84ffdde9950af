// SPDX-License-Identifier: Apache-2.0
// Writes the work of a fused kernel for one row, phase by phase, in passes over its vector.
#pragma once

#include "meshtensor/device/cuda/fused/pass.hpp"

namespace meshtensor::cuda::detail {

class fused_row {
 public:
  explicit fused_row(fused_shape const& s) : s_(s), n_(s), pass_(s) {}

  /// Writes the steps that are computed once for each row, or once in all.
  void scalars(std::string& t, extent_class level, int phase, std::vector<bool>& done) const {
    for (int i = 0; i < s_.d.step_count; ++i) {
      kernel_step const s = s_.d.step(i);
      if (done[static_cast<std::size_t>(i)] || is_reduction(s.kind) || s.level != level || s.phase > phase) continue;
      done[static_cast<std::size_t>(i)] = true;
      add(t, {"const ", register_text(s.type), " s", i, " = ", n_.expression(i, false), ";\n"});
    }
  }
  /// Writes the work for one row.
  void write(std::string& t, std::vector<bool> done) const {
    for (int i = 0; i < s_.d.operand_count; ++i) {
      extent_class const c = s_.d.operand_class(i);
      if (c == extent_class::uniform) continue;
      add(t, {"const i64 o", i, " = ", n_.offset(i, 0, s_.space.loops), "; (void)o", i, ";\n"});
      if (c == extent_class::row)
        add(t, {"const ", register_text(s_.d.operand_type(i)), " x", i, " = get(",
                n_.pointer(i, s_.d.operand_type(i), true), "[o", i, "]);\n"});
    }
    for (int i = 0; i < s_.d.result_count; ++i)
      if (!s_.d.result(i).is_step() || !s_.is_sum(s_.d.result(i).index()))
        add(t, {"const i64 o", first_result + i, " = ", n_.offset(first_result + i, 0, s_.space.loops), "; (void)o",
                first_result + i, ";\n"});
    for (int i = 0; i < s_.d.step_count; ++i)
      if (s_.space.walks(i) && s_.d.step(i).level != extent_class::uniform)
        add(t, {"const i64 at", i, " = a.n[", s_.slot[i], "] + ", n_.offset(first_step + i, 0, s_.space.loops), ";\n"});
    int const phases = s_.d.phases();
    fused_pass::kept_of_row kept;
    for (int p = 0; p < phases; ++p) {
      scalars(t, extent_class::row, p, done);
      std::vector<int> lines;
      for (int i = 0; i < s_.d.step_count; ++i)
        if (goes_along(s_.d.step(i).kind) && s_.d.step(i).phase == p) lines.push_back(i);
      if (lines.empty()) continue;
      for (int i : lines) add(t, {n_.running(i, s_.times * s_.at_once), " r", i, ";\n"});
      pass_.write(t, lines, {}, kept);
      for (int i : lines)
        add(t, {"const ", register_text(s_.d.step(i).type), " s", i, " = to<", n_.step_type(i), ">(over_group<",
                s_.across, ", ", n_.kind_text(s_.d.step(i).kind), ">(r", i, ".total(), shared));\n"});
    }
    std::vector<int> last, results;
    for (int i = 0; i < s_.d.step_count; ++i) {
      if (!s_.is_sum(i)) continue;
      if (s_.is_wide(i) || is_total(s_.d.step(i).kind)) last.push_back(i);
      else  // a sum with one term for each row
        add(t, {"r", i, ".add((sum<", n_.step_type(i), ">)", n_.name_of(s_.d.step(i).from[0], false), ");\n"});
    }
    for (int i = 0; i < s_.d.result_count; ++i) {
      source const s = s_.d.result(i);
      if (s.is_step() && s_.is_sum(s.index())) continue;
      if (s_.d.result_class(i) >= extent_class::vector) {
        results.push_back(i);
        continue;
      }
      t += "if (tx == 0 && tile == 0) ";
      n_.store_scalar(t, i, n_.name_of(s, false), "o" + std::to_string(first_result + i));
    }
    if (!last.empty() || !results.empty()) pass_.write(t, last, results, kept);
  }

 private:
  fused_shape const& s_;
  fused_names n_;
  fused_pass pass_;
};

}  // namespace meshtensor::cuda::detail
