// SPDX-License-Identifier: Apache-2.0
// The parts of a dim have as many elements as it has.
// expect: meshtensor refuses it, for this Reason
// expect: S03 'joined' (24) is split into 'rows' (5) x 'columns' (6), which is another number of elements
// expect: elements: both sides must have the same product (node
// expect: split_into_other_elements.cpp:23)
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/reshape.hpp"
#include "meshtensor/pass/bind.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct joined : mt::dim<"joined", 24> {} joined;
inline constexpr struct rows : mt::dim<"rows", 5> {} rows;
inline constexpr struct columns : mt::dim<"columns", 6> {} columns;
inline constexpr struct batch : mt::dim<"batch"> {} batch;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, joined);
    s.output("y", split(x, joined, mt::to(rows, columns)));
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
constexpr mt::early_check checked = mt::check_early(traced);
static_assert(mt::is_valid<checked>);
}  // namespace net

int main() {}
