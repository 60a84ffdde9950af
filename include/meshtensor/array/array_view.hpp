// SPDX-License-Identifier: Apache-2.0
// Defines views with named dims and strides of memory that the caller owns. A program can be fed from a view, or it can
// write results to one. If the memory already has the program's layout, nothing is copied.
#pragma once

#include <concepts>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

#include "meshtensor/array/array.hpp"
#include "meshtensor/tensor/wrong.hpp"

namespace meshtensor {

/// A dim's extent, and its stride in elements.
struct strided_extent {
  dim_extent dim;
  std::int64_t stride;
};
/// For example, `mt::apart(rows(64), 512)` stands for 64 rows with a stride of 512 elements.
constexpr strided_extent apart(dim_extent const& d, std::int64_t stride) { return {d, stride}; }

/// A view of elements in memory, with a name, an extent and a stride for each dim. It owns nothing.
template <class T>
class array_view {
 public:
  using element = std::remove_const_t<T>;
  static constexpr dtype type = dtype_of<element>;

  array_view(T* data, std::span<strided_extent const> dims) : data_(data), count_(static_cast<int>(dims.size())) {
    require(dims.size() <= max_dims_of_one, "T07: a tensor has at most 10 dims");
    for (int i = 0; i < count_; ++i) {
      auto const& d = dims[static_cast<std::size_t>(i)];
      for (int k = 0; k < i; ++k)
        if (dims_[k].label == d.dim.label) throw error("T42", {"two dims of a view are called '", d.dim.label, "'"});
      if (d.dim.extent < 0) throw error("R11", {"the extent of dim '", d.dim.label, "' of a view is ", d.dim.extent});
      dims_[i] = d.dim, stride_[i] = d.stride;
    }
  }
  /// A read-only view of the same elements.
  operator array_view<T const>() const  // NOLINT: as a pointer is
  requires(!std::is_const_v<T>)
  {
    strided_extent dims[max_dims_of_one + 1];
    for (int i = 0; i < count_; ++i) dims[i] = {dims_[i], stride_[i]};
    return {data_, std::span<strided_extent const>(dims, static_cast<std::size_t>(count_))};
  }
  /// A view of the elements of an array.
  explicit array_view(any_array<element> const& a)
  requires std::is_const_v<T>
      : array_view(a.data(), a.dims()) {}
  explicit array_view(any_array<element>& a)
  requires(!std::is_const_v<T>)
      : array_view(a.data(), a.dims()) {}

  T* data() const { return data_; }
  std::span<dim_extent const> dims() const { return {dims_, static_cast<std::size_t>(count_)}; }
  std::int64_t stride(int i) const { return stride_[i]; }
  std::int64_t size() const { return detail::elements_of(dims()); }
  template <dim_type D>
  std::int64_t extent(D) const {
    return dims_[place_of(D::dim_name)].extent;
  }
  template <std::same_as<dim_extent>... I>
  T& operator()(I const&... at) const {
    std::int64_t offset = 0;
    unsigned given = 0;  // a bit for each dim
    auto const add = [&](dim_extent const& i) {
      int const k = place_of(i.label);
      if ((given >> k & 1u) != 0) throw error("R49", {"two indices are given for dim '", i.label, "' of a view"});
      given |= 1u << k;
      if (i.extent < 0 || i.extent >= dims_[k].extent)
        throw error("R48", {"a view ", detail::text_of(dims()), " has no element at ", i.label, " = ", i.extent});
      offset += i.extent * stride_[k];
    };
    (add(at), ...);
    if (static_cast<int>(sizeof...(I)) != count_)
      throw error("R49", {"an element of a view ", detail::text_of(dims()),
                          " is named by one index for each dim, not by ", sizeof...(I)});
    return data_[offset];
  }

  /// A view of the elements with the dims of `like`, where dim i has the name `label_of(i)`. Its count is -1 if dims or
  /// extents differ.
  template <class LabelOf>
  view as(view like, LabelOf label_of) const {
    int const wanted = like.count;
    like.data = const_cast<element*>(data_), like.count = wanted == count_ ? wanted : -1;
    for (int i = 0; i < wanted && like.count >= 0; ++i) {
      int const k = detail::position_of(dims(), label_of(i));
      if (k < 0 || dims_[k].extent != like.extent[i]) like.count = -1;
      else like.stride[i] = stride_[k];
    }
    return like;
  }

 private:
  array_view(T* data, std::span<dim_extent const> dense) : data_(data), count_(static_cast<int>(dense.size())) {
    std::int64_t behind = 1;
    for (int i = count_; i-- > 0;) {
      dims_[i] = dense[static_cast<std::size_t>(i)];
      stride_[i] = behind, behind *= dims_[i].extent;
    }
  }
  int place_of(name const& label) const {
    int const i = detail::position_of(dims(), label);
    if (i < 0) throw error("R12", {"a view ", detail::text_of(dims()), " has no dim '", label, "'"});
    return i;
  }

