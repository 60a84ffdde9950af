// SPDX-License-Identifier: Apache-2.0
// Writes CUDA text for the moving windows of convolutions and pools. It computes which input, output and window element
// meet.
#pragma once

#include <algorithm>

#include "meshtensor/base/window.hpp"
#include "meshtensor/device/cuda/text/kernel_texts.hpp"
#include "meshtensor/graph/module.hpp"

namespace meshtensor::cuda::detail {

/// Reads the padding before each window's dim, a number of the module, as `low0`, `low1`, ...
inline std::string paddings_text(module const& m, int first, int count) {
  std::string t;
  for (int k = 0; k < count; ++k)
    add(t, {"const i64 low", k, " = number<i64>(a, ", static_cast<int>(m.windows[first + k].low), ");\n"});
  return t;
}

/// A window as an operand sees it. `back` is true if the operand has the window's outputs, and false if it has its
/// inputs.
struct window_in_text {
  window_numbers window;  // all but the padding
  bool back;
  std::int64_t origin, extent;  // of the operand along the window's dim
  std::int64_t other_origin;    // of the tensor at the window's other end
};

/// Writes `x<k>`, the operand's index that meets index `other` of the other end in element `element` of the window. If
/// there is none, `meets` becomes false.
inline std::string meeting_text(int k, window_in_text const& w, std::string const& other, std::string const& element) {
  std::string t;
  if (w.back) {
    add(t, {"const i64 reached",
            k,
            " = ",
            other,
            " + ",
            w.other_origin,
            "ll + low",
            k,
            " - ",
            element,
            " * ",
            w.window.dilation,
            "ll, x",
            k,
            " = reached",
            k,
            " / ",
            w.window.stride,
            "ll - ",
            w.origin,
            "ll;\nmeets = meets && reached",
            k,
            " >= 0 && reached",
            k,
            " % ",
            w.window.stride,
            "ll == 0 && x",
            k,
            " >= 0 && x",
            k,
            " < ",
            w.extent,
            "ll;\n"});
  } else {
    add(t, {"const i64 x",
            k,
            " = (",
            other,
            " + ",
            w.other_origin,
            "ll) * ",
            w.window.stride,
            "ll + ",
            element,
            " * ",
            w.window.dilation,
            "ll - low",
            k,
            " - ",
            w.origin,
            "ll;\nmeets = meets && x",
            k,
            " >= 0 && x",
            k,
            " < ",
            w.extent,
            "ll;\n"});
  }
  return t;
}

/// Writes the indices `<name>0`, `<name>1`, ... along dims for `index`. The last dim varies fastest.
inline std::string indices_text(std::string const& index, std::string const& name,
                                std::vector<std::int64_t> const& extents) {
  std::int64_t all = 1;
  for (std::int64_t n : extents) all *= n;
  char const* const type = all < (std::int64_t{1} << 31) ? "u32" : "u64";
  std::string t = joined({type, " ", name, "r = (", type, ")(", index, "); (void)", name, "r;\n"});
  for (std::size_t d = extents.size(); d-- > 0;) {
    std::int64_t const n = std::max<std::int64_t>(1, extents[d]);
    if (d == 0) add(t, {"const i64 ", name, d, " = ", name, "r; (void)", name, d, ";\n"});
    else add(t, {"const i64 ", name, d, " = ", name, "r % ", n, "u; (void)", name, d, "; ", name, "r /= ", n, "u;\n"});
  }
  return t;
}

/// Appends ` + <index> * <stride>`, or nothing for a stride of 0.
inline void add_offset(std::string& to, std::string const& index, std::int64_t stride) {
  if (stride != 0) add(to, {" + ", index, " * ", stride, "ll"});
}

}  // namespace meshtensor::cuda::detail
