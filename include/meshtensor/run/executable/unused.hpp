// SPDX-License-Identifier: Apache-2.0
// Warns about layout rules without effect, parameters that affect no loss, and norms of single replicas.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "meshtensor/array/interpret.hpp"
#include "meshtensor/base/suggest.hpp"
#include "meshtensor/job/job.hpp"
#include "meshtensor/pass/bind/implied.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// Warns about the rules of a layout that have no effect on a set of programs. `unused` has a bit for each of these
/// rules. `m` may be any module made of the set, because the warning takes only names from it.
template <class = lazy>
[[gnu::cold]] void warn_unused(job_runner const& j, module const& m, layout_rules const& layout, std::uint64_t unused) {
  for (int r = 0; r < layout.count; ++r) {
    if ((unused >> r & 1) == 0) continue;
    std::vector<std::string> dims, scopes;
    bool has_dim = false, has_scope = layout.rules[r].scope.empty();
    for (int d = 0; d < m.dim_count; ++d) {
      dims.push_back(m.dim_name(d).text());
      has_dim = has_dim || m.dim_name(d) == layout.rules[r].dim;
    }
    for (int p = 0; p < m.path_count; ++p) {
      scopes.push_back(m.names[m.paths[p].label].text());
      has_scope = has_scope || m.names[m.paths[p].label] == layout.rules[r].scope;
    }
    std::string const dim = layout.rules[r].dim.text(), scope = layout.rules[r].scope.text();
    warn(j, "S13: the layout's rule for dim '" + dim + "'" + (scope.empty() ? "" : " in scope '" + scope + "'") +
                " changes nothing, for " +
                (!has_dim     ? "the program has no dim '" + dim + "'" + did_you_mean(dim, dims)
                 : !has_scope ? "the program has no scope '" + scope + "'" + did_you_mean(scope, scopes)
                              : "no tensor there has this dim"));
  }
}

/// Warns about parameters whose gradient is zero whatever their values.
template <class = lazy>
[[gnu::cold]] void warn_idle(job_runner const& j, module const& m) {
  constexpr int shown = 3;
  std::string names;
  int count = 0;
  for (int v = 0; v < m.variable_count; ++v)
    if (m.variables[v].idle && count++ < shown)
      names += (names.empty() ? "'" : ", '") + path_text(m, m.variables[v].path) + "'";
  if (count == 0) return;
  if (count > shown) names += " and " + std::to_string(count - shown) + " more";
  warn(j,
       "G36: the loss does not depend on " + names +
           ", so its gradient is zero and minimize leaves it as it is: use it, or give minimize the scope of what it "
           "shall change, minimize(s / \"optimizer\", loss, s / \"network\")");
}

/// Warns about norms of single replicas under a policy that trains replicas like one model.
template <class = lazy>
[[gnu::cold]] void warn_alone(job_runner const& j, module const& m) {
  std::string first;
  int count = 0;
  for (int v = 0; v < m.variable_count; ++v)
    if (m.variables[v].alone && count++ == 0) first = path_text(m, m.variables[v].path);
  if (count == 0) return;
  first.erase(std::min(first.size(), first.rfind('/')));  // the state is in the scope of its norm
  warn(j, "G54: the batch norm '" + first + "'" + (count > 1 ? " and " + std::to_string(count - 1) + " more" : "") +
              " of each replica uses the mean and the variance of its own batch, so synchronous replicas do not train "
              "like one model with the batches of all: give it the option mt::across(replica), or let it be if that "
              "is meant");
}

#if MESHTENSOR_COMPILED
extern template void warn_alone<lazy>(job_runner const&, module const&);
extern template void warn_idle<lazy>(job_runner const&, module const&);
extern template void warn_unused<lazy>(job_runner const&, module const&, layout_rules const&, std::uint64_t);
#endif

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
