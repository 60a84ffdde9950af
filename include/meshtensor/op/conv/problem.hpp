// SPDX-License-Identifier: Apache-2.0
// The windows and tensors of a convolution as they are in memory.
#pragma once

#include <cstdint>

#include "meshtensor/base/window.hpp"
#include "meshtensor/graph/rule.hpp"
#include "meshtensor/op/conv/roles.hpp"
#include "meshtensor/op/detail/moved.hpp"

namespace meshtensor {

/// A convolution over the parts that a rank holds.
struct conv_in_memory : conv_roles {
  /// A window over the parts that a rank holds: where they begin, and how far elements are apart.
  struct window_in_memory {
    window_numbers window;
    int position[3];  // the position of its dim in each tensor, by role
    std::int64_t origin[3], extent[3], stride[3];
  };
  /// The windows of a node, and its tensors by role.
  struct problem {
    conv_direction direction;
    role roles[3];  // of operand 0, of operand 1, of the result
    view const* tensors[3];
    int count;
    window_in_memory windows[max_windows_of_one];

    /// `number(row)` returns the value of a row of the table of numbers.
    static problem of(module const& m, node const& n, view const* operands, view const& result, auto const& number) {
      conv_direction const which = conv_roles::direction(n);
      conv_attributes const a = conv_attributes::of(n);
      problem p{which, {operand_role(which, 0), operand_role(which, 1), result_role(which)}, {}, a.count, {}};
      view const* const all[] = {&operands[0], &operands[1], &result};
      for (int t = 0; t < 3; ++t) p.tensors[p.roles[t]] = all[t];
      for (int k = 0; k < a.count; ++k) {
        window_row const& row = m.windows[a.first + k];
        window_in_memory& w = p.windows[k];
        for (role r : {inputs, outputs, kernels}) {
          view const& v = *p.tensors[r];
          int const at = v.find(dim_of(row, r));
          w.position[r] = at, w.origin[r] = v.origin[at], w.extent[r] = v.extent[at], w.stride[r] = v.stride[at];
        }
        w.window = {row.stride, row.dilation, whole_number(number(row.low)), w.extent[kernels]};
      }
      return p;
    }
    bool is_windowed(role r, int position) const {
      for (int k = 0; k < count; ++k)
        if (windows[k].position[r] == position) return true;
      return false;
    }
  };
};

}  // namespace meshtensor
