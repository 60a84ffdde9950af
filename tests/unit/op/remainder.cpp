// SPDX-License-Identifier: Apache-2.0
// `%`: the remainder with the sign of the divisor, exact for every quotient, for infinities, and for the least integer
// divided by -1; on plain loops, in registers, in the text for GPUs and as StableHLO; its gradient.
// needs: cpu
// passes: start-up
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "meshtensor/device/cpu/device.hpp"
#include "meshtensor/device/cuda/device.hpp"
#include "meshtensor/emit/stablehlo.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/host_gpu.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct many_dim : mt::dim<"many"> {} many;
inline constexpr struct part_axis : mt::axis<"part"> {} part;
struct mesh : mt::mesh<part> {};
struct layout : mt::layout<mt::shard<many, part>> {};

template <mt::dtype T>
struct remainders {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::dtype_constant<T>{}, many), y = s.input("y", mt::dtype_constant<T>{}, many);
    s.output("rest", x % y);
    if constexpr (mt::is_float(T)) s.output("by_divisor", gradient(sum(x % y), y));
  }
};

/// x % y by the C library, rounded to the element.
template <class E>
E wanted(E x, E y) {
  if constexpr (std::is_integral_v<E>) {
    if (y == 0 || (std::is_signed_v<E> && y == E(-1))) return 0;
    auto const rest = static_cast<E>(x % y);
    return rest != 0 && (rest < 0) != (y < 0) ? static_cast<E>(rest + y) : rest;
  } else {
    using A = mt::arithmetic_t<E>;
    A const by = y, rest = std::fmod(A(x), by);
    return rest != 0 && (rest < 0) != (by < 0) ? rest + by : rest;
  }
}

/// Numbers of all sizes and signs; those of floats have every bit pattern.
template <class E>
std::vector<E> draw(std::size_t count, std::uint64_t state) {
  std::vector<E> all;
  using limits = std::numeric_limits<E>;
  if constexpr (std::is_integral_v<E>) all = {limits::lowest(), limits::max(), E(-1), 0, 1, 7, 3, E(-7)};
  else
    for (float const e : {INFINITY, -INFINITY, NAN, 0.0f, -0.0f, 1e-45f, 3.4e38f, -1.0f, 1e9f, 7.0f, 0.1f, -3.0f})
      all.push_back(static_cast<E>(e));
  while (all.size() < count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    if constexpr (std::is_same_v<E, double>) all.push_back(std::bit_cast<double>(state));
    else if constexpr (std::is_integral_v<E>) all.push_back(static_cast<E>(state >> 7));
    else all.push_back(static_cast<E>(std::bit_cast<float>(static_cast<std::uint32_t>(state >> 32))));
  }
  return all;
}

template <class Device, mt::dtype T>
void check(int parts) {
  using E = mt::element_t<T>;
  std::vector<E> x, y;
  auto const numbers = draw<E>(48, 5), divisors = draw<E>(48, 11);
  for (E const a : numbers)
    for (E const b : divisors) x.push_back(a), y.push_back(b);
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<remainders<T>, mesh, layout, Device> step(weights, part(parts),
                                                           many(static_cast<std::int64_t>(x.size())));
  auto const rest = step(mt::feed<"x">(x), mt::feed<"y">(y)).template get<"rest">().gather();
  int wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    E const got = rest.data()[i], right = wanted(x[i], y[i]);
    bool const same = got == right || (got != got && right != right);
    if (!same && wrong++ == 0) MESSAGE(double(x[i]), " % ", double(y[i]), " is ", double(got), ", not ", double(right));
  }
  CHECK(wrong == 0);
}
template <class Device>
void check_all(int parts) {
  CAPTURE(parts);
  check<Device, mt::dtype::f64>(parts);
  check<Device, mt::dtype::f32>(parts);
  check<Device, mt::dtype::bf16>(parts);
  check<Device, mt::dtype::i64>(parts);
  check<Device, mt::dtype::i32>(parts);
  check<Device, mt::dtype::u8>(parts);
}

}  // namespace

TEST_CASE("on plain loops") {
  for (int const parts : {1, 3}) check_all<mt::reference_device>(parts);
}

TEST_CASE("in registers") {
  for (int const parts : {1, 5}) check_all<mt::cpu_device>(parts);
}

TEST_CASE("in the text for GPUs") {
  meshtensor_test::host_gpu gpu;
  mt::cuda::given_gpu() = &gpu;
  check_all<mt::cuda_device>(2);
  mt::cuda::given_gpu() = nullptr;
}

TEST_CASE("of arrays") {
  float const inf = INFINITY;
  mt::array<float, mt::dim<"few", 8>{}> const x({3, -3, -1, 1, 1e9f, 123456792, 1, -1e9f}),
      y({inf, inf, -inf, -inf, 7, 10, 0.1f, 7});
  float const right[] = {3, inf, -1, -inf, 6, 2, 0.0999999851f, 1};
  auto const rest = x % y;
  for (int i = 0; i < 8; ++i) CHECK(rest.data()[i] == right[i]);
}

TEST_CASE("the gradient by the divisor is the quotient without its fraction, negated") {
  std::vector<float> const x{7, -7, 7, -7, 1, 3, -3, 0.5f, 6}, y{3, 3, -3, -3, 0.1f, INFINITY, INFINITY, -2, 3};
  std::vector<float> const right{-2, 3, 3, -2, -9, 0, 1, 1, -2};
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<remainders<mt::dtype::f32>, mesh, layout, mt::reference_device> step(weights, part(2), many(9));
  auto const by = step(mt::feed<"x">(x), mt::feed<"y">(y)).get<"by_divisor">().gather();
  for (std::size_t i = 0; i < right.size(); ++i) CHECK(by.data()[i] == right[i]);
}

TEST_CASE("as StableHLO it is the operation remainder") {
  mt::mesh_shape const one = mt::mesh_shape{}.add("part", 1);
  using program = remainders<mt::dtype::f32>;
  auto const graph = std::make_unique<mt::module>(mt::trace<program>());
  mt::dim_extent const extents[] = {many(4)};
  auto const l = mt::lower(*graph, mt::entry_name<program>(), one, {}, extents);
  std::string const text = mt::stablehlo(l->graph, l->entry, l->planned.numbers, one).text;
  CHECK(text.find("\"stablehlo.remainder\"(%") != std::string::npos);
}
