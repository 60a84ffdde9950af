// SPDX-License-Identifier: Apache-2.0
// Includes xtensor, whose containers hold arrays. Version 0.26 moved its headers to other folders; only this file
// knows.
#pragma once

#include <cstddef>

#if __has_include(<xtensor/containers/xarray.hpp>)
#  include <xtensor/containers/xarray.hpp>
#else
#  include <xtensor/xstorage.hpp>

// why: to clang 19 two partial specialisations of xtensor 0.24 match its own default shape; a full one decides.
template <>
struct xt::rebind_container<std::ptrdiff_t, xt::svector<std::size_t>> {
  using type = xt::svector<std::ptrdiff_t>;
};

#  include <xtensor/xarray.hpp>
#endif
