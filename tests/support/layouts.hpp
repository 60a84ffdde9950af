// SPDX-License-Identifier: Apache-2.0
// Enumerates layouts of a program on a mesh.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "meshtensor/pass/lower.hpp"

namespace meshtensor_test {

/// The meshes of the tests: {1}, {2}, {3}, {4}, {2,2}, {6}, {2,3}, {8}, {2,2,2}.
inline std::vector<meshtensor::mesh_shape> meshes() {
  std::vector<meshtensor::mesh_shape> all;
  auto add = [&](std::vector<int> sizes) {
    constexpr char const* names[] = {"ax", "by", "cz"};
    meshtensor::mesh_shape m{};
    for (std::size_t a = 0; a < sizes.size(); ++a) m.add(meshtensor::name::of(names[a]), sizes[a]);
    all.push_back(m);
  };
  for (auto const& sizes : std::vector<std::vector<int>>{{1}, {2}, {3}, {4}, {2, 2}, {6}, {2, 3}, {8}, {2, 2, 2}})
    add(sizes);
  return all;
}

/// Calls f(rules) for every assignment of each named dim to one axis or none.
template <class F>
void each_layout(std::vector<meshtensor::name> const& dims, meshtensor::mesh_shape const& mesh, F f) {
  std::vector<int> choice(dims.size(), 0);
  for (;;) {
    meshtensor::layout_rules rules{};
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (choice[d] != 0) rules.shard(dims[d], {mesh.axes[choice[d] - 1].label});
    f(rules);
    std::size_t d = 0;
    while (d < dims.size() && ++choice[d] > mesh.count) choice[d++] = 0;
    if (d == dims.size()) return;
  }
}

/// Calls f(rules) for every assignment of each axis to one named dim or none, with a dim's axes in every order: all
/// legal layouts of a value that has all these dims.
template <class F>
void each_assignment(std::vector<meshtensor::name> const& dims, meshtensor::mesh_shape const& mesh, F f) {
  std::vector<std::vector<int>> axes(dims.size());
  auto place = [&](auto const& next, int axis) -> void {
    if (axis == mesh.count) {
      meshtensor::layout_rules rules{};
      for (std::size_t d = 0; d < dims.size(); ++d) {
        meshtensor::layout_rule r{};
        r.dim = dims[d];
        for (int a : axes[d]) r.axes[r.count++] = mesh.axes[a].label;
        if (r.count != 0) rules.add(r);
      }
      return f(rules);
    }
    next(next, axis + 1);
    for (auto& list : axes)
      for (std::size_t at = 0; at <= list.size(); ++at) {
        list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), axis);
        next(next, axis + 1);
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
      }
  };
  place(place, 0);
}

/// Repeatable random numbers.
struct rng {
  std::uint64_t state;
  std::uint64_t next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::uint64_t x = state ^ state >> 33;
    x *= 0xff51afd7ed558ccdu;
    return x ^ x >> 29;
  }
  /// 0, 1, …, n - 1
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  bool one_in(int n) { return below(n) == 0; }
};

/// Calls f(rules) for `limit` random assignments of each dim to one axis or none, or for all if there are no more.
/// Returns whether these were all.
template <class F>
bool some_layouts(std::vector<meshtensor::name> const& dims, meshtensor::mesh_shape const& mesh, int limit, rng& c,
                  F f) {
  double all = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) all *= mesh.count + 1;
  if (all <= limit) return each_layout(dims, mesh, f), true;
  for (int i = 0; i < limit; ++i) {
    meshtensor::layout_rules rules{};
    for (meshtensor::name const& d : dims)
      if (int const a = c.below(mesh.count + 1); a != 0) rules.shard(d, {mesh.axes[a - 1].label});
    f(rules);
  }
  return false;
}

/// A random layout with lists of several axes and with rules for some of the scopes. Not all are legal.
inline meshtensor::layout_rules drawn_layout(std::vector<meshtensor::name> const& dims,
                                             std::vector<meshtensor::name> const& scopes,
                                             meshtensor::mesh_shape const& mesh, rng& c) {
  meshtensor::layout_rules rules{};
  auto draw = [&](meshtensor::name const& scope) {
    std::vector<std::vector<int>> axes(dims.size());
    for (int a = 0; a < mesh.count; ++a) {
      int const d = c.below(static_cast<int>(dims.size()) + 1);
      if (d == 0) continue;
      auto& list = axes[static_cast<std::size_t>(d - 1)];
      list.insert(list.begin() + c.below(static_cast<int>(list.size()) + 1), a);
    }
    for (std::size_t d = 0; d < dims.size(); ++d) {
      meshtensor::layout_rule r{};
      r.scope = scope, r.dim = dims[d];
      for (int a : axes[d]) r.axes[r.count++] = mesh.axes[a].label;
      // In a scope a dim without axes is either inherited or replicated.
      if (r.count != 0 || (!scope.empty() && !c.one_in(4))) rules.add(r);
    }
  };
  draw({});
  int const share = scopes.size() < 6 ? 2 : static_cast<int>(scopes.size()) / 2;  // only some of many scopes
  for (auto const& scope : scopes)
    if (c.one_in(share) && rules.count + static_cast<int>(dims.size()) <= meshtensor::max_rules) draw(scope);
  return rules;
}

/// One line: `batch/ax, optimizer: hidden/by`.
inline std::string text_of(meshtensor::layout_rules const& rules) {
  std::string text;
  for (int r = 0; r < rules.count; ++r) {
    auto const& rule = rules.rules[r];
    text += (text.empty() ? "" : ", ") + (rule.scope.empty() ? "" : rule.scope.text() + ": ") + rule.dim.text();
    for (int a = 0; a < rule.count; ++a) text += "/" + rule.axes[a].text();
  }
  return text.empty() ? "replicated" : text;
}

/// One line: `ax=2 by=3`.
inline std::string text_of(meshtensor::mesh_shape const& mesh) {
  std::string text;
  for (int a = 0; a < mesh.count; ++a)
    text += (a == 0 ? "" : " ") + mesh.axes[a].label.text() + "=" + std::to_string(mesh.axes[a].extent);
  return text;
}

}  // namespace meshtensor_test
