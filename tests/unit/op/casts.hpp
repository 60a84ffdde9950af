// SPDX-License-Identifier: Apache-2.0
// Casts of floats to integers, and what each of them gives on any device: none depends on the processor.
#pragma once
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "meshtensor/meshtensor.hpp"

namespace casts {

namespace mt = meshtensor;

inline constexpr struct place_dim : mt::dim<"place", 37> {} place;
struct mesh : mt::mesh<> {};
struct layout : mt::layout<> {};

template <mt::dtype Type>
struct cast_to_integers {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::dtype_constant<Type>{}, place);
    s.output("i32", mt::cast<mt::i32>(x));
    s.output("i64", mt::cast<mt::i64>(x));
    s.output("u8", mt::cast<mt::u8>(x));
    s.output("boolean", mt::cast<mt::boolean>(x));
    s.output("in a chain", mt::cast<mt::i32>(x * 2) + mt::cast<mt::i32>(x));
  }
};

struct expected {
  double x;
  std::int32_t in_i32;
  std::int64_t in_i64;
  int in_u8;
};
inline constexpr auto least_i32 = std::numeric_limits<std::int32_t>::min(),
                      greatest_i32 = std::numeric_limits<std::int32_t>::max();
inline constexpr auto least_i64 = std::numeric_limits<std::int64_t>::min(),
                      greatest_i64 = std::numeric_limits<std::int64_t>::max();
/// Numbers that f64, f32 and bf16 hold.
inline constexpr expected of_all_floats[] = {
    {0, 0, 0, 0},
    {2.75, 2, 2, 2},
    {-2.75, -2, -2, 0},
    {-0.5, 0, 0, 0},
    {254, 254, 254, 254},
    {255, 255, 255, 255},
    {256, 256, 256, 255},
    {-1, -1, -1, 0},
    {0x1p31, greatest_i32, 2147483648, 255},
    {-0x1p31, least_i32, -2147483648, 0},
    {-0x1p40, least_i32, -1099511627776, 0},
    {0x1p62, greatest_i32, 4611686018427387904, 255},
    {0x1p63, greatest_i32, greatest_i64, 255},
    {-0x1p63, least_i32, least_i64, 0},
    {0x1p100, greatest_i32, greatest_i64, 255},
    {-0x1p100, least_i32, least_i64, 0},
    {std::numeric_limits<double>::infinity(), greatest_i32, greatest_i64, 255},
    {-std::numeric_limits<double>::infinity(), least_i32, least_i64, 0},
    {std::numeric_limits<double>::quiet_NaN(), 0, 0, 0},
};

template <class Device, mt::dtype Type>
void check() {
  CAPTURE(mt::text_of(Type));
  std::vector<mt::element_t<Type>> x;
  auto const at = [](std::size_t i) -> expected const& { return of_all_floats[i % std::size(of_all_floats)]; };
  for (std::size_t i = 0; i < 37; ++i) x.push_back(static_cast<mt::element_t<Type>>(at(i).x));
  mt::job const job = mt::job::in_lockstep();
  mt::store none(job);
  mt::executable<cast_to_integers<Type>, mesh, layout, Device> step(none);
  auto const results = step(mt::feed<"x">(x));
  auto const i32 = results.template get<"i32">().gather();
  auto const i64 = results.template get<"i64">().gather();
  auto const u8 = results.template get<"u8">().gather();
  auto const boolean = results.template get<"boolean">().gather();
  auto const chain = results.template get<"in a chain">().gather();
  for (std::int64_t i = 0; i < 37; ++i) {
    expected const& e = at(static_cast<std::size_t>(i));
    CAPTURE(e.x);
    CHECK(i32(place(i)) == e.in_i32);
    CHECK(i64(place(i)) == e.in_i64);
    CHECK(static_cast<int>(u8(place(i))) == e.in_u8);
    CHECK(static_cast<bool>(boolean(place(i))) == (e.x != 0));
    if (e.x > -1000 && e.x < 1000) CHECK(chain(place(i)) == static_cast<int>(2 * e.x) + e.in_i32);
  }
}

template <class Device>
void check_all() {
  check<Device, mt::f64>();
  check<Device, mt::f32>();
  check<Device, mt::bf16>();
}

}  // namespace casts
