// SPDX-License-Identifier: Apache-2.0
// Numbers beside tensors of integers are exact, however large: literals, numbers that a run sets, extents and
// expressions of them, on every device, in graphs that one processor or several run. What does not fit is refused.
// needs: cpu
// passes: start-up
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "meshtensor/device/cpu/device.hpp"
#include "meshtensor/device/cuda/device.hpp"
#include "meshtensor/emit/print.hpp"
#include "meshtensor/emit/stablehlo.hpp"
#include "meshtensor/meshtensor.hpp"
#include "meshtensor/pass/fingerprint.hpp"
#include "meshtensor/run/compiled_step.hpp"
#include "support/host_gpu.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct row_dim : mt::dim<"row", 6> {} row;
inline constexpr struct wide_dim : mt::dim<"wide", 9> {} wide;
inline constexpr struct part_axis : mt::axis<"part"> {} part;
struct mesh : mt::mesh<part> {};
struct by_row : mt::layout<mt::shard<row, part>> {};
struct by_both : mt::layout<mt::shard<row, part>, mt::shard<wide, part>> {};
struct of_one : mt::mesh<> {};

using integers = std::vector<std::int64_t>;
constexpr std::int64_t factor = 6364136223846793005, step_of_hash = 1442695040888963407, odd = 9007199254740993,
                       most = std::numeric_limits<std::int64_t>::max(),
                       least = std::numeric_limits<std::int64_t>::min();

struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto const i = s.input("i", mt::i64, row);
    auto const key = s.number("key", odd), twice = key * 2 + 1;
    s.output("hash", i * factor + step_of_hash);
    s.output("bits", (step_of_hash - i) * -factor);
    s.output("equal", mt::cast<mt::i64>(i == odd) + mt::cast<mt::i64>(i < odd + 1) * 2);
    s.output("quotient", i / odd);
    s.output("rest", i % (odd * 3));
    s.output("clamped", mt::minimum(mt::maximum(i, -odd), odd));
    s.output("least", mt::maximum(i, most - 1));
    s.output("greatest", mt::minimum(i, least + 1));
    s.output("chosen", mt::select(i > 0, i, full(s, least + 1, mt::i64)));
    s.output("full", full(s, most, mt::i64, to(row)));
    s.output("set", i - key);
    s.output("computed", i - twice);
    s.output("of_extent", i - extent(row) * 2251799813685249);
    s.output("ratio", i - ((key - 1) / 2 + mt::pow(3, 35)));
    s.output("rest_of_key", i + key % 10);
    s.output("rest_of_negative", i + (-key) % 7);
    s.output("padded", mt::pad(i, row, wide, 2, odd));
    s.output("shifted", mt::shift(i, row, 2, key + 2));
    s.output("state", s.state("counter", mt::i64, row, mt::constant(odd)) - i);
    s.output("as_float", mt::cast<mt::f64>(i) + odd);
  }
};

integers const given{1, odd, -odd - 2, most, least, 7};

template <class F>
integers each(F f) {
  integers all;
  for (std::int64_t const i : given) all.push_back(f(i));
  return all;
}
std::int64_t wrapped(std::uint64_t u) { return static_cast<std::int64_t>(u); }

