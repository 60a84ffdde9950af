// SPDX-License-Identifier: Apache-2.0
// Cumulative sums, sorting, permuting and stacking on the cpu device: the bits of plain loops, along outer and inner
// dims, for extents that fill no register and no block.
// passes: start-up
// needs: cpu
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "meshtensor/device/default.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct outer : mt::dim<"outer", 3> {} outer;
inline constexpr struct place : mt::dim<"place", 130> {} place;
inline constexpr struct inner : mt::dim<"inner", 70> {} inner;
inline constexpr struct three : mt::dim<"three", 3> {} three;
struct alone : mt::mesh<> {};
struct whole : mt::layout<> {};

template <mt::dtype Type>
struct along_each {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::dtype_constant<Type>{}, outer, place, inner);
    s.output("outer", cumulative_sum(x, outer));
    s.output("place", cumulative_sum(x, place, {.reverse = true}));
    s.output("inner", cumulative_sum(x, inner, {.exclusive = true}));
    s.output("both", cumulative_sum(cumulative_sum(x, inner), place, {.exclusive = true, .reverse = true}));
    s.output("up", argsort(x, place));
    s.output("down", argsort(x, inner, mt::sort_order::descending));
    s.output("sorted", std::get<0>(sort(x, outer)));
    s.output("permuted", permute(x, place, (iota(s, place, mt::i32) * 7 + 3) % 131));  // one row names none
    s.output("permuted_inner", permute(x, inner, iota(s, inner, mt::i64) % 9 - 1));
    s.output("stacked", stack(std::tuple(x, transpose(x, mt::to(inner, outer, place)), sum(x, place)), three));
  }
};

template <class Device, mt::dtype Type>
std::map<std::string, std::vector<double>> outputs_of() {
  auto job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<along_each<Type>, alone, whole, Device> step(values);
  std::vector<mt::element_t<Type>> x;
  std::uint32_t state = 7;
  for (int i = 0; i < 3 * 130 * 70; ++i) {
    state = state * 1664525u + 1013904223u;
    x.push_back(static_cast<mt::element_t<Type>>(static_cast<float>(static_cast<int>(state >> 24) - 128)));
  }
  auto const result = step(mt::feed<"x">(x));
  std::map<std::string, std::vector<double>> all;
  auto const keep = [&](char const* name, auto const& output) {
    for (auto v : output) all[name].push_back(static_cast<double>(v));
  };
  keep("outer", result.template get<"outer">().gather());
  keep("place", result.template get<"place">().gather());
  keep("inner", result.template get<"inner">().gather());
  keep("both", result.template get<"both">().gather());
  keep("permuted", result.template get<"permuted">().gather());
  keep("permuted_inner", result.template get<"permuted_inner">().gather());
  keep("up", result.template get<"up">().gather());
  keep("down", result.template get<"down">().gather());
  keep("sorted", result.template get<"sorted">().gather());
  keep("stacked", result.template get<"stacked">().gather());
  return all;
}

template <mt::dtype Type>
void check() {
  INFO(std::string(mt::text_of(Type)));
  auto const wanted = outputs_of<mt::reference_device, Type>(), got = outputs_of<mt::default_device, Type>();
  CHECK(wanted.size() == 10);
  for (auto const& [name, numbers] : wanted) CHECK_MESSAGE(got.at(name) == numbers, name);
}

}  // namespace

TEST_CASE("the bits of plain loops") {
  check<mt::dtype::f64>();
  check<mt::dtype::f32>();
  check<mt::dtype::bf16>();
  check<mt::dtype::i32>();
}
