// SPDX-License-Identifier: Apache-2.0
// verify_layout: what partition and the passes behind it give is right under every pair of dims, and damaged placements
// are found.
#include "meshtensor/pass/verify/verify_layout.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "meshtensor/emit/print.hpp"
#include "meshtensor/op/conv.hpp"
#include "meshtensor/pass/differentiate.hpp"
#include "meshtensor/pass/fuse.hpp"
#include "meshtensor/pass/inline_composites.hpp"
#include "meshtensor/pass/join_epilogues.hpp"
#include "meshtensor/pass/overlap_collectives.hpp"
#include "meshtensor/pass/partition.hpp"
#include "meshtensor/pass/simplify.hpp"
#include "meshtensor/pass/slice_collectives.hpp"
#include "meshtensor/pass/verify.hpp"
#include "unit/pass/results.hpp"

using namespace meshtensor_test;

namespace {

mt::mesh_shape const mesh = mt::mesh_shape{}.add("data", 3).add("model", 2);

template <class Program>
std::unique_ptr<mt::module> partitioned(mt::name const& over_data, mt::name const& over_model,
                                        mt::mesh_shape const& on = mesh) {
  auto const d = made([] { return mt::differentiate(traced<Program>); });
  auto const s = made([&] { return mt::simplify(*d); });
  mt::layout_rules rules{};
  rules.shard(over_data, {"data"}).shard(over_model, {"model"});
  return made([&] { return mt::partition(*s, on, rules); });
}

mt::mesh_shape const on_one = mt::mesh_shape{}.add("data", 3).add("model", 1);

inline constexpr struct rows : mt::dim<"rows", 6> {} rows;
inline constexpr struct over : mt::dim<"over", 3> {} over;

struct added_products {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, in), z = s.input("z", mt::f32, batch, in);
    auto const y = einsum(x, s.parameter("w", in, hidden), mt::to(batch, hidden)) +
                   einsum(z, s.parameter("v", in, hidden), mt::to(batch, hidden));
    s.output("y", tanh(y));
  }
};
struct added_convolutions {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, rows, in), z = s.input("z", mt::f32, batch, rows, in);
    auto const over_rows = mt::window(rows, rows, over, {.padding = mt::same_padding});
    auto const y = conv(x, s.parameter("w", over, in, hidden), mt::to(batch, rows, hidden), over_rows) +
                   conv(z, s.parameter("v", over, in, hidden), mt::to(batch, rows, hidden), over_rows);
    s.output("y", mt::relu(y));
  }
};

/// Composites that take and give sums of products: partial ones where `in` or `hidden` is sharded.
struct composites_of_products {
  constexpr void operator()(mt::scope auto s) const {
    auto const to = mt::to(batch, hidden);
    auto const x = s.input("x", mt::f32, batch, in), z = s.input("z", mt::f32, batch, in);
    auto const w = s.parameter("w", in, hidden), v = s.parameter("v", in, hidden);
    auto const [both, one] = composite(
        "made inside",
        [=](auto a, auto b, auto c, auto d) {
          auto const product = einsum(a, b, to);
          return std::tuple(product + einsum(c, d, to), product);
        },
        x, w, z, v);
    auto const sum = composite("taken", [](auto p, auto q) { return p + q; }, both, einsum(x * z, w, to));
    auto const back = einsum(einsum(sum, s.parameter("u", hidden, in), mt::to(batch, in)), w, to);
    auto const y = sum + back + one;
    auto const loss = einsum(tanh(y), y, mt::to());
    s.output("loss", loss);
    s.output("dx", gradient(loss, x));
  }
};

std::string found(mt::module const& m) { return std::string(mt::verify_layout(m).view()); }

mt::value& result(mt::module& m, mt::primitive kind) {
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == kind) return m.values[m.result(m.nodes[i])];
  FAIL("the program has no such node");
  return m.values[0];
}

/// The finding in the two-layer network over batch and hidden after some damage.
template <class F>
std::string damaged(F const& damage) {
  auto const m = partitioned<network>("batch", "hidden");
  REQUIRE(m->report.empty());
  REQUIRE(found(*m) == "");
  damage(*m);
  return found(*m);
}
bool says(std::string const& finding, char const* sentence) {
  return finding.substr(0, 4) == "S40 " && finding.find(sentence) != std::string::npos;
}

}  // namespace

