// SPDX-License-Identifier: Apache-2.0
// A layout's rule for a dim holds for the dims that windows derive from it, by division or by a window's own numbers,
// and for those derived from these; results are the same, in parts of any length.
// passes: start-up
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "meshtensor/inspect/explain.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct length_dim : mt::dim<"length"> {} length;
inline constexpr struct half_dim : mt::dim<"half", mt::divided(length, 2)> {} half;
inline constexpr struct spread_dim : mt::dim<"spread", mt::windowed(length, 3, 2, 2, 1, 3)> {} spread;
inline constexpr struct of_half_dim : mt::dim<"of half", mt::windowed(half, 2)> {} of_half;
inline constexpr struct other_dim : mt::dim<"other"> {} other;
inline constexpr struct parts_axis : mt::axis<"parts"> {} parts;
struct mesh : mt::mesh<parts> {};
struct in_parts : mt::layout<mt::shard<length, parts>> {};

struct pools {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, length, other);
    auto const h = sum_pool(x, mt::window(length, half, 3, {.stride = 2, .padding = mt::centred_padding}));
    auto const w = sum_pool(x, mt::window(length, spread, 3, {.stride = 2, .dilation = 2, .padding = {1, 3}}));
    auto const d = sum_pool(h, mt::window(half, of_half, 2));
    s.output("h", h), s.output("w", w), s.output("d", d), s.output("dx", gradient(sum(d * d) + sum(w * w), x));
  }
};

/// The same program with an extent that the compiler knows.
namespace known {
inline constexpr struct length_dim : mt::dim<"length", 12> {} length;
inline constexpr struct half_dim : mt::dim<"half", mt::divided(length, 2)> {} half;
inline constexpr struct spread_dim : mt::dim<"spread", mt::windowed(length, 3, 2, 2, 1, 3)> {} spread;
inline constexpr struct of_half_dim : mt::dim<"of half", mt::windowed(half, 2)> {} of_half;
struct in_parts : mt::layout<mt::shard<length, parts>> {};

struct pools {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, length, other);
    auto const h = sum_pool(x, mt::window(length, half, 3, {.stride = 2, .padding = mt::centred_padding}));
    auto const w = sum_pool(x, mt::window(length, spread, 3, {.stride = 2, .dilation = 2, .padding = {1, 3}}));
    auto const d = sum_pool(h, mt::window(half, of_half, 2));
    s.output("h", h), s.output("w", w), s.output("d", d), s.output("dx", gradient(sum(d * d) + sum(w * w), x));
  }
};
}  // namespace known

struct outcome {
  std::vector<double> values;
  std::string pictures;
};
template <class Program, class Layout>
outcome outcome_of(std::int64_t extent, int processors, auto const&... extents) {
  auto const job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<Program, mesh, Layout> run(values, extents..., other(2), parts(processors));
  std::vector<double> x;
  for (std::int64_t i = 0; i < 2 * extent; ++i) x.push_back(static_cast<double>((7 * i + 3) % 11 - 5));
  auto const result = run(mt::feed<"x">(x));
  outcome o{{}, mt::pictures(run)};
  auto const add = [&](auto const& output) {
    for (double const v : output.gather()) o.values.push_back(v);
  };
  add(result.template get<"h">()), add(result.template get<"w">()), add(result.template get<"d">()),
      add(result.template get<"dx">());
  return o;
}

outcome of(std::int64_t extent, int processors) {
  return outcome_of<pools, in_parts>(extent, processors, length(extent));
}

}  // namespace

namespace {
std::string without_lines(std::string text) {
  for (std::size_t at = 0; (at = text.find(", derived_dims.cpp:", at)) != text.npos;)
    text.erase(at, text.find('\n', at) - at);
  return text;
}
}  // namespace

TEST_CASE("dims derived from one whose extent the compiler knows are in parts, too") {
  for (int processors : {1, 2, 3, 4}) {
    outcome const at_start = of(12, processors), early = outcome_of<known::pools, known::in_parts>(12, processors);
    CHECK(early.values == at_start.values);
    CHECK(without_lines(early.pictures) == without_lines(at_start.pictures));
  }
}

TEST_CASE("derived dims are in parts where the dim is that they are derived from") {
  for (std::int64_t extent : {12, 17}) {
    outcome const whole = of(extent, 1);
    for (int processors : {2, 3, 5}) {
      INFO(extent << " on " << processors);
      outcome const cut = of(extent, processors);
      CHECK(cut.values == whole.values);
      for (char const* place : {"h [half/parts, ", "w [spread/parts, ", "d [of half/parts, "})
        CHECK_MESSAGE(cut.pictures.find(place) != std::string::npos, place);
    }
  }
}

namespace {
inline constexpr struct blocks_dim : mt::dim<"blocks", mt::divided(length, 100'000)> {} blocks;
inline constexpr struct places_dim : mt::dim<"places", mt::windowed(length, 200'000, 70'000, 3, 1, 100'000)> {} places;
struct long_strides {
  constexpr void operator()(mt::scope auto s) const {
    s.output("mean", mean(s.input("x", mt::f32, length)));
    s.output("blocks", sum(s.parameter("of blocks", blocks, mt::ones)));
    s.output("places", sum(s.parameter("of places", places, mt::ones)));
  }
};
}  // namespace

TEST_CASE("dims derived by strides and windows of more than 65,535 elements") {
  auto const job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<long_strides, mesh, in_parts> run(values, length(1'000'001), parts(2));
  auto const result = run(mt::feed<"x">(std::vector<float>(1'000'001)));
  CHECK(result.get<"blocks">() == 11);
  CHECK(result.get<"places">() == (1'000'001 + 100'001 - 3 * 199'999 - 1) / 70'000 + 1);
}
