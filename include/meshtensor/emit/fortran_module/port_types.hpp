// SPDX-License-Identifier: Apache-2.0
// Names the types of inputs and outputs in Fortran.
#pragma once

#include <string>
#include <vector>

#include "meshtensor/emit/guest_interface.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

inline char const* fortran_type_of(dtype t) {
  constexpr char const* names[] = {"real(c_double)",     "real(c_float)",      "integer(c_int16_t)",
                                   "integer(c_int32_t)", "integer(c_int64_t)", "integer(c_int8_t)",
                                   "logical(c_bool)"};
  return names[static_cast<int>(t)];
}
/// `real(c_double), field(x, y)`: the dims in the order of Fortran.
inline std::string fortran_text(guest_port const& p) {
  std::vector<std::string> const back(p.dims.rbegin(), p.dims.rend());
  char const* const note = p.type == dtype::bf16 ? ", the upper 16 bits of reals"
                           : p.type == dtype::u8 ? ", the bits of unsigned bytes"
                                                 : "";
  return std::string(fortran_type_of(p.type)) + ", " + p.word + (back.empty() ? "" : "(" + listed(back) + ")") + note;
}

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
