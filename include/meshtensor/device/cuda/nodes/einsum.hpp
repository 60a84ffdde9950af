// SPDX-License-Identifier: Apache-2.0
// Runs einsum on the GPU by products of matrices of the library, if its operands are two blocks that allow it,
// packed or not. Otherwise a loop runs over the summed dims for each element.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "meshtensor/device/cuda/nodes/node_setup.hpp"
#include "meshtensor/device/cuda/product.hpp"
#include "meshtensor/device/cuda/text/index.hpp"

namespace meshtensor::cuda {

namespace detail {

/// Makes a kernel with one thread for each element of the result. It multiplies all operands from left to right, and
/// adds the products in a fixed order.
inline node_work loop_over_sums(preparation& p, node const& n, view const* operands, view const& y) {
  std::string t = joined({"if (i >= ", y.size(), "ll) return;\n"}), terms;
  index_text outer, inner;
  auto const count = static_cast<std::size_t>(n.operands.count);
  auto const strides = [&](int dim, bool with_result) {
    std::vector<std::int64_t> all;
    for (std::size_t k = 0; k < count; ++k) {
      int const q = operands[k].find(dim);
      all.push_back(q < 0 ? 0 : operands[k].stride[q]);
    }
    if (with_result) all.push_back(y.stride[y.find(dim)]);
    return all;
  };
  for (int i = 0; i < y.count; ++i) outer.add(y.extent[i], strides(y.dim[i], true));
  std::vector<int> seen;
  for (std::size_t k = 0; k < count; ++k)
    for (int i = 0; i < operands[k].count; ++i) {
      int const dim = operands[k].dim[i];
      if (y.find(dim) >= 0 || std::find(seen.begin(), seen.end(), dim) != seen.end()) continue;
      seen.push_back(dim);
      inner.add(operands[k].extent[i], strides(dim, false));
    }
  std::string const sum = std::string("sum<") + type_text(y.type) + ">";
  for (std::size_t k = 0; k < count; ++k) {
    std::string const x =
        joined({"(", sum, ")get(((const ", type_text(operands[k].type), "*)a.p[", k, "])[f", k, " + g", k, "])"});
    terms = k == 0 ? x : joined({"do_multiply(", terms, ", ", x, ")"});
  }
  add(t, {outer.text("i", "f", count + 1),
          "running<sums, ",
          type_text(y.type),
          "> r;\nfor (i64 j = 0; j < ",
          inner.count(),
          "ll; ++j) {\n",
          inner.text("j", "g", count),
          "r.add(",
          terms,
          ");\n}\n((",
          type_text(y.type),
          "*)a.p[",
          max_kernel_operands,
          "])[f",
          count,
          "] = put<",
          type_text(y.type),
          ">(to<",
          type_text(y.type),
          ">(r.total()));\n"});
  prepared_kernel const k = p.over_elements(t, y.size());
  return just(k);
}

}  // namespace detail

inline node_work einsum_of(node_setup const& s) {
  preparation& p = s.p;
  if (s.n.operands.count == 2)
    if (auto made = detail::pair_product::make(p, s.copier, s.operands[0], s.operands[1], s.result, s.alignment)) {
      std::size_t const library = (p.device.workspace_bytes() + 255) / 256 * 256;
      p.reserve(library + made->workspace_bytes());
      auto const pair = std::make_shared<detail::pair_product>(std::move(*made));
      return [pair, library](recording& to_do, evaluation const& e, address, address workspace) {
        pair->record(to_do,
                     {e.operands[0].as<std::byte>(), e.operands[1].as<std::byte>(), e.results[0].as<std::byte>()},
                     workspace, workspace + library);
      };
    }
  return detail::loop_over_sums(p, s.n, s.operands, s.result);
}

}  // namespace meshtensor::cuda