template <class Step>
void check(Step& step, std::int64_t key) {
  using u = std::uint64_t;
  auto const r = step(mt::feed<"i">(given), mt::set<"key">(key));
  auto const held = [](auto&& output) {
    integers all;
    for (auto const e : output.gather()) all.push_back(static_cast<std::int64_t>(e));
    return all;
  };
  CHECK(held(r.template get<"hash">()) == each([](auto i) { return wrapped(u(i) * u(factor) + u(step_of_hash)); }));
  CHECK(held(r.template get<"bits">()) == each([](auto i) { return wrapped((u(step_of_hash) - u(i)) * -u(factor)); }));
  CHECK(held(r.template get<"equal">()) == each([](auto i) { return (i == odd) + (i < odd + 1) * 2; }));
  CHECK(held(r.template get<"quotient">()) == each([](auto i) { return i / odd; }));
  CHECK(held(r.template get<"rest">()) == each([](auto i) {
          std::int64_t const rest = i % (odd * 3);
          return rest < 0 ? rest + odd * 3 : rest;
        }));
  CHECK(held(r.template get<"clamped">()) == each([](auto i) { return std::clamp(i, -odd, odd); }));
  CHECK(held(r.template get<"least">()) == each([](auto i) { return std::max(i, most - 1); }));
  CHECK(held(r.template get<"greatest">()) == each([](auto i) { return std::min(i, least + 1); }));
  CHECK(held(r.template get<"chosen">()) == each([](auto i) { return 0 < i ? i : least + 1; }));
  CHECK(held(r.template get<"full">()) == integers(6, most));
  CHECK(held(r.template get<"set">()) == each([&](auto i) { return wrapped(u(i) - u(key)); }));
  CHECK(held(r.template get<"computed">()) == each([&](auto i) { return wrapped(u(i) - (u(key) * 2 + 1)); }));
  CHECK(held(r.template get<"of_extent">()) == each([](auto i) { return wrapped(u(i) - u(6) * 2251799813685249u); }));
  CHECK(held(r.template get<"ratio">()) ==
        each([&](auto i) { return wrapped(u(i) - (u(key - 1) / 2 + 50031545098999707u)); }));
  CHECK(held(r.template get<"rest_of_key">()) == each([&](auto i) { return wrapped(u(i) + u(key % 10)); }));
  CHECK(held(r.template get<"rest_of_negative">()) ==
        each([&](auto i) { return wrapped(u(i) + u((7 - key % 7) % 7)); }));
  integers padded(9, odd), shifted(6, key + 2);
  for (std::size_t k = 0; k < 6; ++k) padded[k + 2] = given[k];
  for (std::size_t k = 0; k < 4; ++k) shifted[k + 2] = given[k];
  CHECK(held(r.template get<"padded">()) == padded);
  CHECK(held(r.template get<"shifted">()) == shifted);
  CHECK(held(r.template get<"state">()) == each([](auto i) { return wrapped(u(odd) - u(i)); }));
  auto const as_float = r.template get<"as_float">().gather();
  for (std::size_t k = 0; k < 6; ++k)
    CHECK(as_float.data()[k] == static_cast<double>(given[k]) + static_cast<double>(odd));
}

template <class Device, class Layout = by_row>
void check_on(mt::job const& job, int parts) {
  CAPTURE(parts);
  mt::store weights(job);
  mt::executable<program, mesh, Layout, Device> step(weights, part(parts));
  for (std::int64_t const key : {odd, odd + 2, std::int64_t{1} << 60, (std::int64_t{1} << 61) - 1, std::int64_t{5}})
    check(step, key);
}

template <class Program>
std::unique_ptr<mt::module> graph_of() {
  return std::make_unique<mt::module>(mt::trace<Program>());
}

/// The sentence of an error; empty: none.
template <class F>
std::string sentence(F const& f) {
  try {
    f();
  } catch (mt::error const& e) { return e.what(); }
  return "";
}

template <mt::dtype T, auto Number>
struct beside {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", s.input("x", mt::dtype_constant<T>{}, row) + Number);
  }
};
/// A module is large, so one function would have many of them on its stack.
template <mt::dtype T, auto Number>
[[gnu::noinline]] std::string refusal() {
  return sentence([] { mt::on_heap([] { return mt::trace<beside<T, Number>>(); }); });
}

template <mt::dtype T, bool Doubled>
struct beside_a_set_number {
  constexpr void operator()(mt::scope auto s) const {
    auto const k = s.number("k", 3);
    auto const x = s.input("x", mt::dtype_constant<T>{}, row);
    if constexpr (Doubled) s.output("y", mt::shift(x, row, 1, k * 2));
    else s.output("y", x + k);
  }
};
template <mt::dtype T, class Device, bool Doubled = false>
std::string refusal_of_set(mt::number_value const& k) {
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<beside_a_set_number<T, Doubled>, mesh, by_row, Device> step(weights, part(2));
  std::vector<mt::element_t<T>> const x(6, 1);
  return sentence([&] { step(mt::feed<"x">(x), mt::set<"k">(k)); });
}

