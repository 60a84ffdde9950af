// SPDX-License-Identifier: Apache-2.0
// Every node knows the line that called for it, also those inside an operation that is made of others.
// sample
#include <doctest/doctest.h>

#include <cstring>
#include <source_location>

#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/activation.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/random.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/rename.hpp"
#include "meshtensor/op/softmax.hpp"

namespace {
namespace mt = meshtensor;
using mt::to;

inline constexpr struct length_dim : mt::dim<"length", 4> {} length;
inline constexpr struct memory_dim : mt::dim<"memory", 4> {} memory;

constexpr int here(std::source_location const& l = std::source_location::current()) {
  return static_cast<int>(l.line());
}

constexpr int first = here();
struct written {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, length);
    x = gelu(x);
    auto y = rename(x, length, memory);
    auto z = einsum(x, y, to(length, memory));
    z = softmax(causal(z, length, memory), memory);
    x = sum(z, memory);
    x = select(bernoulli(s / "coin", 0.5, to(length)), x, 0);
    s.output("y", x);
  }
};
constexpr mt::module traced = mt::trace<written>();

constexpr bool every_line_is_used_and_no_other() {
  bool used[9] = {};
  for (int i = 0; i < traced.node_count; ++i) {
    mt::site_row const& site = traced.sites[traced.nodes[i].site];
    int const at = static_cast<int>(site.line) - first - 3;
    if (at < 0 || at >= 8) return false;
    used[at] = true;
  }
  for (int i = 0; i < 8; ++i)
    if (!used[i]) return false;
  return true;
}
static_assert(every_line_is_used_and_no_other());
}  // namespace

TEST_CASE("the file is the user's") {
  for (int i = 0; i < traced.site_count; ++i) CHECK(std::strcmp(traced.sites[i].file, __FILE__) == 0);
}
