// SPDX-License-Identifier: Apache-2.0
// Prepares a batched matrix product once, and then runs it without our allocating memory, in parts that the threads of
// a team compute at the same time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/device/cpu/matmul/long_product.hpp"
#include "meshtensor/device/cpu/threads.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Computes C[batch…, m, n] (+)= A[batch…, m, k] · B[batch…, k, n]. See matmul_problem for types and strides.
///
/// The types are all floats, or all integers, whose sums are i64. Sums of f32 and bf16 are f32, and sums of f64 are
/// f64. Sums of more than most_products terms are added in blocks.
///
/// A run repeats bit for bit with the same number of threads. Our loops do so with any number of threads. However,
/// libraries may sum in another order in a smaller part. Then results for different numbers of threads differ by
/// rounding.
///
/// errors  R30 floats and integers mixed, a size below 0, a result whose elements overlap
class matmul_plan {
 public:
  /// `threads` is the size of the team that is passed to execute.
  explicit matmul_plan(matmul_problem const& problem, int threads = 1) {
    check(problem);
    matmul_problem const flat = flattened(problem);
    swapped_ = flat.swapped;
    if (flat.empty()) return;
    libraries_on_one_thread const quiet;
    for (matmul_part const& one : parts_of(flat, threads)) {
      parts_.push_back({long_product(one.problem), starts_of(one)});
      each_bytes_ = std::max(each_bytes_, (parts_.back().kernel.workspace_bytes() + 63) / 64 * 64);
    }
  }

  /// The bytes of workspace that execute needs. The workspace must start at a multiple of 64 bytes.
  std::size_t workspace_bytes() const { return each_bytes_ * parts_.size(); }

  /// The name of the implementation: "onednn …", "cblas", "small batch", "loops" or "nothing". For long sums, "in
  /// blocks" follows it.
  std::string implementation() const { return parts_.empty() ? "nothing" : parts_[0].kernel.implementation(); }
  std::size_t parts() const { return parts_.size(); }

  /// Runs the product. A and B may overlap each other, but not C. Only one thread may call this at a time, and the
  /// threads of `team` share the work.
  template <class Any = lazy>
  void execute(void const* a, void const* b, void* c, void* workspace, thread_team* team = nullptr) {
    if (swapped_) std::swap(a, b);
    auto const run = [&](std::int64_t first, std::int64_t last) {
      libraries_on_one_thread const quiet;
      for (std::int64_t i = first; i < last; ++i) {
        part& p = parts_[static_cast<std::size_t>(i)];
        p.kernel.template execute<Any>(static_cast<std::byte const*>(a) + p.from.a,
                                       static_cast<std::byte const*>(b) + p.from.b,
                                       static_cast<std::byte*>(c) + p.from.c,
                                       static_cast<std::byte*>(workspace) + static_cast<std::size_t>(i) * each_bytes_);
      }
    };
    auto const count = static_cast<std::int64_t>(parts_.size());
    if (team == nullptr) run(0, count);
    else team->parallel_for(count, 1, run);
  }

 private:
  struct starts {  // in bytes
    std::int64_t a, b, c;
  };
  struct part {
    long_product kernel;
    starts from;
  };

  static starts starts_of(matmul_part const& one) {
    auto const bytes = [](dtype t) { return static_cast<std::int64_t>(bytes_of(t)); };
    matmul_problem const& p = one.problem;
    return {one.a * bytes(p.a.type), one.b * bytes(p.b.type), one.c * bytes(p.c.type)};
  }

  static void check(matmul_problem const& p) {
    bool const floats = is_float(p.a.type);
    if (is_float(p.b.type) != floats || is_float(p.c.type) != floats)
      throw error("R30", {"a matrix product of ", text_of(p.a.type), " and ", text_of(p.b.type), " into ",
                          text_of(p.c.type), " mixes floats and integers: cast one operand"});
    bool bad = p.m < 0 || p.n < 0 || p.k < 0 || p.batch_dims < 0 || p.batch_dims > max_batch_dims;
    for (int i = 0; !bad && i < p.batch_dims; ++i) bad = p.batch[i] < 0 || (p.batch[i] > 1 && p.c.batch[i] == 0);
    bad = bad || (!p.empty() && ((p.m > 1 && p.c.row == 0) || (p.n > 1 && p.c.column == 0)));
    if (bad)
      throw error("R30",
                  "a matrix product has a size below 0, more than 6 batch dims, or results that share an element: "
                  "describe each element of the result once");
  }

  std::vector<part> parts_;
  std::size_t each_bytes_ = 0;
  bool swapped_ = false;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
