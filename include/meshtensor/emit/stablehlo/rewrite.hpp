// SPDX-License-Identifier: Apache-2.0
// Lists the passes that run before a module is written as StableHLO. Each adds operations to an annotation of the
// module, which then is written in the place of nodes.
#pragma once

#include "meshtensor/emit/stablehlo/port.hpp"
#include "meshtensor/emit/stablehlo/rewrite/linear_forms.hpp"
#include "meshtensor/emit/stablehlo/rewrite/narrow_sums.hpp"

namespace meshtensor::hlo {

struct rewriting_pass {
  char const* name;
  void (*run)(rewrites&, binding const&, stablehlo_options const&);
};
inline constexpr rewriting_pass rewriting_passes[] = {
    {"narrow_sums",
     [](rewrites& to, binding const&, stablehlo_options const& how) {
       if (!how.has_f64) narrow_sums(to).find();
     }},
    {"linear_forms", [](rewrites& to, binding const& b, stablehlo_options const&) { linear_forms(to, b).find(); }},
};

/// The annotation of a module by all passes.
inline rewrites rewritten(module const& m, binding const& numbers, stablehlo_options const& options) {
  rewrites made{m};
  for (rewriting_pass const& pass : rewriting_passes) pass.run(made, numbers, options);
  return made;
}

}  // namespace meshtensor::hlo
