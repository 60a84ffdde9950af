// SPDX-License-Identifier: Apache-2.0
// grouped_einsum: packs the rows of each group next to each other, and multiplies them in blocks of a few sizes,
// because products are prepared for these sizes alone.
#pragma once

#include <vector>

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/device/cpu/load.hpp"
#include "meshtensor/device/cpu/nodes/einsum.hpp"
#include "meshtensor/op/grouped_einsum.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

namespace detail {

/// Finds where a row begins in a tensor, by those of its dims that the index has, in the order of the index.
struct row_starts {
  int count = 0;
  std::int64_t extent[max_dims_of_one], stride[max_dims_of_one];

  row_starts() = default;
  row_starts(view const& index, view const& x) {
    for (int i = 0; i < index.count; ++i) add(index, i, x);
  }
  void add(view const& index, int i, view const& x) {
    int const p = x.find(index.dim[i]);
    extent[count] = index.extent[i], stride[count++] = p < 0 ? 0 : x.stride[p];
  }
  std::int64_t number() const {
    std::int64_t n = 1;
    for (int i = 0; i < count; ++i) n *= extent[i];
    return n;
  }
  std::int64_t operator()(std::int64_t row) const {
    std::int64_t at = 0;
    for (int i = count; i-- > 0; row /= extent[i]) at += row % extent[i] * stride[i];
    return at;
  }
};

/// `x` without the dims of the index, and without one more dim.
inline view row_of(view const& x, view const& index, int without) {
  view r = x;
  r.count = 0;
  for (int i = 0; i < x.count; ++i)
    if (x.dim[i] != without && index.find(x.dim[i]) < 0)
      r.dim[r.count] = x.dim[i], r.extent[r.count] = x.extent[i], r.stride[r.count++] = x.stride[i];
  return r;
}
inline view dense(view r, dtype type) {
  r.type = type;
  r.densify();
  return r;
}
/// `count` rows along a dim, one after the other.
inline view stacked(view const& row, int dim, std::int64_t count) {
  require(row.count < max_dims_of_one, "T07: a tensor has at most 8 dims");
  view r = row;
  r.count = 1, r.dim[0] = static_cast<std::uint16_t>(dim), r.extent[0] = count;
  for (int i = 0; i < row.count; ++i) r.dim[r.count] = row.dim[i], r.extent[r.count++] = row.extent[i];
  r.densify();
  return r;
}

}  // namespace detail

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
    groups_ = table.extent[along], step_ = table.stride[along], origin_ = table.origin[along];
    total_ = table.total[along];
    index_ = detail::row_starts(index, index);
    rows_ = index_.number();
    room_ = rows_ + (least - 1) * std::min(groups_, rows_);
    room_ = (room_ + least - 1) / least * least;
    place_.resize(static_cast<std::size_t>(rows_));
    first_.resize(static_cast<std::size_t>(groups_ + 1));
    size_.resize(static_cast<std::size_t>(groups_));

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
      result_row_ = row;
      for (int i = 0; i < index.count; ++i) {
        if (y.find(index.dim[i]) >= 0) kept_.add(index, i, y), kept_rows_.add(index, i, numbered(index));
        else summed_rows_.add(index, i, numbered(index));
      }
    }
    is_complete_ = true;
    for (int k = 0; k < sizes; ++k) {
      if (size_of[k] > room_) continue;
      for (int i = 0; i < 3; ++i)
        if (i != with_groups_) blocks[i] = detail::stacked(packed_[i].row, dim, size_of[k]);
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
    sort_rows(e.operands[2]);
    std::byte* next = workspace + product_bytes_ + sum_bytes_;
    std::byte* at[3] = {};
    for (int i = 0; i < 3; ++i)
      if (i != with_groups_) at[i] = next, next += bytes_of_packed(i);
    for (int i = 0; i < 2; ++i)
      if (i != with_groups_) pack(i, e.operands[i], at[i], team);
    if (with_groups_ == 2) return sum_groups(e.results[0], at, workspace, team);
    view const& table = e.operands[with_groups_];
    auto const bytes = static_cast<std::int64_t>(bytes_of(table.type));
    for (std::int64_t g = 0; g < groups_; ++g) {
      at[with_groups_] = table.as<std::byte>() + g * step_ * bytes;
      each_block(g, [&](int k, std::int64_t first) { multiply(k, first, at, workspace, team); });
    }
    unpack(e.results[0], at[2], team);
  }

 private:
  // Groups begin at multiples of the smallest size.
  static constexpr int sizes = 5;
  static constexpr std::int64_t size_of[sizes] = {1024, 256, 64, 16, 4}, least = size_of[sizes - 1];

  struct packing {
    view row;
    strided_copy copy;
    detail::row_starts start;
    std::int64_t elements, bytes_of_element;
  };

  static std::int64_t padded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }
  static view numbered(view index) {
    index.densify();
    return index;
  }
  std::int64_t bytes_of_packed(int i) const {
    return padded(room_ * packed_[i].elements * packed_[i].bytes_of_element);
  }

  /// Finds the position of each row among the packed rows. Rows of one group keep their order.
  void sort_rows(view const& index) {
    std::fill(size_.begin(), size_.end(), 0);
    with_element(index.type, [&]<class I>() {
      for (std::int64_t r = 0; r < rows_; ++r) {
        auto const global = static_cast<std::int64_t>(static_cast<arithmetic_t<I>>(index.as<I>()[index_(r)]));
        std::int64_t const local = global < 0 ? -1 : global - origin_;
        bool const here = local >= 0 && local < groups_ && global < total_;
        place_[static_cast<std::size_t>(r)] = here ? local : -1;
        if (here) ++size_[static_cast<std::size_t>(local)];
      }
    });
    first_[0] = 0;
    for (std::size_t g = 0; g < size_.size(); ++g) {
      first_[g + 1] = first_[g] + (size_[g] + least - 1) / least * least;
      size_[g] = 0;
    }
    for (std::int64_t& p : place_)
      if (p >= 0) {
        auto const g = static_cast<std::size_t>(p);
        p = first_[g] + size_[g]++;
      }
  }
  void pack(int i, view const& x, std::byte* to, thread_team& team) const {
    packing const& p = packed_[i];
    std::int64_t const row_bytes = p.elements * p.bytes_of_element;
    team.parallel_for(rows_, std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, p.elements)),
                      [&](std::int64_t first, std::int64_t last) {
                        for (std::int64_t r = first; r < last; ++r)
                          if (std::int64_t const at = place_[static_cast<std::size_t>(r)]; at >= 0)
                            p.copy.run(x.as<std::byte>() + p.start(r) * p.bytes_of_element, to + at * row_bytes);
                      });
    for (std::size_t g = 0; g < size_.size(); ++g) {
      std::int64_t const end = first_[g] + size_[g];
      clear_bytes(to + end * row_bytes, (first_[g + 1] - end) * row_bytes);
    }
  }

  /// Calls f(number of a size, first row) for blocks that together form the rows of a group.
  void each_block(std::int64_t group, auto const& f) const {
    auto const g = static_cast<std::size_t>(group);
    std::int64_t row = first_[g];
    for (int k = 0; k < sizes; ++k)
      for (; row + size_of[k] <= first_[g + 1]; row += size_of[k]) f(k, row);
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
      if (size_[static_cast<std::size_t>(g)] == 0) continue;
      std::byte* const to = y.as<std::byte>() + g * step_ * bytes;
      at[2] = sum_bytes_ == 0 ? to : own;
      clear_bytes(own, sum_bytes_);
      each_block(g, [&](int k, std::int64_t first) { multiply(k, first, at, workspace, team); });
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

  /// Writes the results to the positions of their rows. Dims of the index that the result lacks are summed.
  void unpack(view const& y, std::byte const* made, thread_team& team) const {
    std::int64_t const width = packed_[2].elements, terms = summed_rows_.number();
    with_element(y.type, [&]<class E>() {
      using S = sum_t<E>;
      auto const* const sums = reinterpret_cast<S const*>(made);
      bool const is_dense = result_row_.count == 0 || is_contiguous(result_row_);
      team.parallel_for(
          kept_rows_.number(), std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, width * terms)),
          [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t r = begin; r < end; ++r) {
              E* const to = y.as<E>() + kept_(r);
              std::int64_t const row = kept_rows_(r);
              auto const sum_at = [&](std::int64_t j) {
                wide_sum<S> sum;
                for (std::int64_t t = 0; t < terms; ++t)
                  if (std::int64_t const at = place_[static_cast<std::size_t>(row + summed_rows_(t))]; at >= 0)
                    sum.add(sums[at * width + j]);
                return detail::element_of<E>(sum.value());
              };
              std::int64_t const only = terms == 1 ? place_[static_cast<std::size_t>(row)] : -1;
              if (is_dense && only >= 0) {
                for (std::int64_t j = 0; j < width; ++j) to[j] = detail::element_of<E>(sums[only * width + j]);
              } else {
                walk<1> w;
                for (int i = 0; i < result_row_.count; ++i)
                  w.stride[0][i] = result_row_.stride[i], w.extent[w.count++] = result_row_.extent[i];
                std::int64_t j = 0;
                do to[w.offset[0]] = sum_at(j++);
                while (w.next());
              }
            }
          });
    });
  }
  static bool is_contiguous(view const& v) {
    std::int64_t n = 1;
    for (int i = v.count; i-- > 0; n *= v.extent[i])
      if (v.extent[i] != 1 && v.stride[i] != n) return false;
    return true;
  }

  int with_groups_ = 0;  // the operand that has the groups, or 2 if the result has them
  bool is_complete_ = false;
  std::int64_t groups_ = 0, step_ = 0, origin_ = 0, total_ = 0, rows_ = 0, room_ = 0;
  std::int64_t product_bytes_ = 0, sum_bytes_ = 0;
  std::vector<std::int64_t> place_;         // position of each row among the packed ones, or -1 if it has no group
  std::vector<std::int64_t> first_, size_;  // of each group: its first packed row, and its number of rows
  packing packed_[3];
  detail::row_starts index_, kept_, kept_rows_, summed_rows_;
  view result_row_{}, total_row_{}, sum_{};
  std::optional<pair_product> products_[sizes];
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
