// SPDX-License-Identifier: Apache-2.0
// The cpu device's engine, compiled once; and for what this library was compiled.
#include <meshtensor/run/extern_templates.hpp>

namespace meshtensor {

#if MESHTENSOR_COMPILED_CPU
template class engine<cpu_device>;
template class session<cpu_device>;
template class cpu::attention<float, float>;
template class cpu::attention<double, double>;
template class cpu::attention<float, bf16_t>;
template void cpu::interpret<lazy>(cpu::fused_kernel&);
template std::unique_ptr<cpu::node_kernel> cpu::prepare_node<primitives::all()>(cpu::node_setup const&);
template std::unique_ptr<cpu::node_kernel> cpu::detail::compose_any<lazy>(module const&, node const&, view const*,
                                                                          view const*, int);
template rates cpu::measure_rates<lazy>(cpu::thread_team&);
#endif

template <int MostNodes, class InstructionSet>
int compiled_for<MostNodes, InstructionSet>::check() {
  return 1;
}
template struct compiled_for<max_nodes, void>;
#if MESHTENSOR_COMPILED_CPU
template struct compiled_for<max_nodes, cpu::instruction_set>;
#endif

}  // namespace meshtensor
