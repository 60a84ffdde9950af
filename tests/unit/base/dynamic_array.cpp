// SPDX-License-Identifier: Apache-2.0
// Dynamic arrays do what std::vector does, with elements that are bytes, strings and owners, over random operations.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/base/dynamic_array.hpp"

namespace mt = meshtensor;

namespace {

/// Counts how many of its kind live.
struct counted {
  static inline int alive = 0;
  int number = 0;
  counted() { ++alive; }
  explicit counted(int n) : number(n) { ++alive; }
  counted(counted const& other) : number(other.number) { ++alive; }
  counted(counted&& other) noexcept : number(std::exchange(other.number, -1)) { ++alive; }
  counted& operator=(counted const&) = default;
  ~counted() { --alive; }
  bool operator==(counted const&) const = default;
};

/// Throws at a copy.
struct fragile {
  static inline int alive = 0, copies_left = 0;
  fragile() { ++alive; }
  fragile(fragile const&) {
    if (copies_left-- == 0) throw 1;
    ++alive;
  }
  fragile(fragile&&) noexcept { ++alive; }
  ~fragile() { --alive; }
};

template <class T>
bool are_equal(mt::dynamic_array<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() && a.empty() == b.empty() && std::equal(a.begin(), a.end(), b.begin(), b.end()) &&
         (b.empty() || (a.front() == b.front() && a.back() == b.back() && a.data() == &a[0]));
}

template <class T, class Make>
void as_a_vector(Make const& make) {
  std::mt19937 g(7);
  mt::dynamic_array<T> a;
  std::vector<T> b;
  for (int step = 0; step < 3000; ++step) {
    int const n = static_cast<int>(g() % 40);
    switch (g() % 10) {
      case 0: a.resize(static_cast<std::size_t>(n)), b.resize(static_cast<std::size_t>(n)); break;
      case 1: a.reserve(static_cast<std::size_t>(n)), b.reserve(static_cast<std::size_t>(n)); break;
      case 2:
        if (n == 0) a.clear(), b.clear();
        break;
      case 3:
        if (!b.empty()) a.pop_back(), b.pop_back();
        break;
      case 4:
        a.assign(static_cast<std::size_t>(n), make(step)), b.assign(static_cast<std::size_t>(n), make(step));
        break;
      case 5: {  // a copy is another array; what was moved from is empty
        mt::dynamic_array<T> copy = a;
        CHECK(copy == a);
        copy.push_back(make(-step - 1));
        CHECK(!(copy == a));
        mt::dynamic_array<T> moved = std::move(a);
        CHECK(a.empty());
        a = std::move(moved);
        break;
      }
      case 6:  // an element of its own, also where it grows
        if (!b.empty()) a.push_back(a.front()), b.push_back(T(b.front()));
        break;
      default: a.push_back(make(step)), b.push_back(make(step));
    }
    REQUIRE(are_equal(a, b));
  }
}

}  // namespace

TEST_CASE("as std::vector") {
  as_a_vector<long>([](int i) { return long{i}; });
  as_a_vector<std::string>(
      [](int i) { return std::string(static_cast<std::size_t>(i < 0 ? -i : i) % 50, 'x') + std::to_string(i); });
  as_a_vector<counted>([](int i) { return counted(i); });
  CHECK(counted::alive == 0);
}

TEST_CASE("elements that are only moved") {
  mt::dynamic_array<std::unique_ptr<int>> a;
  for (int i = 0; i < 100; ++i) a.push_back(std::make_unique<int>(i));
  a.resize(101);
  CHECK(a.back() == nullptr);
  long sum = 0;
  for (std::size_t i = 0; i < 100; ++i) sum += *a[i];
  CHECK(sum == 4950);
  CHECK(*a.emplace_back(std::make_unique<int>(5)) == 5);
}

TEST_CASE("a copy that fails leaves nothing behind") {
  mt::dynamic_array<fragile> const a(5);
  fragile::copies_left = 3;
  bool threw = false;
  try {
    mt::dynamic_array<fragile> const copy = a;
  } catch (int) { threw = true; }
  CHECK(threw);
  CHECK(fragile::alive == 5);
}
