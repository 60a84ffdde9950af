// SPDX-License-Identifier: Apache-2.0
// A kernel that stores a result in the memory of its operand, and reads a cast of that operand afterwards: what plain
// loops give.
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
inline constexpr struct rows_dim : mt::dim<"rows", 6> {} rows;
inline constexpr struct inner_dim : mt::dim<"inner", 8> {} inner;
inline constexpr struct columns_dim : mt::dim<"columns"> {} columns;
struct mesh : mt::mesh<> {};

/// The product dies in the kernel, and `positive` may have its memory: the mean is known behind the first pass over a
/// row, when `positive` is stored already.
struct both {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::bf16, rows, inner);
    auto const w = s.input("w", mt::bf16, inner, columns);
    auto const y = einsum(x, w, to(rows, columns));
    auto const wide = mt::cast<mt::dtype::f32>(y);
    auto const middle = mean(wide, columns);
    auto const positive = mt::relu(y);
    s.output("positive", positive);
    s.output("around the middle", wide - middle + mt::cast<mt::dtype::f32>(positive));
  }
};

using outcome = std::map<std::string, std::vector<float>>;

template <class Device>
outcome outcome_of(int extent) {
  auto const job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<both, mesh, mt::layout<>, Device> step(values, columns(extent));
  std::vector<mt::bf16_t> x, w;  // small whole numbers, so that all sums are exact
  for (int i = 0; i < 6 * 8; ++i) x.push_back(mt::bf16_t(static_cast<float>(i * 7 % 5 - 2)));
  for (int i = 0; i < 8 * extent; ++i) w.push_back(mt::bf16_t(static_cast<float>(i * 11 % 7 - 3)));
  auto const result = step(mt::feed<"x">(x), mt::feed<"w">(w));
  outcome all;
  auto const keep = [&](char const* name, auto const& output) {
    for (auto const v : output) all[name].push_back(static_cast<float>(v));
  };
  keep("positive", result.template get<"positive">().gather());
  keep("around the middle", result.template get<"around the middle">().gather());
  return all;
}

}  // namespace

TEST_CASE("a cast of an operand whose memory a result has") {
  for (int const extent : {16, 64, 1024}) {  // rows that share a tile, and longer ones
    INFO(extent);
    CHECK(outcome_of<mt::default_device>(extent) == outcome_of<mt::reference_device>(extent));
  }
}
