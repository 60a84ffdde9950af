// SPDX-License-Identifier: Apache-2.0
// A sample of the cases of a test, and a check that it tried enough; tests/cases.py adds up those numbers.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace property {

namespace detail {
inline std::uint64_t number_from(char const* variable, std::uint64_t otherwise) {
  char const* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}
inline std::uint64_t mixed(std::uint64_t x) {
  x = (x + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 31) * 0x94d049bb133111ebu;
  return x ^ x >> 29;
}
}  // namespace detail

/// One case in so many is tried: MESHTENSOR_SAMPLE, or 1 for all of them.
inline std::uint64_t one_in() {
  static std::uint64_t const n = std::max<std::uint64_t>(1, detail::number_from("MESHTENSOR_SAMPLE", 1));
  return n;
}
/// Which sample of all that there are: a number for each commit, so that in time every case has its turn.
inline std::uint64_t sample_number() {
  static std::uint64_t const n = one_in() == 1 ? 0 : detail::number_from("MESHTENSOR_SEED", 0);
  return n;
}
/// Whether this case is in the sample. Cases are numbered within a test in the order in which it makes them.
inline bool is_in_sample(std::uint64_t number) {
  return detail::mixed(number + detail::mixed(sample_number())) % one_in() == 0;
}
/// The same for cases of which some must be tried: one in each `one_in()` that follow each other.
inline bool is_in_even_sample(std::uint64_t number) {
  return number % one_in() == detail::mixed(number / one_in() + detail::mixed(sample_number())) % one_in();
}
/// Whether a case of the sample is run on a device with late queues, too, by its hash: one in MESHTENSOR_LATE, else in
/// 16; 0: none.
inline bool is_in_late_sample(std::uint64_t hash) {
  static std::uint64_t const n = detail::number_from("MESHTENSOR_LATE", 16),
                             seed = detail::number_from("MESHTENSOR_SEED", 0);
  return n != 0 && detail::mixed(hash + detail::mixed(seed)) % n == 0;
}
/// How many of `count` random cases are tried; at least one.
template <class N>
N share_of(N count) {
  return std::max<N>(1, count / static_cast<N>(one_in()));
}
/// The first of the seeds `first`, `first` + 1, …, of which a test has `count` and tries `share_of(count)`.
template <class N>
std::uint64_t first_in_sample(std::uint64_t first, N count) {
  return first + detail::mixed(sample_number()) % one_in() * static_cast<std::uint64_t>(share_of(count));
}

/// Checks that at least `cases` were tried; in a sample a third of its share, for some samples have fewer than others.
/// SEED asks for a single one.
inline void at_least(long cases, long tried) {
  long const wanted = one_in() == 1 ? cases : cases / static_cast<long>(3 * one_in());
  if (std::getenv("SEED") == nullptr) CHECK(tried >= wanted);
}

}  // namespace property
