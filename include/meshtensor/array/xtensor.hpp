// SPDX-License-Identifier: Apache-2.0
// Makes arrays operands and results of xtensor's expressions, as in `b.assign(xt::exp(a.xtensor()))`. Only a program
// that wants this includes this header, because xtensor takes a compiler half a second to read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

// why: version 0.26 moved the headers to other folders, and only this file knows that.
#if __has_include(<xtensor/containers/xadapt.hpp>)
#  include <xtensor/containers/xadapt.hpp>
#  include <xtensor/containers/xarray.hpp>
#else
#  include <xtensor/xstorage.hpp>

// why: for clang 19, two partial specialisations of xtensor 0.24 match its own default shape, so a full one decides.
template <>
struct xt::rebind_container<std::ptrdiff_t, xt::svector<std::size_t>> {
  using type = xt::svector<std::ptrdiff_t>;
};

#  include <xtensor/xadapt.hpp>
#  include <xtensor/xarray.hpp>
#endif

#include "meshtensor/array/array.hpp"

namespace meshtensor::detail {

template <class T>
struct xtensor_of<T, lazy> {
  /// The elements of `a` in place, as an expression.
  static auto view_of(any_array<T> const& a) {
    return xt::adapt(a.data(), static_cast<std::size_t>(a.size()), xt::no_ownership(), extents_of(a));
  }
  static xt::xarray<T> copy_of(any_array<T> const& a) { return view_of(a); }
  template <class E>
  static void assign(any_array<T>& a, xt::xexpression<E> const& expression) {
    xt::xarray<T> const made(expression);
    if (!std::ranges::equal(made.shape(), extents_of(a)))
      throw error("R11", {"an expression of another shape is assigned to an array ", text_of(a.dims())});
    std::copy_n(made.data(), a.size(), a.data());
  }

 private:
  static std::vector<std::size_t> extents_of(any_array<T> const& a) {
    std::vector<std::size_t> extents;
    for (dim_extent const& d : a.dims()) extents.push_back(static_cast<std::size_t>(d.extent));
    return extents;
  }
};

}  // namespace meshtensor::detail
