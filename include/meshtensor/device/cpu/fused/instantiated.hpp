// SPDX-License-Identifier: Apache-2.0
// Instantiates the kernels of a module that the compiler knows, and finds them by node id, without a map.
#pragma once

#include "meshtensor/device/cpu/fused/kernel_loop.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// An instantiated kernel.
struct instantiated {
  fused_kernel::task_function task = nullptr;
  int scratch_rows = 0;
  block_reduction const* const* reductions = nullptr;  // by step

  template <descriptor D>
  static constexpr instantiated of() {
    using loop = detail::kernel_loop<D>;
    return {&loop::task, loop::facts.places, loop::reductions};
  }
  void bind(fused_kernel& k) const {
    k.block = 4096;
    k.scratch_bytes = scratch_rows * bytes_of_scratch_row(k.width);
    k.task = task;
    std::copy_n(reductions, k.key().step_count, k.reductions);
  }
};

/// The instantiated kernels of one module, by node.
struct kernel_table {
  int count = 0;
  node_id const* nodes = nullptr;
  instantiated const* kernels = nullptr;

  instantiated const* find(int which) const {
    for (int i = 0; i < count; ++i)
      if (nodes[i] == which) return kernels + i;
    return nullptr;
  }
};

namespace detail {

template <module const& Graph, int Node>
inline constexpr descriptor key_of = read_kernel(Graph, Graph.nodes[Node]).key;

template <module const& Graph, class Sequence>
struct kernels_of;
template <module const& Graph, int... K>
struct kernels_of<Graph, std::integer_sequence<int, K...>> {
  static constexpr auto nodes = list_kernels<static_cast<int>(sizeof...(K))>(Graph);
  static constexpr instantiated kernels[] = {instantiated::of<key_of<Graph, nodes.at[K]>>()...};
};

}  // namespace detail

/// Instantiates every kernel of a fused module that is a compile-time constant. Equal descriptors share code.
template <module const& Graph>
constexpr kernel_table instantiate() {
  constexpr int count = count_kernels(Graph);
  if constexpr (count == 0) return {};
  else {
    using all = detail::kernels_of<Graph, std::make_integer_sequence<int, count>>;
    return {count, all::nodes.at, all::kernels};
  }
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
