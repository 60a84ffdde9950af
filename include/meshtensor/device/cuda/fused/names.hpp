// SPDX-License-Identifier: Apache-2.0
// Writes the expressions of a fused kernel, for example the function of a step, the address of an operand and the
// indices of a row.
#pragma once

#include "meshtensor/base/sum.hpp"
#include "meshtensor/device/cuda/fused/shape.hpp"
#include "meshtensor/device/cuda/text/kernel_texts.hpp"

namespace meshtensor::cuda::detail {

class fused_names {
 public:
  explicit fused_names(fused_shape const& s) : s_(s) {}

  std::string step_type(int i) const { return type_text(s_.d.step(i).type); }
  static char const* kind_text(step_kind k) {
    constexpr char const* names[] = {"", "sums", "maxima", "minima"};
    return names[static_cast<int>(reduction_of(k))];
  }
  /// The type of a thread's accumulator in a reduction of at most `terms` terms. It keeps rounding errors only if there
  /// are many terms.
  std::string running(int i, std::int64_t terms) const {
    return joined({"running<", kind_text(s_.d.step(i).kind), ", ", step_type(i), ", ",
                   terms > sum_fan_in ? "true" : "false", ">"});
  }
  std::string name_of(source s, bool in_vector) const {
    std::string const number = std::to_string(s.index());
    if (s.is_number()) return "c" + number;
    std::string const lane = !in_vector ? "" : s_.keeps ? "[c * " + std::to_string(s_.at_once) + " + w]" : "[w]";
    if (s.is_step()) return "s" + number + (s_.keeps && is_of_vector(s.index()) ? lane : "");
    return "x" + number + (s_.d.operand_class(s.index()) >= extent_class::vector ? lane : "");
  }
  bool is_of_vector(int step) const {
    return s_.d.step(step).level == extent_class::vector && !is_reduction(s_.d.step(step).kind);
  }
  std::string expression(int i, bool in_vector) const {
    kernel_step const s = s_.d.step(i);
    std::string const type = step_type(i), slot = std::to_string(s_.slot[i]);
    bool const narrow = s.kind == step_kind::position && last_index(i) < (std::int64_t{1} << 31);
    std::string const place = in_vector ? (narrow ? "((int)at" : "(at") + std::to_string(i) + " + (pos + w) * " +
                                              std::to_string(s_.space.across[first_step + i]) + (narrow ? ")" : "ll)")
                                        : "at" + std::to_string(i);
    if (s.kind == step_kind::position) return "to<" + type + ">(" + place + ")";
    if (is_random(s.kind)) {
      std::string const arguments = "(stream" + slot + ", " + place + ")";
      if (s.kind == step_kind::uniform) return "uniform<" + type + ">" + arguments;
      return "to<" + type + ">(normal<" + (s.type == dtype::f64 ? "double" : "float") + ">" + arguments + ")";
    }
    auto const f = static_cast<meshtensor::function>(s.kind);
    std::string const a = name_of(s.from[0], in_vector);
    if (f == meshtensor::function::cast) return "to<" + type + ">(" + a + ")";
    std::string arguments = a;
    for (int k = 1; k < s_.d.arity_of(i); ++k) arguments += ", " + name_of(s.from[k], in_vector);
    // After rounding to bf16, the faster functions differ only in one result of thousands.
    bool const near = s.type == dtype::bf16 && (f == meshtensor::function::exp || f == meshtensor::function::sigmoid ||
                                                f == meshtensor::function::divide);
    // Operands of one function have one type, even if the compiler would convert them to another one.
    std::string const of = (near ? "near_" : "do_") + std::string(text_of(f));
    std::string const value =
        is_logical(f) ? of + "(" + arguments + ")"
                      : of + "<" + register_text(s_.d.type_of(s.from[f == meshtensor::function::select ? 1 : 0])) +
                            ">(" + arguments + ")";
    return is_comparison(f) || is_logical(f) ? value : "to<" + type + ">(" + value + ")";
  }
  /// The greatest index of a position.
  std::int64_t last_index(int step) const {
    int const s = first_step + step;
    std::int64_t last = s_.space.base[s] + s_.space.across[s] * (s_.space.width - 1);
    for (int l = 0; l < s_.space.loops; ++l) last += s_.space.stride[s][l] * (s_.space.extent[l] - 1);
    return last;
  }
  std::string offset(int s, int from, int end) const {
    std::string text;
    for (int l = from; l < end; ++l)
      if (s_.space.stride[s][l] != 0)
        add(text, {text.empty() ? "" : " + ", "i", l, " * ", s_.space.stride[s][l], "ll"});
    return text.empty() ? "0" : text;
  }
  std::string pointer(int s, dtype t, bool is_const) const {
    return joined({"((", is_const ? "const " : "", type_text(t), "*)a.p[", s, "])"});
  }
  /// Splits an index into the indices of the loops [from, end).
  void decode(std::string& t, char const* index, int from, int end) const {
    for (int l = end; l-- > from;) {
      if (l == from) add(t, {"const i64 i", l, " = ", index, ";\n"});
      else
        add(t, {"const i64 i", l, " = ", index, " % ", s_.space.extent[l], "; ", index, " /= ", s_.space.extent[l],
                ";\n"});
    }
  }
  void store_scalar(std::string& t, int result, std::string const& value, std::string const& at) const {
    dtype const type = s_.d.type_of(s_.d.result(result));
    add(t, {pointer(first_result + result, type, false), "[", at, "] = put<", type_text(type), ">(", value, ");\n"});
  }

 private:
  fused_shape const& s_;
};

}  // namespace meshtensor::cuda::detail
