// A second translation unit: everything in the headers must be inline, and its program is another one under the same
// name. Extent and axis are given at start-up.
#include <vector>

#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

namespace other {
inline constexpr struct batch : mt::dim<"batch"> {
} batch;
inline constexpr struct data : mt::axis<"data"> {
} data;
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
double run(mt::processors const& job, int count) {
  mt::store values(job);
  mt::executable<step, mesh, layout> run_step(values, batch(4), data(count));
  auto const result = run_step(mt::feed<"x">(std::vector<float>{1, 2, 3, 4}));
  double const squares = result.get<"squares">();
  return squares + 100 * static_cast<double>(run_step().get<"count">());
}
}  // namespace other
