// SPDX-License-Identifier: Apache-2.0
// The channels of a layer for images: one dim, or several as `to(group, channel)`.
#pragma once

#include "meshtensor/tensor/shape.hpp"

namespace meshtensor::nn::detail {

template <dim_type D>
constexpr dims<D> channels_of(D) {
  return {};
}
template <dim_type... D>
constexpr dims<D...> channels_of(to_dims<D...>) {
  return {};
}
template <class T>
concept channels = requires(T const& c) { channels_of(c); };

}  // namespace meshtensor::nn::detail
