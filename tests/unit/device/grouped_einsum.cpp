// SPDX-License-Identifier: Apache-2.0
// grouped_einsum on the cpu device: what plain loops give, for groups of all sizes, empty ones and rows without a
// group, in every dtype, with its gradients.
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

using mt::to;
inline constexpr struct token_dim : mt::dim<"token"> {} token;
inline constexpr struct choice_dim : mt::dim<"choice", 2> {} choice;
inline constexpr struct groups_dim : mt::dim<"groups", 5> {} groups;
inline constexpr struct in_dim : mt::dim<"in", 3> {} in;
inline constexpr struct out_dim : mt::dim<"out", 18> {} out;
struct alone : mt::mesh<> {};
struct whole : mt::layout<> {};

template <mt::dtype Type>
struct layer {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::dtype_constant<Type>{}, token, in);
    auto w = s.input("w", mt::dtype_constant<Type>{}, groups, in, out);
    auto group = s.input("group", mt::i32, token, choice);
    auto y = grouped_einsum(x, w, group, groups, to(token, choice, out));
    s.output("y", y);
    s.output("turned", grouped_einsum(w, x, group, groups, to(out, choice, token)));
    s.output("in", grouped_einsum(y, w, group, groups, to(token, in)));
    s.output("matrices", grouped_einsum(y, x, group, groups, to(groups, in, out)));
    s.output("matrices turned", grouped_einsum(x, y, group, groups, to(out, groups, in)));
    s.output("vectors", grouped_einsum(x, y, group, groups, to(groups, in)));
    s.output("by row", grouped_einsum(x, y, group, groups, to(groups, token)));  // by plain loops
    s.output("in all", grouped_einsum(y, w, group, groups, to(in)));
    if constexpr (mt::is_float(Type)) {
      auto const loss = sum(y * (y * 0.5 + 1));
      s.output("dx", gradient(loss, x));
      s.output("dw", gradient(loss, w));
    }
  }
};
constexpr char const* names[] = {"y",       "turned", "in",     "matrices", "matrices turned",
                                 "vectors", "by row", "in all", "dx",       "dw"};

template <class Device, mt::dtype Type>
std::map<std::string, std::vector<double>> outputs_of(std::vector<std::int32_t> const& group) {
  auto job = mt::job::in_lockstep();
  mt::store values(job);
  auto const count = static_cast<std::int64_t>(group.size()) / 2;
  mt::executable<layer<Type>, alone, whole, Device> step(values, token(count));
  std::uint32_t state = 7;
  auto const draw = [&](std::int64_t n) {
    std::vector<mt::element_t<Type>> all;
    for (std::int64_t i = 0; i < n; ++i) {
      state = state * 1664525u + 1013904223u;
      all.push_back(static_cast<mt::element_t<Type>>(static_cast<float>(static_cast<int>(state >> 30) - 1)));
    }
    return all;
  };
  auto const x = draw(count * 3), w = draw(5 * 3 * 18);
  auto const result = step(mt::feed<"x">(x), mt::feed<"w">(w), mt::feed<"group">(group));
  std::map<std::string, std::vector<double>> all;
  auto const keep = [&](char const* name, auto const& output) {
    for (auto v : output) all[name].push_back(static_cast<double>(v));
  };
  keep("y", result.template get<"y">().gather());
  keep("turned", result.template get<"turned">().gather());
  keep("in", result.template get<"in">().gather());
  keep("matrices", result.template get<"matrices">().gather());
  keep("matrices turned", result.template get<"matrices turned">().gather());
  keep("vectors", result.template get<"vectors">().gather());
  keep("by row", result.template get<"by row">().gather());
  keep("in all", result.template get<"in all">().gather());
  if constexpr (mt::is_float(Type)) {
    keep("dx", result.template get<"dx">().gather());
    keep("dw", result.template get<"dw">().gather());
  }
  return all;
}

template <mt::dtype Type>
void check(std::vector<std::int32_t> const& group) {
  INFO(std::string(mt::text_of(Type)) << ", " << group.size() << " rows");
  auto const wanted = outputs_of<mt::reference_device, Type>(group), got = outputs_of<mt::default_device, Type>(group);
  for (char const* name : names)
    if (wanted.contains(name)) CHECK_MESSAGE(got.at(name) == wanted.at(name), name);
}
void check_each(std::vector<std::int32_t> const& group) {
  check<mt::dtype::f64>(group);
  check<mt::dtype::f32>(group);
  check<mt::dtype::i32>(group);
}

}  // namespace

TEST_CASE("what plain loops give") {  // of small integers: no sum is rounded
  check_each({0, 3});
  check_each({-1, 5, 7, -3});                  // rows without a group
  check_each({4, 4, 4, 4, 4, 4, 4, 4, 4, 4});  // all in one
  std::vector<std::int32_t> loads;             // three to one, an empty group, and rows that are in none
  for (int i = 0; i < 2 * 1500; ++i) loads.push_back(i % 31 == 0 ? 9 : i % 4 == 1 ? 3 : i % 40 == 7 ? 0 : 2);
  check_each(loads);
  for (int count : {1, 2, 3, 5, 17, 31, 85, 170}) {
    std::vector<std::int32_t> few;
    for (int i = 0; i < 2 * count; ++i) few.push_back(i * 7 % 6);
    check<mt::dtype::f32>(few);
  }
}

TEST_CASE("bf16: sums of a group are rounded once") {
  std::vector<std::int32_t> loads;
  for (int i = 0; i < 2 * 300; ++i) loads.push_back(i % 4 == 1 ? 3 : 2);
  auto const wanted = outputs_of<mt::reference_device, mt::dtype::bf16>(loads),
             got = outputs_of<mt::default_device, mt::dtype::bf16>(loads);
  for (char const* name : names) CHECK_MESSAGE(got.at(name) == wanted.at(name), name);
}
