// SPDX-License-Identifier: Apache-2.0
// The memory of states that loops update: none for slices, and for a state that is carried what any carry costs. Steps
// run so give what the interpreter gives.
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/accumulate_gradients.hpp"
#include "unit/pass/planned.hpp"

using namespace meshtensor_test;

namespace {

inline constexpr struct width_dim : mt::dim<"width", 1000> {} width;
inline constexpr struct depth_dim : mt::dim<"depth", 16> {} depth;
inline constexpr struct parts_dim : mt::dim<"parts", 4> {} parts;
constexpr std::int64_t state_bytes = 16 * 1000 * 4;

/// A state that a scan carries.
struct scanned {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, parts, width);
    auto const kept = s.state("kept", mt::f32, depth, width);
    auto const [last, each] = mt::scan(s / "along", parts, sum(x, parts), x, [&](mt::scope auto r, auto h, auto now) {
      r.update(kept, kept * 0.5 + now);
      return std::tuple(h * 0.5 + now, sum(now, width));
    });
    s.output("last", last), s.output("each", each);
  }
};
/// The same, with a carry of the program's own.
struct by_hand {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, parts, width);
    auto const kept = s.state("kept", mt::f32, depth, width);
    auto const [ends, each] =
        mt::scan(s / "along", parts, std::tuple(sum(x, parts), kept), x, [](auto, auto h, auto carry, auto now) {
          return std::tuple(std::tuple(h * 0.5 + now, carry * 0.5 + now), sum(now, width));
        });
    s.output("last", std::get<0>(ends)), s.output("each", each);
    s.update(kept, std::get<1>(ends));
  }
};
/// A state of which each layer updates its slice.
struct repeated {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, width);
    s.output("y", mt::repeat(s / "blocks", depth, x, [](mt::scope auto r, auto h) {
               auto const kept = r.state("kept", mt::f32, width);
               r.update(kept, kept * 0.5 + h);
               return h * 0.5 + kept;
             }));
  }
};
/// Slices of a state that accumulate carries.
struct accumulated {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, parts, width);
    auto const [loss, gradients] = mt::accumulate(s / "model", parts, x, [](mt::scope auto m, auto part) {
      auto const y = mt::repeat(m / "blocks", depth, part, [](mt::scope auto r, auto h) {
        auto const kept = r.state("kept", mt::f32, width);
        r.update(kept, kept * 0.5 + h * 0.1);
        return h * 0.5 + kept + r.parameter("bias", width);
      });
      return mean(y * y);
    });
    s.output("loss", loss);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", gradients);
  }
};

template <class Program>
std::int64_t arena() {
  planned<Program> p;
  p.check_steps();
  planned<Program> on_two(mt::layout_rules{}.shard("depth", {"ax"}), 2);
  on_two.check_steps();
  return p.plan().arena_bytes;
}

}  // namespace

TEST_CASE("memory of states that loops update") {
  CHECK(arena<scanned>() <= arena<by_hand>());
  CHECK(arena<repeated>() < state_bytes / 2);  // slices are written in place
  CHECK(arena<accumulated>() < 5 * state_bytes);
}
