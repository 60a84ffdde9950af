// SPDX-License-Identifier: Apache-2.0
// Defines arrays whose named dims are values. Programs take and give them, and stores hold them.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/array/dtype_of.hpp"
#include "meshtensor/array/element_buffer.hpp"
#include "meshtensor/array/extents.hpp"
#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/tensor/shape.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor {

namespace detail {

/// Arrays of `T` as expressions of xtensor. array/xtensor.hpp defines this, so a program that uses it includes that
/// header.
template <class T, class Lazy>
struct xtensor_of {
  static_assert(sizeof(T) == 0,
                "meshtensor T16: an array is an expression of xtensor only in a file that has "
                "#include <meshtensor/array/xtensor.hpp>");
};

}  // namespace detail

/// An array whose dims are values. It has names, extents and elements, dense and row-major in the order of the dims.
///
///     a(batch(3), d_model(5))   the element at index 3 of batch and 5 of d_model, in any order of naming
///     a.extent(batch)           the extent of batch
///     a.first(batch)            the global index of the first element along batch
///     a.xtensor()               an operand of xtensor, by array/xtensor.hpp: b.assign(xt::exp(a.xtensor()))
///
/// errors  R11 the number of elements does not match the extents; R12 it lacks a dim; R48 an index out of range; R49 an
/// element is named by other dims than the array has
template <class T>
class any_array {
 public:
  using element = T;
  static constexpr dtype type = dtype_of<T>;

  /// An array without dims, whose one element is zero.
  any_array() : any_array(std::vector<dim_extent>{}) {}
  /// An array of zeros.
  explicit any_array(std::vector<dim_extent> dims)
      : dims_(std::move(dims)), first_(dims_.size()), elements_(detail::elements_of(dims_)) {}
  template <std::ranges::input_range R>
  any_array(std::vector<dim_extent> dims, R const& elements) : any_array(std::move(dims)) {
    if (static_cast<std::int64_t>(std::ranges::size(elements)) != size())
      throw error("R11", {"an array ", detail::text_of(dims_), " has ", size(), " elements, but it was given ",
                          std::ranges::size(elements)});
    std::ranges::transform(elements, data(), [](auto const& e) { return static_cast<T>(e); });
  }

  std::span<dim_extent const> dims() const& { return dims_; }
  std::vector<dim_extent> dims() && { return std::move(dims_); }  // moved out of a temporary
  std::int64_t size() const { return detail::elements_of(dims_); }
  template <dim_type D>
  std::int64_t extent(D) const {
    return dims_[place_of(D::dim_name)].extent;
  }
  /// The global index of the first element along a dim. It may be greater than 0 in the block of one rank.
  template <dim_type D>
  std::int64_t first(D) const {
    return first_[place_of(D::dim_name)];
  }
  void set_first(int place, std::int64_t index) { first_[static_cast<std::size_t>(place)] = index; }

  T* data() { return elements_.data(); }
  T const* data() const { return elements_.data(); }
  /// The element of an array that has exactly one.
  ///
  /// errors  R57 it has more
  T item() const {
    if (size() != 1) throw error("R57", {"an array ", detail::text_of(dims_), " has more than one element"});
    return *data();
  }
  T* begin() { return data(); }
  T* end() { return data() + size(); }
  T const* begin() const { return data(); }
  T const* end() const { return data() + size(); }
  template <class Lazy = lazy>
  auto xtensor() const& {
    return detail::xtensor_of<T, Lazy>::view_of(*this);
  }
  /// Copies the elements of a temporary, as in `for (float y : f().xtensor())`.
  template <class Lazy = lazy>
  auto xtensor() && {
    return detail::xtensor_of<T, Lazy>::copy_of(*this);
  }
  /// Assigns an xtensor expression of the same shape.
  ///
  /// errors  R11 its shape differs
  template <class E, class Lazy = lazy>
  any_array& assign(E const& expression) {
    detail::xtensor_of<T, Lazy>::assign(*this, expression);
    return *this;
  }

  template <std::same_as<dim_extent>... I>
  T& operator()(I const&... at) {
    return data()[offset({at...})];
  }
  template <std::same_as<dim_extent>... I>
  T const& operator()(I const&... at) const {
    return data()[offset({at...})];
  }

  view window() const { return detail::dense_view(data(), type, dims_); }

  /// A copy with the dims in another order.
  any_array ordered(std::span<name const> labels) const {
    std::vector<dim_extent> dims;
    for (name const& l : labels) dims.push_back(dims_[place_of(l)]);
    bool is_order = dims.size() == dims_.size();
    for (std::size_t i = 0; i < dims.size(); ++i)
      for (std::size_t k = 0; k < i; ++k) is_order = is_order && dims[k].label != dims[i].label;
    if (!is_order)
      throw error("R12", {"an array ", detail::text_of(dims_), " cannot be ordered as ", detail::text_of(dims)});
    any_array result(std::move(dims));
    walk<1> w;
    view const from = window();
    for (int i = 0; i < from.count; ++i) {
      std::size_t const k = place_of(labels[static_cast<std::size_t>(i)]);
      w.stride[0][i] = from.stride[k], w.extent[w.count++] = from.extent[k];
      result.first_[static_cast<std::size_t>(i)] = first_[k];
    }
    if (w.empty()) return result;
    T* to = result.data();
    do *to++ = data()[w.offset[0]];
    while (w.next());
    return result;
  }

  friend bool operator==(any_array const& a, any_array const& b) {
    return std::ranges::equal(
               a.dims_, b.dims_,
               [](auto const& d, auto const& e) { return d.label == e.label && d.extent == e.extent; }) &&
           std::ranges::equal(a, b);
  }

 private:
  std::size_t place_of(name const& label) const {
    int const i = detail::position_of(dims_, label);
    if (i < 0) throw error("R12", {"an array ", detail::text_of(dims_), " has no dim '", label, "'"});
    return static_cast<std::size_t>(i);
  }
  std::int64_t offset(std::initializer_list<dim_extent> at) const {
    if (at.size() != dims_.size())
      throw error("R49", {"an element of an array ", detail::text_of(dims_),
                          " is named by one index for each dim, not by ", at.size()});
    std::int64_t index[max_dims_of_one];
    std::fill_n(index, max_dims_of_one, -1);
    for (dim_extent const& i : at) {
      std::size_t const k = place_of(i.label);
      if (i.extent < 0 || i.extent >= dims_[k].extent)
        throw error("R48", {"index ", i.extent, " lies outside of dim '", i.label, "' (", dims_[k].extent, ")"});
      if (index[k] >= 0) throw error("R49", {"two indices are given for dim '", i.label, "'"});
      index[k] = i.extent;
    }
    std::int64_t result = 0;
    for (std::size_t k = 0; k < dims_.size(); ++k) result = result * dims_[k].extent + index[k];
    return result;
  }

  std::vector<dim_extent> dims_;
  std::vector<std::int64_t> first_;
  detail::element_buffer<T> elements_;
};

template <class A>
concept any_array_like = requires { typename A::element; } && std::derived_from<A, any_array<typename A::element>>;

}  // namespace meshtensor
