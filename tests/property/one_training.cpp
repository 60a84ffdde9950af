// A whole training does not depend on the layout: twenty steps of a Transformer with dropout and AdamW on one to eight
// processors lose what they lose on one, within rounding; on the same mesh again, every bit is the same.
//
// timeout: 300
#include "property/at_least.hpp"
#include "property/training.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace training;

namespace {

/// By how much the losses of two trainings differ at most, relative to those of the first.
double farthest(course const& a, course const& b) {
  double most = 0;
  for (std::size_t t = 0; t < a.losses.size(); ++t)
    most = std::max(most, std::abs(a.losses[t] - b.losses[t]) / std::abs(a.losses[t]));
  return most;
}

template <mt::dtype Type>
int hold(char const* type, double tolerance) {
  auto const traced = mt::on_heap([] { return mt::trace<mt::precision<pupil, Type>>(); });
  auto const turns = mt::processors::in_lockstep(), threads = mt::processors::as_threads();
  course const alone = train(turns, *traced, {"alone", {}, {}});
  MESSAGE(std::string(type) << ": from " << alone.losses.front() << " to " << alone.losses.back());
  REQUIRE(alone.losses.size() == steps);
  CHECK(alone.losses.back() < alone.losses.front() - 0.5);
  CHECK(train(turns, *traced, {"alone", {}, {}}).held == alone.held);
  for (spread const& how : all_spreads()) {
    INFO(std::string(type) << ", " << std::string(how.what));
    course const once = train(turns, *traced, how);
    REQUIRE(once.losses.size() == steps);
    CHECK(once.axes == (1u << how.mesh.count) - 1);
    double const off = farthest(alone, once);
    MESSAGE(std::string(how.what) << " on " << how.mesh.size() << ": off by " << off);
    CHECK(off <= tolerance);  // false for NaN
    course const again = train(threads, *traced, how);
    CHECK(again.losses == once.losses);
    CHECK(again.held == once.held);
  }
  return 1 + static_cast<int>(all_spreads().size());
}

}  // namespace

TEST_CASE("in f64") { property::at_least(8, hold<mt::dtype::f64>("f64", 1e-9)); }
TEST_CASE("in f32") { property::at_least(8, hold<mt::dtype::f32>("f32", 1e-4)); }
