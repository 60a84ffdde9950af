// SPDX-License-Identifier: Apache-2.0
// Computes an einsum as matrix products: dims become rows, columns, sums and batches by the operands that have them.
// Operands are used in place if their strides allow it, and copied otherwise.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "meshtensor/device/cpu/copy.hpp"
#include "meshtensor/device/cpu/matmul.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

namespace detail {

/// Adjacent dims that are merged into one dim, with its strides in two arrays.
struct dim_run {
  std::int64_t extent, first, second;
  bool innermost;  // whether it has the result's innermost dim
};

/// Dims in order, merged if both arrays allow it.
struct dim_runs {
  int count = 0;
  dim_run at[max_dims_of_one];
  void add(std::int64_t extent, std::int64_t first, std::int64_t second, bool innermost = false) {
    if (extent == 1) return;
    if (count > 0 && at[count - 1].first == first * extent && at[count - 1].second == second * extent)
      at[count - 1] = {at[count - 1].extent * extent, first, second, innermost};
    else at[count++] = {extent, first, second, innermost};
  }
  /// Removes and returns the run for the matrix: the run with the result's innermost dim if there is one, else the
  /// longest run.
  dim_run take() {
    if (count == 0) return {1, 0, 0, false};
    int best = 0;
    for (int i = 1; i < count; ++i)
      if (!at[best].innermost && (at[i].innermost || at[i].extent > at[best].extent)) best = i;
    dim_run const r = at[best];
    --count;
    for (int i = best; i < count; ++i) at[i] = at[i + 1];
    return r;
  }
};

/// With extent 1, any stride is valid. These strides make the matrix dense.
inline void make_dense(std::int64_t rows, std::int64_t& row, std::int64_t columns, std::int64_t& column) {
  if (columns == 1) column = rows == 1 || row != 1 ? 1 : rows;
  if (rows == 1) row = column == 1 ? columns : 1;
}

}  // namespace detail

/// The product of two blocks, summed over the dims that the result lacks.
class pair_product {
 public:
  /// Returns no product if a dim that the result lacks is in one operand only, or if too many dims cannot be merged.
  /// `accumulate` adds the product to the contents of the result.
  static std::optional<pair_product> make(view a, view b, view const& c, int threads, bool accumulate = false) {
    for (view const* x : {&a, &b})
      for (int i = 0; i < x->count; ++i)
        if (c.find(x->dim[i]) < 0 && (a.find(x->dim[i]) < 0 || b.find(x->dim[i]) < 0)) return {};
    pair_product p;
    view const &like_a = a, &like_b = b;
    bool const by_b = !(stands_together(a, b, c, like_a) && stands_together(b, a, c, like_a)) &&
                      stands_together(a, b, c, like_b) && stands_together(b, a, c, like_b);
    view const order = by_b ? b : a;
    if (!stands_together(a, b, c, order)) a = p.copy_a_.emplace(a, b, c, order).packed;
    if (!stands_together(b, a, c, order)) b = p.copy_b_.emplace(b, a, c, order).packed;
    matmul_problem problem;
    if (!describe(a, b, c, order, problem)) return {};
    problem.accumulate = accumulate;
    p.plan_.emplace(problem, threads);
    p.plan_bytes_ = (static_cast<std::int64_t>(p.plan_->workspace_bytes()) + 63) / 64 * 64;
    return p;
  }

  /// The blocks of the workspace start at multiples of 64.
  std::int64_t workspace_bytes() const {
    return plan_bytes_ + (copy_a_ ? copy_a_->bytes() : 0) + (copy_b_ ? copy_b_->bytes() : 0);
  }
  template <class Any = lazy>
  void run(void const* a, void const* b, void* c, std::byte* workspace, thread_team& team) {
    std::byte* next = workspace + plan_bytes_;
    if (copy_a_) {
      copy_a_->how.run(a, next, &team);
      a = next, next += copy_a_->bytes();
    }
    if (copy_b_) {
      copy_b_->how.run(b, next, &team);
      b = next;
    }
    plan_->template execute<Any>(a, b, c, workspace, &team);
  }
  std::string implementation() const {
    return plan_->implementation() + (copy_a_ ? ", left copied" : "") + (copy_b_ ? ", right copied" : "");
  }

 private:
  static bool is_summed(int dim, view const& x, view const& other, view const& c) {
    return x.find(dim) >= 0 && other.find(dim) >= 0 && c.find(dim) < 0;
  }
  /// Whether the summed dims merge into one dim of x, if they have the order of `as`.
  static bool stands_together(view const& x, view const& other, view const& c, view const& as) {
    detail::dim_runs runs;
    for (int i = 0; i < as.count; ++i)
      if (is_summed(as.dim[i], x, other, c)) {
        int const p = x.find(as.dim[i]);
        runs.add(x.extent[p], x.stride[p], 0);
        if (runs.count > 1) return false;
      }
    return true;
  }

  /// A copy of an operand with its summed dims last, in the order of `as`.
  struct packing {
    view packed;
    strided_copy how;
    packing(view const& x, view const& other, view const& c, view const& as) : packed(x) {
      packed.count = 0;
      auto add = [&](int p) { packed.dim[packed.count] = x.dim[p], packed.extent[packed.count++] = x.extent[p]; };
      for (int i = 0; i < x.count; ++i)
        if (!is_summed(x.dim[i], x, other, c)) add(i);
      for (int i = 0; i < as.count; ++i)
        if (is_summed(as.dim[i], x, other, c)) add(x.find(as.dim[i]));
      packed.densify();
      how = copy_by_name(x, packed, no_id, no_id, packed.extent);
    }
    std::int64_t bytes() const { return (packed.bytes() + 63) / 64 * 64; }
  };

