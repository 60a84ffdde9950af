// SPDX-License-Identifier: Apache-2.0
// The positions of rows that are sorted by group, and the copies to those positions and back.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "meshtensor/op/detail/scalar.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::detail {

/// The rows [holders, rows, …] of an index [token …]. They are sorted by group, and keep their order within each group.
struct row_places {
  std::vector<std::int64_t> at;  // the row of each element of the index, in order, or -1 if it has none
  std::int64_t count = 0;        // the number of rows that have a position

  /// Makes room for an index of so many elements, and so many groups.
  void reserve(std::int64_t elements, std::int64_t groups) {
    at.reserve(static_cast<std::size_t>(elements)), next_.reserve(static_cast<std::size_t>(groups));
  }
  /// Finds the positions. `counts` has the number of rows of each group.
  void find(view const& index, view const& counts) {
    std::int64_t const groups = counts.size();
    next_.resize(static_cast<std::size_t>(groups));
    count = 0;
    for (std::int64_t g = 0; g < groups; ++g)
      next_[static_cast<std::size_t>(g)] = count, count += counts.as<std::int32_t>()[g];
    at.resize(static_cast<std::size_t>(index.size()));
    with_element(index.type, [&]<class I>() {
      for (std::size_t i = 0; i < at.size(); ++i) {
        auto const g = static_cast<std::int64_t>(static_cast<arithmetic_t<I>>(index.as<I>()[i]));
        at[i] = g >= 0 && g < groups ? next_[static_cast<std::size_t>(g)]++ : -1;
      }
    });
  }

 private:
  std::vector<std::int64_t> next_;  // the next row of each group
};

/// Copies rows between a tensor that has dims of the index, and one that has rows.
struct row_copies {
  /// `rows_dim` is the dim of `rows` that counts rows. The dims of `tokens` that the index lacks belong to a row, and
  /// so do those of `rows` but for `holders_dim` and `rows_dim`.
  row_copies(view const& tokens, view const& index, view const& rows, int holders_dim, int rows_dim)
      : bytes_(static_cast<std::int64_t>(bytes_of(rows.type))), step_(rows.stride[rows.find(rows_dim)] * bytes_) {
    for (int i = 0; i < index.count; ++i) {
      int const p = tokens.find(index.dim[i]);
      index_.extent[i] = index.extent[i], index_.stride[i] = p < 0 ? 0 : tokens.stride[p] * bytes_;
    }
    index_.count = index.count;
    walk<2>& w = rest_;
    std::uint16_t dims[2 * max_dims_of_one];
    for (int i = 0; i < rows.count; ++i)
      if (rows.dim[i] != holders_dim && rows.dim[i] != rows_dim)
        dims[w.count] = rows.dim[i], w.extent[w.count++] = rows.extent[i];
    w.bind(0, tokens, dims), w.bind(1, rows, dims);
    for (; w.count > 0 && w.stride[0][w.count - 1] == run_ && w.stride[1][w.count - 1] == run_; --w.count)
      run_ *= w.extent[w.count - 1];
  }

  /// Copies the rows of the elements from `first` to before `last` of the index to their positions.
  void send(void const* tokens, void* rows, row_places const& places, std::int64_t first, std::int64_t last) const {
    each(places, first, last, [&](std::int64_t token, std::int64_t row) {
      if (row >= 0)
        copy(static_cast<std::byte const*>(tokens) + token, 0, static_cast<std::byte*>(rows) + row * step_, 1);
    });
  }
  /// Copies the rows back. Elements without a row get zeros.
  void back(void* tokens, void const* rows, row_places const& places, std::int64_t first, std::int64_t last) const {
    each(places, first, last, [&](std::int64_t token, std::int64_t row) {
      std::byte* const to = static_cast<std::byte*>(tokens) + token;
      if (row < 0) copy(nullptr, 1, to, 0);
      else copy(static_cast<std::byte const*>(rows) + row * step_, 1, to, 0);
    });
  }
  /// Fills the rows after the last one with zeros. `rows` are dense, and the dims of a row come last.
  void fill_behind(view const& rows, int rows_dim, std::int64_t count) const {
    std::int64_t const left = rows.extent[rows.find(rows_dim)] - count;
    if (left > 0) std::memset(rows.as<std::byte>() + count * step_, 0, static_cast<std::size_t>(left * step_));
  }
  std::int64_t bytes_of_row() const { return step_; }

 private:
  struct {
    int count = 0;
    std::int64_t extent[max_dims_of_one] = {}, stride[max_dims_of_one] = {};  // in bytes
  } index_;
  std::int64_t bytes_, step_;
  walk<2> rest_;          // over the dims of a row, without those that are one run in both
  std::int64_t run_ = 1;  // elements

  template <class F>
  void each(row_places const& places, std::int64_t first, std::int64_t last, F f) const {
    for (std::int64_t i = first; i < last; ++i) {
      std::int64_t token = 0, rest = i;
      for (int d = index_.count; d-- > 0;)
        token += rest % index_.extent[d] * index_.stride[d], rest /= index_.extent[d];
      f(token, places.at[static_cast<std::size_t>(i)]);
    }
  }
  /// Copies one row, or zeros if `from` is null. `a` and `b` say whose strides both have: 0 for tokens and 1 for rows.
  void copy(std::byte const* from, int a, std::byte* to, int b) const {
    walk<2> w = rest_;
    if (w.empty() || run_ == 0) return;
    auto const size = static_cast<std::size_t>(run_ * bytes_);
    do {
      if (from == nullptr) std::memset(to + w.offset[b] * bytes_, 0, size);
      else std::memcpy(to + w.offset[b] * bytes_, from + w.offset[a] * bytes_, size);
    } while (w.next());
  }
};

}  // namespace meshtensor::detail
