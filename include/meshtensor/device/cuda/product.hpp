// SPDX-License-Identifier: Apache-2.0
// Computes an einsum of two blocks on the GPU, packed or not, as products of matrices by the library.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "meshtensor/device/cuda/box_copier.hpp"
#include "meshtensor/device/cuda/product/dim_group.hpp"
#include "meshtensor/device/cuda/product/packed_blocks.hpp"
#include "meshtensor/device/cuda/recording.hpp"

namespace meshtensor::cuda::detail {

/// The terms that are added to a product, with the alignment of their addresses: a number for each column of the
/// result, or another block with the result's dims.
struct added_terms {
  view const *offset = nullptr, *added = nullptr;
  int offset_alignment = 16, alignment = 16;

  bool any() const { return offset != nullptr || added != nullptr; }
};

/// A product of two blocks.
class pair_product {
 public:
  /// Makes the product of two blocks. Returns none if a dim that the result lacks is in one operand only, or if the
  /// GPU's library has no such product.
  static std::optional<pair_product> make(preparation& p, box_copier const& copier, view const& a, view const& b,
                                          view const& c, int const* alignment, added_terms const& terms = {}) {
    if (!is_float(c.type) || a.size() == 0 || b.size() == 0 || c.size() == 0) return {};
    for (view const* x : {&a, &b})
      for (int i = 0; i < x->count; ++i)
        if (c.find(x->dim[i]) < 0 && (a.find(x->dim[i]) < 0 || b.find(x->dim[i]) < 0)) return {};
    for (unsigned packed : {0u, 1u, 2u, 4u, 3u, 5u, 6u, 7u}) {  // bits for A, B and C, as few as possible
      pair_product made(copier, a, b, c);
      if (!made.is_natural(packed)) continue;
      if (made.describe(packed, alignment) && made.add_terms(terms, packed) && made.plan(p)) return made;
    }
    return {};
  }
  std::size_t workspace_bytes() const {
    return static_cast<std::size_t>(blocks_.packed_bytes[0] + blocks_.packed_bytes[1] + blocks_.packed_bytes[2]);
  }

  void record(recording& to_do, product_addresses const& addresses, address library_workspace,
              address workspace) const {
    address at[3] = {addresses.a, addresses.b, addresses.c}, next = workspace;
    for (int k = 0; k < 3; ++k) {
      if (blocks_.packed_bytes[k] == 0) continue;
      if (k < 2) move(to_do, blocks_.original[k], at[k], blocks_.packed[k], next);
      at[k] = next, next += blocks_.packed_bytes[k];
    }
    if (swapped_) std::swap(at[0], at[1]);
    auto const size = static_cast<std::int64_t>(bytes_of(blocks_.original[2].type));
    std::vector<address> all[3];
    std::int64_t index[max_dims_of_one] = {};
    for (bool more = true; more;) {
      std::int64_t offset[3] = {};
      for (std::size_t i = 0; i < loops_.size(); ++i)
        offset[0] += index[i] * loops_[i].first, offset[1] += index[i] * loops_[i].second,
            offset[2] += index[i] * loops_[i].third;
      for (int k = 0; k < 3; ++k) all[k].push_back(at[k] + offset[k] * size);
      std::size_t d = loops_.size();
      while (d > 0 && ++index[d - 1] == loops_[d - 1].extent) index[--d] = 0;
      more = d > 0;
    }
    if (product_.by_address) to_do.multiply(*plan_, all[0], all[1], all[2], library_workspace);
    else
      for (std::size_t i = 0; i < all[0].size(); ++i)
        to_do.multiply(*plan_, {all[0][i], all[1][i], all[2][i], addresses.offset, addresses.added}, library_workspace);
    if (blocks_.packed_bytes[2] != 0) move(to_do, blocks_.packed[2], at[2], blocks_.original[2], addresses.c);
  }

