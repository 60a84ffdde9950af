// SPDX-License-Identifier: Apache-2.0
// Every operation of a register against the scalar one, lane by lane; loads and stores at the edge of a page.
// arch: baseline x86-64-v2 native
#include "meshtensor/device/cpu/simd.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "meshtensor/device/cpu/fused/across_lanes.hpp"
#include "meshtensor/device/cpu/load.hpp"

namespace mt = meshtensor;
namespace cpu = mt::cpu;
using cpu::vec;

namespace {

template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return std::bit_cast<typename mt::math::ieee<T>::bits>(a) == std::bit_cast<typename mt::math::ieee<T>::bits>(b);
  } else {
    return a == b;
  }
}

/// Numbers of all kinds, at least three registers of them.
template <class T>
std::vector<T> numbers() {
  std::mt19937_64 random(5);
  std::vector<T> result;
  if constexpr (std::is_floating_point_v<T>)
    result = {0,
              -T(0),
              1,
              -1,
              std::numeric_limits<T>::infinity(),
              -std::numeric_limits<T>::infinity(),
              std::numeric_limits<T>::quiet_NaN(),
              std::numeric_limits<T>::denorm_min(),
              std::numeric_limits<T>::max()};
  else result = {0, 1, static_cast<T>(-1), static_cast<T>(-7), 1000, static_cast<T>(T(1) << (8 * sizeof(T) - 1))};
  while (result.size() < 96) {
    if constexpr (std::is_floating_point_v<T>) {
      result.push_back(std::bit_cast<T>(static_cast<typename mt::math::ieee<T>::bits>(random())));
    } else {
      result.push_back(static_cast<T>(random()) >> (random() % (8 * sizeof(T) - 1)));
    }
  }
  return result;
}

/// Counts the lanes in which f of registers and g of scalars differ, over all pairs.
template <class T, class F, class G>
int differences(F f, G g) {
  auto const xs = numbers<T>();
  int wrong = 0;
  for (std::size_t i = 0; i + vec<T>::width <= xs.size(); ++i)
    for (std::size_t j = 0; j + vec<T>::width <= xs.size(); j += 3) {
      auto const r = f(cpu::load<T>(&xs[i]), cpu::load<T>(&xs[j])).lane_array();
      for (std::size_t k = 0; k < vec<T>::width; ++k) wrong += !same(r.at[k], static_cast<T>(g(xs[i + k], xs[j + k])));
    }
  return wrong;
}

/// Memory that ends where no page follows.
struct page_edge {
  page_edge() {
    size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    base = static_cast<char*>(mmap(nullptr, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base + size, size, PROT_NONE);
  }
  ~page_edge() { munmap(base, 2 * size); }
  template <class E>
  E* last(int n) {
    return reinterpret_cast<E*>(base + size) - n;
  }
  std::size_t size;
  char* base;
};

}  // namespace

TEST_CASE_TEMPLATE("arithmetic and comparisons", T, float, double, std::int32_t, std::int64_t, std::uint32_t,
                   std::uint64_t) {
  using U =
      std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;  // no overflow
  CHECK(differences<T>([](auto a, auto b) { return a + b; }, [](T a, T b) { return U(a) + U(b); }) == 0);
  CHECK(differences<T>([](auto a, auto b) { return a - b; }, [](T a, T b) { return U(a) - U(b); }) == 0);
  CHECK(differences<T>([](auto a, auto b) { return a * b; }, [](T a, T b) { return U(a) * U(b); }) == 0);
  CHECK(differences<T>([](auto a, auto b) { return one_where(a < b); }, [](T a, T b) { return a < b; }) == 0);
  CHECK(differences<T>([](auto a, auto b) { return one_where(a <= b); }, [](T a, T b) { return a <= b; }) == 0);
  CHECK(differences<T>([](auto a, auto b) { return one_where(a > b); }, [](T a, T b) { return a > b; }) == 0);
  CHECK(differences<T>([](auto a, auto b) { return one_where(a >= b); }, [](T a, T b) { return a >= b; }) == 0);
  CHECK(differences<T>([](auto a, auto) { return one_where(a == a); }, [](T a, T) { return a == a; }) == 0);
  CHECK(differences<T>([](auto a, auto b) { return one_where(a == b); }, [](T a, T b) { return a == b; }) == 0);
  CHECK(differences<T>([](auto a, auto b) { return one_where(a != b); }, [](T a, T b) { return a != b; }) == 0);
  CHECK(differences<T>([](auto a, auto) { return one_where(a != a); }, [](T a, T) { return a != a; }) == 0);
  CHECK(differences<T>([](auto a, auto b) { return one_where(!(a < b)); }, [](T a, T b) { return !(a < b); }) == 0);
  CHECK(differences<T>([](auto a, auto b) { return select(a < b && a != b, a, b); },
                       [](T a, T b) { return a < b && a != b ? a : b; }) == 0);
  CHECK(differences<T>([](auto a, auto b) { return select(a < b || b == vec<T>(1), b, a); },
                       [](T a, T b) { return a < b || b == 1 ? b : a; }) == 0);
  CHECK(differences<T>([](auto a, auto b) { return greater(a, b); }, [](T a, T b) { return a > b ? a : b; }) == 0);
  CHECK(differences<T>([](auto a, auto b) { return lesser(a, b); }, [](T a, T b) { return a < b ? a : b; }) == 0);
}

