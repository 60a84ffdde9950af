// SPDX-License-Identifier: Apache-2.0
// The cpu device's kernels of single operations, compiled once for all programs.
#include <meshtensor/run/extern_templates.hpp>

namespace meshtensor {

#if MESHTENSOR_COMPILED_CPU
template class cpu::attention<float, float>;
template class cpu::attention<double, double>;
template class cpu::attention<float, bf16_t>;
template std::unique_ptr<cpu::node_kernel> cpu::prepare_node<primitives::all()>(cpu::node_setup const&);
#endif

}  // namespace meshtensor
