// Enumerates layouts of a program on a mesh: every dim over every axis or over none.
#pragma once

#include <memory>
#include <vector>

#include "meshtensor/pass/lower.hpp"

namespace meshtensor_test {

/// The meshes on which everything is tried: {1}, {2}, {3}, {4}, {2,2}, {6}, {2,3}, {8}, {2,2,2}.
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

/// Calls f(rules) for every assignment of the dims named to one axis each or to none.
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

/// One line: `batch/ax, hidden/by`.
inline std::string text_of(meshtensor::layout_rules const& rules) {
  std::string text;
  for (int r = 0; r < rules.count; ++r) {
    auto const& rule = rules.rules[r];
    text += (text.empty() ? "" : ", ") + (rule.scope.empty() ? "" : rule.scope.text() + ": ") + rule.dim.text();
    for (int a = 0; a < rule.count; ++a) text += "/" + rule.axes[a].text();
  }
  return text.empty() ? "replicated" : text;
}

}  // namespace meshtensor_test
