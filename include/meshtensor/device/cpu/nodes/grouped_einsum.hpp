// SPDX-License-Identifier: Apache-2.0
// grouped_einsum: packs the rows of each group next to each other, and multiplies them in blocks of a few sizes,
// because products are prepared for these sizes alone.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/device/cpu/copy.hpp"
#include "meshtensor/device/cpu/load.hpp"
#include "meshtensor/device/cpu/nodes/einsum.hpp"
#include "meshtensor/device/cpu/nodes/grouped_einsum/result_rows.hpp"
#include "meshtensor/device/cpu/nodes/grouped_einsum/row_packing.hpp"
#include "meshtensor/device/cpu/nodes/grouped_einsum/row_starts.hpp"
#include "meshtensor/device/cpu/nodes/grouped_einsum/sorted_rows.hpp"
#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/device/cpu/product.hpp"
#include "meshtensor/op/grouped_einsum.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

template <class Any = lazy>
class grouped_einsum_kernel final : public node_kernel {
 public:
  /// Whether the tensor with the groups has no dim of the index, and no operand has a summed dim of its own.
  static constexpr bool takes(module const& m, node const& n) {
    int const groups = grouped_einsum_attributes::of(n).groups;
    shape const &a = m.operand_value(n, 0).dims, &b = m.operand_value(n, 1).dims, &index = m.operand_value(n, 2).dims,
                &y = m.result_value(n).dims;
    shape const& table = a.has(groups) ? a : b.has(groups) ? b : y;
    for (int i = 0; i < index.count; ++i)
      if (table.has(index.at[i])) return false;
    for (shape const* x : {&a, &b})
      for (int i = 0; i < x->count; ++i) {
        int const d = x->at[i];
        if (d != groups && !index.has(d) && !y.has(d) && !(a.has(d) && b.has(d))) return false;
      }
    for (int i = 0; i < y.count; ++i) {
      int const d = y.at[i];
      if (d != groups && !index.has(d) && !a.has(d) && !b.has(d)) return false;
    }
    return united(y, index).count < max_batch_dims;
  }
  static std::unique_ptr<node_kernel> prepare(node_setup const& s) {
    if (!takes(s.m, s.n)) return nullptr;
    for (int i = 0; i < s.n.operands.count; ++i)
      if (s.operands[i].size() == 0) return std::make_unique<sums_of_nothing>();
    if (s.result.size() == 0) return std::make_unique<sums_of_nothing>();
    auto kernel = std::make_unique<grouped_einsum_kernel>(s);
    return kernel->is_complete_ ? std::move(kernel) : nullptr;
  }

