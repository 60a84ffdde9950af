// SPDX-License-Identifier: Apache-2.0
// The text form of small programs, word for word, as traced and as partitioned.
#include "meshtensor/emit/print.hpp"
#include "meshtensor/graph/spell.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "meshtensor/pass/partition.hpp"
#include "unit/graph/models.hpp"

namespace mt = meshtensor;

namespace {

template <class F>
std::unique_ptr<mt::module> made(F const& f) {
  return std::unique_ptr<mt::module>(new mt::module(f()));
}

constexpr mt::module dense = mt::trace<models::dense>();
constexpr mt::module loops = mt::trace<models::loops>();
constexpr mt::module parallel = mt::trace<models::parallel>();

}  // namespace

TEST_CASE("a program as traced") {
  CHECK(mt::text_of(dense) == R"(dims batch, in = 8, out = batch + 1
parameter w: f32[in, out] = normal(0.02)
entry dense
  %0: f32[batch, in]   = input(x)                        # dense.cpp:3
  %1: f32[in, out]     = read(w)                         # dense.cpp:4
  %2: f32[batch, out]  = einsum(%0, %1) over in          # dense.cpp:5
  %3: f32[batch, out]  = tanh(%2)                        # dense.cpp:5
  %4: f32[]            = constant(sqrt(extent(in)))      # dense.cpp:5
  %5: f32[batch, out]  = divide(%3, %4)                  # dense.cpp:5
  %6: f32[]            = einsum(%5, %5) over batch, out  # dense.cpp:6
                         output(%6, loss)                # dense.cpp:7
  %7: f32[in, out]     = gradient(%6, %1)                # dense.cpp:7
  %8: f32[]            = constant(rate * (step + 1))     # dense.cpp:8
  %9: f32[in, out]     = multiply(%7, %8)                # dense.cpp:8
  %10: f32[in, out]    = subtract(%1, %9)                # dense.cpp:8
                         write(%10, w)                   # dense.cpp:8
)");
}

