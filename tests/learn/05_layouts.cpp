// SPDX-License-Identifier: Apache-2.0
// Lesson 5. You learn to split a program over several ranks. A mesh arranges the ranks along axes, and a layout says
// which dims are sharded over which axes. The program stays the same, because the compiler inserts the collectives.
#include <doctest/doctest.h>

#include <meshtensor/emit/print.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
using mt::to;

namespace lesson {
inline constexpr struct batch : mt::dim<"batch", 8> {} batch;
inline constexpr struct in : mt::dim<"in", 4> {} in;
inline constexpr struct hidden : mt::dim<"hidden", 6> {} hidden;
inline constexpr struct out : mt::dim<"out", 4> {} out;

inline constexpr struct data : mt::axis<"data", 2> {} data;
inline constexpr struct model : mt::axis<"model", 2> {} model;
struct mesh : mt::mesh<data, model> {};  // 2 x 2 ranks
// Four layouts of one program follow. A dim without a rule stays whole, so every rank holds all of its elements.
struct replicated : mt::layout<> {};
struct data_parallel : mt::layout<mt::shard<batch, data>> {};
struct tensor_parallel : mt::layout<mt::shard<batch, data>, mt::shard<hidden, model>> {};
struct by_scope : mt::layout<mt::shard<hidden, model>, mt::in<"after", mt::shard<out, model>>> {};
// The last layout has a rule that holds only in the scope "after". This layer is called with that scope below.
inline constexpr mt::layer after = [](mt::scope auto, auto x) { return relu(x); };
// The program contains two matrix products. It does not mention the mesh, the layouts or the ranks.
struct two_products {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto h = relu(einsum(x, s.parameter("up", in, hidden), to(batch, hidden)));
    auto y = einsum(h, s.parameter("down", hidden, out), to(batch, out));
    s.output("y", after(s / "after", y));
  }
};

// The compiler lowers the program for a mesh and a layout. `partitioned` is the graph of one rank, after the pass that
// inserts the collectives.
template <class Layout>
constexpr mt::module const& graph = mt::lowered<two_products, two_products, mesh, Layout>::partitioned;

// A graph is a plain value, so we can also count its nodes. After an all-reduce, all ranks along an axis hold the sum
// of their values.
template <class Layout>
constexpr auto all_reduces = std::count_if(graph<Layout>.nodes, graph<Layout>.nodes + graph<Layout>.node_count,
                                           [](mt::node const& n) { return n.kind == mt::primitive::all_reduce; });
}  // namespace lesson
using namespace lesson;

// All of this happens in the compiler. Therefore an assertion can document the communication that a layout causes.
static_assert(all_reduces<replicated> == 0 && all_reduces<data_parallel> == 0 && all_reduces<tensor_parallel> == 1);
// If a layout does not fit the program, this assertion does not compile, and the error says why.
static_assert(mt::is_valid<graph<tensor_parallel>> && mt::is_valid<graph<by_scope>>);

TEST_CASE("a sum over a sharded dim is partial until it is reduced") {
  // In the graph, `hidden/model` means that `hidden` is sharded over `model`. The second product sums over `hidden`,
  // but each rank holds only half of that dim. Therefore its result %5 is a partial sum, and the all-reduce %6 adds up
  // the parts. It belongs to the layer `after`, because the `relu` there is the first to need the whole sum.
  CHECK("\n" + text_of(graph<tensor_parallel>) == R"(
dims batch = 8, in = 4, hidden = 6, out = 4
mesh data = 2, model = 2
parameter up: f32[in, hidden/model]
parameter down: f32[hidden/model, out]
entry two_products
  %0: f32[batch/data, in]                   = input(x)                       # 05_layouts.cpp:31
  %1: f32[in, hidden/model]                 = read(up)                       # 05_layouts.cpp:32
  %2: f32[batch/data, hidden/model]         = einsum(%0, %1) over in         # 05_layouts.cpp:32
  %3: f32[batch/data, hidden/model]         = relu(%2)                       # 05_layouts.cpp:32
  %4: f32[hidden/model, out]                = read(down)                     # 05_layouts.cpp:33
  %5: f32[batch/data, out | partial model]  = einsum(%3, %4) over hidden     # 05_layouts.cpp:33
  %6: f32[batch/data, out]                  = all_reduce sum(%5) over model  # 05_layouts.cpp:27 after
  %7: f32[batch/data, out]                  = relu(%6)                       # 05_layouts.cpp:27 after
                                              output(%7, y)                  # 05_layouts.cpp:34
)");
}

TEST_CASE("a rule may hold in one scope only") {
  // In the scope "after", `out` is sharded, so each rank needs only its part of the sum. Therefore a reduce-scatter
  // takes the place of the all-reduce. The output is outside of this scope, where `out` is whole. Therefore an
  // all-gather follows.
  CHECK(all_reduces<by_scope> == 0);
  CHECK(text_of(graph<by_scope>).find(R"(
  %6: f32[batch, out/model]            = reduce_scatter sum(%5) over model into out  # 05_layouts.cpp:27 after
  %7: f32[batch, out/model]            = relu(%6)                                    # 05_layouts.cpp:27 after
  %8: f32[batch, out]                  = all_gather(%7) over model of out            # 05_layouts.cpp:34
)") != std::string::npos);
}
