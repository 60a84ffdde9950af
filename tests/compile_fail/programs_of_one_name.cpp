// SPDX-License-Identifier: Apache-2.0
// Programs of a set are told apart by their names, which leave namespaces out.
// expect: G03 two programs of a set are called 'step': give one of them another name
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/pass/lower.hpp"

namespace mt = meshtensor;

inline constexpr struct in_dim : mt::dim<"in", 4> {} in;
namespace first {
struct step {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.parameter("w", in)); }
};
}  // namespace first
namespace second {
struct step {
  constexpr void operator()(mt::scope auto s) const { s.output("z", s.parameter("w", in)); }
};
}  // namespace second

constexpr mt::module traced = mt::try_trace<mt::programs<first::step, second::step>>();
static_assert(mt::is_valid<traced>);

int main() {}
