// SPDX-License-Identifier: Apache-2.0
// A program has as many variables as its table holds.
// expect: G24 the program has more than 1024 parameters and states, those of the optimizer included: write equal
// expect: layers as one repeat, or compile with -DMESHTENSOR_MAX_NODES=8192
#include <utility>

#include "meshtensor/graph/trace.hpp"

namespace mt = meshtensor;

namespace net {
template <std::size_t I>  // `bc/de`: paths have fewer names than there are variables
constexpr char path[6] = {static_cast<char>('a' + I / 320),     static_cast<char>('a' + I / 32 % 10), '/',
                          static_cast<char>('a' + I % 32 / 10), static_cast<char>('a' + I % 32 % 10), 0};
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      [[maybe_unused]] auto const all = {s.parameter(path<I>, in)...};
    }(std::make_index_sequence<1025>());
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}
