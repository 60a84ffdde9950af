// SPDX-License-Identifier: Apache-2.0
// Names of topologies that differ if their messages differ, for the fingerprints of programs and the names of states.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <string_view>
#include <utility>

#include "meshtensor/regime/check_topology.hpp"
#include "meshtensor/tensor/dim.hpp"

namespace meshtensor::detail {

/// The number of workers that a dim declares, or 0 if it is given at start-up.
template <dim_type D>
inline constexpr int declared_workers =
    D::dim_rule.kind == extent_rule::fixed ? static_cast<int>(D::dim_rule.value) : 0;

/// The numbers in the spelled name of a type, which compilers spell alike.
constexpr std::uint64_t key_of_digits(std::string_view spelled) {
  std::uint64_t key = 0, number = 0;
  bool inside = false;
  for (char const c : spelled) {
    bool const is_digit = c >= '0' && c <= '9';
    if (is_digit) number = number * 10 + static_cast<std::uint64_t>(c - '0');
    else if (inside) key = scrambled(key, number), number = 0;
    inside = is_digit;
  }
  return inside ? scrambled(key, number) : key;
}
/// A key of the template arguments of a type, which all compilers compute alike.
template <class T>
inline constexpr std::uint64_t key_of_arguments = key_of_digits(letters(type_name<T>()));
template <template <auto...> class T, auto... Values>
inline constexpr std::uint64_t key_of_arguments<T<Values...>> = [] {
  std::uint64_t key = sizeof...(Values);
  auto const add = [&](auto const& value) {
    using type = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::floating_point<type>) key = scrambled(key, std::bit_cast<std::uint64_t>(double{value}));
    else if constexpr (std::integral<type> || std::is_enum_v<type>)
      key = scrambled(key, static_cast<std::uint64_t>(value));
  };
  (add(Values), ...);
  return key;
}();

/// Adds the messages of n workers. If there are thousands, it leaves out some workers and then the last rounds, because
/// the compiler calls `incoming` for each message.
template <topology T>
constexpr std::uint64_t with_messages(std::uint64_t key, int n) {
  int const most = n <= 64 ? 4096 : std::max(1, 4096 * 64 / n), slots = T::slots(n);
  int const rounds = std::min(rounds_to_check<T>(n), 4096);
  int const workers = std::clamp(most / std::max(1, rounds * std::max(1, slots)), std::min(n, 2), n);
  for (int round = 0; round < rounds; ++round)
    for (int k = 0; k < workers; ++k) {
      int const worker = static_cast<int>(static_cast<std::int64_t>(k) * n / workers);
      for (int slot = 0; slot < slots; ++slot) {
        edge const e = T::incoming(n, round, worker, slot);
        if (e.source < 0) continue;
        key = scrambled(scrambled(key, static_cast<std::uint64_t>(worker)), static_cast<std::uint64_t>(e.source));
        key = scrambled(scrambled(key, static_cast<std::uint64_t>(round)), std::bit_cast<std::uint64_t>(e.weight));
      }
    }
  return key;
}

/// Whether a topology has messages for N workers. One of a table with four workers has none for others.
template <class T, int N>
concept has_messages_of = requires { typename std::integral_constant<std::uint64_t, with_messages<T>(0, N)>; };

/// A key of a topology. For any number of workers it looks at up to eight of them.
template <topology T, int Workers>
inline constexpr std::uint64_t key_of_topology = with_messages<T>(key_of_arguments<T>, Workers);
template <topology T>
inline constexpr std::uint64_t key_of_topology<T, 0> = []<int... Less>(std::integer_sequence<int, Less...>) {
  std::uint64_t key = key_of_arguments<T>;
  auto const add = [&]<int N>(std::integral_constant<int, N>) {
    if constexpr (has_messages_of<T, N>) key = with_messages<T>(key, N);
  };
  (add(std::integral_constant<int, Less + 1>{}), ...);
  return key;
}(std::make_integer_sequence<int, 8>{});

/// A name for a topology of so many workers, or of any number if it is 0. It ends in digits that depend on the
/// messages, so that programs with topologies that differ have fingerprints that differ. In a name of a state, all
/// compilers spell the topology alike, so it has no template arguments. It is also the same for any number of workers,
/// which may be another one when a training resumes.
template <topology T, int Workers = 0>
constexpr name label_of(bool of_state = false) {
  std::uint64_t const key = of_state ? key_of_topology<T, 0> : key_of_topology<T, Workers>;
  diagnostic d{};
  letters const spelled(topology_name<T>());
  std::string_view const all = spelled;
  d << all.substr(0, of_state ? std::min<std::size_t>(all.find('<'), 20) : 20) << (of_state ? "_" : "/")
    << static_cast<long long>(key >> 32);
  return name::of(d.view());
}

}  // namespace meshtensor::detail
