// SPDX-License-Identifier: Apache-2.0
// The only door to xtensor, whose containers arrays lie in. Version 0.26 gave its headers other folders; that
// difference ends in this file.
#pragma once

#include <cstddef>

#if __has_include(<xtensor/containers/xarray.hpp>)
#  include <xtensor/containers/xarray.hpp>
#else
#  include <xtensor/xstorage.hpp>

// Clang 19 finds two partial specialisations of xtensor 0.24 for its own default shape; a full one decides.
template <>
struct xt::rebind_container<std::ptrdiff_t, xt::svector<std::size_t>> {
  using type = xt::svector<std::ptrdiff_t>;
};

#  include <xtensor/xarray.hpp>
#endif
