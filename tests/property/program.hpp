// SPDX-License-Identifier: Apache-2.0
// Checks a whole program under every layout of every mesh that can be enumerated, and under random layouts by scope.
#pragma once

#include "property/catalogue.hpp"
#include "property/subject.hpp"

namespace property {

/// The dims of a program's values.
inline std::vector<mt::name> dims_in_use(mt::module const& m) {
  bool used[mt::max_dims] = {};
  for (int v = 0; v < m.value_count; ++v)
    for (int i = 0; i < m.values[v].dims.count; ++i) used[m.values[v].dims.at[i]] = true;
  std::vector<mt::name> all;
  for (int d = 0; d < m.dim_count; ++d)
    if (used[d]) all.push_back(m.dim_name(d));
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
  for (auto const& mesh : meshtensor_test::meshes()) {
    enumerated += meshtensor_test::some_layouts(dims, mesh, share_of(how.assignments), c,
                                                [&](mt::layout_rules const& rules) { s.check_layout(mesh, rules, t); });
    for (int i = 0; i < share_of(how.drawn); ++i)
      s.check_layout(mesh, meshtensor_test::drawn_layout(dims, scopes, mesh, c), t);
  }
  t.say((std::string(what) + ", " + std::to_string(enumerated) + " of 9 meshes in full").c_str());
  CHECK(t.tried > 0);
  all.tried += t.tried;
}
/// The same for a program of the catalogue.
inline void hold_under_every_layout(char const* what, program_case const& how, tally& all) {
  listed const& program = program_named(what);
  hold_under_every_layout(what, *program.trace(), program.entry, how, all);
}

}  // namespace property