TEST_CASE_TEMPLATE("floats only", T, float, double) {
  CHECK(differences<T>([](auto a, auto b) { return a / b; }, [](T a, T b) { return a / b; }) == 0);
  CHECK(differences<T>([](auto a, auto) { return sqrt(a); }, [](T a, T) { return std::sqrt(a); }) == 0);
  CHECK(differences<T>([](auto a, auto b) { return fma(a, b, a); }, [](T a, T b) { return mt::math::fma(a, b, a); }) ==
        0);
  // 1/3 squared less its rounded square is what one rounding keeps and two lose.
  T const third = T(1) / T(3), square = third * third;
  auto const kept = fma(vec<T>(third), vec<T>(third), vec<T>(-square)).lane_array();
  CHECK((kept.at[0] != 0) == mt::math::fused);
}

TEST_CASE_TEMPLATE("integers only", T, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t) {
  using U = std::make_unsigned_t<T>;
  CHECK(differences<T>([](auto a, auto b) { return a & b; }, [](T a, T b) { return a & b; }) == 0);
  CHECK(differences<T>([](auto a, auto b) { return a | b; }, [](T a, T b) { return a | b; }) == 0);
  CHECK(differences<T>([](auto a, auto b) { return a ^ b; }, [](T a, T b) { return a ^ b; }) == 0);
  CHECK(differences<T>([](auto a, auto) { return ~a; }, [](T a, T) { return ~a; }) == 0);
  CHECK(differences<T>([](auto a, auto) { return a << 5; }, [](T a, T) { return static_cast<T>(U(a) << 5); }) == 0);
  CHECK(differences<T>([](auto a, auto) { return a >> 5; }, [](T a, T) { return a >> 5; }) == 0);
  CHECK(differences<T>([](auto a, auto b) { return a / select(b == vec<T>(0) || b == ~vec<T>(0), vec<T>(3), b); },
                       [](T a, T b) { return a / (b == 0 || b == static_cast<T>(-1) ? T(3) : b); }) == 0);
}

TEST_CASE("products of low halves") {
  auto const low = [](std::uint64_t x) { return x & 0xffffffffu; };
  CHECK(differences<std::uint64_t>([](auto a, auto b) { return multiply_low_halves(a, b); },
                                   [&](std::uint64_t a, std::uint64_t b) { return low(a) * low(b); }) == 0);
}

TEST_CASE("any, all, lane numbers, conversions, folds") {
  constexpr int width = vec<float>::width;
  auto const numbers = cpu::lane_numbers<float>(3);
  CHECK(any(numbers < vec<float>(4)));
  CHECK(all(numbers < vec<float>(3 + width)));
  CHECK_FALSE(any(numbers < vec<float>(3)));
  CHECK(all(numbers < vec<float>(4)) == (width == 1));
  auto const integers = cpu::convert<std::int32_t>(numbers * vec<float>(-1.75f)).lane_array();
  for (int i = 0; i < width; ++i) CHECK(integers.at[i] == static_cast<int>(static_cast<float>(3 + i) * -1.75f));
  auto const back = cpu::convert<float>(cpu::lane_numbers<std::int32_t>(-2)).lane_array();
  for (int i = 0; i < width; ++i) CHECK(back.at[i] == static_cast<float>(i - 2));
  CHECK(cpu::sum_of_lanes(numbers) == static_cast<float>(3 * width + width * (width - 1) / 2));
  CHECK(cpu::fold(numbers, [](auto a, auto b) { return greater(a, b); }) == static_cast<float>(2 + width));
  auto const chosen =
      select(cpu::mask_as<std::int32_t>(numbers < vec<float>(4)), vec<std::int32_t>(7), vec<std::int32_t>(9));
  CHECK(chosen.lane_array().at[0] == 7);
  CHECK(chosen.lane_array().at[width - 1] == (width == 1 ? 7 : 9));
}

