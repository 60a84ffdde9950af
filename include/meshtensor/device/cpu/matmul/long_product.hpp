// SPDX-License-Identifier: Apache-2.0
// Computes a product with a long sum as products over blocks of the summed dim. Their results are added as a tree,
// because a library may add all terms one after the other.
#pragma once

#include <vector>

#include "meshtensor/device/cpu/matmul/kernel.hpp"
#include "meshtensor/device/cpu/sum_of_blocks.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// A flat product that is not empty. It is one kernel if its sums are of integers, or have at most most_products terms.
class long_product {
 public:
  explicit long_product(matmul_problem const& flat) : p_(flat), result_(flat.batch_count() * flat.m * flat.n) {
    if (flat.k <= most_products || !is_float(flat.c.type)) {
      kernels_.emplace_back(flat);
      return;
    }
    std::int64_t const most = result_ <= few ? most_of_few : most_products, even = (flat.k + most - 1) / most;
    std::int64_t const depth = ((flat.k + even - 1) / even + 15) / 16 * 16, whole = flat.k / depth;
    at_once_ = flat.batch_dims == max_batch_dims ? 1 : std::clamp<std::int64_t>(room / result_, 1, whole);
    for (std::int64_t at = 0; at < whole; at += at_once_) add_step(at * depth, depth, std::min(at_once_, whole - at));
    if (flat.k % depth != 0) add_step(whole * depth, flat.k % depth, 1);
    std::int64_t const elements = (levels_of_sum(even) + at_once_) * result_;
    own_bytes_ = (static_cast<std::size_t>(elements) * (is_wide() ? 8 : 4) + 63) / 64 * 64;
  }

  /// The bytes of workspace that execute needs. The workspace must start at a multiple of 64 bytes.
  std::size_t workspace_bytes() const {
    std::size_t most = 0;
    for (matmul_kernel const& k : kernels_) most = std::max(most, k.workspace_bytes());
    return own_bytes_ + most;
  }
  std::string implementation() const { return kernels_[0].implementation() + (steps_.empty() ? "" : ", in blocks"); }

  template <class Any = lazy>
  void execute(void const* a, void const* b, void* c, void* workspace) {
    if (steps_.empty()) return kernels_[0].template execute<Any>(a, b, c, workspace);
    if (is_wide()) add_blocks<Any, double>(a, b, c, static_cast<std::byte*>(workspace));
    else add_blocks<Any, float>(a, b, c, static_cast<std::byte*>(workspace));
  }

 private:
  static constexpr std::int64_t few = 256, most_of_few = 256;  // with so few results, a block costs nothing
  static constexpr std::int64_t room = 1 << 16;  // results of the blocks that are computed at the same time

  struct step {
    std::size_t kernel;
    std::int64_t from, blocks;
  };

  bool is_wide() const { return p_.a.type == dtype::f64 || p_.b.type == dtype::f64 || p_.c.type == dtype::f64; }
  /// Adds `blocks` products over `depth` terms each, from term `from` on. The blocks are a batch dim.
  void add_step(std::int64_t from, std::int64_t depth, std::int64_t blocks) {
    if (!steps_.empty() && steps_.back().blocks == blocks && last_depth_ == depth)
      return steps_.push_back({steps_.back().kernel, from, blocks});
    matmul_problem part = p_;
    part.k = depth, part.accumulate = false;
    part.c = {is_wide() ? dtype::f64 : dtype::f32, p_.n, 1, {}};
    std::int64_t stride = p_.m * p_.n;
    for (int i = p_.batch_dims; i-- > 0; stride *= p_.batch[i]) part.c.batch[i] = stride;
    if (blocks > 1) {
      for (int i = part.batch_dims++; i-- > 0;) {
        part.batch[i + 1] = part.batch[i];
        for (matmul_operand* x : {&part.a, &part.b, &part.c}) x->batch[i + 1] = x->batch[i];
      }
      part.batch[0] = blocks;
      part.a.batch[0] = depth * p_.a.column, part.b.batch[0] = depth * p_.b.row, part.c.batch[0] = result_;
    }
    steps_.push_back({kernels_.size(), from, blocks});
    kernels_.emplace_back(part);
    last_depth_ = depth;
  }

  template <class Any, class Sum>
  void add_blocks(void const* a, void const* b, void* c, std::byte* workspace) {
    auto const at = [](void const* x, matmul_operand const& of, std::int64_t elements) {
      return static_cast<std::byte const*>(x) + elements * static_cast<std::int64_t>(bytes_of(of.type));
    };
    Sum* const made = reinterpret_cast<Sum*>(workspace);
    Sum* const sums = made + at_once_ * result_;
    level_sums<Sum> levels(sums, sums + result_, result_, result_);
    for (step const& s : steps_) {
      kernels_[s.kernel].template execute<Any>(at(a, p_.a, s.from * p_.a.column), at(b, p_.b, s.from * p_.b.row), made,
                                               workspace + own_bytes_);
      for (std::int64_t i = 0; i < s.blocks; ++i) {
        if (levels.next()) merge_numbers<Sum>(sums, made + i * result_, result_);
        else std::copy_n(made + i * result_, result_, sums);
      }
    }
    levels.end();
    Sum const* from = sums;
    detail::with_summed<Sum>(p_.c.type, [&]<class E>() {
      for (std::int64_t item = 0; item < p_.batch_count(); ++item) {
        E* const to = static_cast<E*>(c) + p_.offset(p_.c, item, p_.batch_dims);
        for (std::int64_t i = 0; i < p_.m; ++i)
          for (std::int64_t j = 0; j < p_.n; ++j, ++from) {
            E& element = to[i * p_.c.row + j * p_.c.column];
            element = detail::element_of<E>(p_.accumulate ? detail::number_of_element<Sum>(element) + *from : *from);
          }
      }
    });
  }

  matmul_problem p_;
  std::int64_t result_, at_once_ = 1, last_depth_ = 0;
  std::size_t own_bytes_ = 0;
  std::vector<matmul_kernel> kernels_;
  std::vector<step> steps_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
