// SPDX-License-Identifier: Apache-2.0
// Writes one pass of a fused kernel over a row's vector, which loads, computes steps and partial reductions, and
// stores.
#pragma once

#include "meshtensor/device/cuda/fused/names.hpp"

namespace meshtensor::cuda::detail {

class fused_pass {
 public:
  /// The steps and operands of a row's vector that are already in registers, if the row stays there from pass to pass.
  struct kept_of_row {
    std::vector<bool> steps = std::vector<bool>(max_kernel_steps), operands = std::vector<bool>(max_kernel_operands);
  };

  explicit fused_pass(fused_shape const& s) : s_(s), n_(s) {}

  /// Writes one pass over a row's vector, which computes everything that `reductions` and `results` need.
  void write(std::string& t, std::vector<int> const& reductions, std::vector<int> const& results,
             kept_of_row& kept) const {
    std::vector<bool> steps(max_kernel_steps), reads(max_kernel_operands);
    for (int i : reductions) need(s_.d.step(i).from[0], steps, reads);
    for (int i : results) need(s_.d.result(i), steps, reads);
    std::int64_t const room = s_.keeps ? s_.times * s_.at_once : s_.at_once;
    if (s_.keeps) {  // all loops over registers are unrolled
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (kept.steps[i]) steps[i] = false;
        if (!steps[i]) continue;
        kept.steps[i] = true;
        add(t, {register_text(s_.d.step(static_cast<int>(i)).type), " s", i, "[", room, "];\n"});
      }
      for (std::size_t i = 0; i < reads.size(); ++i) {
        if (kept.operands[i]) reads[i] = false;
        if (!reads[i]) continue;
        kept.operands[i] = true;
        add(t, {register_text(s_.d.operand_type(static_cast<int>(i))), " x", i, "[", room, "];\n"});
      }
    }
    bool const narrow = s_.space.width < (std::int64_t{1} << 30);
    std::string const first = s_.times > 1 ? "(c * " + std::to_string(s_.across) + " + tx) * " : "tx * ";
    if (s_.times > 1)
      add(t, {s_.times <= 8 || s_.keeps ? "#pragma unroll\n" : "", "for (int c = 0; c < ", s_.times, "; ++c) {\n"});
    else t += "{\nconstexpr int c = 0; (void)c;\n";
    add(t, {narrow ? "const int pos = (int)(" : "const i64 pos = (",
            s_.tiles > 1 ? joined({"tile * ", std::int64_t{s_.across} * s_.at_once, "ll + "}) : "", first, s_.at_once,
            ");\nif (pos < ", s_.space.width, narrow ? ") {\n" : "ll) {\n"});
    for (int i = 0; i < s_.d.operand_count; ++i) {
      if (!reads[static_cast<std::size_t>(i)]) continue;
      dtype const type = s_.d.operand_type(i);
      std::string const from = n_.pointer(i, type, true) + " + o" + std::to_string(i) + " + pos";
      std::string const to = "x" + std::to_string(i) + (s_.keeps ? " + c * " + std::to_string(s_.at_once) : "");
      if (!s_.keeps) add(t, {register_text(type), " x", i, "[", s_.at_once, "]; "});
      if (s_.space.across[i] == 1) add(t, {"load<", s_.at_once, ">(", to, ", ", from, ");\n"});
      else
        add(t, {"load_apart<", s_.at_once, ">(", to, ", ", from, " * ", s_.space.across[i], "ll, ", s_.space.across[i],
                "ll);\n"});
    }
    for (int i : results) add(t, {register_text(s_.d.type_of(s_.d.result(i))), " y", i, "[", s_.at_once, "];\n"});
    add(t, {"#pragma unroll\nfor (int w = 0; w < ", s_.at_once, "; ++w) {\n"});
    for (int i = 0; i < s_.d.step_count; ++i)
      if (steps[static_cast<std::size_t>(i)])
        add(t, {s_.keeps ? "" : "const " + register_text(s_.d.step(i).type) + " ",
                n_.name_of({static_cast<std::uint8_t>(i)}, true), " = ", n_.expression(i, true), ";\n"});
    for (int i : reductions) {
      std::string const to =
          "r" + std::to_string(i) + (s_.is_wide(i) ? "[c * " + std::to_string(s_.at_once) + " + w]" : "");
      add(t, {to, ".add((sum<", n_.step_type(i), ">)", n_.name_of(s_.d.step(i).from[0], true), ");\n"});
    }
    for (int i : results) add(t, {"y", i, "[w] = ", n_.name_of(s_.d.result(i), true), ";\n"});
    t += "}\n";
    for (int i : results) {
      int const s = first_result + i;
      std::string const to = n_.pointer(s, s_.d.type_of(s_.d.result(i)), false) + " + o" + std::to_string(s) + " + pos";
      char const* const type = type_text(s_.d.type_of(s_.d.result(i)));
      if (s_.space.across[s] == 1) add(t, {"store<", s_.at_once, ", ", type, ">(", to, ", y", i, ");\n"});
      else
        add(t, {"store_apart<", s_.at_once, ", ", type, ">(", to, " * ", s_.space.across[s], "ll, y", i, ", ",
                s_.space.across[s], "ll);\n"});
    }
    t += "}\n}\n";
  }

 private:
  /// Marks the steps of the vector that a source needs, and in `reads` the operands of the vector.
  void need(source s, std::vector<bool>& steps, std::vector<bool>& reads) const {
    if (s.is_operand() && s_.d.operand_class(s.index()) >= extent_class::vector)
      reads[static_cast<std::size_t>(s.index())] = true;
    if (!s.is_step()) return;
    auto const i = static_cast<std::size_t>(s.index());
    kernel_step const step = s_.d.step(s.index());
    if (step.level != extent_class::vector || is_reduction(step.kind) || steps[i]) return;
    steps[i] = true;
    for (int k = 0; k < s_.d.arity_of(s.index()); ++k) need(step.from[k], steps, reads);
  }

  fused_shape const& s_;
  fused_names n_;
};

}  // namespace meshtensor::cuda::detail
