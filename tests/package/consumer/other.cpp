// SPDX-License-Identifier: Apache-2.0
// A second translation unit: everything in the headers must be inline, and programs may have the names of others.
#include <vector>

#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

// Like main.cpp's, but for a number.
inline constexpr struct items : mt::dim<"items", 2> {} items;
struct alone : mt::mesh<> {};
struct whole : mt::layout<> {};
struct grown {
  constexpr void operator()(mt::scope auto s) const { s.output("sum", sum(s.input("x", mt::f32, items) * 3)); }
};
float grown_there() {
  mt::job const job = mt::job::as_threads();
  mt::store values(job);
  return mt::executable<grown, alone, whole>(values)(mt::feed<"x">(std::vector<float>{1, 2})).get<"sum">();
}

// Extent and axis are given at start-up.
namespace other {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>> {};

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch);
    auto count = s.state("count", mt::i64);
    s.update(count, count + 1);
    s.output("squares", sum(x * x));
    s.output("count", count + 1);
  }
};

// 1 + 4 + 9 + 16, and 100 for each step.
double run(mt::job const& job, int count) {
  mt::store values(job);
  mt::executable<step, mesh, layout> run_step(values, batch(4), data(count));
  auto const result = run_step(mt::feed<"x">(std::vector<float>{1, 2, 3, 4}));
  double const squares = result.get<"squares">();
  return squares + 100 * static_cast<double>(run_step().get<"count">());
}
}  // namespace other
