// SPDX-License-Identifier: Apache-2.0
// Runs the composite `product_epilogue` on the GPU. If possible, the library adds a bias and another matrix to its
// product. Otherwise, a kernel adds both to the product.
#pragma once

#include "meshtensor/device/cuda/nodes/einsum.hpp"
#include "meshtensor/device/cuda/product.hpp"
#include "meshtensor/pass/fuse/epilogue.hpp"

namespace meshtensor::cuda {

/// The largest number of operands of a product with its epilogue.
inline constexpr int most_product_operands = 4;

namespace detail {

/// Makes a kernel with one thread for each element, which adds the terms to the product. Each sum is rounded to the
/// element's type.
inline prepared_kernel addition_of(preparation& p, view const& y, view const& product, view const* offset,
                                   view const* added) {
  index_text at;
  view const none{};
  for (int i = 0; i < y.count; ++i)
    at.add(y, i, {&y, &product, offset == nullptr ? &none : offset, added == nullptr ? &none : added});
  std::string const type = type_text(y.type);
  std::string t = joined({"if (i >= ", y.size(), "ll) return;\n", at.text("i", "f", 4), "reg<", type,
                          "> r = get(((const ", type, "*)a.p[30])[f1]);\n"});
  int operand = 2;
  for (int k = 0; k < 2; ++k)
    if ((k == 0 ? offset : added) != nullptr)
      add(t, {"r = to<", type, ">(do_add(r, get(((const ", type, "*)a.p[", operand++, "])[f", k + 2, "])));\n"});
  add(t, {"((", type, "*)a.p[", max_kernel_operands, "])[f0] = put<", type, ">(r);\n"});
  return p.over_elements(t, y.size());
}

}  // namespace detail

/// The work of such a composite. `alignment` has the alignment of each operand's address and, at index
/// `most_product_operands`, that of the result's address.
inline node_work product_epilogue_of(preparation& p, box_copier const& copier, node const& n, view const* operands,
                                     view const& result, int const* alignment) {
  epilogue_form const form = epilogue_form_of(p.m, n);
  int const at_added = 2 + form.offset;
  view const* const offset = form.offset ? operands + 2 : nullptr;
  view const* const added = form.sum ? operands + at_added : nullptr;
  int const aligned[] = {alignment[0], alignment[1], alignment[most_product_operands]};
  detail::added_terms const terms{offset, added, alignment[2], alignment[at_added]};
  if (auto made = detail::pair_product::make(p, copier, operands[0], operands[1], result, aligned, terms)) {
    std::size_t const library = (p.device.workspace_bytes() + 255) / 256 * 256;
    p.reserve(library + made->workspace_bytes());
    auto const pair = std::make_shared<detail::pair_product>(std::move(*made));
    return [=](recording& to_do, evaluation const& e, address, address workspace) {
      auto const at = [&](int k) { return e.operands[k].as<std::byte>(); };
      pair->record(to_do,
                   {at(0), at(1), e.results[0].as<std::byte>(), form.offset ? at(2) : nullptr,
                    form.sum ? at(at_added) : nullptr},
                   workspace, workspace + library);
    };
  }
  view product = result;
  product.densify();
  auto const bytes = static_cast<std::size_t>((product.bytes() + 255) / 256 * 256);
  std::size_t const before = std::exchange(p.workspace, 0);
  node_work const multiply =
      einsum_of({p, copier, p.m.nodes[form.product], operands, product, {alignment[0], alignment[1], 16}});
  p.workspace = std::max(before, bytes + p.workspace);
  prepared_kernel const addition = detail::addition_of(p, result, product, offset, added);
  return [=](recording& to_do, evaluation const& e, address state, address workspace) {
    view made = product;
    made.data = workspace;
    multiply(to_do, {e.m, e.m.nodes[form.product], e.operands, &made, e.context}, state, workspace + bytes);
    launch_arguments a = arguments_of(e, state);
    a.p[30] = workspace;
    to_do.launch(addition, a);
  };
}

}  // namespace meshtensor::cuda
