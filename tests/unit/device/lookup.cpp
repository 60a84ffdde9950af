// SPDX-License-Identifier: Apache-2.0
// Rows by integer indices on the cpu device give the bits of plain loops: indices in any order, some of them out of
// range, and consecutive ones, whose rows are copied as one run, also across the end of a shard.
// passes: start-up
// needs: cpu
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "meshtensor/device/default.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct outer : mt::dim<"outer", 3> {} outer;
inline constexpr struct place : mt::dim<"place", 50> {} place;
struct inner : mt::dim<"inner", 20> {};
inline constexpr struct window : mt::dim<"window", 17> {} window;
inline constexpr struct many : mt::dim<"many", 40> {} many;
inline constexpr struct ranks : mt::axis<"ranks", 3> {} ranks;
struct mesh : mt::mesh<ranks> {};
struct whole : mt::layout<> {};
struct by_place : mt::layout<mt::shard<place, ranks>> {};
struct by_both : mt::layout<mt::shard<place, ranks>, mt::shard<window, ranks>> {};

/// Lookups along a dim of x [Dims…].
template <mt::dtype Type, class... Dims>
struct looks_up {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::dtype_constant<Type>{}, Dims{}...);
    auto const start = s.input("start", mt::i32, outer);
    auto const which = s.input("which", mt::i64, many);
    auto const own = slice(x, place, window, start);  // a start for each outer one
    auto const rows = gather(x, which, place);
    s.output("own", own);
    s.output("one", slice(x, place, window, max(start, outer)));
    s.output("rows", rows);
    s.output("written", put(x, own, place, window, 30 - start));
    s.output("put", put(x, rows, place, which));
    s.output("added", scatter_add(rows, which, place, to(Dims{}...)));
    s.output("added slices", scatter_add(own, start + iota(s, window, mt::i32), place, to(Dims{}...)));
  }
};

template <class Device, class Layout, mt::dtype Type, class... Dims>
std::vector<std::vector<double>> outputs_of() {
  auto job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<looks_up<Type, Dims...>, mesh, Layout, Device> step(values);
  std::vector<mt::element_t<Type>> x;
  for (int i = 0; i < 3 * 50 * 20; ++i) x.push_back(static_cast<mt::element_t<Type>>(static_cast<float>(i * 37 % 101)));
  std::vector<std::int64_t> which;
  for (int i = 0; i < 40; ++i) which.push_back(i < 20 ? i * 7 % 50 : i < 30 ? i : 35 + i - 20);  // 30 … 49, 50 … 54
  auto const result = step(mt::feed<"x">(x), mt::feed<"which">(which), mt::feed<"start">(std::vector<int>{-3, 12, 31}));
  std::vector<std::vector<double>> all;
  auto const keep = [&](auto const& output) {
    all.emplace_back();
    for (auto v : output) all.back().push_back(static_cast<double>(v));
  };
  keep(result.template get<"own">().gather());
  keep(result.template get<"one">().gather());
  keep(result.template get<"rows">().gather());
  keep(result.template get<"written">().gather());
  keep(result.template get<"put">().gather());
  keep(result.template get<"added">().gather());
  keep(result.template get<"added slices">().gather());
  return all;
}

template <mt::dtype Type, class... Dims>
void check() {
  auto const wanted = outputs_of<mt::reference_device, whole, Type, Dims...>();
  CHECK(wanted == outputs_of<mt::default_device, whole, Type, Dims...>());
  CHECK(wanted == outputs_of<mt::default_device, by_place, Type, Dims...>());
  CHECK(wanted == outputs_of<mt::default_device, by_both, Type, Dims...>());
}

}  // namespace

TEST_CASE("the bits of plain loops") {
  check<mt::dtype::f32, struct outer, inner, struct place>();
  check<mt::dtype::i64, struct outer, struct place, inner>();
  check<mt::dtype::u8, struct place, struct outer, inner>();
}
