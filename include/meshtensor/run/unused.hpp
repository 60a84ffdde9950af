// Warns of what a layout says in vain.
#pragma once

#include <string>
#include <vector>

#include "meshtensor/pass/implied.hpp"
#include "meshtensor/run/processors.hpp"
#include "meshtensor/run/suggest.hpp"

namespace meshtensor::detail {

/// Says which rules of a layout change nothing in a set of programs: every module made of the set has its tables.
inline void warn_unused(job const& j, module const& m, layout_rules const& layout) {
  for (int r = 0; r < layout.count; ++r) {
    layout_rules one{};
    one.add(layout.rules[r]);
    if (unused_rule(m, one) < 0) continue;
    std::vector<std::string> dims, scopes;
    bool has_dim = false;
    for (int d = 0; d < m.dim_count; ++d) {
      dims.push_back(m.dim_name(d).text());
      has_dim = has_dim || m.dim_name(d) == layout.rules[r].dim;
    }
    for (int p = 0; p < m.path_count; ++p) scopes.push_back(m.names[m.paths[p].label].text());
    std::string const dim = layout.rules[r].dim.text(), scope = layout.rules[r].scope.text();
    warn(j, "S13: the layout's rule for dim '" + dim + "'" + (scope.empty() ? "" : " in scope '" + scope + "'") +
                " changes nothing, for the program has no " +
                (has_dim ? "scope '" + scope + "'" + did_you_mean(scope, scopes)
                         : "dim '" + dim + "'" + did_you_mean(dim, dims)));
  }
}

}  // namespace meshtensor::detail
