// SPDX-License-Identifier: Apache-2.0
// Writes numbers that follow from the position of each element or from the iteration.
#pragma once

#include "meshtensor/device/cuda/recording.hpp"

namespace meshtensor::cuda::detail {

inline node_work sequence_of(preparation& p, view const& y, char const* value) {
  std::string const type = type_text(y.type);
  prepared_kernel const k = p.over_elements(joined({"if (i < a.n[0]) ((", type, "*)a.p[", max_kernel_operands,
                                                    "])[i] = put<", type, ">(to<", type, ">(", value, "));\n"}),
                                            y.size());
  return [k](recording& to_do, evaluation const& e, address state, address) {
    launch_arguments a = arguments_of(e, state);
    a.n[0] = e.results[0].size();
    a.n[1] = e.results[0].count == 0 ? 0 : e.results[0].origin[0];
    to_do.launch(k, a);
  };
}

}  // namespace meshtensor::cuda::detail
