// SPDX-License-Identifier: Apache-2.0
// Computes pools in plain loops.
#pragma once

#include <cstdint>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/dtype.hpp"
#include "meshtensor/base/sum.hpp"
#include "meshtensor/graph/rule.hpp"
#include "meshtensor/op/detail/scalar.hpp"
#include "meshtensor/op/pool/problem.hpp"

namespace meshtensor {

/// The rule `evaluate` of pools.
struct pool_loops : pool_in_memory {
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    with_element(e.operands[0].type, [&]<class E>() { evaluate_as<E>(e); });
  }

 private:
  template <class E>
  static void evaluate_as(evaluation const& e) {
    problem const p = problem::of(e);
    view const &x = e.operands[0], &y = e.results[0];
    walk<1> w;
    for (int i = 0; i < y.count; ++i) w.extent[w.count++] = y.extent[i];
    w.bind(0, y, y.dim);
    if (w.empty()) return;
    bool const by_position = has_positions(p.step), back = leads_back(p.step);
    do {
      std::int64_t whole = 0, whole_position = 0;  // the offsets without the terms of windows
      for (int i = 0; i < y.count; ++i) {
        if (!p.is_windowed(i)) whole += w.index[i] * x.stride[i];
        if (by_position && !(back && p.is_windowed(i))) whole_position += w.index[i] * e.operands[1].stride[i];
      }
      wide_sum<E> sum;
      E best{};
      std::int32_t found = nowhere;
      std::int64_t place[max_windows_of_one] = {};  // the index in each window that `position` stands for
      for (std::int64_t position = 0; position < p.elements; ++position) {
        std::int64_t from = whole, position_from = whole_position;
        bool related = true;
        for (int k = 0; k < p.count && related; ++k) {
          int const at = p.windows[k].at;
          std::int64_t const index = p.windows[k].related(w.index[at], place[k]);
          related = index >= 0;
          from += index * x.stride[at];
          if (by_position && back) position_from += index * e.operands[1].stride[at];
        }
        for (int k = p.count; k-- > 0 && ++place[k] == p.windows[k].window.size;) place[k] = 0;
        if (!related) continue;
        if (by_position && e.operands[1].template as<std::int32_t>()[position_from] != position) continue;
        E const element = x.as<E>()[from];
        if (p.step != pool_step::position) sum.add(element);
        else if (found == nowhere || is_greater<arithmetic_t<E>>(element, best))
          found = static_cast<std::int32_t>(position), best = element;
        if (p.step == pool_step::pick) best = element;
      }
      if (p.step == pool_step::position) y.as<std::int32_t>()[w.offset[0]] = found;
      else y.as<E>()[w.offset[0]] = p.step == pool_step::pick ? best : sum.value();
    } while (w.next());
  }
};

}  // namespace meshtensor