bool has(std::string const& all, std::string const& some) { return all.find(some) != std::string::npos; }

}  // namespace

TEST_CASE("functions of numbers are exact for integers of 64 bits") {
  using value = mt::number_value;
  using wide = value::wide;
  integers all{0, 1, -1, 7, -7, 10, 256, odd, -odd, odd + 1, (1ll << 60) - 1, (1ll << 60) + 1, most, least};
  auto const rounded_down = [](wide a, wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); };
  auto const is = [](value const& got, wide wanted) { return got == value::of_integer(wanted); };
  for (wide const x : all)
    for (wide const y : all) {
      CAPTURE(static_cast<std::int64_t>(x));
      CAPTURE(static_cast<std::int64_t>(y));
      auto const of = [&](mt::function f) {
        return mt::apply_to_numbers(f, value::of_integer(x), value::of_integer(y));
      };
      CHECK(is(of(mt::function::add), x + y));
      CHECK(is(of(mt::function::subtract), x - y));
      CHECK(is(of(mt::function::negate), -x));
      CHECK(is(of(mt::function::floor), x));
      CHECK(is(of(mt::function::maximum), x < y ? y : x));
      CHECK(is(of(mt::function::minimum), x < y ? x : y));
      if (y == 0) continue;
      CHECK(is(of(mt::function::modulo), x - rounded_down(x, y) * y));
      value const quotient = of(mt::function::divide);
      CHECK(is(mt::apply_to_numbers(mt::function::floor, quotient, 0), rounded_down(x, y)));
      double const ratio = static_cast<double>(x) / static_cast<double>(y);
      CHECK(std::abs(quotient.real - ratio) <= 1e-15 * std::abs(ratio));
    }
  auto const nan = std::numeric_limits<double>::quiet_NaN();
  for (mt::function const f : {mt::function::maximum, mt::function::minimum}) {
    CHECK(is(mt::apply_to_numbers(f, odd, f == mt::function::maximum ? 0.5 : 1e300), odd));
    CHECK(is(mt::apply_to_numbers(f, f == mt::function::maximum ? -INFINITY : INFINITY, odd), odd));
    CHECK(std::isnan(mt::apply_to_numbers(f, odd, nan).real));
    CHECK(std::isnan(mt::apply_to_numbers(f, nan, odd).real));
  }
  CHECK(std::isnan(mt::apply_to_numbers(mt::function::modulo, odd, 0).real));
}

TEST_CASE("on plain loops, by one processor and several") {
  for (int const parts : {1, 2, 3, 4}) check_on<mt::reference_device>(mt::job::in_lockstep(), parts);
  check_on<mt::reference_device, by_both>(mt::job::as_threads(), 2);
}

TEST_CASE("on the cpu device") {
  for (int const parts : {1, 2, 3}) check_on<mt::cpu_device>(mt::job::in_lockstep(), parts);
  check_on<mt::cpu_device, by_both>(mt::job::as_threads(), 3);
}

TEST_CASE("in the text for GPUs") {
  meshtensor_test::host_gpu gpu;
  mt::cuda::given_gpu() = &gpu;
  for (int const parts : {1, 2}) check_on<mt::cuda_device>(mt::job::in_lockstep(), parts);
  mt::cuda::given_gpu() = nullptr;
}

TEST_CASE("in a compiled step") {
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::compiled_step<program, of_one, mt::layout<>, mt::reference_device> step(weights);
  check(step, odd + 2);
}

TEST_CASE("of arrays and in an eager scope") {
  mt::array<std::int64_t, row> const i(given);
  auto const hash = i * factor + step_of_hash;
  auto const shifted = mt::shift(i, row, 3, odd);
  for (int k = 0; k < 6; ++k) {
    auto const at = given[static_cast<std::size_t>(k)];
    using u = std::uint64_t;
    CHECK(hash(row(k)) == wrapped(u(at) * u(factor) + u(step_of_hash)));
    if (k < 3) CHECK(shifted(row(k)) == odd);
  }
}

