// SPDX-License-Identifier: Apache-2.0
// Includes the headers of xtensor that tests use, for either version's folders.
#pragma once

#include "meshtensor/array/xtensor.hpp"

#if __has_include(<xtensor/containers/xtensor.hpp>)
#  include <xtensor/containers/xtensor.hpp>
#  include <xtensor/core/xmath.hpp>
#  include <xtensor/views/xview.hpp>
#else
#  include <xtensor/xmath.hpp>
#  include <xtensor/xtensor.hpp>
#  include <xtensor/xview.hpp>
#endif
