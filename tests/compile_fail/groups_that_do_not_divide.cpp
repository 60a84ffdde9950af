// SPDX-License-Identifier: Apache-2.0
// The groups of a norm multiply to its channels.
// expect: S03 'channels' (10) is split into 'groups' (4) x 'in_group' (2), which is another number of elements
// expect: groups_that_do_not_divide.cpp:21)
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/nn/group_norm.hpp"
#include "meshtensor/pass/bind.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct rows : mt::dim<"rows", 3> {} rows;
inline constexpr struct channels : mt::dim<"channels", 10> {} channels;
inline constexpr struct groups : mt::dim<"groups", 4> {} groups;
inline constexpr struct in_group : mt::dim<"in_group", 2> {} in_group;
struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, rows, channels);
    s.output("y", mt::nn::group_norm(s / "norm", x, channels, mt::to(groups, in_group), rows));
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
constexpr mt::early_check checked = mt::check_early(traced);
static_assert(mt::is_valid<checked>);
}  // namespace net

int main() {}
