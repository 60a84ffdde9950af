// SPDX-License-Identifier: Apache-2.0
// Checks a whole program under every layout of every mesh that can be enumerated, and under random layouts by scope.
#pragma once

#include <cmath>

#include "property/catalogue.hpp"
#include "property/sample.hpp"
#include "property/subject.hpp"

namespace property {

/// The dims of a program's values, but for the iterations of loops that may end early, which layouts do not name.
inline std::vector<mt::name> dims_in_use(mt::module const& m) {
  bool used[mt::max_dims] = {};
  for (int v = 0; v < m.value_count; ++v)
    for (int i = 0; i < m.values[v].dims.count; ++i) used[m.values[v].dims.at[i]] = true;
  std::vector<mt::name> all;
  for (int d = 0; d < m.dim_count; ++d)
    if (std::string const label = m.dim_name(d).text(); used[d] && !label.starts_with("while_loop/") &&
                                                        !label.starts_with("cond/") &&
                                                        !label.starts_with("switch_case/"))
      all.push_back(m.dim_name(d));
  return all;
}

/// The components of a program's paths.
inline std::vector<mt::name> scopes_of(mt::module const& m) {
  std::vector<mt::name> all;
  for (int p = 0; p < m.path_count; ++p) {
    mt::name const& label = m.names[m.paths[p].label];
    bool known = false;
    for (mt::name const& n : all) known = known || n == label;
    if (!known) all.push_back(label);
  }
  return all;
}

struct program_case {
  int assignments = 1024;  // for each mesh: all, if there are no more
  int drawn = 24;          // for each mesh: random ones with lists of axes and scopes
  int steps = 2;
  double tolerance = 1e-9;
};

/// How many layouts of a mesh are tried: assignments of each dim to one axis or none, and random ones by scope.
struct layout_counts {
  int assignments, drawn;
};
/// Calls f(rules) for the sample of so many layouts. Returns whether all assignments were among them. `number` counts
/// the layouts of all meshes.
template <class F>
bool sampled_layouts(std::vector<mt::name> const& dims, std::vector<mt::name> const& scopes, mt::mesh_shape const& mesh,
                     layout_counts const& counts, std::uint64_t& number, rng& c, F f) {
  double const all = std::pow(mesh.count + 1, static_cast<double>(dims.size()));
  int wanted = 0;
  for (int i = 0; i < counts.assignments && i < all; ++i) wanted += is_in_even_sample(number++);
  bool const in_full = meshtensor_test::some_layouts(dims, mesh, wanted, c, f);
  for (int i = 0; i < counts.drawn; ++i)
    if (is_in_even_sample(number++)) f(meshtensor_test::drawn_layout(dims, scopes, mesh, c));
  return in_full;
}

/// Checks that every output and every variable, on every processor, is that of the interpreter under every layout.
inline void hold_under_every_layout(char const* what, mt::module const& traced, mt::name const& entry,
                                    program_case const& how, tally& all) {
  subject s(traced, entry, {});
  s.steps = how.steps;
  s.tolerance = how.tolerance;
  s.fill(fill_kind::reals, rng{11}, -1.5, 1.5, 11);
  s.expect();
  auto const dims = dims_in_use(s.graph()), scopes = scopes_of(s.graph());
  rng c{1 + sample_number()};
  tally t;
  int enumerated = 0;
  std::uint64_t number = 0;
  for (auto const& mesh : meshtensor_test::meshes())
    enumerated += sampled_layouts(dims, scopes, mesh, {how.assignments, how.drawn}, number, c,
                                  [&](mt::layout_rules const& rules) { s.check_layout(mesh, rules, t); });
  t.say((std::string(what) + ", " + std::to_string(enumerated) + " of 9 meshes in full").c_str());
  at_least(1, t.tried);
  all.tried += t.tried;
}
/// The same for a program of the catalogue.
inline void hold_under_every_layout(char const* what, program_case const& how, tally& all) {
  listed const& program = program_named(what);
  hold_under_every_layout(what, *program.trace(), program.entry, how, all);
}

}  // namespace property
