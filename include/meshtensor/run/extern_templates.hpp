// SPDX-License-Identifier: Apache-2.0
// Declares the engines and sessions that a build links instead of compiling them with each program
// (MESHTENSOR_COMPILED, the target meshtensor::compiled). Other linked functions are declared in their own headers.
#pragma once

#include "meshtensor/device/reference.hpp"
#include "meshtensor/run/session.hpp"

#if MESHTENSOR_COMPILED_CPU
#  include "meshtensor/device/cpu/device.hpp"
#endif

namespace meshtensor {

#if MESHTENSOR_COMPILED
extern template class engine<reference_device>;
extern template class session<reference_device>;
#  if MESHTENSOR_COMPILED_CPU
extern template class engine<cpu_device>;
extern template class session<cpu_device>;
namespace cpu {
extern template class attention<float, float>;
extern template class attention<double, double>;
extern template class attention<float, bf16_t>;
}  // namespace cpu
#  endif

/// If the library was built with other settings than the program, linking fails because this symbol is missing.
template <int MostNodes, class InstructionSet>
struct compiled_for {
  static int check();
};
#  if MESHTENSOR_COMPILED_CPU
inline int const links_well = compiled_for<max_nodes, cpu::instruction_set>::check();
#  else
inline int const links_well = compiled_for<max_nodes, void>::check();
#  endif
#endif

}  // namespace meshtensor