  explicit grouped_einsum_kernel(node_setup const& s) {
    view const &a = s.operands[0], &b = s.operands[1], &index = s.operands[2], &y = s.result;
    int const dim = grouped_einsum_attributes::of(s.n).groups;
    with_groups_ = a.find(dim) >= 0 ? 0 : b.find(dim) >= 0 ? 1 : 2;
    view const& table = with_groups_ == 0 ? a : with_groups_ == 1 ? b : y;
    int const along = table.find(dim);
    groups_ = table.extent[along], step_ = table.stride[along];
    rows_ = detail::sorted_rows(index, groups_, table.origin[along], table.total[along]);

    dtype const wide = accumulator_of(y.type);
    view const part = detail::row_of(table, index, dim);  // of one group
    view blocks[3];                                       // of the operands and the result
    for (int i = 0; i < 3; ++i) {
      view const& x = i == 2 ? y : s.operands[i];
      if (i == with_groups_ && i < 2) blocks[i] = part;
      if (i == with_groups_) continue;
      view const source = detail::row_of(x, index, dim), row = detail::dense(source, i == 2 ? wide : x.type);
      packed_[i] = {row, copy_by_name(source, row, no_id, no_id, row.extent), detail::row_starts(index, x), row.size(),
                    static_cast<std::int64_t>(bytes_of(row.type))};
    }
    if (with_groups_ == 2) {
      total_row_ = part;
      sum_ = y.type == wide ? part : detail::dense(part, wide);
      if (y.type != wide) sum_bytes_ = padded(sum_.bytes());
      blocks[2] = sum_;
    } else {
      view const row = detail::row_of(y, index, dim);
      results_ = detail::result_rows(index, y, row);
    }
    is_complete_ = true;
    for (int k = 0; k < rows_.sizes; ++k) {
      if (rows_.size_of[k] > rows_.room()) continue;
      for (int i = 0; i < 3; ++i)
        if (i != with_groups_) blocks[i] = detail::stacked(packed_[i].row, dim, rows_.size_of[k]);
      auto made = pair_product::make(blocks[0], blocks[1], blocks[2], s.threads, with_groups_ == 2);
      is_complete_ = is_complete_ && made.has_value();
      if (!made) return;
      product_bytes_ = std::max(product_bytes_, padded(made->workspace_bytes()));
      products_[k] = std::move(made);
    }
  }
  std::int64_t workspace_bytes() const override {
    std::int64_t all = product_bytes_ + sum_bytes_;
    for (int i = 0; i < 3; ++i)
      if (i != with_groups_) all += bytes_of_packed(i);
    return all;
  }
  void run(evaluation const& e, std::byte* workspace, thread_team& team) override {
    rows_.sort(e.operands[2]);
    std::byte* next = workspace + product_bytes_ + sum_bytes_;
    std::byte* at[3] = {};
    for (int i = 0; i < 3; ++i)
      if (i != with_groups_) at[i] = next, next += bytes_of_packed(i);
    for (int i = 0; i < 2; ++i)
      if (i != with_groups_) packed_[i].pack(e.operands[i], rows_, at[i], team);
    if (with_groups_ == 2) return sum_groups(e.results[0], at, workspace, team);
    view const& table = e.operands[with_groups_];
    auto const bytes = static_cast<std::int64_t>(bytes_of(table.type));
    for (std::int64_t g = 0; g < groups_; ++g) {
      at[with_groups_] = table.as<std::byte>() + g * step_ * bytes;
      rows_.each_block(g, [&](int k, std::int64_t first) { multiply(k, first, at, workspace, team); });
    }
    results_.unpack(e.results[0], rows_, at[2], packed_[2].elements, team);
  }

 private:
  static std::int64_t padded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }
  std::int64_t bytes_of_packed(int i) const {
    return padded(rows_.room() * packed_[i].elements * packed_[i].bytes_of_element);
  }

  void multiply(int k, std::int64_t first, std::byte* const* at, std::byte* workspace, thread_team& team) {
    std::byte* from[3];
    for (int i = 0; i < 3; ++i)
      from[i] = i == with_groups_ ? at[i] : at[i] + first * packed_[i].elements * packed_[i].bytes_of_element;
    products_[k]->template run<Any>(from[0], from[1], from[2], workspace, team);
  }

  /// Computes the sums of each group in the accumulator's type.
  void sum_groups(view const& y, std::byte** at, std::byte* workspace, thread_team& team) {
    std::byte* const own = workspace + product_bytes_;
    clear_bytes(y.data, y.bytes());
    auto const bytes = static_cast<std::int64_t>(bytes_of(y.type));
    for (std::int64_t g = 0; g < groups_; ++g) {
      if (rows_.is_empty(g)) continue;
      std::byte* const to = y.as<std::byte>() + g * step_ * bytes;
      at[2] = sum_bytes_ == 0 ? to : own;
      clear_bytes(own, sum_bytes_);
      rows_.each_block(g, [&](int k, std::int64_t first) { multiply(k, first, at, workspace, team); });
      if (sum_bytes_ != 0) round(own, to);
    }
  }
  void round(std::byte const* sums, std::byte* to) const {
    with_element(total_row_.type, [&]<class E>() {
      walk<1> w;
      for (int i = 0; i < total_row_.count; ++i)
        w.stride[0][i] = total_row_.stride[i], w.extent[w.count++] = total_row_.extent[i];
      auto const* const from = reinterpret_cast<sum_t<E> const*>(sums);
      std::int64_t i = 0;
      do reinterpret_cast<E*>(to)[w.offset[0]] = detail::element_of<E>(from[i++]);
      while (w.next());
    });
  }

  int with_groups_ = 0;  // the operand that has the groups, or 2 if the result has them
  bool is_complete_ = false;
  std::int64_t groups_ = 0, step_ = 0;
  std::int64_t product_bytes_ = 0, sum_bytes_ = 0;
  detail::sorted_rows rows_;
  detail::row_packing packed_[3];
  detail::result_rows results_;
  view total_row_{}, sum_{};
  std::optional<pair_product> products_[detail::sorted_rows::sizes];
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
