// SPDX-License-Identifier: Apache-2.0
// The two-layer network with all numbers in its types: the compiler's plans are those of start-up, bit for bit.
// sample
// sanitize: no
#include <doctest/doctest.h>

#include <cstring>

#include "two_layers.hpp"

namespace mt = meshtensor;
using net = two_layers::network<24, 2, 2>;
using open_net = two_layers::network<mt::extent_rule{}, 0, 0>;
struct mesh : mt::mesh<net::data, net::model> {};

struct data_parallel : mt::layout<mt::shard<net::batch, net::data>> {};
struct tensor_parallel : mt::layout<mt::shard<net::batch, net::data>, mt::shard<net::inner, net::model>,
                                    mt::shard<net::classes, net::model>> {};
struct zero : mt::layout<mt::shard<net::batch, net::data>, mt::shard<net::inner, net::model>,
                         mt::in<"optimizer", mt::shard<net::hidden, net::data>>> {};

namespace {

// Traced by the compiler: the order in which a compiler evaluates arguments is its own.
constexpr auto open_traced = mt::trace<mt::programs<open_net::train_step, open_net::evaluate>>();

bool same(mt::plan const& a, mt::plan const& b) {
  return std::memcmp(&a.steps, &b.steps, sizeof(a.steps)) == 0 && std::memcmp(a.root, b.root, sizeof(a.root)) == 0 &&
         std::memcmp(a.where, b.where, sizeof(a.where)) == 0 &&
         std::memcmp(a.offset, b.offset, sizeof(a.offset)) == 0 &&
         std::memcmp(a.numbers.extent, b.numbers.extent, sizeof(a.numbers.extent)) == 0 &&
         std::memcmp(a.numbers.axis, b.numbers.axis, sizeof(a.numbers.axis)) == 0 && a.arena_bytes == b.arena_bytes &&
         a.variable_bytes == b.variable_bytes && a.input_bytes == b.input_bytes && a.fullest == b.fullest;
}

template <class Layout>
void twin() {
  using programs = mt::programs<net::train_step, net::evaluate>;
  using stages = mt::lowered<programs, net::train_step, mesh, Layout>;
  static_assert(mt::verify(stages::graph).empty());
  static_assert(stages::bound.ok());
  static_assert(stages::planned.arena_bytes > 0);

  mt::mesh_shape size = mesh::shape;
  std::array const extents{open_net::batch(24)};
  auto const at_start = mt::lower(open_traced, "train_step", size, Layout::rules, extents);
  CHECK(same(stages::planned, at_start->planned));
  CHECK(stages::graph.node_count == at_start->graph.node_count);
  CHECK(std::ranges::equal(at_start->instructions, stages::instructions()));

  two_layers::samples<float> const data(24);
  auto job = mt::job::as_threads();
  mt::store weights(job), others(job);
  mt::executable<programs, net::train_step, mesh, Layout> step(weights);
  mt::executable<programs, net::evaluate, mesh, Layout> look(weights);
  mt::session<mt::reference_device> open(others, at_start->graph, at_start->planned, size, at_start->entry);
  open.feed("image", data.images.data()), open.feed("label", data.labels.data());
  float first = 0, last = 0;
  for (int i = 0; i < 12; ++i) {
    last = step(mt::feed<"image">(data.images), mt::feed<"label">(data.labels)).template get<"loss">();
    if (i == 0) first = last;
    open.step();
    CHECK(last == *open.whole("loss").template as<float>());
  }
  CHECK(last < first - 0.5f);
  float const seen = look(mt::feed<"image">(data.images), mt::feed<"label">(data.labels), mt::set<"dropout">(0))
                         .template get<"loss">();
  CHECK(seen < first - 0.5f);
}

}  // namespace

TEST_CASE("data parallel") { twin<data_parallel>(); }
TEST_CASE("tensor parallel") { twin<tensor_parallel>(); }
TEST_CASE("optimizer state spread") { twin<zero>(); }
