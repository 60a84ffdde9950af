// SPDX-License-Identifier: Apache-2.0
// permute: rows in another order, rows that several others name, rows that do not exist, and its gradient.
// passes: start-up
#include "meshtensor/op/permute.hpp"

#include "meshtensor/inspect/check.hpp"
#include "meshtensor/meshtensor.hpp"
#include "unit/op/laws.hpp"
#include "unit/op/trial.hpp"

namespace {

namespace mt = meshtensor;
inline constexpr struct worker_dim : mt::dim<"worker", 4> {} worker;
inline constexpr struct place_dim : mt::dim<"place", 4> {} place;
inline constexpr struct width_dim : mt::dim<"width", 2> {} width;

struct by_own_dim {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, worker, width);
    s.output("y", permute(x, worker, s.input("sources", mt::i32, worker)));
  }
};
struct by_another_dim {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, width, worker);
    s.output("y", permute(x, worker, s.input("sources", mt::i64, place)));
  }
};
struct with_gradient {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, worker, width);
    auto const y = permute(x, worker, s.input("sources", mt::i32, worker));
    auto const loss = sum(y * s.input("weights", mt::f64, worker, width));
    s.output("dx", gradient(loss, x));
  }
};

mt::blocks run(trial::program& p, std::vector<double> const& sources) {
  p.fill("x", {1, 2, 3, 4, 5, 6, 7, 8});
  p.fill("sources", sources);
  return p.run();
}

}  // namespace

TEST_CASE("row i is row sources[i]; a row that no source has is zero") {
  trial::program p = trial::program::of<by_own_dim>();
  CHECK(trial::numbers_of(run(p, {3, 0, 1, 2}).at("y")) == std::vector<double>{7, 8, 1, 2, 3, 4, 5, 6});
  CHECK(trial::numbers_of(run(p, {1, 1, 1, 0}).at("y")) == std::vector<double>{3, 4, 3, 4, 3, 4, 1, 2});
  CHECK(trial::numbers_of(run(p, {-1, 3, 4, 0}).at("y")) == std::vector<double>{0, 0, 7, 8, 0, 0, 1, 2});
}

TEST_CASE("the dim of the rows may come last, and the sources may have another dim") {
  trial::program p = trial::program::of<by_another_dim>();
  CHECK(trial::numbers_of(run(p, {3, 0, 7, 1}).at("y")) == std::vector<double>{4, 1, 0, 2, 8, 5, 0, 6});
}

TEST_CASE("the gradient adds rows at their sources") {
  trial::program p = trial::program::of<with_gradient>();
  p.fill("weights", {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(trial::numbers_of(run(p, {1, 1, -1, 0}).at("dx")) == std::vector<double>{7, 8, 4, 6, 0, 0, 0, 0});
}

TEST_CASE("laws") {
  using namespace laws;
  hold("rows in another order, one of them twice, one missing", [](auto s, auto x, auto y, auto...) {
    return permute(x * sum(y, c), a, 3 - 2 * iota(s, a, mt::i32)) + permute(x, a, iota(s, a, mt::i32) * 0);
  });
}
