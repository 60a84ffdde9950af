// SPDX-License-Identifier: Apache-2.0
// Holds a value of an eager scope by its name, with dims that do not depend on a module.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "meshtensor/array/array.hpp"
#include "meshtensor/array/block.hpp"
#include "meshtensor/base/bytes.hpp"
#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/graph/module.hpp"
#include "meshtensor/op/detail/copy.hpp"
#include "meshtensor/pass/bind/binding.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::detail {

/// A value of an input or output by its name, or of a variable by its path. An input may be given before its dims are
/// known.
struct given_value {
  dtype type;
  bool named;
  std::vector<dim_extent> dims;
  std::vector<double> bytes;  // doubles, so that every dtype is aligned
  std::size_t count;

  /// A copy of elements. If `named` holds, `dims` are their dims.
  template <class T>
  static given_value copy_of(std::span<T const> elements, std::span<dim_extent const> dims, bool named) {
    given_value g{dtype_of<T>, named, {dims.begin(), dims.end()}, {}, elements.size()};
    g.bytes.resize((elements.size_bytes() + sizeof(double) - 1) / sizeof(double));
    if (!elements.empty()) std::memcpy(g.bytes.data(), elements.data(), elements.size_bytes());
    return g;
  }
  static given_value of_zeros(dtype type, std::vector<dim_extent> const& dims) {
    std::size_t const count = static_cast<std::size_t>(elements_of(dims));
    std::size_t const bytes = count * static_cast<std::size_t>(bytes_of(type));
    return {type, true, dims, std::vector<double>((bytes + sizeof(double) - 1) / sizeof(double)), count};
  }
  /// A copy of a value of a module.
  static given_value copy_of(module const& m, block const& held);

  template <class T>
  any_array<T> as_array() const {
    return {dims, std::span<T const>(reinterpret_cast<T const*>(bytes.data()), count)};
  }
};

/// The dims of a block, with their extents.
inline std::vector<dim_extent> dims_of(module const& m, block const& held) {
  std::vector<dim_extent> dims;
  view const w = held.window();
  for (int i = 0; i < w.count; ++i) dims.push_back({m.dim_name(w.dim[i]), w.extent[i]});
  return dims;
}

inline given_value given_value::copy_of(module const& m, block const& held) {
  given_value g = of_zeros(held.type(), detail::dims_of(m, held));
  copy_bytes(g.bytes.data(), held.data(), held.bytes());
  return g;
}

/// A given value with the dtype and the order of dims that the graph has.
inline block shaped(given_value const& g, std::string const& label, dtype type, shape const& dims, module const& m,
                    binding const& numbers) {
  block wanted(type, dims, numbers);
  auto const extents = dims_of(m, wanted);
  if (g.type != type) throw error("R14", {"'", label, "' is ", text_of(type), ", but ", text_of(g.type), " was given"});
  bool fits = static_cast<std::int64_t>(g.count) == wanted.size() && (!g.named || g.dims.size() == extents.size());
  for (dim_extent const& e : extents)
    if (g.named) fits = fits && position_of(g.dims, e.label) >= 0;
  if (!fits)
    throw error("R11", {"'", label, "' is ", detail::text_of(extents), ", but ",
                        (g.named ? "an array " + detail::text_of(g.dims) : std::to_string(g.count) + " elements"),
                        " was given"});
  view const to = wanted.window();
  view from = dense_view(g.bytes.data(), type, g.named ? std::span<dim_extent const>(g.dims) : extents);
  for (int i = 0; i < from.count; ++i)
    from.dim[i] = to.dim[position_of(
        extents, g.named ? g.dims[static_cast<std::size_t>(i)].label : extents[static_cast<std::size_t>(i)].label)];
  copy_by_name(from, 0, to, 0, no_id, no_id, to.extent);
  return wanted;
}

}  // namespace meshtensor::detail