TEST_CASE_TEMPLATE("partition and what follows it give placements that fit", P, network, deep, recurrent, carried,
                   composed, noisy, composites_of_products) {
  mt::name const dims[] = {"batch", "in", "hidden", "layers", "time"};
  int checked = 0;
  for (mt::name const& a : dims)
    for (mt::name const& b : dims) {
      if (a == b) continue;
      CAPTURE(a.text());
      CAPTURE(b.text());
      auto const m = partitioned<P>(a, b);
      if (!m->report.empty()) continue;
      ++checked;
      CAPTURE(mt::text_of(*m));
      auto const sliced = made([&] { return mt::slice_collectives(*m); });
      auto const inlined = made([&] { return mt::inline_composites(*sliced); });
      auto const fused = made([&] { return mt::fuse(*inlined); });
      auto const overlapped = made([&] { return mt::overlap_collectives(*fused); });
      auto const again = made([&] { return mt::simplify(*m); });
      auto const joined = made([&] { return mt::join_epilogues(*inlined, mt::epilogues::of_products); });
      auto const fused_after = made([&] { return mt::fuse(*joined); });
      for (mt::module const* stage : {m.get(), sliced.get(), inlined.get(), fused.get(), overlapped.get(), again.get(),
                                      joined.get(), fused_after.get()}) {
        CHECK(mt::verify(*stage).view() == "");
        CHECK(mt::verify_layout(*stage).view() == "");
      }
    }
  CHECK(checked >= 15);
}

TEST_CASE("partial products and what is added to them may be joined") {
  int composites = 0, partial = 0;
  for (auto const& [epilogues, after] :
       {std::pair{mt::epilogues::of_products, partitioned<added_products>("batch", "in")},
        std::pair{mt::epilogues::of_products, partitioned<added_products>("batch", "in", on_one)},
        std::pair{mt::epilogues::of_convolutions, partitioned<added_convolutions>("batch", "in")},
        std::pair{mt::epilogues::of_convolutions, partitioned<added_convolutions>("batch", "in", on_one)}}) {
    REQUIRE(after->report.empty());
    auto const joined = made([&, from = after.get(), how = epilogues] { return mt::join_epilogues(*from, how); });
    CAPTURE(mt::text_of(*joined));
    CHECK(mt::verify(*joined).view() == "");
    CHECK(found(*joined) == "");
    for (int i = 0; i < joined->node_count; ++i) {
      if (joined->nodes[i].kind != mt::primitive::composite) continue;
      ++composites, partial += joined->operand_value(joined->nodes[i], 2).layout.has_partial();
    }
  }
  CHECK(composites == 4);
  CHECK(partial == 4);
}

TEST_CASE("damaged placements are found, with the node and the line") {
  using mt::primitive;
  auto const finding = damaged([](mt::module& m) { result(m, primitive::reduce).layout = {}; });
  CAPTURE(finding);
  CHECK(says(finding, "(node %"));
  CHECK(finding.find(" reduce, programs.hpp:") != std::string::npos);

  CHECK(says(damaged([](mt::module& m) { result(m, primitive::einsum).layout.shard(8, 0, 0); }),
             "a dim that the value does not have"));
  CHECK(says(damaged([](mt::module& m) { result(m, primitive::einsum).layout.set_part(0, mt::reduction::sum); }),
             "shards a value that is partial over it"));
  CHECK(says(damaged([](mt::module& m) { result(m, primitive::einsum).layout.set_order(1, 1); }),
             "are not numbered consecutively"));
  CHECK(says(damaged([](mt::module& m) { result(m, primitive::einsum).layout.shard(0, 3, 0); }),
             "a mesh axis that does not exist"));
  CHECK(says(damaged([](mt::module& m) { result(m, primitive::einsum).layout.unshard(0); }),
             "a result's placement differs from its operands'"));
  CHECK(says(damaged([](mt::module& m) { result(m, primitive::reduce).layout.set_part(0, mt::reduction::none); }),
             "is not partial"));
  CHECK(says(damaged([](mt::module& m) { result(m, primitive::reduce).layout.set_part(0, mt::reduction::max); }),
             "is not partial"));
  CHECK(says(damaged([](mt::module& m) { result(m, primitive::constant).layout.set_part(0, mt::reduction::sum); }),
             "a result is partial though no operand is"));
  CHECK(says(damaged([](mt::module& m) { result(m, primitive::read).layout.unshard(1); }),
             "a variable has another placement"));
  CHECK(says(damaged([](mt::module& m) {
               for (int i = 0; i < m.node_count; ++i)
                 if (m.nodes[i].kind == primitive::all_reduce) m.nodes[i].attribute[0] = 0;
             }),
             "a collective over no mesh axis"));
  CHECK(says(damaged([](mt::module& m) {
               for (int i = 0; i < m.node_count; ++i)
                 if (m.nodes[i].kind == primitive::all_reduce)
                   m.nodes[i].function = static_cast<std::uint8_t>(mt::reduction::max);
             }),
             "does not reduce what is partial"));
}

TEST_CASE("regions take and give what lies alike") {
  auto const m = partitioned<deep>("batch", "in");
  REQUIRE(m->report.empty());
  for (int i = 0; i < m->node_count; ++i)
    if (m->nodes[i].kind == mt::primitive::repeat) {
      mt::placement& p = m->values[m->result(m->nodes[i])].layout;
      p.unshard(0);
      break;
    }
  CHECK(says(found(*m), "a result's placement differs from its region's result"));
}
