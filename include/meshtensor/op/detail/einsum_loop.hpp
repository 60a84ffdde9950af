// SPDX-License-Identifier: Apache-2.0
// Computes an einsum by plain loops over the dims of its operands and its result.
#pragma once

#include <cstdint>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/sum.hpp"
#include "meshtensor/graph/rule.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::detail {

template <class E>
void evaluate_einsum_as(evaluation const& e) {
  view const& y = e.results[0];
  int const n = e.n.operands.count;
  require(n <= 7, "T09: einsum takes at most 7 operands");
  walk<8> w;
  std::uint16_t dims[2 * max_dims_of_one];
  auto add = [&](view const& v) {
    for (int i = 0; i < v.count; ++i) {
      bool known = false;
      for (int k = 0; k < w.count; ++k) known = known || dims[k] == v.dim[i];
      if (known) continue;
      require(w.count < 2 * max_dims_of_one, "T46: an einsum has at most 20 dims");
      dims[w.count] = v.dim[i], w.extent[w.count++] = v.extent[i];
    }
  };
  add(y);
  int const kept = w.count;
  for (int i = 0; i < n; ++i) add(e.operands[i]);
  for (int i = 0; i < n; ++i) w.bind(i, e.operands[i], dims);
  w.bind(7, y, dims);
  std::int64_t inner = 1, outer = 1, run = 1, step[7] = {};
  for (int i = 0; i < w.count; ++i) (i < kept ? outer : inner) *= w.extent[i];
  if (inner == 0) w.count = kept;      // sums of no terms
  if (inner != 0 && w.count > kept) {  // along the last summed dim without the walk
    run = w.extent[--w.count], inner /= run;
    for (int i = 0; i < n; ++i) step[i] = w.stride[i][w.count];
  }
  for (std::int64_t o = 0; o < outer; ++o) {
    using term = typename wide_sum<E>::term;
    wide_sum<E> sum;
    std::int64_t const where = w.offset[7];
    for (std::int64_t k = 0; k < inner; ++k, w.next())
      for (std::int64_t r = 0; r < run; ++r) {
        auto product = static_cast<term>(e.operands[0].as<E>()[w.offset[0] + r * step[0]]);
        for (int i = 1; i < n; ++i) product *= static_cast<term>(e.operands[i].as<E>()[w.offset[i] + r * step[i]]);
        sum.add(product);
      }
    if (inner == 0) w.next();
    y.as<E>()[where] = sum.value();
  }
}

}  // namespace meshtensor::detail
