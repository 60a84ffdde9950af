// SPDX-License-Identifier: Apache-2.0
// Selects the code that runs a module's nodes on the cpu device: compiled for this module, or generic.
#pragma once

#include "meshtensor/device/cpu/attention.hpp"
#include "meshtensor/device/cpu/instantiated.hpp"
#include "meshtensor/device/cpu/interpreted.hpp"
#include "meshtensor/device/cpu/matmul_problem.hpp"
#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/schedule.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

namespace detail {

/// Whether `product_chain` takes an einsum whatever its extents: of two operands that both have all summed dims, with
/// few enough dims to be batches.
constexpr bool is_product(module const& m, node const& n) {
  if (n.operands.count != 2) return false;
  shape const &a = m.operand_value(n, 0).dims, &b = m.operand_value(n, 1).dims, &c = m.result_value(n).dims;
  for (shape const* x : {&a, &b})
    for (int i = 0; i < x->count; ++i)
      if (c.find(x->at[i]) < 0 && (a.find(x->at[i]) < 0 || b.find(x->at[i]) < 0)) return false;
  return c.count <= max_batch_dims;
}

/// The primitives of a fused module that run by their rules' own loops.
constexpr primitives left_to_loops(module const& m) {
  primitives left{};
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    if (!is_computed(n.kind) || shares_memory(n) || is_in_composite(m, n) ||
        m.regions[n.region].kind == region_kind::kernel)
      continue;
    switch (n.kind) {
      case primitive::gather:
      case primitive::scatter_add:
      case primitive::transpose:
      case primitive::broadcast:
      case primitive::slice:
      case primitive::pad:
      case primitive::put: break;
      case primitive::einsum:
        if (!is_product(m, n)) left.add(n.kind);
        break;
      default: left.add(n.kind);
    }
  }
  return left;
}

template <class Any>
std::unique_ptr<composite_kernel> make_any_attention(module const& m, node const& n, view const* operands,
                                                     int threads) {
  constexpr unsigned all = std::is_same_v<Any, lazy> ? mask_of(f32) | mask_of(f64) | mask_of(bf16) : 0;
  return make_attention<all>(m, n, operands, threads);
}

}  // namespace detail

#if MESHTENSOR_COMPILED_CPU
extern template void interpret<lazy>(fused_kernel&);
extern template std::unique_ptr<composite_kernel> detail::make_any_attention<lazy>(module const&, node const&,
                                                                                   view const*, int);
#endif

struct code {
  kernel_table kernels;
  void (*interpret)(fused_kernel&);  // for kernels that the table lacks
  node_loops loops;                  // for nodes without a faster kernel
  /// Composites that the device runs whole.
  std::unique_ptr<composite_kernel> (*compose)(module const&, node const&, view const* operands, int threads);

  template <class Any = lazy>
  static code for_any_module() {
    return {{}, &cpu::interpret<Any>, &evaluate<>, &detail::make_any_attention<Any>};
  }
  template <module const& Graph>
  static constexpr code of() {
    constexpr primitives left = detail::left_to_loops(Graph);
    constexpr unsigned attended = attention_types(Graph);
    if constexpr (attended != 0) return {instantiate<Graph>(), nullptr, &evaluate<left>, &make_attention<attended>};
    else return {instantiate<Graph>(), nullptr, &evaluate<left>, nullptr};
  }
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