  static bool describe(view const& a, view const& b, view const& c, view const& order, matmul_problem& p) {
    int innermost = c.count - 1;
    while (innermost > 0 && c.extent[innermost] == 1) --innermost;
    detail::dim_runs rows, columns, sums;
    for (int i = 0; i < c.count; ++i) {
      int const in_a = a.find(c.dim[i]), in_b = b.find(c.dim[i]);
      if (in_a >= 0 && in_b >= 0) {
        if (c.extent[i] != 1 && !add_batch(p, c.extent[i], a.stride[in_a], b.stride[in_b], c.stride[i])) return false;
      } else if (in_a >= 0) {
        rows.add(c.extent[i], a.stride[in_a], c.stride[i], i == innermost);
      } else {
        columns.add(c.extent[i], b.stride[in_b], c.stride[i], i == innermost);
      }
    }
    for (int i = 0; i < order.count; ++i)
      if (is_summed(order.dim[i], a, b, c))
        sums.add(order.extent[i], a.stride[a.find(order.dim[i])], b.stride[b.find(order.dim[i])]);
    detail::dim_run const m = rows.take(), n = columns.take(), k = sums.take();
    if (sums.count > 0) return false;
    // The remaining runs become batch dims along which the other operand repeats.
    for (int i = 0; i < rows.count; ++i)
      if (!add_batch(p, rows.at[i].extent, rows.at[i].first, 0, rows.at[i].second)) return false;
    for (int i = 0; i < columns.count; ++i)
      if (!add_batch(p, columns.at[i].extent, 0, columns.at[i].first, columns.at[i].second)) return false;
    p.m = m.extent, p.n = n.extent, p.k = k.extent;
    p.a.type = a.type, p.a.row = m.first, p.a.column = k.first;
    p.b.type = b.type, p.b.row = k.second, p.b.column = n.first;
    p.c.type = c.type, p.c.row = m.second, p.c.column = n.second;
    detail::make_dense(p.m, p.a.row, p.k, p.a.column);
    detail::make_dense(p.k, p.b.row, p.n, p.b.column);
    detail::make_dense(p.m, p.c.row, p.n, p.c.column);
    return true;
  }
  static bool add_batch(matmul_problem& p, std::int64_t extent, std::int64_t a, std::int64_t b, std::int64_t c) {
    if (p.batch_dims == max_batch_dims) return false;
    p.batch[p.batch_dims] = extent;
    p.a.batch[p.batch_dims] = a, p.b.batch[p.batch_dims] = b, p.c.batch[p.batch_dims] = c;
    ++p.batch_dims;
    return true;
  }

  std::optional<matmul_plan> plan_;
  std::optional<packing> copy_a_, copy_b_;
  std::int64_t plan_bytes_ = 0;
};

/// An einsum of two or more operands, from left to right. Intermediate values have the accumulator type.
class product_chain {
 public:
  static std::optional<product_chain> make(view const* operands, int count, view const& result, int threads) {
    if (count < 2) return {};
    product_chain chain;
    view left = operands[0];
    for (int i = 1; i < count; ++i) {
      bool const last = i == count - 1;
      view const to = last ? result : between(left, operands[i], operands + i + 1, count - i - 1, result);
      auto pair = pair_product::make(left, operands[i], to, threads);
      if (!pair) return {};
      chain.pair_bytes_ = std::max(chain.pair_bytes_, pair->workspace_bytes());
      chain.pairs_.push_back(std::move(*pair));
      if (!last) chain.between_.push_back((to.bytes() + 63) / 64 * 64);
      left = to;
    }
    return chain;
  }

  std::int64_t workspace_bytes() const {
    std::int64_t bytes = pair_bytes_;
    for (std::int64_t b : between_) bytes += b;
    return bytes;
  }
  template <class Any = lazy>
  void run(view const* operands, view const& result, std::byte* workspace, thread_team& team) {
    void const* left = operands[0].data;
    std::byte* next = workspace + pair_bytes_;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      bool const last = i + 1 == pairs_.size();
      void* const to = last ? result.data : next;
      pairs_[i].template run<Any>(left, operands[i + 1].data, to, workspace, team);
      left = to;
      if (!last) next += between_[i];
    }
  }
  pair_product const& pair(std::size_t i) const { return pairs_[i]; }

 private:
  /// The intermediate value, with the dims that the result or a later operand needs.
  static view between(view const& a, view const& b, view const* later, int count, view const& result) {
    view v{};
    v.type = accumulator_of(result.type);
    for (view const* x : {&a, &b})
      for (int i = 0; i < x->count; ++i) {
        bool needed = result.find(x->dim[i]) >= 0;
        for (int k = 0; k < count; ++k) needed = needed || later[k].find(x->dim[i]) >= 0;
        if (!needed || v.find(x->dim[i]) >= 0) continue;
        require(v.count < max_dims_of_one, "T07: a tensor has at most 10 dims");
        v.dim[v.count] = x->dim[i], v.extent[v.count++] = x->extent[i];
      }
    v.densify();
    return v;
  }

  std::vector<pair_product> pairs_;
  std::vector<std::int64_t> between_;
  std::int64_t pair_bytes_ = 0;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