  T* data_;
  int count_;
  dim_extent dims_[max_dims_of_one] = {};
  std::int64_t stride_[max_dims_of_one] = {};
};

namespace detail {
template <class M>
concept eigen_like = requires(M& m) {
  m.data(), m.rows(), m.cols(), m.innerStride(), m.outerStride();
  { std::remove_cvref_t<M>::IsRowMajor + 0 } -> std::convertible_to<int>;
};
template <class X>
concept xtensor_like = requires(X& x) { x.data(), x.shape(), x.strides(), x.dimension(); };
}  // namespace detail

/// A view of the elements from `data` on, row-major: `mt::in_memory(p, rows(64), columns(512))`. `apart` sets a dim's
/// stride, for example `mt::in_memory(p, mt::apart(rows(64), 514), columns(512))`. Any other stride follows from the
/// dims to its right.
template <class T, class... D>
requires((std::same_as<D, dim_extent> || std::same_as<D, strided_extent>) && ...)  //
array_view<T> in_memory(T* data, D const&... dims) {
  strided_extent all[sizeof...(D) + 1];
  bool given[sizeof...(D) + 1] = {};
  int count = 0;
  auto const add = [&](auto const& d) {
    given[count] = std::is_same_v<std::remove_cvref_t<decltype(d)>, strided_extent>;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(d)>, strided_extent>) all[count++] = d;
    else all[count++] = {d, 0};
  };
  (add(dims), ...);
  std::int64_t behind = 1;
  for (int i = count; i-- > 0;) {
    if (!given[i]) all[i].stride = behind;
    behind = all[i].stride * all[i].dim.extent;
  }
  return {data, std::span<strided_extent const>(all, sizeof...(D))};
}
/// Refuses names of dims where their extents are needed.
template <class T, class... D>
requires((std::same_as<D, dim_extent> || std::same_as<D, strided_extent> || dim_type<D>) && ...) && (dim_type<D> || ...)
array_view<T> in_memory(T*, D const&...) {
  static_assert(is_valid<detail::wrong<"T39 in_memory: elements at an address have dims with extents, those too whose "
                                       "type says one: mt::in_memory(p, rows(64), columns(512))",
                                       D...>>);
  return {nullptr, std::span<strided_extent const>()};
}
/// The elements of a vector or span, row-major.
///
/// errors  R11 the number of elements differs
template <std::ranges::contiguous_range R, std::same_as<dim_extent>... D>
requires(std::ranges::borrowed_range<R> && !detail::xtensor_like<R> && !any_array_like<std::remove_cvref_t<R>>)
auto in_memory(R&& r, D const&... dims) {
  auto const v = in_memory(std::ranges::data(r), dims...);
  if (static_cast<std::int64_t>(std::ranges::size(r)) != v.size())
    throw error("R11", {"a view ", detail::text_of(v.dims()), " has ", v.size(), " elements, but there are ",
                        std::ranges::size(r)});
  return v;
}
/// An Eigen matrix, or a map of one, with names for its rows and columns. It may be row-major or column-major.
template <class M, dim_type R, dim_type C>
requires detail::eigen_like<M>
auto in_memory(M&& m, R, C) {
  constexpr bool row_major = std::remove_cvref_t<M>::IsRowMajor != 0;
  strided_extent const dims[] = {{{R::dim_name, m.rows()}, row_major ? m.outerStride() : m.innerStride()},
                                 {{C::dim_name, m.cols()}, row_major ? m.innerStride() : m.outerStride()}};
  return array_view<std::remove_pointer_t<decltype(m.data())>>(m.data(), dims);
}
/// An xtensor container or strided view.
///
/// errors  R58 the number of dims differs
template <class X, dim_type... D>
requires detail::xtensor_like<X>
auto in_memory(X&& x, D...) {
  if (x.dimension() != sizeof...(D))
    throw error("R58", {"an xtensor of ", x.dimension(), " dims was given ", sizeof...(D), " names"});
  strided_extent dims[sizeof...(D) + 1];
  std::size_t i = 0;
  ((dims[i] = {{D::dim_name, static_cast<std::int64_t>(x.shape()[i])},
               x.shape()[i] == 1 ? 1 : static_cast<std::int64_t>(x.strides()[i])},
    ++i),
   ...);
  auto* first = x.data();
  if constexpr (requires { x.data_offset(); }) first += x.data_offset();
  return array_view<std::remove_pointer_t<decltype(first)>>(first, std::span<strided_extent const>(dims, sizeof...(D)));
}

}  // namespace meshtensor
