// SPDX-License-Identifier: Apache-2.0
// The cpu device's engine, compiled once for all programs.
#include <meshtensor/run/extern_templates.hpp>

namespace meshtensor {

#if MESHTENSOR_COMPILED_CPU
template class engine<cpu_device>;
template class session<cpu_device>;
template void cpu::interpret<lazy>(cpu::fused_kernel&);
template std::unique_ptr<cpu::node_kernel> cpu::detail::compose_any<lazy>(module const&, node const&, view const*,
                                                                          view const*, int);
template rates cpu::measure_rates<lazy>(cpu::thread_team&);
#endif

}  // namespace meshtensor
