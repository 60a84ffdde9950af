// SPDX-License-Identifier: Apache-2.0
// Writes the end of a fused kernel that sums over rows. It adds up the threads of a block, and then the chunks of
// several blocks in their order.
#pragma once

#include "meshtensor/device/cuda/fused/names.hpp"

namespace meshtensor::cuda::detail {

class fused_sums {
 public:
  explicit fused_sums(fused_shape const& s) : s_(s), n_(s) {}

  /// Adds up the results of the threads of a block that have taken rows of one unit.
  void end_text(std::string& t) const {
    for (int i = 0; i < s_.d.step_count; ++i) {
      if (!s_.is_sum(i)) continue;
      std::string const r = "r" + std::to_string(i), sum = "sum<" + n_.step_type(i) + ">",
                        kind = n_.kind_text(s_.d.step(i).kind);
      bool const total = is_total(s_.d.step(i).kind);  // then all threads of the block have terms of one sum
      std::string const made = total ? "all" + std::to_string(i) : r + ".total()";
      if (total)
        add(t, {"const ", sum, " ", made, " = over_group<", s_.threads(), ", ", kind, ">(", r, ".total(), shared);\n"});
      t += "__syncthreads();\n";
      if (!s_.is_wide(i)) {
        if (s_.rows > 1 && !total) {
          add(t, {"if (tx == 0) ((", sum, "*)shared)[ty] = ", r,
                  ".total();\n__syncthreads();\nif (threadIdx.x == 0) for (int y = 1; "
                  "y < ",
                  s_.rows, "; ++y) ", r, ".add(((", sum, "*)shared)[y]);\n"});
        }
        t += total ? "if (threadIdx.x == 0) {\n" : "if (threadIdx.x == 0 && tile == 0) {\n";
        give(t, i, made, "");
        t += "}\n";
        continue;
      }
      if (s_.rows > 1) {
        add(t, {"for (int w = 0; w < ",
                s_.at_once,
                "; ++w) ((",
                sum,
                "*)shared)[threadIdx.x * ",
                s_.at_once,
                " + w] = ",
                r,
                "[w].total();\n__syncthreads();\nif (ty == 0) for (int y = 1; y < ",
                s_.rows,
                "; ++y) for (int w = 0; w < ",
                s_.at_once,
                "; ++w) ",
                r,
                "[w].add(((",
                sum,
                "*)shared)[(y * ",
                s_.across,
                " + tx) * ",
                s_.at_once,
                " + w]);\n"});
      }
      add(t, {"if (ty == 0) for (int c = 0; c < ", s_.times, "; ++c) for (int w = 0; w < ", s_.at_once,
              "; ++w) {\nconst i64 pos = ",
              s_.tiles > 1 ? joined({"tile * ", std::int64_t{s_.across} * s_.at_once, "ll + "}) : "", "(c * ",
              s_.across, " + tx) * ", s_.at_once, " + w;\nif (pos < ", s_.space.width, "ll) {\n"});
      give(t, i, joined({r, "[c * ", s_.at_once, " + w].total()"}), "pos");
      t += "}\n}\n";
    }
  }
  /// Writes a kernel that adds up partial results. For wide sums, it has one thread for each element, and for other
  /// sums one block for each kept row.
  std::string finish_text(bool wide) const {
    std::string t;
    for (int i = 0; i < s_.d.step_count; ++i) {
      if (!s_.is_sum(i) || s_.parts_of(i) == 1 || s_.is_wide(i) != wide) continue;
      std::string const sum = "sum<" + n_.step_type(i) + ">", kind = n_.kind_text(s_.d.step(i).kind);
      std::string const from = joined({"((const ", sum, "*)(a.p[", workspace_pointer, "] + ", s_.partial[i], "ll))"});
      add(t, {"{\n", n_.running(i, s_.parts_of(i)), " r;\n"});
      if (wide) {
        add(t, {"for (int j = 0; j < ", s_.chunks, "; ++j) r.add(", from, "[(kept * ", s_.chunks, " + j) * ",
                s_.space.width, "ll + pos]);\n"});
        store_sum(t, i, "r.total()", "pos");
      } else {
        add(t, {"for (int j = threadIdx.x; j < ", s_.parts_of(i), "; j += ", s_.block, ") r.add(", from, "[kept * ",
                s_.parts_of(i), " + j]);\nconst ", sum, " all = over_group<", s_.block, ", ", kind,
                ">(r.total(), shared);\nif (threadIdx.x == 0) {\n"});
        store_sum(t, i, "all", "");
        t += "}\n__syncthreads();\n";
      }
      t += "}\n";
    }
    if (t.empty()) return t;
    std::string head;
    if (wide)
      add(head, {"i64 k = (i64)blockIdx.x * ", s_.block, " + threadIdx.x;\nif (k >= ", s_.kept * s_.space.width,
                 "ll) return;\nconst i64 pos = k % ", std::max<std::int64_t>(1, s_.space.width),
                 "ll; k /= ", std::max<std::int64_t>(1, s_.space.width), "ll;\n"});
    else head += "__shared__ __align__(16) unsigned char shared[256];\ni64 k = blockIdx.x;\n";
    head += "const i64 kept = k; (void)kept;\n";
    n_.decode(head, "k", 0, s_.space.kept_loops);
    return head + t;
  }

 private:
  /// Stores a kept row's sum among its partial results, or in the result itself if there is only one part.
  void give(std::string& t, int step, std::string const& value, std::string const& element) const {
    bool const wide = s_.is_wide(step);
    if (s_.parts_of(step) > 1) {
      std::string const part = is_total(s_.d.step(step).kind) && s_.tiles > 1
                                   ? joined({"(kept * ", s_.chunks, " + chunk) * ", s_.tiles, " + tile"})
                                   : joined({"kept * ", s_.chunks, " + chunk"});
      add(t, {"((sum<", n_.step_type(step), ">*)(a.p[", workspace_pointer, "] + ", s_.partial[step], "ll))[",
              wide ? joined({"(", part, ") * ", s_.space.width, "ll + ", element}) : part, "] = ", value, ";\n"});
      return;
    }
    store_sum(t, step, value, element);
  }
  void store_sum(std::string& t, int step, std::string const& value, std::string const& element) const {
    for (int i = 0; i < s_.d.result_count; ++i) {
      if (!(s_.d.result(i) == source{static_cast<std::uint8_t>(step)})) continue;
      int const s = first_result + i;
      std::string at = n_.offset(s, 0, s_.space.kept_loops);
      if (s_.is_wide(step)) add(at, {" + (", element, ") * ", s_.space.across[s], "ll"});
      n_.store_scalar(t, i, joined({"to<", n_.step_type(step), ">(", value, ")"}), at);
    }
  }

  fused_shape const& s_;
  fused_names n_;
};

}  // namespace meshtensor::cuda::detail
