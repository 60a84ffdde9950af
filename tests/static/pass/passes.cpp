// SPDX-License-Identifier: Apache-2.0
// The passes run in the compiler within its default limits, and what they give is right.
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/pass/differentiate.hpp"
#include "meshtensor/pass/save_or_recompute.hpp"
#include "meshtensor/pass/simplify.hpp"
#include "meshtensor/pass/verify.hpp"
#include "unit/pass/programs.hpp"

using namespace meshtensor_test;

template <class Program>
struct passes {
  static constexpr mt::module differentiated = mt::differentiate(traced<Program>);
  static constexpr mt::module saved = mt::save_or_recompute(differentiated);
  static constexpr mt::module simplified = mt::simplify(saved);
  static_assert(mt::verify(traced<Program>).empty());
  static_assert(mt::verify(differentiated).empty());
  static_assert(mt::verify(saved).empty());
  static_assert(mt::verify(simplified).empty());
  static_assert(simplified.node_count < differentiated.node_count);
  static_assert(mt::is_valid<simplified>);
};
template struct passes<network>;
template struct passes<deep>;
template struct passes<recurrent>;
template struct passes<branching>;
template struct passes<composed>;
template struct passes<noisy>;

// Equal programs give equal modules, to the last row.
static_assert([] {
  mt::module const a = mt::trace<deep>(), b = mt::trace<deep>();
  if (a.node_count != b.node_count || a.value_count != b.value_count || a.link_count != b.link_count) return false;
  for (int i = 0; i < a.link_count; ++i)
    if (a.links[i] != b.links[i]) return false;
  return true;
}());
