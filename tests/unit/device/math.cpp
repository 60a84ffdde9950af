// SPDX-License-Identifier: Apache-2.0
// Each lane of a register gets the bits that the scalar function gives: nothing depends on a position.
// arch: baseline native
#include "meshtensor/device/cpu/math.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "meshtensor/device/cpu/fused/lane_pack/generate.hpp"
#include "meshtensor/device/cpu/load.hpp"
#include "meshtensor/device/cpu/random.hpp"

namespace mt = meshtensor;
namespace math = mt::math;
using mt::cpu::vec;

namespace {

template <class T>
bool same(T a, T b) {
  using bits = typename math::ieee<T>::bits;
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<bits>(a) == std::bit_cast<bits>(b);
}

/// Numbers of every size beside ordinary ones, so that lanes of one register take different paths.
template <class T>
std::vector<T> const& numbers() {
  static std::vector<T> const result = [] {
    std::mt19937_64 random(11);
    T const top = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::denorm_min();
    T const inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    std::vector<T> xs{0,   -T(0), inf, -inf, nan, least, -least, std::numeric_limits<T>::min(),
                      top, -top,  1,   -1,   89,  -104};
    while (xs.size() < 4096) {
      xs.push_back(std::bit_cast<T>(static_cast<typename math::ieee<T>::bits>(random())));
      xs.push_back(static_cast<T>((static_cast<double>(random() >> 11) * 0x1p-53 - 0.5) * 20));
      xs.push_back(static_cast<T>((static_cast<double>(random() >> 11) * 0x1p-53 - 0.5) * 2000));
    }
    return xs;
  }();
  return result;
}

template <class T, class F>
int differences(F f) {
  auto const& xs = numbers<T>();
  std::size_t const half = xs.size() / 2;
  int wrong = 0;
  for (std::size_t i = 0; i + half + vec<T>::width <= xs.size(); i += 3) {
    auto const x = mt::cpu::load<T>(&xs[i]), y = mt::cpu::load<T>(&xs[i + half]);
    auto const got = f(x, y).lane_array();
    for (std::size_t k = 0; k < vec<T>::width; ++k) wrong += !same(got.at[k], f(xs[i + k], xs[i + half + k]));
  }
  return wrong;
}

}  // namespace

TEST_CASE_TEMPLATE("lanes equal scalars", T, float, double) {
  CHECK(differences<T>([](auto x, auto) { return math::exp(x); }) == 0);
  CHECK(differences<T>([](auto x, auto) { return math::exp_of_weight(x); }) == 0);
  CHECK(differences<T>([](auto x, auto) { return math::expm1(x); }) == 0);
  CHECK(differences<T>([](auto x, auto) { return math::log(x); }) == 0);
  CHECK(differences<T>([](auto x, auto) { return math::log1p(x); }) == 0);
  CHECK(differences<T>([](auto x, auto) { return math::tanh(x); }) == 0);
  CHECK(differences<T>([](auto x, auto) { return math::sigmoid(x); }) == 0);
  CHECK(differences<T>([](auto x, auto) { return math::erf(x); }) == 0);
  CHECK(differences<T>([](auto x, auto) { return math::gelu(x); }) == 0);
  CHECK(differences<T>([](auto x, auto) { return math::gelu_tanh(x); }) == 0);
  CHECK(differences<T>([](auto x, auto) { return math::sin(x); }) == 0);
  CHECK(differences<T>([](auto x, auto) { return math::cos(x); }) == 0);
  CHECK(differences<T>([](auto x, auto) { return math::sqrt(x); }) == 0);
  CHECK(differences<T>([](auto x, auto) { return math::rsqrt(x); }) == 0);
  CHECK(differences<T>([](auto x, auto) { return math::round(x); }) == 0);
  CHECK(differences<T>([](auto x, auto) { return math::floor(x); }) == 0);
  CHECK(differences<T>([](auto x, auto) { return math::ceil(x); }) == 0);
  CHECK(differences<T>([](auto x, auto) { return math::abs(x); }) == 0);
  CHECK(differences<T>([](auto x, auto) { return math::negate(x); }) == 0);
  CHECK(differences<T>([](auto x, auto y) { return math::pow(x, y); }) == 0);
  CHECK(differences<T>([](auto x, auto y) { return math::maximum(x, y); }) == 0);
  CHECK(differences<T>([](auto x, auto y) { return math::minimum(x, y); }) == 0);
  CHECK(differences<T>([](auto x, auto y) { return math::fma(x, y, x); }) == 0);
}

TEST_CASE("packs of uniform numbers of bf16 have the bits of one element") {
  mt::random_stream const stream({1, 2, 3}, 4);
  int wrong = 0;
  for (std::uint64_t const stride : {1u, 3u}) {
    mt::cpu::uniform_source<float> source;
    for (std::uint64_t first = 0; first < 10'000; first += 97) {
      auto const pack = mt::cpu::uniform_pack<mt::bf16_t>(source, stream, first, stride).lane_array();
      for (std::uint64_t i = 0; i < std::size(pack.at); ++i)
        wrong += !same(pack.at[i], float{mt::random_uniform<mt::bf16_t>(stream, first + i * stride)});
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("random numbers do not depend on who makes them", T, float, double) {
  int wrong = 0;
  for (std::uint64_t first :
       {std::uint64_t{0}, std::uint64_t{5}, (std::uint64_t{1} << 32) - 3, ~std::uint64_t{0} - 1000})
    for (std::uint64_t stride : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{1} << 31}) {
      mt::random_stream const stream({1, first, 2}, stride << 20);
      mt::cpu::uniform_source<T> source;
      for (std::uint64_t k = 0; k < 7; ++k) {  // on from register to register, and back
        std::uint64_t const from = first + k % 5 * vec<T>::width * stride;
        auto const uniform = source(stream, from, stride).lane_array();
        for (std::uint64_t i = 0; i < vec<T>::width; ++i)
          wrong += !same(uniform.at[i], mt::random_uniform<T>(stream, from + i * stride));
      }
      auto const normal = mt::cpu::random_normal<T>(stream, first, stride).lane_array();
      for (std::uint64_t i = 0; i < vec<T>::width; ++i) {
        wrong += !same(normal.at[i], mt::random_normal<T>(stream, first + i * stride));
      }
    }
  CHECK(wrong == 0);
}