TEST_CASE_TEMPLATE("sums of several registers", T, float, double, std::int32_t, std::int64_t) {
  constexpr int width = vec<T>::width;
  vec<T> of[static_cast<std::size_t>(width)];
  for (int i = 0; i < width; ++i) of[i] = cpu::lane_numbers<T>(static_cast<T>(i * i));
  auto const sums = cpu::sums_of_lanes(of).lane_array();
  for (int i = 0; i < width; ++i) CHECK(sums.at[i] == static_cast<T>(width * i * i + width * (width - 1) / 2));
}

TEST_CASE_TEMPLATE("a part of a register is loaded and stored, and nothing beside it", T, float, double, std::int32_t,
                   std::int64_t) {
  auto const with = [&]<class E>(E) {
    page_edge memory;
    constexpr int width = vec<T>::width;
    for (int n = 0; n <= width; ++n) {
      E* const p = memory.last<E>(n);
      for (int i = 0; i < n; ++i) p[i] = static_cast<E>(i % 2 + 1);
      auto const got = cpu::load<T>(static_cast<E const*>(p), n).lane_array();
      int wrong = 0;
      for (int i = 0; i < width; ++i) wrong += got.at[i] != (i < n ? static_cast<T>(static_cast<E>(i % 2 + 1)) : T(0));
      p[-1] = static_cast<E>(1);
      cpu::store(vec<T>::of(got) + vec<T>(1), p, n);
      for (int i = 0; i < n; ++i) wrong += p[i] != static_cast<E>(got.at[i] + 1);
      wrong += p[-1] != static_cast<E>(1);
      CHECK(wrong == 0);
    }
    E* const whole = memory.last<E>(width);
    cpu::store(vec<T>(1), whole);
    CHECK(cpu::sum_of_lanes(cpu::load<T>(static_cast<E const*>(whole))) == static_cast<T>(width));
  };
  with(T());
  with(float());
  with(double());
  with(mt::bf16_t());
  with(std::int32_t());
  with(std::int64_t());
  with(std::uint8_t());
  with(bool());
}

TEST_CASE("strided loads and stores") {
  page_edge memory;
  constexpr int width = vec<float>::width;
  auto* const p = memory.last<mt::bf16_t>(3 * width - 2);
  for (int i = 0; i < 3 * width - 2; ++i) p[i] = static_cast<float>(i);
  auto const got = cpu::load_strided<float>(static_cast<mt::bf16_t const*>(p), 3).lane_array();
  for (int i = 0; i < width; ++i) CHECK(got.at[i] == static_cast<float>(3 * i));
  cpu::store_strided(vec<float>(-1), p, 3, width);
  int changed = 0;
  for (int i = 0; i < 3 * width - 2; ++i) changed += float{p[i]} == -1;
  CHECK(changed == width);
  CHECK(cpu::load_strided<float>(static_cast<mt::bf16_t const*>(p), 3, 0).lane_array().at[width - 1] == 0);
}

TEST_CASE("bf16 is rounded as the scalar type rounds it") {
  int wrong = 0;
  for (std::uint32_t high = 0; high < 0x10000; high += vec<float>::width)
    for (std::uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      vec<float>::array a;
      for (std::uint32_t i = 0; i < vec<float>::width; ++i) a.at[i] = std::bit_cast<float>(((high + i) << 16) | low);
      mt::bf16_t out[vec<float>::width];
      cpu::store(vec<float>::of(a), static_cast<mt::bf16_t*>(out));
      auto const back = cpu::load<float>(static_cast<mt::bf16_t const*>(out)).lane_array();
      for (std::size_t i = 0; i < vec<float>::width; ++i) {
        wrong += out[i].bits != mt::bf16_t(a.at[i]).bits;
        wrong += !same(back.at[i], float{out[i]});
      }
    }
  CHECK(wrong == 0);
}
