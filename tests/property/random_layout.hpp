// SPDX-License-Identifier: Apache-2.0
// Draws random layouts as users write them, and extents: some that they divide, and any.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "support/layouts.hpp"

namespace property {

namespace mt = meshtensor;
using meshtensor_test::rng;

namespace detail {

/// Draws rules for one scope, or for the whole program if it is empty: each axis shards some dims, each dim has its
/// axes in any order. A scope often undoes the outer rules of the same axis.
inline void draw_rules(mt::layout_rules& rules, mt::name const& scope, std::vector<mt::name> const& dims,
                       mt::mesh_shape const& mesh, rng& c) {
  std::vector<std::vector<int>> axes(dims.size());
  std::vector<bool> undone(dims.size());
  auto const batch = static_cast<std::size_t>(std::find(dims.begin(), dims.end(), mt::name("batch")) - dims.begin());
  int const by_batch = scope.empty() && batch != dims.size() && c.one_in(2) ? c.below(mesh.count) : -1;
  for (int a = 0; a < mesh.count; ++a) {
    constexpr int counts[] = {0, 1, 1, 1, 2, 3};
    int const count = a == by_batch ? 1 : counts[c.below(scope.empty() ? 6 : 4)];
    for (int i = 0; i < count; ++i) {
      auto& list = axes[a == by_batch ? batch : static_cast<std::size_t>(c.below(static_cast<int>(dims.size())))];
      if (std::find(list.begin(), list.end(), a) == list.end())
        list.insert(list.begin() + c.below(static_cast<int>(list.size()) + 1), a);
    }
    if (scope.empty() || !c.one_in(2)) continue;
    for (int r = 0; r < rules.count; ++r)
      for (int k = 0; rules.rules[r].scope.empty() && k < rules.rules[r].count; ++k)
        for (std::size_t d = 0; d < dims.size(); ++d)
          if (rules.rules[r].axes[k] == mesh.axes[a].label && rules.rules[r].dim == dims[d]) undone[d] = true;
  }
  for (std::size_t d = 0; d < dims.size(); ++d) {
    mt::layout_rule r{};
    r.scope = scope, r.dim = dims[d];
    for (int a : axes[d]) r.axes[r.count++] = mesh.axes[a].label;
    if ((r.count != 0 || (!scope.empty() && (undone[d] || c.one_in(8)))) && rules.count < mt::max_rules) rules.add(r);
  }
}

/// The divisor that each dim's extent needs, so that the rules can shard it.
inline std::vector<std::int64_t> divisors(mt::module const& m, mt::mesh_shape const& mesh,
                                          std::span<mt::layout_rules const> layouts) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(m.dim_count), 1);
  for (mt::layout_rules const& rules : layouts)
    for (int r = 0; r < rules.count; ++r)
      for (int d = 0; d < m.dim_count; ++d) {
        if (!(m.dim_name(d) == rules.rules[r].dim)) continue;
        std::int64_t parts = 1;
        for (int k = 0; k < rules.rules[r].count; ++k)
          for (int a = 0; a < mesh.count; ++a)
            if (mesh.axes[a].label == rules.rules[r].axes[k]) parts *= mesh.axes[a].extent;
        auto& known = all[static_cast<std::size_t>(d)];
        known = std::lcm(known, parts);
      }
  for (int d = m.dim_count; d-- > 0;)  // a dim made from others comes after them
    for (mt::dim_id const of : {m.dims[d].first, m.dims[d].second})
      if (m.dims[d].kind > mt::dim_row::dynamic && of != mt::no_id)
        all[of] = std::lcm(all[of], all[static_cast<std::size_t>(d)]);
  return all;
}

}  // namespace detail

/// The dims and scopes that the rules of a layout may name.
struct layout_names {
  std::vector<mt::name> dims, scopes;
  std::vector<mt::name> loop_dims;     // of `dims`: those that loops run over
  std::vector<mt::name> large_scopes;  // of `scopes`: those with many nodes
};

/// A layout with rules for the whole program and for some of its scopes, half of these from the large ones. One layout
/// in eight shards nothing but dims of loops. Not all layouts are legal.
inline mt::layout_rules random_layout(layout_names const& names, mt::mesh_shape const& mesh, rng& c) {
  auto const& [dims, scopes, loop_dims, large] = names;
  mt::layout_rules rules{};
  if (!loop_dims.empty() && c.one_in(8)) {
    detail::draw_rules(rules, {}, loop_dims, mesh, c);
    return rules;
  }
  detail::draw_rules(rules, {}, dims, mesh, c);
  constexpr int counts[] = {0, 1, 1, 2, 3};
  std::vector<mt::name> drawn;
  for (int count = counts[c.below(5)]; count-- > 0 && !scopes.empty();) {
    auto const& some = large.empty() || c.one_in(2) ? scopes : large;
    mt::name const& scope = some[static_cast<std::size_t>(c.below(static_cast<int>(some.size())))];
    if (std::find(drawn.begin(), drawn.end(), scope) == drawn.end())
      detail::draw_rules(rules, drawn.emplace_back(scope), dims, mesh, c);
  }
  return rules;
}

/// Small extents of the open dims that all the layouts divide.
inline std::vector<mt::dim_extent> fitting_extents(mt::module const& m, mt::mesh_shape const& mesh,
                                                   std::span<mt::layout_rules const> layouts, rng& c) {
  auto const least = detail::divisors(m, mesh, layouts);
  std::vector<mt::dim_extent> all;
  for (int d = 0; d < m.dim_count; ++d) {
    if (m.dims[d].kind != mt::dim_row::dynamic) continue;
    std::int64_t const n = least[static_cast<std::size_t>(d)];
    std::int64_t const times = n == 1 ? 1 + c.below(3) : n < 4 ? 1 + c.below(2) : 1;
    all.push_back({m.dim_name(d), n * times});
  }
  return all;
}

/// Small extents of the open dims, whatever the layouts: parts differ and may be empty.
inline std::vector<mt::dim_extent> any_extents(mt::module const& m, rng& c) {
  std::vector<mt::dim_extent> all;
  for (int d = 0; d < m.dim_count; ++d)
    if (m.dims[d].kind == mt::dim_row::dynamic) all.push_back({m.dim_name(d), 1 + c.below(c.one_in(8) ? 13 : 5)});
  return all;
}

}  // namespace property
