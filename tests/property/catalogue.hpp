// SPDX-License-Identifier: Apache-2.0
// The programs of support/programs.hpp, traced and listed by name, so that tests need not compile them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "meshtensor/graph/module.hpp"

namespace property {

namespace mt = meshtensor;

/// A program and a function that makes its graph.
struct listed {
  char const* label;
  mt::name entry;
  std::unique_ptr<mt::module> (*trace)();
};

/// Programs that between them use every operation, the first ones in f64; then some of them in other precisions.
std::vector<listed> const& catalogue();
inline constexpr std::size_t in_f64 = 31;
listed const& program_named(std::string const& label);

}  // namespace property
