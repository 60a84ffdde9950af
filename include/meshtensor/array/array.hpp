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
#include <type_traits>
#include <vector>

#include "meshtensor/array/any_array.hpp"
#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/tensor/shape.hpp"

namespace meshtensor {

/// An array whose type names its dims, for example `mt::array<float, batch, pixels> images(numbers, batch(24));`.
///
/// Give the extents that the dims' types leave open. One may be missing, because it follows from the number of
/// elements.
template <class T, auto... Dims>
class array : public any_array<T> {
  static_assert((dim_type<std::remove_cvref_t<decltype(Dims)>> && ...),
                "meshtensor T38: an array is declared by its element type and its dims: mt::array<float, batch>");
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
        throw error("S17", {"the dim '", D::dim_name, "' cannot have the extent ", extent,
                            ": an array has at most 2^56 elements"});
      else others *= extent;
      all.push_back({D::dim_name, extent});
    };
    (add(Dims), ...);
    for (dim_extent const& g : given)
      if (detail::position_of(all, g.label) < 0)
        throw error("S15", {"an extent is given for the dim '", g.label, "', which the array does not have"});
    if (open >= 0) all[static_cast<std::size_t>(open)].extent = std::max<std::int64_t>(1, elements / others);
    return all;
  }
  static std::vector<dim_extent> extents_of(std::initializer_list<dim_extent> given, std::int64_t elements) {
    return extents_of(std::span<dim_extent const>(given.begin(), given.size()), elements);
  }
};

}  // namespace meshtensor
