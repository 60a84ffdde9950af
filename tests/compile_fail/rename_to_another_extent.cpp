// SPDX-License-Identifier: Apache-2.0
// A dim and its new name are equally long.
// expect: S03 'length' (8) is renamed to 'memory'
// expect: (6), which is another number of elements: declare 'memory' with the extent of 'length'
// expect: rename_to_another_extent.cpp:20)
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/rename.hpp"
#include "meshtensor/pass/bind.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct length : mt::dim<"length", 8> {} length;
inline constexpr struct memory : mt::dim<"memory", 6> {} memory;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, length);
    s.output("y", rename(x, length, memory));
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
constexpr mt::early_check checked = mt::check_early(traced);
static_assert(mt::is_valid<checked>);
}  // namespace net

int main() {}
