// SPDX-License-Identifier: Apache-2.0
// A program has as many dims as its table holds.
// expect: G14 a program has at most 128 dims
#include <utility>

#include "meshtensor/graph/trace.hpp"

namespace mt = meshtensor;

namespace net {
template <std::size_t I>
constexpr char text[4] = {static_cast<char>('a' + I / 100), static_cast<char>('a' + I / 10 % 10),
                          static_cast<char>('a' + I % 10), 0};
template <std::size_t I>
struct numbered : mt::dim<mt::name(text<I>), 2> {};

struct step {
  constexpr void operator()(mt::scope auto s) const {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (s.input(text<I>, mt::f32, numbered<I>{}), ...);
    }(std::make_index_sequence<129>());
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}
