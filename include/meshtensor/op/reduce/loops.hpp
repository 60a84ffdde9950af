// SPDX-License-Identifier: Apache-2.0
// Computes reductions in plain loops.
#pragma once

#include <cstdint>

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/base/reduction.hpp"
#include "meshtensor/base/sum.hpp"
#include "meshtensor/graph/rule.hpp"
#include "meshtensor/op/detail/scalar.hpp"

namespace meshtensor {

/// The rule `evaluate` of reductions.
struct reduce_loops {
  template <dtypes Among = dtypes::all()>
  static bool evaluate(evaluation const& e) {
    return with_element<Among>(e.results[0].type, [&]<class E>() { evaluate_as<E>(e); });
  }

 private:
  template <class E>
  static void evaluate_as(evaluation const& e) {
    view const &x = e.operands[0], &y = e.results[0];
    auto const how = static_cast<reduction>(e.n.function);
    walk<2> w;
    std::uint16_t dims[2 * max_dims_of_one];
    for (int i = 0; i < y.count; ++i) dims[w.count] = y.dim[i], w.extent[w.count++] = y.extent[i];
    int const kept = w.count;
    for (int i = 0; i < x.count; ++i)
      if (y.find(x.dim[i]) < 0) dims[w.count] = x.dim[i], w.extent[w.count++] = x.extent[i];
    w.bind(0, x, dims), w.bind(1, y, dims);
    std::int64_t inner = 1, outer = 1;
    for (int i = 0; i < w.count; ++i) (i < kept ? outer : inner) *= w.extent[i];
    if (inner == 0) w.count = kept;  // of no elements, so the result changes no other rank's result
    function const chooses = how == reduction::max ? function::maximum : function::minimum;
    for (std::int64_t o = 0; o < outer; ++o) {
      std::int64_t const where = w.offset[1];
      wide_sum<E> sum;
      auto chosen = static_cast<arithmetic_t<E>>(inner == 0 ? E(neutral<E>(how)) : x.as<E>()[w.offset[0]]);
      for (std::int64_t k = 0; k < inner; ++k, w.next()) {
        E const v = x.as<E>()[w.offset[0]];
        if (how == reduction::sum) sum.add(v);
        else chosen = apply(chooses, chosen, static_cast<arithmetic_t<E>>(v));
      }
      if (inner == 0) w.next();
      y.as<E>()[where] = how == reduction::sum ? sum.value() : static_cast<E>(chosen);
    }
  }
};

}  // namespace meshtensor
