// SPDX-License-Identifier: Apache-2.0
// Selects the code that runs a module's nodes on the cpu device, which is compiled for this module or generic.
#pragma once

#include "meshtensor/device/cpu/attention.hpp"
#include "meshtensor/device/cpu/convolution/epilogue.hpp"
#include "meshtensor/device/cpu/fused/instantiated.hpp"
#include "meshtensor/device/cpu/fused/interpreted.hpp"
#include "meshtensor/device/cpu/nodes/table.hpp"
#include "meshtensor/pass/schedule.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

namespace detail {

/// The primitives of a fused module that the device computes one node at a time. Some have kernels, and some have nodes
/// that may run by their rules' own loops.
struct node_primitives {
  primitives with_kernels, with_loops;
};
constexpr node_primitives node_primitives_of(module const& m) {
  node_primitives all{};
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    if (n.kind == primitive::conv && is_in_composite(m, n)) all.with_loops.add(m, n);
    if (!is_computed(n.kind) || shares_memory(n) || is_in_composite(m, n) ||
        m.regions[n.region].kind == region_kind::kernel)
      continue;
    all.with_kernels.add(n.kind);
    if (!with_kernel(n.kind, [&]<class K>() { return K::takes(m, n); })) all.with_loops.add(m, n);
  }
  return all;
}

/// The kernel of a composite: attention of one of the dtypes in the mask, or a convolution with its epilogue.
template <unsigned Attended, bool Convolves, primitives WithLoops>
std::unique_ptr<node_kernel> compose(module const& m, node const& n, view const* operands, view const* results,
                                     int threads) {
  if constexpr (Convolves)
    if (epilogue_form_of(m, n).found)
      return std::make_unique<conv_epilogue<>>(m, n, operands, results[0], threads, &evaluate<WithLoops>);
  return make_attention<Attended>(m, n, operands, threads);
}
constexpr bool has_epilogues(module const& m) {
  for (int i = 0; i < m.node_count; ++i)
    if (is_whole(m.nodes[i]) && epilogue_form_of(m, m.nodes[i]).found) return true;
  return false;
}

template <class Any>
std::unique_ptr<node_kernel> compose_any(module const& m, node const& n, view const* operands, view const* results,
                                         int threads) {
  constexpr unsigned all = std::is_same_v<Any, lazy> ? mask_of(f32) | mask_of(f64) | mask_of(bf16) : 0;
  return compose<all, true, primitives::all()>(m, n, operands, results, threads);
}

}  // namespace detail

#if MESHTENSOR_COMPILED_CPU
extern template void interpret<lazy>(fused_kernel&);
extern template std::unique_ptr<node_kernel> prepare_node<primitives::all()>(node_setup const&);
extern template std::unique_ptr<node_kernel> detail::compose_any<lazy>(module const&, node const&, view const*,
                                                                       view const*, int);
#endif

struct code {
  kernel_table kernels;
  void (*interpret)(fused_kernel&);  // for kernels that the table lacks
  std::unique_ptr<node_kernel> (*prepare)(node_setup const&);
  node_loops loops;  // for nodes without a kernel
  /// Composites that the device runs whole.
  std::unique_ptr<node_kernel> (*compose)(module const&, node const&, view const* operands, view const* results,
                                          int threads);

  template <class Any = lazy>
  static code for_any_module() {
    return {{}, &cpu::interpret<Any>, &prepare_node<>, &evaluate<>, &detail::compose_any<Any>};
  }
  template <module const& Graph>
  static constexpr code of() {
    constexpr detail::node_primitives alone = detail::node_primitives_of(Graph);
    constexpr unsigned attended = attention_types(Graph);
    constexpr bool convolves = detail::has_epilogues(Graph);
    if constexpr (links_cpu)  // because the linked part has all of these, except for kernels
      return {instantiate<Graph>(), nullptr, &prepare_node<>, &evaluate<>, &detail::compose_any<lazy>};
    else if constexpr (attended != 0 || convolves)
      return {instantiate<Graph>(), nullptr, &prepare_node<alone.with_kernels>, &evaluate<alone.with_loops>,
              &detail::compose<attended, convolves, alone.with_loops>};
    else
      return {instantiate<Graph>(), nullptr, &prepare_node<alone.with_kernels>, &evaluate<alone.with_loops>, nullptr};
  }
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
