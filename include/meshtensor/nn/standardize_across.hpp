// SPDX-License-Identifier: Apache-2.0
// Standardizes over a batch that the indices of an each share, such as the batches of all replicas.
#pragma once

#include "meshtensor/nn/standardize.hpp"
#include "meshtensor/op/each.hpp"

namespace meshtensor::nn::detail {

/// Dims of a tensor, and all indices of an open each.
template <class Along, class D>
struct along_and_across {};

template <handle H, class Along, class D>
constexpr auto mean_along(H const& x, along_and_across<Along, D>) {
  return mean(across(mean_along(x, Along{}), D{}), D{});
}
template <class Along, class D>
constexpr number elements_along(along_and_across<Along, D>) {
  return elements_along(Along{}) * extent(D{});
}

/// Whether an each over the dim is open. It does not add the dim to the program.
template <dim_type D>
constexpr bool is_open(builder const& b, all_indices<D>) {
  for (int e = 0; e < b.each_count; ++e)
    if (b.m.dim_name(b.eaches[e].dim) == D::dim_name) return true;
  return false;
}

/// The number of elements of which a statistic is made.
template <class Along>
constexpr number elements_across(builder const&, Along along) {
  return elements_along(along);
}
template <class Along, dim_type D>
constexpr number elements_across(builder const& b, Along along, all_indices<D> all) {
  return is_open(b, all) ? elements_along(along_and_across<Along, D>{}) : elements_along(along);
}

/// `standardized`, over the elements of all indices of an each if one is given and open.
template <bool GivesVariance, handle X, handle G, class Along>
constexpr auto standardized_across(X const& x, G const& gain, G const& bias, Along along, number const& epsilon) {
  return standardized<GivesVariance>(x, gain, bias, along, epsilon);
}
template <bool GivesVariance, handle X, handle G, class Along, dim_type D>
constexpr auto standardized_across(X const& x, G const& gain, G const& bias, Along along, number const& epsilon,
                                   all_indices<D> all) {
  static_assert(GivesVariance);
  using given = decltype(standardized<true>(x, gain, bias, along, epsilon));
  if (!is_open(*x.owner, all)) return given(standardized<true>(x, gain, bias, along, epsilon));
  auto const [centre, scale, variance] = statistics(x, along_and_across<Along, D>{}, epsilon);
  return given(scaled(x, gain, bias, centre, scale), centre, scale, variance);
}

}  // namespace meshtensor::nn::detail
