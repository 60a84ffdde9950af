// SPDX-License-Identifier: Apache-2.0
// A program has as many names as its table holds.
// expect: G13 the program has more than 512 names
#include <utility>

#include "meshtensor/graph/trace.hpp"

namespace mt = meshtensor;

namespace net {
template <std::size_t I>
constexpr char text[4] = {static_cast<char>('a' + I / 100), static_cast<char>('a' + I / 10 % 10),
                          static_cast<char>('a' + I % 10), 0};

struct step {
  constexpr void operator()(mt::scope auto s) const {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      [[maybe_unused]] auto const all = {s.number(text<I>, 0)...};
    }(std::make_index_sequence<512>());
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}
