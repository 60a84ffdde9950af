// SPDX-License-Identifier: Apache-2.0
// Finds the member that a type lacks to be a topology, so that the error names it.
#pragma once

#include "meshtensor/regime/ring.hpp"
#include "meshtensor/tensor/wrong.hpp"

namespace meshtensor::detail {

template <class T>
concept has_period = requires(int n) {
  { T::period(n) } -> std::same_as<int>;
};
template <class T>
concept has_slots = requires(int n) {
  { T::slots(n) } -> std::same_as<int>;
};
template <class T>
concept has_incoming = requires(int n, std::int64_t round) {
  { T::incoming(n, round, n, n) } -> std::same_as<edge>;
};
template <class T>
concept has_kept = requires(int n, std::int64_t round) {
  { T::kept(n, round, n) } -> std::same_as<double>;
};

/// The error of a type that is no topology, or nothing.
template <class T>
inline constexpr type_finding topology_members = [] {
  diagnostic d{};
  auto const expect = [&](bool holds, char const* member) {
    if (holds || !d.empty()) return;
    d << "G49 " << type_name<T>() << " is no topology, because it lacks the function static constexpr " << member;
  };
  expect(has_period<T>, "int period(int n)");
  expect(has_slots<T>, "int slots(int n)");
  expect(has_incoming<T>, "mt::edge incoming(int n, std::int64_t round, int replica, int slot)");
  expect(has_kept<T>, "double kept(int n, std::int64_t round, int replica)");
  if (d.empty() && !topology<T>)
    d << "G49 " << type_name<T>() << " is no topology, because it is no empty type: let all of its members be static";
  return type_finding{d};
}();

/// The topology of a policy or, after the error, another one, so that no other error follows.
template <class T>
struct usable_topology {
  static_assert(is_valid<topology_members<T>>);
  using type = directed_ring;
};
template <topology T>
struct usable_topology<T> {
  using type = T;
};

}  // namespace meshtensor::detail