 private:
  pair_product(box_copier const& copier, view const& a, view const& b, view const& c)
      : copier_(&copier), blocks_{{a, b, c}, {a, b, c}} {}

  static constexpr std::int64_t most_loops = 8;         // the most products in sequence
  static constexpr std::int64_t most_addresses = 1024;  // the most products of one call by address

  /// Packing does not convert dtypes, and the library has no product of blocks of different dtypes.
  bool is_natural(unsigned) const {
    return blocks_.original[0].type == blocks_.original[2].type && blocks_.original[1].type == blocks_.original[2].type;
  }
  void move(recording& to_do, view x, address from, view y, address to) const {
    x.data = from, y.data = to;
    copier_->by_name(to_do, x, 0, y, 0, id{no_id}, id{no_id}, y.extent);
  }
  bool describe(unsigned packed, int const* alignment) {
    if ((packed & 1u) != 0) blocks_.pack(0, 1, 3);
    if ((packed & 2u) != 0) blocks_.pack(1, 3, 2);
    if ((packed & 4u) != 0) blocks_.pack(2, 1, 2);
    std::vector<dim_group> groups[4];
    auto const stride = [&](int k, int dim) {
      int const p = blocks_.packed[k].find(dim);
      return p < 0 ? std::int64_t{0} : blocks_.packed[k].stride[p];
    };
    auto const gather = [&](view const& order, bool summed) {
      for (int i = 0; i < order.count; ++i) {
        int const dim = order.dim[i];
        if ((blocks_.role(dim) == 3) == summed)
          join_dims(groups[blocks_.role(dim)], {order.extent[i], stride(0, dim), stride(1, dim), stride(2, dim)});
      }
    };
    gather(blocks_.packed[2], false), gather(blocks_.packed[0], true);
    if (groups[3].size() > 1) return false;
    std::vector<dim_group> batch = groups[0];
    dim_group const k = groups[3].empty() ? dim_group{} : groups[3][0];
    dim_group m = take_matrix_dims(groups[1]), n = take_matrix_dims(groups[2]);
    for (dim_group const& g : groups[1]) batch.push_back(g);
    for (dim_group const& g : groups[2]) batch.push_back(g);
    // The library's matrices are column-major. If C is row-major, its transpose is computed.
    bool const row_major = n.third == 1 || (m.third != 1 && m.extent == 1);
    product_ = {};
    product_.type = blocks_.original[2].type;
    std::int64_t a_row = m.first, a_column = k.first, b_row = k.second, b_column = n.second, c_row = m.third,
                 c_column = n.third;
    swapped_ = row_major;
    if (row_major) {
      std::swap(m, n);
      a_row = m.second, a_column = k.second, b_row = k.first, b_column = n.first, c_row = m.third, c_column = n.third;
      for (dim_group& g : batch) std::swap(g.first, g.second);
    }
    product_.m = m.extent, product_.n = n.extent, product_.k = k.extent;
    if (!describe_matrix(m.extent, a_row, k.extent, a_column, product_.transposed_a, product_.lda) ||
        !describe_matrix(k.extent, b_row, n.extent, b_column, product_.transposed_b, product_.ldb))
      return false;
    bool transposed = false;
    if (!describe_matrix(m.extent, c_row, n.extent, c_column, transposed, product_.ldc) || transposed) return false;
    loops_ = std::move(batch);
    products_ = 1;
    for (dim_group const& g : loops_) products_ *= g.extent;
    if (loops_.size() > 1 && products_ > most_addresses) return false;
    // All addresses are aligned as the blocks and as the steps between their parts.
    auto const size = static_cast<std::int64_t>(bytes_of(product_.type));
    std::int64_t steps = 16;
    for (int i = 0; i < 3; ++i) steps = std::min<std::int64_t>(steps, blocks_.packed_bytes[i] != 0 ? 16 : alignment[i]);
    auto const divides = [&](std::int64_t elements) {
      while (steps > size && (elements * size) % steps != 0) steps /= 2;
    };
    for (dim_group const& g : loops_) divides(g.first), divides(g.second), divides(g.third);
    product_.alignment = static_cast<int>(steps);
    return true;
  }
  /// Adds terms to a product. The product must be one matrix that is not copied, and the terms must have the layout
  /// that the library needs.
  bool add_terms(added_terms const& terms, unsigned packed) {
    if (!terms.any()) return true;
    if ((packed & 4u) != 0 || !loops_.empty()) return false;
    if (terms.offset != nullptr) {
      if (!is_laid_out_along_rows(*terms.offset)) return false;
      product_.adds_offset = true, product_.offset_alignment = terms.offset_alignment;
    }
    if (terms.added != nullptr) {
      if (!is_laid_out_as_result(*terms.added)) return false;
      product_.adds_matrix = true, product_.alignment = std::min(product_.alignment, terms.alignment);
    }
    return true;
  }
  /// The role of those dims that are the rows of the library's matrix.
  int rows_role() const { return swapped_ ? 2 : 1; }
  bool is_laid_out_along_rows(view const& v) const {
    std::int64_t step = 1;
    int dims = 0;
    view const& c = blocks_.original[2];
    for (int i = c.count; i-- > 0;) {
      if (blocks_.role(c.dim[i]) != rows_role()) continue;
      int const p = v.find(c.dim[i]);
      if (p < 0 || (v.extent[p] != 1 && v.stride[p] != step)) return false;
      step *= v.extent[p], ++dims;
    }
    return dims == v.count;
  }
  /// Whether rows have the same layout as those of the result, and columns have equal distances. If so, `ld_added` is
  /// set to this distance.
  bool is_laid_out_as_result(view const& v) {
    view const& c = blocks_.original[2];
    std::int64_t line = product_.ldc;
    for (int i = 0; i < c.count; ++i) {  // finds the stride of the innermost dim of the columns
      int const p = v.find(c.dim[i]);
      if (p < 0) return false;
      if (c.extent[i] != 1 && blocks_.role(c.dim[i]) != rows_role() && c.stride[i] == product_.ldc) line = v.stride[p];
    }
    for (int i = 0; i < c.count; ++i) {
      std::int64_t const step = v.stride[v.find(c.dim[i])];
      if (c.extent[i] == 1) continue;
      if (blocks_.role(c.dim[i]) == rows_role() ? step != c.stride[i] : step * product_.ldc != c.stride[i] * line)
        return false;
    }
    product_.ld_added = line;
    return line >= product_.m;
  }
  /// Plans one batch with equal steps if there is only one batch dim. Otherwise it plans a batch by address, or a few
  /// products in sequence.
  bool plan(preparation& p) {
    if (loops_.size() > 1) {
      product_.by_address = true, product_.batch = products_;
      if ((plan_ = p.device.plan(product_)) != nullptr) return true;
      product_.by_address = false;
    }
    product_.batch = 1;
    if (!loops_.empty()) {
      std::size_t largest = 0;
      for (std::size_t i = 1; i < loops_.size(); ++i)
        if (loops_[i].extent > loops_[largest].extent) largest = i;
      dim_group const g = loops_[largest];
      loops_.erase(loops_.begin() + static_cast<std::ptrdiff_t>(largest));
      product_.batch = g.extent, product_.step_a = g.first, product_.step_b = g.second, product_.step_c = g.third;
    }
    if (products_ / product_.batch > most_loops) return false;
    plan_ = p.device.plan(product_);
    return plan_ != nullptr;
  }

  box_copier const* copier_;
  packed_blocks blocks_;
  bool swapped_ = false;
  gemm product_;
  std::vector<dim_group> loops_;  // batch dims, without that of equal steps
  std::int64_t products_ = 1;
  std::shared_ptr<product_plan> plan_;
};

}  // namespace meshtensor::cuda::detail
