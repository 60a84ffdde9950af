// SPDX-License-Identifier: Apache-2.0
// What a loss in parts costs a mesh: gradients are reduced once a step, however many parts there are, and memory is
// that of one part. Steps run so give what the interpreter gives.
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/accumulate_gradients.hpp"
#include "meshtensor/pass/cost.hpp"
#include "unit/pass/planned.hpp"

using namespace meshtensor_test;
using mt::to;

namespace {

inline constexpr struct width : mt::dim<"width", 12> {} width;
inline constexpr struct inner : mt::dim<"inner", 24> {} inner;
inline constexpr struct blocks : mt::dim<"blocks", 3> {} blocks;
template <int Parts>
struct parts_dim : mt::dim<"parts", Parts> {};
template <int Rows>
struct rows_dim : mt::dim<"rows", Rows> {};

inline constexpr mt::layer loss_of = [](mt::scope auto s, auto x, auto rows) {
  auto const seen = x * s.parameter("gain", width, mt::normal(1));
  auto const y = repeat(s / "blocks", blocks, seen, [&](mt::scope auto r, auto h) {
    auto const up = r.parameter("up", width, inner, mt::normal(0.3));
    auto const down = r.parameter("down", inner, width, mt::normal(0.3));
    auto const a = tanh(einsum(h, up, to(rows, inner)) + r.parameter("bias", inner));
    return h + mt::nn::dropout(r / "drop", einsum(a, down, to(rows, width)), r.number("rate", 0));
  });
  return sum(y * y);
};

template <int Parts, int Rows>
struct in_parts {
  constexpr void operator()(mt::scope auto s) const {
    constexpr parts_dim<Parts> parts{};
    constexpr rows_dim<Rows> rows{};
    auto const x = s.input("x", mt::f32, rows, parts, width);
    auto const [loss, gradients] = mt::accumulate(
        s / "model", parts, x, [&](mt::scope auto m, auto part) { return loss_of(m, part, rows) / (Rows * Parts); });
    s.output("loss", loss);
    mt::momentum{.learning_rate = 0.05, .clip_norm = 1}.minimize(s / "optimizer", gradients);
  }
};
template <int Rows>
struct at_once {
  constexpr void operator()(mt::scope auto s) const {
    constexpr rows_dim<Rows> rows{};
    auto const loss = loss_of(s / "model", s.input("x", mt::f32, rows, width), rows) / Rows;
    s.output("loss", loss);
    mt::momentum{.learning_rate = 0.05, .clip_norm = 1}.minimize(s / "optimizer", loss);
  }
};

mt::layout_rules data_parallel() {
  mt::layout_rules rules{};
  rules.shard("rows", {"ax"});
  return rules;
}
template <class Program>
mt::step_traffic traffic(mt::layout_rules const& rules = data_parallel()) {
  planned<Program> const s(rules, 2);
  return mt::traffic_of(s.low->graph, s.plan());
}

}  // namespace

TEST_CASE("gradients are reduced once, behind the loop over the parts") {
  auto const two = traffic<in_parts<2, 12>>(), eight = traffic<in_parts<8, 12>>();
  CHECK(two.all_reduces == 5);  // three of the layers, all at once, one around them, the loss
  CHECK(eight.all_reduces == two.all_reduces);
  CHECK(eight.bytes == two.bytes);
  CHECK(eight.collectives() == two.collectives());
}

TEST_CASE("gradients that the optimizer wants in parts are scattered once") {
  auto rules = data_parallel();
  rules.shard("inner", {"ax"}, "optimizer");
  auto const two = traffic<in_parts<2, 12>>(rules), eight = traffic<in_parts<8, 12>>(rules);
  CHECK(two.reduce_scatters == 3);
  CHECK(eight.reduce_scatters == two.reduce_scatters);
  CHECK(eight.bytes == two.bytes);
}

TEST_CASE("memory is that of one part, and gradients") {
  std::int64_t const gradients = 4 * (12 + 3 * (12 * 24 + 24 * 12 + 24));
  std::int64_t const one = planned<at_once<96>>().plan().arena_bytes;
  std::int64_t const four = planned<in_parts<4, 96>>().plan().arena_bytes;
  std::int64_t const four_at_once = planned<at_once<4 * 96>>().plan().arena_bytes;
  std::int64_t const input = 4 * 4 * 96 * 12;  // transposed, so that parts lead
  CAPTURE(one);
  CAPTURE(four);
  CAPTURE(four_at_once);
  CHECK(four <= one + 2 * gradients + input);
  CHECK(four < four_at_once / 2);
}

TEST_CASE("steps in parts") {
  for (std::int64_t processors : {1, 2, 3, 6}) {
    CAPTURE(processors);
    planned<in_parts<4, 12>> s(data_parallel(), processors);
    s.check_steps();
    s.check_steps(mt::job::as_threads());
  }
  auto rules = data_parallel();
  rules.shard("inner", {"ax"}, "optimizer");
  planned<in_parts<4, 12>> s(rules, 2);
  s.check_steps();
}
