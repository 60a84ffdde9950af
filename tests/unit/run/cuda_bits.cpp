// SPDX-License-Identifier: Apache-2.0
// Every bit of plain loops on mt::cuda_device, its kernels made by the host's compiler, for all that reorders no sum:
// scalar functions, casts, random numbers, movement, sorts, and sums along a dim or by index, which have one order.
// passes: start-up
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "meshtensor/device/cuda/device.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/host_gpu.hpp"

namespace mt = meshtensor;

namespace {

using mt::function, mt::to;

inline constexpr struct row_dim : mt::dim<"row", 6> {} row;
inline constexpr struct column_dim : mt::dim<"column", 16> {} column;
inline constexpr struct part_dim : mt::dim<"part", 5> {} part;
struct mesh : mt::mesh<> {};
struct layout : mt::layout<> {};

constexpr std::array of_one{function::negate, function::abs,     function::sign,  function::floor, function::exp,
                            function::log,    function::sqrt,    function::rsqrt, function::sin,   function::cos,
                            function::tanh,   function::sigmoid, function::erf,   function::relu};
constexpr std::array of_two{function::add,    function::subtract,  function::multiply, function::divide,
                            function::modulo, function::power,     function::maximum,  function::minimum,
                            function::equal,  function::not_equal, function::less,     function::less_equal};
template <function F>
inline constexpr mt::name label = mt::name::of(mt::text_of(F));

template <mt::dtype Type>
struct everything {
  constexpr void operator()(mt::scope auto s) const {
    constexpr mt::dtype_constant<Type> type{};
    auto const x = s.input("x", type, row, column), y = s.input("y", type, row, column);
    auto const index = s.input("index", mt::i32, part);
    using X = std::remove_const_t<decltype(x)>;
    mt::builder& b = *x.owner;
    auto const give = [&]<function... F>(auto const& make) {
      auto const one = [&]<function Which>() {
        mt::named_here at("a function");
        at.label = label<Which>;
        constexpr mt::dtype made = mt::is_comparison(Which) ? mt::dtype::boolean : Type;
        s.output(at, mt::handle_t<made, typename X::dim_list>(&b, make(Which)));
      };
      (one.template operator()<F>(), ...);
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      give.template operator()<of_one[I]...>([&](function f) { return mt::elementwise(b, f, x.id); });
    }(std::make_index_sequence<of_one.size()>{});
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      give.template operator()<of_two[I]...>([&](function f) { return mt::elementwise(b, f, x.id, y.id); });
    }(std::make_index_sequence<of_two.size()>{});
    s.output("chain", mt::tanh(x * y + x) + mt::exp(-(x * x)) / (y * y + 1));
    s.output("as f32", mt::cast<mt::f32>(x * y));
    s.output("as bf16", mt::cast<mt::bf16>(x * y));
    s.output("as i32", mt::cast<mt::i32>(x * y));
    s.output("as i64", mt::cast<mt::i64>(x * y));
    s.output("as u8", mt::cast<mt::u8>(x * y));
    s.output("transposed", transpose(x * 3, to(column, row)) + 1);
    s.output("sorted", argsort(x, column, mt::sort_order::descending));
    s.output("greatest", argmax(y, column));
    s.output("so far", cumulative_sum(x * y, column));
    s.output("looked up", gather(x, index, row));
    s.output("added at", scatter_add(gather(x * y, index, row), index, row, to(row, column)));
    s.output("uniform", uniform(s / "uniform", type, to(row, column)));
    s.output("normal", normal(s / "normal", type, to(row, column)));
  }
};

/// Numbers of all sizes, and those that are none.
template <class E>
std::vector<E> draw(std::uint32_t state) {
  std::vector<E> all{
      E(0.0f),  E(-0.0f),    E(std::numeric_limits<float>::infinity()),  E(1e-40f),
      E(3e38f), E(-1.5e38f), E(-std::numeric_limits<float>::infinity()), E(std::numeric_limits<float>::quiet_NaN())};
  while (all.size() < 96) {
    state = state * 1664525u + 1013904223u;
    float const one = static_cast<float>(static_cast<int>(state >> 8) - (1 << 23)) / (1 << 23);
    all.push_back(static_cast<E>(std::ldexp(one, static_cast<int>(state % 13) - 5)));
  }
  std::rotate(all.begin(), all.begin() + static_cast<int>(state % 96), all.end());
  return all;
}

using bits = std::map<std::string, std::vector<std::uint64_t>>;
template <class E>
std::uint64_t bits_of(E e) {
  if constexpr (!std::is_integral_v<E> && !std::is_same_v<E, bool>)
    if (std::isnan(static_cast<double>(e))) return ~std::uint64_t{0};  // all of them are alike
  std::uint64_t u = 0;
  std::memcpy(&u, &e, sizeof e);
  return u;
}

template <class Device, mt::dtype Type>
bits values() {
  using element = mt::element_t<Type>;
  mt::job const job = mt::job::in_lockstep();
  mt::store store(job, 9);
  mt::executable<everything<Type>, mesh, layout, Device> step(store);
  std::vector<std::int32_t> const index{3, 0, 3, 5, 3};
  auto const x = draw<element>(3), y = draw<element>(8);
  auto const result = step(mt::feed<"x">(x), mt::feed<"y">(y), mt::feed<"index">(index));
  bits all;
  auto const keep = [&](std::string const& name, auto const& output) {
    for (auto e : output) all[name].push_back(bits_of(e));
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (keep(mt::text_of(of_one[I]), result.template get<label<of_one[I]>>().gather()), ...);
  }(std::make_index_sequence<of_one.size()>{});
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (keep(mt::text_of(of_two[I]), result.template get<label<of_two[I]>>().gather()), ...);
  }(std::make_index_sequence<of_two.size()>{});
  keep("chain", result.template get<"chain">().gather());
  keep("as f32", result.template get<"as f32">().gather());
  keep("as bf16", result.template get<"as bf16">().gather());
  keep("as i32", result.template get<"as i32">().gather());
  keep("as i64", result.template get<"as i64">().gather());
  keep("as u8", result.template get<"as u8">().gather());
  keep("transposed", result.template get<"transposed">().gather());
  keep("sorted", result.template get<"sorted">().gather());
  keep("greatest", result.template get<"greatest">().gather());
  keep("so far", result.template get<"so far">().gather());
  keep("looked up", result.template get<"looked up">().gather());
  keep("added at", result.template get<"added at">().gather());
  keep("uniform", result.template get<"uniform">().gather());
  keep("normal", result.template get<"normal">().gather());
  return all;
}

template <mt::dtype Type>
void compare() {
  bits const wanted = values<mt::reference_device, Type>(), got = values<mt::cuda_device, Type>();
  CHECK(wanted.size() == of_one.size() + of_two.size() + 14);
  for (auto const& [name, all] : wanted) {
    CAPTURE(name);
    int other = 0;
    for (std::size_t i = 0; i < all.size(); ++i) other += all[i] != got.at(name)[i];
    CHECK(other == 0);
  }
}

}  // namespace

TEST_CASE("each bit of plain loops") {
  meshtensor_test::host_gpu gpu;
  mt::cuda::given_gpu() = &gpu;
  compare<mt::dtype::f64>();
  compare<mt::dtype::f32>();
  compare<mt::dtype::bf16>();
  mt::cuda::given_gpu() = nullptr;
}
