// SPDX-License-Identifier: Apache-2.0
// Convolutions with epilogues on the cpu device: what plain loops give, by the library and by loops behind it, alone
// and in parts of several kinds.
// passes: start-up
// needs: cpu
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "meshtensor/device/default.hpp"
#include "meshtensor/meshtensor.hpp"
#include "meshtensor/pass/fuse/epilogue.hpp"

namespace mt = meshtensor;

namespace {

using mt::to;
inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct rows_dim : mt::dim<"rows", 8> {} rows;
inline constexpr struct k_rows_dim : mt::dim<"k_rows", 3> {} k_rows;
inline constexpr struct k_one_dim : mt::dim<"k_one", 1> {} k_one;
inline constexpr struct in_dim : mt::dim<"in", 16> {} in;
inline constexpr struct mid_dim : mt::dim<"mid", 32> {} mid;
inline constexpr struct out_dim : mt::dim<"out", 48> {} out;
inline constexpr struct columns_dim : mt::dim<"columns", 9> {} columns;
inline constexpr struct k_columns_dim : mt::dim<"k_columns", 3> {} k_columns;
inline constexpr struct parts_axis : mt::axis<"parts"> {} parts;
struct mesh : mt::mesh<parts> {};
struct by_batch : mt::layout<mt::shard<batch, parts>> {};
struct by_rows : mt::layout<mt::shard<rows, parts>> {};
struct by_inputs : mt::layout<mt::shard<in, parts>> {};
struct by_outputs : mt::layout<mt::shard<mid, parts>> {};

struct network {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, rows, columns, in);
    auto const wide = s.input("wide", mt::f32, k_rows, k_columns, in, mid);
    auto const narrow = s.input("narrow", mt::f32, k_one, mid, out);
    auto const back = s.input("back", mt::f32, k_one, out, mid);
    auto const f = s.input("factor", mt::f32, mid), o = s.input("offset", mt::f32, mid);
    auto const g = s.input("second factor", mt::f32, out);
    auto const over_rows = mt::window(rows, rows, k_rows, {.padding = mt::same_padding});
    auto const over_columns = mt::window(columns, columns, k_columns, {.padding = mt::same_padding});
    auto const at_one = mt::window(rows, rows, k_one);
    auto const convolved = [&] { return conv(x, wide, to(batch, rows, columns, mid), over_rows, over_columns); };
    auto const first = mt::relu(convolved() * f + o);
    auto const second = conv(first, narrow, to(batch, rows, columns, out), at_one) * g;
    auto const third = mt::relu(conv(second, back, to(batch, rows, columns, mid), at_one) * f + o + first);
    s.output("first", first);
    s.output("third", third);
    s.output("offset alone", conv(x * 2, wide, to(batch, rows, columns, mid), over_rows, over_columns) + o);
    s.output("added", conv(x * 3, wide, to(batch, rows, columns, mid), over_rows, over_columns) * f + first);
    s.output("relu alone", mt::relu(conv(x * 4, wide, to(batch, rows, columns, mid), over_rows, over_columns)));
    s.output("to itself", mt::relu(conv(second * 2, back, to(batch, rows, columns, mid), at_one) + third * third));
    auto const used_twice = conv(x * 5, wide, to(batch, rows, columns, mid), over_rows, over_columns);
    s.output("used twice", mt::relu(used_twice * f) + used_twice);
    s.output("channels first", mt::relu(conv(x, wide, to(batch, mid, rows, columns), over_rows, over_columns) * f));
  }
};

struct outcome {
  std::map<std::string, std::vector<float>> values;
  int joined = 0;
};

template <class Device, class Layout>
outcome outcome_of(int processors, std::int64_t images, bool broken) {
  auto job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<network, mesh, Layout, Device> step(values, batch(images), parts(processors));
  std::uint32_t state = 7;
  auto const draw = [&](std::int64_t n) {
    std::vector<float> all;
    for (std::int64_t i = 0; i < n; ++i) {
      state = state * 1664525u + 1013904223u;
      all.push_back(static_cast<float>(static_cast<int>(state >> 8) - (1 << 23)) / (1 << 23));
    }
    return all;
  };
  auto x = draw(images * 8 * 9 * 16);
  if (broken) x[5] = std::numeric_limits<float>::quiet_NaN();
  auto const wide = draw(9 * 16 * 32), narrow = draw(32 * 48), back = draw(48 * 32), f = draw(32), o = draw(32),
             g = draw(48);
  auto const result = step(mt::feed<"x">(x), mt::feed<"wide">(wide), mt::feed<"narrow">(narrow), mt::feed<"back">(back),
                           mt::feed<"factor">(f), mt::feed<"offset">(o), mt::feed<"second factor">(g));
  outcome all;
  auto const keep = [&](char const* name, auto const& output) {
    for (auto v : output) all.values[name].push_back(v);
  };
  keep("first", result.template get<"first">().gather());
  keep("third", result.template get<"third">().gather());
  keep("offset alone", result.template get<"offset alone">().gather());
  keep("added", result.template get<"added">().gather());
  keep("relu alone", result.template get<"relu alone">().gather());
  keep("to itself", result.template get<"to itself">().gather());
  keep("used twice", result.template get<"used twice">().gather());
  keep("channels first", result.template get<"channels first">().gather());
  for (int i = 0; i < step.graph().node_count; ++i)
    all.joined += mt::epilogue_form_of(step.graph(), step.graph().nodes[i]).found;
  return all;
}

template <class Layout>
void check(std::map<std::string, std::vector<float>> const& wanted, int processors, std::int64_t images, int joined,
           bool broken = false) {
  INFO(images << " images on " << processors);
  auto const got = outcome_of<mt::default_device, Layout>(processors, images, broken);
  if (mt::cpu_device::capabilities.joins != mt::epilogues::none) CHECK(got.joined == joined);
  for (auto const& [name, values] : wanted) {
    double most = 0, furthest = 0;
    bool alike = true;
    for (std::size_t i = 0; i < values.size(); ++i) {
      double const a = static_cast<double>(values[i]), b = static_cast<double>(got.values.at(name)[i]);
      alike = alike && std::isnan(a) == std::isnan(b);
      if (std::isnan(a) || std::isnan(b)) continue;
      most = std::max(most, std::abs(a)), furthest = std::max(furthest, std::abs(a - b));
    }
    CHECK_MESSAGE(alike, name);
    CHECK_MESSAGE(furthest <= 3e-6 * most, name);
  }
}

}  // namespace

TEST_CASE("what plain loops give, under every kind of layout") {
  for (std::int64_t images : {1, 4, 7}) {
    auto const wanted = outcome_of<mt::reference_device, by_batch>(1, images, false).values;
    for (int processors : {1, 2, 3}) {
      check<by_batch>(wanted, processors, images, 7);
      check<by_rows>(wanted, processors, images, 7);
      // Factors are joined to partial sums, and what follows where the sum has one term.
      check<by_inputs>(wanted, processors, images, processors == 1 ? 7 : 5);
      check<by_outputs>(wanted, processors, images, 7);
    }
  }
}

TEST_CASE("what is no number stays none behind relu") {
  auto const wanted = outcome_of<mt::reference_device, by_batch>(1, 4, true).values;
  CHECK(std::isnan(wanted.at("first")[5]));
  check<by_batch>(wanted, 1, 4, 7, true);
}
