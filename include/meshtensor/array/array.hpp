// SPDX-License-Identifier: Apache-2.0
// Defines arrays with named dims, which are inputs and outputs of programs, and operands of eager operations.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "meshtensor/array/element_buffer.hpp"
#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/quantity.hpp"
#include "meshtensor/base/resident.hpp"
#include "meshtensor/tensor/shape.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor {

/// The dtype whose elements are held as `T`.
template <class T>
inline constexpr dtype dtype_of = [] {
  for (dtype t : {dtype::f64, dtype::f32, dtype::bf16, dtype::i32, dtype::i64, dtype::u8})
    if (with_element(t, []<class E>() { return std::is_same_v<E, T>; })) return t;
  static_assert(std::is_same_v<T, double> || std::is_same_v<T, float> || std::is_same_v<T, bf16_t> ||
                    std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t> ||
                    std::is_same_v<T, std::uint8_t> || std::is_same_v<T, bool>,
                "meshtensor T02: an element is double, float, mt::bf16_t, int32_t, int64_t, uint8_t or bool");
  return dtype::boolean;
}();

namespace detail {
inline std::int64_t elements_of(std::span<dim_extent const> dims) {
  std::int64_t n = 1;
  for (dim_extent const& d : dims) n *= d.extent;
  return n;
}
std::string text_of(std::span<dim_extent const> dims);
inline int position_of(std::span<dim_extent const> dims, name const& label) {
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i].label == label) return static_cast<int>(i);
  return -1;
}
/// A view of a dense row-major array. Its dims are numbered in the order of `dims`.
inline view dense_view(void const* data, dtype type, std::span<dim_extent const> dims) {
  require(dims.size() <= max_dims_of_one, "T07: a tensor has at most 8 dims");
  view v{};
  v.data = const_cast<void*>(data), v.type = type, v.count = static_cast<int>(dims.size());
  for (int i = 0; i < v.count; ++i) {
    v.dim[i] = static_cast<std::uint16_t>(i);
    v.extent[i] = v.total[i] = dims[static_cast<std::size_t>(i)].extent;
  }
  v.densify();
  return v;
}
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
/// errors  R11 the number of elements does not match the extents; R12 a dim that it lacks, or an index out of range
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
  /// errors  R12 it has more
  T item() const {
    if (size() != 1) throw error("R12", {"an array ", detail::text_of(dims_), " has more than one element"});
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
    if (dims.size() != dims_.size())
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
      throw error("R12", {"an element of an array ", detail::text_of(dims_),
                          " is named by one index for each dim, not by ", at.size()});
    std::int64_t index[max_dims_of_one];
    std::fill_n(index, max_dims_of_one, -1);
    for (dim_extent const& i : at) {
      std::size_t const k = place_of(i.label);
      if (i.extent < 0 || i.extent >= dims_[k].extent)
        throw error("R12", {"index ", i.extent, " lies outside of dim '", i.label, "' (", dims_[k].extent, ")"});
      if (index[k] >= 0) throw error("R12", {"two indices are given for dim '", i.label, "'"});
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

/// An array whose type names its dims, for example `mt::array<float, batch, pixels> images(numbers, batch(24));`.
///
/// Give the extents that the dims' types leave open. One may be missing, because it follows from the number of
/// elements.
template <class T, auto... Dims>
class array : public any_array<T> {
  static_assert((dim_type<std::remove_cvref_t<decltype(Dims)>> && ...),
                "meshtensor T10: an array is declared by its element type and its dims: mt::array<float, batch>");
  static constexpr name labels[] = {Dims.dim_name..., name{}};  // `name{}`, because an array must not be empty

 public:
  using dim_list = meshtensor::dims<std::remove_cvref_t<decltype(Dims)>...>;

  /// An array of zeros.
  template <std::same_as<dim_extent>... E>
  explicit array(E const&... extents) : any_array<T>(extents_of({extents...}, -1)) {}
  template <std::ranges::input_range R, std::same_as<dim_extent>... E>
  requires(!any_array_like<R>)
  explicit array(R const& elements, E const&... extents)
      : any_array<T>(extents_of({extents...}, static_cast<std::int64_t>(std::ranges::size(elements))), elements) {}
  template <std::same_as<dim_extent>... E>
  explicit array(std::initializer_list<T> elements, E const&... extents)  // NOLINT: extents may follow
      : any_array<T>(extents_of({extents...}, static_cast<std::int64_t>(elements.size())), elements) {}
  /// A copy of an array with these dims in any order.
  ///
  /// errors  R12 it has other dims
  explicit array(any_array<T> const& a) : any_array<T>(a.ordered({labels, sizeof...(Dims)})) {
    extents_of(this->dims(), -1);
  }
  template <auto... Others>
  array(array<T, Others...> const& a) : any_array<T>(a.ordered({labels, sizeof...(Dims)})) {  // NOLINT
    static_assert(sizeof...(Dims) == sizeof...(Others) &&
                      (has_dim_v<typename array<T, Others...>::dim_list, std::remove_cvref_t<decltype(Dims)>> && ...),
                  "meshtensor T03: an array is made from one with other dims");
  }

 private:
  static constexpr std::int64_t most_elements = std::int64_t{1} << 56;  // so that their bytes can be counted
  // The extents of all dims, from their types or `given`. One extent may be open. It follows from `elements`, unless
  // `elements` is -1.
  static std::vector<dim_extent> extents_of(std::span<dim_extent const> given, std::int64_t elements) {
    std::vector<dim_extent> all;
    int open = -1;
    std::int64_t others = 1;
    [[maybe_unused]] auto add = [&]<class D>(D) {
      int const g = detail::position_of(given, D::dim_name);
      std::int64_t const wanted = g < 0 ? 0 : given[static_cast<std::size_t>(g)].extent;
      bool const fixed = D::dim_rule.kind == extent_rule::fixed;
      if (g >= 0 && (wanted < 1 || (fixed && wanted != D::dim_rule.value)))
        throw error("S10",
                    {"the dim '", D::dim_name, "' cannot have the extent ", wanted,
                     (fixed ? ": its type says " + std::to_string(D::dim_rule.value) : ": an extent is at least 1")});
      std::int64_t const extent = fixed ? D::dim_rule.value : wanted;
      if (extent == 0 && (open >= 0 || elements < 0))
        throw error("S11", {"the dim '", D::dim_name, "' has no extent: give one, as in ", D::dim_name, "(64)"});
      if (extent == 0) open = static_cast<int>(all.size());
      else if (extent > most_elements / others)
        throw error("S10", {"the dim '", D::dim_name, "' cannot have the extent ", extent,
                            ": an array has at most 2^56 elements"});
      else others *= extent;
      all.push_back({D::dim_name, extent});
    };
    (add(Dims), ...);
    for (dim_extent const& g : given)
      if (detail::position_of(all, g.label) < 0)
        throw error("S10", {"an extent is given for the dim '", g.label, "', which the array does not have"});
    if (open >= 0) all[static_cast<std::size_t>(open)].extent = std::max<std::int64_t>(1, elements / others);
    return all;
  }
  static std::vector<dim_extent> extents_of(std::initializer_list<dim_extent> given, std::int64_t elements) {
    return extents_of(std::span<dim_extent const>(given.begin(), given.size()), elements);
  }
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

inline std::string text_of(std::span<dim_extent const> dims) {
  std::string t = "[";
  for (dim_extent const& d : dims) t += (t.size() == 1 ? "" : ", ") + d.label.text() + "=" + std::to_string(d.extent);
  return t + "]";
}
[[noreturn]] inline void refuse_array(std::int64_t elements, std::size_t bytes_of_one) {
  throw error("M10", {"an array of ", elements, " elements has ",
                      bytes_text(elements * static_cast<std::int64_t>(bytes_of_one)), ", but the system has ",
                      bytes_text(available_bytes()),
                      " left: make it smaller, or have each rank hold "
                      "its part alone, as feed_local and local() do"});
}

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
