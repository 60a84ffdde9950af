// SPDX-License-Identifier: Apache-2.0
// The programs of control_programs.hpp, traced and listed in all their forms.
#pragma once

#include <memory>
#include <vector>

#include "property/control_programs.hpp"
#include "property/program.hpp"

namespace control_forms {

using namespace property;  // NOLINT: these are parts of its tests
using control::written;

enum class sums { none, some };  // none: the same bits under every layout

struct tried {
  char const* label;
  std::unique_ptr<mt::module> as_loop, by_hand, recomputed;
  mt::name entry;
  sums in_it;
  bool stops;  // gradients at a state, so that differences give others
};

template <class Program>
std::unique_ptr<mt::module> traced() {
  return mt::on_heap([] { return mt::trace<mt::precision<Program, mt::dtype::f64>>(); });
}
/// Random numbers depend on the name, so all forms get the same one.
template <class Program>
std::unique_ptr<mt::module> named(mt::name const& entry) {
  auto m = traced<Program>();
  m->names[m->regions[mt::find_entry(*m, mt::entry_name<Program>())].label] = entry;
  return m;
}
template <template <written> class Program>
tried all_forms_of(char const* label, sums in_it = sums::some, bool stops = false) {
  mt::name const entry("program");
  return {label,
          named<Program<written::as_loop>>(entry),
          named<Program<written::by_hand>>(entry),
          named<Program<written::recomputed>>(entry),
          entry,
          in_it,
          stops};
}
template <written How>
struct newton_by_norm : control::newton<How, false> {};
template <written How>
struct newton_by_greatest : control::newton<How, true> {};

inline std::vector<tried> const& forms_of_programs() {
  using namespace control;
  static std::vector<tried> const all = [] {
    std::vector<tried> v;
    v.push_back(all_forms_of<newton_by_greatest>("newton", sums::none));
    v.push_back(all_forms_of<newton_by_norm>("newton by a norm"));
    v.push_back(all_forms_of<counted>("counted", sums::none));
    v.push_back(all_forms_of<in_each_other>("in each other", sums::none));
    v.push_back(all_forms_of<branching>("branching", sums::none));
    v.push_back(all_forms_of<power_iteration>("power iteration"));
    v.push_back(all_forms_of<settling>("settling"));
    v.push_back(all_forms_of<left_early>("left early"));
    v.push_back(all_forms_of<in_scan>("in scan"));
    v.push_back(all_forms_of<around_scan>("around scan"));
    v.push_back(all_forms_of<in_loops>("in loops"));
    v.push_back(all_forms_of<both_trained>("both trained"));
    v.push_back(all_forms_of<of_layers>("of layers"));
    v.push_back(all_forms_of<in_parts>("in parts"));
    v.push_back(all_forms_of<drawn>("drawn", sums::none));
    v.push_back(all_forms_of<updating>("updating", sums::some, true));
    v.push_back(all_forms_of<stopping>("stopping"));
    v.push_back(all_forms_of<stopping_with_states>("stopping with states", sums::some, true));
    return v;
  }();
  return all;
}

/// The extents of the dims that a program has.
struct sizes {
  std::int64_t batch, model, inner;
};
inline std::vector<mt::dim_extent> extents(mt::module const& m, sizes const& of) {
  std::vector<mt::dim_extent> all;
  for (auto const& e :
       {mt::dim_extent{mt::name("batch"), of.batch}, {mt::name("model"), of.model}, {mt::name("inner"), of.inner}})
    for (int d = 0; d < m.dim_count; ++d)
      if (m.dim_name(d) == e.label) all.push_back(e);
  return all;
}
inline void fill(subject& s, std::uint64_t seed = 11) { s.fill(fill_kind::reals, rng{seed}, -1.5, 1.5); }

}  // namespace control_forms