TEST_CASE("in texts and fingerprints of graphs") {
  std::string const text = mt::text_of(*graph_of<program>());
  for (char const* const digits : {"6364136223846793005", "9007199254740993", "9223372036854775807",
                                   "-9223372036854775807", "2251799813685249", "9007199254740994"})
    CHECK(has(text, digits));
  auto const print = []<class P>(P) { return mt::fingerprint(*graph_of<P>()); };
  CHECK(print(beside<mt::dtype::i64, odd>{}) != print(beside<mt::dtype::i64, odd - 1>{}));
  CHECK(print(beside<mt::dtype::i64, odd>{}) == print(beside<mt::dtype::i64, odd>{}));
}

TEST_CASE("as StableHLO") {
  mt::mesh_shape const one = mt::mesh_shape{}.add("part", 1);
  auto const l = mt::lower(*graph_of<program>(), mt::entry_name<program>(), one, {}, {}, {});
  std::string const text = mt::stablehlo(l->graph, l->entry, l->planned.numbers, one).text;
  for (char const* const digits : {"dense<6364136223846793005> : tensor<i64>", "dense<9223372036854775807>",
                                   "dense<-9223372036854775807>", "dense<13510798882111494>"})
    CHECK(has(text, digits));
}

TEST_CASE("what does not fit is refused where it is written, with its digits") {
  using enum mt::dtype;
  CHECK(refusal<i64, most>() == "");
  CHECK(refusal<i64, least>() == "");
  CHECK(refusal<i32, std::int64_t{2147483647}>() == "");
  CHECK(refusal<i32, std::int64_t{-2147483648}>() == "");
  CHECK(refusal<u8, 255>() == "");
  CHECK(refusal<f32, 14695981039346656037u>() == "");
  CHECK(has(refusal<i64, 14695981039346656037u>(),
            "T02: 14695981039346656037 stands beside a tensor of i64, whose elements are from -9223372036854775808 to "
            "9223372036854775807: std::int64_t(14695981039346656037u) has the same 64 bits"));
  CHECK(has(refusal<i64, std::uint64_t{1} << 63>(), "T02: 9223372036854775808 stands beside a tensor of i64"));
  CHECK(
      has(refusal<i32, 2147483648>(),
          "T02: 2147483648 stands beside a tensor of i32, whose elements are from -2147483648 to 2147483647: cast the "
          "tensor to i64, or give a number within"));
  CHECK(has(refusal<i32, -2147483649>(), "T02: -2147483649 stands beside a tensor of i32"));
  CHECK(has(refusal<u8, 256>(), "T02: 256 stands beside a tensor of u8, whose elements are from 0 to 255"));
  CHECK(has(refusal<u8, -1>(), "T02: -1 stands beside a tensor of u8"));
  CHECK(has(refusal<i64, 1e30>(), "T02: 1e30 stands beside a tensor of i64"));
  CHECK(has(refusal<i64, 0.5>(), "T02: 0.5 is not an integer, but stands beside a tensor of i64"));
}

TEST_CASE("what does not fit is refused where a run sets it, with its digits") {
  using enum mt::dtype;
  CHECK(refusal_of_set<i32, mt::reference_device>(2147483647) == "");
  CHECK(refusal_of_set<i32, mt::reference_device, true>(1073741823) == "");
  CHECK(
      has(refusal_of_set<i32, mt::reference_device>(3000000001), "T02: the number k is 3000000001, but stands beside"));
  CHECK(has(refusal_of_set<i32, mt::cpu_device, true>(1073741824),
            "T02: the number k * 2 is 2147483648, but stands beside"));
  CHECK(has(refusal_of_set<i64, mt::cpu_device>(std::uint64_t{18446744073709551615u}),
            "T02: the number k is 18446744073709551615, but stands beside a tensor of i64"));
  CHECK(has(refusal_of_set<i64, mt::cpu_device>(std::numeric_limits<double>::quiet_NaN()), "T02: the number k is nan"));
  CHECK(has(refusal_of_set<u8, mt::cpu_device, true>(128),
            "T02: the number k * 2 is 256, but stands beside a tensor of u8"));
}
