// SPDX-License-Identifier: Apache-2.0
// A layout has as many rules as its table holds.
// expect: S06 a layout has at most 64 rules
#include <utility>

#include "meshtensor/tensor/layout.hpp"

namespace mt = meshtensor;

namespace net {
template <std::size_t I>
constexpr char text[3] = {static_cast<char>('a' + I / 10), static_cast<char>('a' + I % 10), 0};
template <std::size_t I>
struct numbered : mt::dim<mt::name(text<I>)> {};
inline constexpr struct data_axis : mt::axis<"data", 2> {} data;
template <class>
struct rules_for;
template <std::size_t... I>
struct rules_for<std::index_sequence<I...>> : mt::layout<mt::shard<numbered<I>{}, data>...> {};
struct layout : rules_for<std::make_index_sequence<65>> {};
}  // namespace net

int main() { return net::layout::rules.count; }
