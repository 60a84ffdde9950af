// SPDX-License-Identifier: Apache-2.0
// einsum: runs a chain of products of two operands, by libraries or our own loops.
#pragma once

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/device/cpu/matmul/problem.hpp"
#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/device/cpu/product.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Writes zeros for a rank whose part of a summed dim is empty.
class sums_of_nothing final : public node_kernel {
 public:
  void run(evaluation const& e, std::byte*, thread_team&) override {
    clear_bytes(e.results[0].data, e.results[0].bytes());
  }
};

template <class Any = lazy>
class einsum_kernel final : public node_kernel {
 public:
  /// Whether there are two operands, both have all summed dims, and there are no more dims than a batch may have.
  static constexpr bool takes(module const& m, node const& n) {
    if (n.operands.count != 2) return false;
    shape const &a = m.operand_value(n, 0).dims, &b = m.operand_value(n, 1).dims, &c = m.result_value(n).dims;
    for (shape const* x : {&a, &b})
      for (int i = 0; i < x->count; ++i)
        if (c.find(x->at[i]) < 0 && (a.find(x->at[i]) < 0 || b.find(x->at[i]) < 0)) return false;
    return c.count <= max_batch_dims;
  }
  static std::unique_ptr<node_kernel> prepare(node_setup const& s) {
    for (int i = 0; i < s.n.operands.count; ++i)
      if (s.operands[i].size() == 0) return std::make_unique<sums_of_nothing>();
    auto chain = product_chain::make(s.operands, s.n.operands.count, s.result, s.threads);
    return chain ? std::make_unique<einsum_kernel>(std::move(*chain)) : nullptr;
  }
  explicit einsum_kernel(product_chain chain) : chain_(std::move(chain)) {}
  std::int64_t workspace_bytes() const override { return chain_.workspace_bytes(); }
  void run(evaluation const& e, std::byte* workspace, thread_team& team) override {
    chain_.template run<Any>(e.operands, e.results[0], workspace, team);
  }

 private:
  product_chain chain_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
