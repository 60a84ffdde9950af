// SPDX-License-Identifier: Apache-2.0
// The costs of loops in loops whose limits are so large that their product does not fit 64 bits: counts, bytes,
// operations, times and reports end at the greatest integer, and none is negative.
// passes: start-up
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "meshtensor/inspect/explain.hpp"
#include "meshtensor/inspect/predict.hpp"
#include "meshtensor/meshtensor.hpp"
#include "meshtensor/pass/cost.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct rows_dim : mt::dim<"rows", 8> {} rows;
inline constexpr struct width_dim : mt::dim<"width", 4> {} width;
inline constexpr struct next_dim : mt::dim<"next", 4> {} next;
inline constexpr struct parts_axis : mt::axis<"parts", 2> {} parts;
struct two : mt::mesh<parts> {};
struct by_width : mt::layout<mt::shard<width, parts>> {};

/// Loops in one another, with a product and a collective in the innermost one.
template <int Depth, std::int64_t Most>
struct nested {
  template <int Level>
  static constexpr auto grown(auto s, auto x, auto w) {
    return std::get<1>(while_loop(
        s / "loop", mt::at_most(Most), [](auto, auto h) { return sum(h * h) < 1; },
        [w](auto r, auto h) {
          if constexpr (Level > 1) return grown<Level - 1>(r, h, w);
          else return rename(tanh(einsum(h, w, mt::to(rows, next))), next, width);
        },
        x));
  }
  constexpr void operator()(mt::scope auto s) const {
    auto const w = s.parameter("w", width, next);
    s.output("last", grown<Depth>(s, s.input("x", mt::f32, rows, width), w));
  }
};

constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();

template <int Depth, std::int64_t Most>
void check(bool ends_at_greatest) {
  CAPTURE(Depth);
  mt::draft<mt::executable<nested<Depth, Most>, two, by_width>> const step;
  mt::step_traffic const sent = mt::traffic_of(step.graph(), step.planned());
  mt::computed const work = mt::work_of(step.graph(), step.planned().numbers);
  auto const time = mt::predict(step, {{"parts", 5e-6, 25e9}}, {2e14, 2e12});
  CHECK((sent.messages == greatest) == ends_at_greatest);
  CHECK((sent.collectives() == greatest) == ends_at_greatest);
  CHECK((sent.bytes == greatest) == ends_at_greatest);
  CHECK((work.products == greatest) == ends_at_greatest);
  CHECK((work.all() == greatest) == ends_at_greatest);
  CHECK(sent.messages > 0);
  CHECK(sent.bytes > sent.messages / 2);
  CHECK(work.products > sent.all_reduces / 2);
  CHECK(time.seconds > 0);
  CHECK(time.communicated > 0);
  CHECK(time.exposed >= 0);
  CHECK(time.seconds <= static_cast<double>(greatest) * 1e-9);
  CHECK(mt::explain(step).find(" -") == std::string::npos);
}

}  // namespace

TEST_CASE("small limits give what they cost") {
  check<1, 1000>(false);
  check<2, 1000>(false);
}

TEST_CASE("what does not fit ends at the greatest integer") {
  check<2, std::int64_t{1} << 40>(true);
  check<3, std::int64_t{1} << 32>(true);
  check<4, std::int64_t{1} << 48>(true);
}
