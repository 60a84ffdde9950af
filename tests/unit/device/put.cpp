// SPDX-License-Identifier: Apache-2.0
// A state of which one position is replaced each step, or one for each row: the cpu device writes there and nowhere
// else, wherever the dim stands, and copies what it cannot write in place.
// passes: start-up
// needs: cpu
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "meshtensor/device/default.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct outer : mt::dim<"outer", 6> {} outer;
inline constexpr struct place : mt::dim<"place", 50> {} place;
inline constexpr struct inner : mt::dim<"inner", 32> {} inner;
inline constexpr struct first : mt::dim<"first", 3> {} first;
struct alone : mt::mesh<> {};
struct whole : mt::layout<> {};

template <mt::dtype Type, class Kept>
struct keep {
  constexpr void operator()(mt::scope auto s) const {
    mt::dtype_constant<Type> constexpr type{};
    auto x = s.input("x", type, inner, outer);
    auto kept = Kept::state(s, type);
    auto copied = put(kept, transpose(x, to(outer, inner)), place, 0);
    s.update(kept, put(kept, x, place, s.number("position", 0)));
    s.output("sum", sum(slice(kept, place, first, 0), outer, inner, first));
    s.output("copied", copied);
  }
};
struct in_the_middle {
  static constexpr auto state(mt::scope auto s, auto type, mt::named_here const& name = "kept") {
    return s.state(name, type, outer, place, inner, mt::constant(0));
  }
};
struct at_the_end {
  static constexpr auto state(mt::scope auto s, auto type, mt::named_here const& name = "kept") {
    return s.state(name, type, outer, inner, place, mt::constant(0));
  }
};

template <mt::dtype Type, class T, class Kept>
void check() {
  constexpr std::int64_t stride = std::is_same_v<Kept, in_the_middle> ? 32 : 1;
  auto job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<keep<Type, Kept>, alone, whole, mt::default_device> step(values);
  std::vector<T> expected(6 * 50 * 32), x(32 * 6);
  auto const at = [&](std::int64_t o, std::int64_t p, std::int64_t i) -> T& {
    return expected[static_cast<std::size_t>(stride == 32 ? (o * 50 + p) * 32 + i : (o * 32 + i) * 50 + p)];
  };
  auto const held = [&] { return reinterpret_cast<T*>(values.values().at("kept").block_of(0)); };
  void* where = nullptr;
  for (std::int64_t p : {7, 49, 0, 7, 1}) {
    std::iota(x.begin(), x.end(), static_cast<T>(100 * p + 1));
    double before = 0;
    for (std::int64_t o = 0; o < 6; ++o)
      for (std::int64_t q = 0; q < 3; ++q)
        for (std::int64_t i = 0; i < 32; ++i) before += static_cast<double>(at(o, q, i));
    auto const result = step(mt::feed<"x">(x), mt::set<"position">(static_cast<double>(p)));
    CHECK(static_cast<double>(result.template get<"sum">()) == before);
    std::vector<T> copied = expected;
    std::swap(copied, expected);
    for (std::int64_t o = 0; o < 6; ++o)
      for (std::int64_t i = 0; i < 32; ++i) at(o, 0, i) = x[static_cast<std::size_t>(i * 6 + o)];
    auto const whole_copy = result.template get<"copied">().gather();
    CHECK(std::ranges::equal(whole_copy, expected));
    std::swap(copied, expected);
    for (std::int64_t o = 0; o < 6; ++o)
      for (std::int64_t i = 0; i < 32; ++i) at(o, p, i) = x[static_cast<std::size_t>(i * 6 + o)];
    CHECK(std::memcmp(held(), expected.data(), expected.size() * sizeof(T)) == 0);
    CHECK((where == nullptr || where == held()));
    where = held();
  }
  for (int outside : {-1, 50})
    CHECK_THROWS_WITH_AS(
        step(mt::feed<"x">(x), mt::set<"position">(outside)),
        ("meshtensor R10: put at " + std::to_string(outside) + ", but the dim 'place' has 50 positions").c_str(),
        mt::error);
  CHECK(std::memcmp(held(), expected.data(), expected.size() * sizeof(T)) == 0);
}

inline constexpr struct fresh : mt::dim<"fresh", 4> {} fresh;
/// Every outer one writes a place of its own; and some outer ones are written anew.
template <class Kept>
struct keep_rows {
  constexpr void operator()(mt::scope auto s) const {
    auto kept = Kept::state(s, mt::f32);
    auto const at = s.input("at", mt::i32, outer);
    s.update(kept, put(kept, s.input("x", mt::f32, inner, outer), place, at));
    auto all = Kept::state(s, mt::f32, "all");
    s.update(all, put(all, s.input("y", mt::f32, fresh, inner), outer, s.input("which", mt::i32, fresh)));
  }
};

template <class Kept>
void check_rows() {
  constexpr std::int64_t stride = std::is_same_v<Kept, in_the_middle> ? 32 : 1;
  auto job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<keep_rows<Kept>, alone, whole, mt::default_device> step(values);
  std::vector<float> expected(6 * 50 * 32), all(6 * 50 * 32), x(32 * 6), y(4 * 32);
  auto const index = [](std::int64_t o, std::int64_t p, std::int64_t i) {
    return static_cast<std::size_t>(stride == 32 ? (o * 50 + p) * 32 + i : (o * 32 + i) * 50 + p);
  };
  auto const held = [&](char const* name) { return reinterpret_cast<float*>(values.values().at(name).block_of(0)); };
  void* where = nullptr;
  for (std::int32_t round = 1; round < 5; ++round) {
    std::iota(x.begin(), x.end(), 1000.0f * static_cast<float>(round));
    std::iota(y.begin(), y.end(), 500.0f * static_cast<float>(round));
    std::vector<std::int32_t> const at{round, 49, 7 * round, -1, 50, 0}, which{round, 6, 2, round};
    step(mt::feed<"x">(x), mt::feed<"y">(y), mt::feed<"at">(at), mt::feed<"which">(which));
    for (std::int64_t i = 0; i < 32; ++i) {
      for (std::int64_t o = 0; o < 6; ++o)
        if (std::int32_t const p = at[static_cast<std::size_t>(o)]; p >= 0 && p < 50)
          expected[index(o, p, i)] = x[static_cast<std::size_t>(i * 6 + o)];
      for (std::int64_t k = 0; k < 4; ++k)
        for (std::int64_t p = 0; p < 50; ++p)
          if (std::int32_t const o = which[static_cast<std::size_t>(k)]; o < 6)
            all[index(o, p, i)] = y[static_cast<std::size_t>(k * 32 + i)];
    }
    CHECK(std::memcmp(held("kept"), expected.data(), expected.size() * sizeof(float)) == 0);
    CHECK(std::memcmp(held("all"), all.data(), all.size() * sizeof(float)) == 0);
    CHECK((where == nullptr || where == held("kept")));
    where = held("kept");
  }
}

}  // namespace

TEST_CASE("rows are put at places of their own, the last of equal ones stays") {
  check_rows<in_the_middle>();
  check_rows<at_the_end>();
}

TEST_CASE("a position of a state is written in place by the cpu device") {
  check<mt::dtype::f32, float, in_the_middle>();
  check<mt::dtype::i64, std::int64_t, at_the_end>();
}