TEST_CASE("loops, branches and random numbers as traced") {
  CHECK(mt::text_of(loops) == R"(dims in = 8, layers = 3, cond/2 = 1, while_loop/3 = 9
parameter decoder/gain: f32[layers, in] = 1
entry loops
  %0: f32[in]               = input(x)             # loops.cpp:3
  %1: bool[]                = input(p)             # loops.cpp:4
  %2: f32[in]               = uniform(noise #0)    # loops.cpp:5 noise
  %4: f32[layers, in]       = read(decoder/gain)   # loops.cpp:7 decoder
  %9: f32[in]               = repeat layers (carry %0; stacked %4; invariant %2)  # loops.cpp:6 decoder
    body carry %3: f32[in]; stacked %5: f32[in]; invariant %7: f32[in]
      %6: f32[in]  = multiply(%3, %5)  # loops.cpp:8 decoder
      %8: f32[in]  = add(%6, %7)       # loops.cpp:8 decoder
      give carry %8
  %10: i64[]                = cast(%1)             # loops.cpp:10 choice
  %11: i64[]                = constant(1)          # loops.cpp:10 choice
  %12: i64[]                = subtract(%11, %10)   # loops.cpp:10 choice
  %17: f32[]                = constant(0)          # loops.cpp:10 choice
  %18: f32[in]              = broadcast(%17)       # loops.cpp:10 choice
  %20: i64[], %21: f32[in]  = repeat cond/2 up to its first carry (carry %10, %18; invariant %9)  # loops.cpp:10 choice
    branch carry %13: i64[], %19: f32[in]; invariant %15: f32[in]
      %14: f32[]    = constant(2)         # loops.cpp:10 choice
      %16: f32[in]  = multiply(%15, %14)  # loops.cpp:10 choice
      give carry %13, %16
  %25: i64[], %26: f32[in]  = repeat cond/2 up to its first carry (carry %12, %21; invariant %9)  # loops.cpp:10 choice
    branch carry %22: i64[], %24: f32[in]; invariant %23: f32[in]
      give carry %22, %23
  %27: f32[]                = einsum(%26) over in  # loops.cpp:12 grow
  %28: f32[]                = constant(4)          # loops.cpp:12 grow
  %29: bool[]               = less(%27, %28)       # loops.cpp:12 grow
  %30: i64[]                = cast(%29)            # loops.cpp:12 grow
  %40: i64[], %41: f32[in]  = repeat while_loop/3 up to its first carry (carry %30, %26)  # loops.cpp:12 grow
    body carry %31: i64[], %32: f32[in]
      %33: f32[]    = constant(1)          # loops.cpp:13 grow
      %34: f32[in]  = add(%32, %33)        # loops.cpp:13 grow
      %35: f32[]    = einsum(%34) over in  # loops.cpp:12 grow
      %36: f32[]    = constant(4)          # loops.cpp:12 grow
      %37: bool[]   = less(%35, %36)       # loops.cpp:12 grow
      %38: i64[]    = cast(%37)            # loops.cpp:12 grow
      %39: i64[]    = add(%31, %38)        # loops.cpp:12 grow
      give carry %39, %34
  %42: i64[]                = constant(9)          # loops.cpp:12 grow
  %43: i64[]                = minimum(%40, %42)    # loops.cpp:12 grow
                              output(%41, u)       # loops.cpp:14
                              output(%43, trips)   # loops.cpp:15
)");
}

TEST_CASE("partitioned: layouts, partial sums and what communicates") {
  mt::mesh_shape const mesh = mt::mesh_shape{}.add("data", 0).add("model", 2);
  mt::layout_rules rules{};
  rules.shard("batch", {"data"}).shard("out", {"model"});
  auto const p = made([&] { return mt::partition(parallel, mesh, rules); });
  CHECK(mt::text_of(*p) == R"(dims batch, in = 8, out = batch + 1
mesh data, model = 2
parameter up: f32[in, out/model]
parameter down: f32[in, out/model]
entry parallel
  %0: f32[batch/data, in]                  = input(x)                       # parallel.cpp:3
  %1: f32[in, out/model]                   = read(up)                       # parallel.cpp:4
  %2: f32[batch/data, out/model]           = einsum(%0, %1) over in         # parallel.cpp:4
  %3: f32[batch/data, out/model]           = tanh(%2)                       # parallel.cpp:4
  %4: f32[in, out/model]                   = read(down)                     # parallel.cpp:5
  %5: f32[batch/data, in | partial model]  = einsum(%3, %4) over out        # parallel.cpp:5
  %6: f32[]                                = constant(0.5)                  # parallel.cpp:6
  %7: f32[batch/data, in | partial model]  = multiply(%5, %6)               # parallel.cpp:6
  %8: f32[batch/data, in]                  = all_reduce sum(%7) over model  # parallel.cpp:6
                                             output(%8, y)                  # parallel.cpp:6
)");
}

TEST_CASE("two axes of one dim, and other kinds of partial values") {
  mt::module m{};
  mt::builder b(m);
  for (char const* label : {"data", "model", "pipe"}) m.axes[m.axis_count++] = {b.intern(mt::name::of(label)), 2, {}};
  mt::shape dims{};
  dims.add(b.dim("batch", {})), dims.add(b.dim("in", 8));
  mt::placement p{};
  p.shard(1, 2), p.shard(1, 0), p.set_part(1, mt::reduction::max);
  CHECK(mt::speller(m).dims(dims, p) == "batch, in/pipe/data | partial max model");
  CHECK(mt::speller(m).dims({}, p) == "| partial max model");
  p.set_part(1, mt::reduction::sum);
  CHECK(mt::speller(m).dims(dims, p) == "batch, in/pipe/data | partial model");
  CHECK(mt::speller(m).axes(5) == "data, pipe");
}

TEST_CASE("what a reshard asks for") {
  auto const m = made([] { return mt::trace<models::moved>(); });
  CHECK(mt::text_of(*m).find("= reshard(%0, batch/data, in whole)  # moved.cpp:4") != std::string::npos);
}

TEST_CASE("numbers") {
  mt::module m{};
  mt::builder b(m);
  mt::number_id const half = b.literal(0.5);
  mt::number_id const n = b.add_number({mt::number_row::extent, mt::function::copy, b.dim("d_head", 64), mt::no_id, 0});
  mt::number_id const root = b.add_number({mt::number_row::expression, mt::function::sqrt, n, mt::no_id, 0});
  mt::number_id const sum = b.add_number({mt::number_row::expression, mt::function::add, half, root, 0});
  mt::number_id const product = b.add_number({mt::number_row::expression, mt::function::multiply, sum, half, 0});
  mt::speller const spell(m);
  CHECK(spell.number(root) == "sqrt(extent(d_head))");
  CHECK(spell.number(product) == "(0.5 + sqrt(extent(d_head))) * 0.5");
  CHECK(spell.number(b.literal(1e-3)) == "0.001");
  CHECK(spell.number(mt::number_id{77}) == "?");
}

TEST_CASE("a finding stands at the end") {
  auto const m = made([] {
    mt::module broken{};
    broken.report << "S04 the layout names an axis";
    return broken;
  });
  CHECK(mt::text_of(*m) == "report S04 the layout names an axis\n");
}
