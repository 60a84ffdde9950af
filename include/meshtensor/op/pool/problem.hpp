// SPDX-License-Identifier: Apache-2.0
// The windows of a pool as they are in memory.
#pragma once

#include <cstdint>

#include "meshtensor/base/window.hpp"
#include "meshtensor/graph/rule.hpp"
#include "meshtensor/op/detail/moved.hpp"
#include "meshtensor/op/pool/steps.hpp"

namespace meshtensor {

/// A pool over the parts that a rank holds.
struct pool_in_memory : pool_steps {
  /// A window over the parts that a rank holds.
  struct window_in_memory {
    window_numbers window;
    int at;                          // the position of its dim, in operands and result alike
    std::int64_t from_origin, from;  // of operand 0: where its part begins, and how long it is
    std::int64_t to_origin, to;      // of the result: likewise
    bool back;

    /// The index in operand 0 that element `w` of the window relates to index `i` of the result, or -1 if there is
    /// none.
    std::int64_t related(std::int64_t i, std::int64_t w) const {
      std::int64_t index = 0;
      if (back) {
        std::int64_t const reached = i + to_origin + window.low - window.dilation * w;
        if (reached < 0 || reached % window.stride != 0) return -1;
        index = reached / window.stride - from_origin;
      } else {
        index = window.input(i + to_origin, w) - from_origin;
      }
      return index < 0 || index >= from ? -1 : index;
    }
  };
  struct problem {
    pool_step step;
    int count;
    std::int64_t elements;  // the number of elements of all windows together
    window_in_memory windows[max_windows_of_one];

    static problem of(evaluation const& e) {
      pool_attributes const a = pool_attributes::of(e.n);
      problem p{step_of(e.n), a.count, pool_steps::elements(e.m, a), {}};
      view const &x = e.operands[0], &y = e.results[0];
      for (int k = 0; k < a.count; ++k) {
        window_row const& row = e.m.windows[a.first + k];
        bool const back = leads_back(p.step);
        int const at = x.find(back ? row.output : row.input);
        p.windows[k] = {
            {row.stride, row.dilation, whole_number(e.context.numbers[row.low]), e.m.dims[row.kernel].value},
            at,
            x.origin[at],
            x.extent[at],
            y.origin[at],
            y.extent[at],
            back};
      }
      return p;
    }
    bool is_windowed(int at) const { return window_at(at) >= 0; }
    int window_at(int at) const {
      for (int k = 0; k < count; ++k)
        if (windows[k].at == at) return k;
      return -1;
    }
  };
};

}  // namespace meshtensor
