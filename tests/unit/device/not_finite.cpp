// SPDX-License-Identifier: Apache-2.0
// Nans and infinities on the cpu device: kernels that are interpreted, kernels with code of their own and what the
// device runs whole give them where the reference does.
//
// needs: cpu
// arch: baseline native
// timeout: 300
#include <doctest/doctest.h>

#include "meshtensor/device/cpu/device.hpp"
#include "meshtensor/device/reference.hpp"
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/pass/lower.hpp"
#include "meshtensor/run/session.hpp"
#include "support/compare.hpp"

namespace {

namespace mt = meshtensor;
using mt::to;

inline constexpr struct row_dim : mt::dim<"row", 6> {} row;
inline constexpr struct width_dim : mt::dim<"width", 70> {} width;
inline constexpr struct key_dim : mt::dim<"key", 70> {} key;
inline constexpr struct few_dim : mt::dim<"few", 3> {} few;
inline constexpr struct many_dim : mt::dim<"many", 130> {} many;
inline constexpr struct head_dim : mt::dim<"head", 16> {} head;

/// Row 1 has nans, row 2 elements of -inf, row 3 nothing else, row 4 infinities of both signs.
struct everywhere {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), row, width);
    auto at = mt::iota(s, width, mt::i32);
    auto here = mt::iota(s, row, mt::i32);
    auto still = stop_gradient(x);
    auto nan = sqrt(still * 0 - 1), least = log(still * 0);
    auto masked = select(here == 3 || (here == 2 && at % 5 != 1), least, x);
    auto y = select(here == 1 && at % 9 == 4, nan,
                    select(here == 4 && at % 7 == 2, select(at % 2 == 0, least, -least), masked));
    s.output("relu", relu(y)), s.output("clamped", minimum(maximum(y, -0.5), 0.5));
    s.output("greater", maximum(x, y)), s.output("lesser", minimum(y, x));
    s.output("greatest", max(y, width)), s.output("least", min(y, width));
    s.output("over_rows", max(y, row)), s.output("total", max(y)), s.output("lowest", min(y));
    s.output("where", argmax(y, width)), s.output("which", argmax(y, row));
    s.output("functions", tanh(y) + sigmoid(y) * erf(y) + mt::gelu(y));
    s.output("soft", softmax(y, width)), s.output("log", log_softmax(y, width)), s.output("sum", logsumexp(y, width));
    auto p = softmax(masked, width), q = log_softmax(masked, width);
    auto each = mt::nn::cross_entropy(masked, here * 6 + 1, width, 0.1);
    s.output("each", each);
    auto loss = sum(p * x) + sum(select(q < -1e9, 0, q)) * 0.3 + mt::cast<s.compute>(sum(each)) * 0.1;
    s.output("dx", gradient(loss, x)), s.output("d_relu", gradient(sum(relu(y)), x));
  }
};

/// Attention of few queries and of many: those of row 1 see nothing, all scores of row 4 are -inf.
template <auto const& Query>
struct attends {
  constexpr void operator()(mt::scope auto s) const {
    auto query_input = s.input("query", s.real(), row, Query, head);
    auto held = s.input("keys", s.real(), row, key, head);
    auto values = s.input("values", s.real(), row, key, head);
    auto here = mt::iota(s, row, mt::i32);
    auto open = here != 1 && (mt::iota(s, key, mt::i32) % 5 != 3 || here == 2);
    auto spoilt = here == 4 && mt::iota(s, head, mt::i32) == 0;
    auto query = select(spoilt, abs(query_input) + 0.1, query_input);
    auto keys = select(spoilt, log(stop_gradient(held) * 0), held);
    auto [y, log_sum] = mt::nn::attention_with_log_sum(query, keys, values, Query, key, head, open);
    auto all = mt::nn::dot_product_attention(query, keys, values, Query, key, head);
    s.output("y", y), s.output("log_sum", log_sum), s.output("all", all);
    auto loss = sum(y * y) + sum(exp(log_sum)) * 0.001 + sum(all) * 0.5;
    auto [dq, dk, dv] = gradient(loss, query_input, held, values);
    s.output("dq", dq), s.output("dk", dk), s.output("dv", dv);
  }
};
using few_queries = attends<few>;
using many_queries = attends<many>;

struct mesh : mt::mesh<> {};
struct layout : mt::layout<> {};

template <class Program, class Device>
std::map<std::string, mt::block> outcome(Device device) {
  using stages = mt::lowered<Program, Program, mesh, layout, Device>;
  static constexpr auto const& m = stages::graph;
  auto const job = mt::job::in_lockstep();
  mt::store values(job);
  mt::session<Device> run(values, m, stages::planned, mt::mesh_shape{}, 0, std::move(device));
  std::map<std::string, mt::block> all;
  for (int i = 0; i < m.node_count; ++i) {
    mt::node const& n = m.nodes[i];
    if (n.kind != mt::primitive::input) continue;
    mt::value const& v = m.result_value(n);
    mt::block b(v.type, v.dims, stages::bound);
    for (std::int64_t k = 0; k < b.size(); ++k) b.set(k, std::sin(static_cast<double>(k * 7 % 1013 + i)) * 1.5);
    run.feed(m.names[n.attribute[0]].text(), b.data());
  }
  run.step();
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == mt::primitive::output) {
      std::string const label = m.names[m.nodes[i].attribute[0]].text();
      all.emplace(label, run.whole(label));
    }
  return all;
}

/// Nans stand where the reference has them, and other elements are near.
template <class Program>
void compare(double tolerance) {
  using stages = mt::lowered<Program, Program, mesh, layout, mt::cpu_device>;
  auto const wanted = outcome<Program>(mt::reference_device());
  CHECK(wanted.size() > 5);
  auto const near = [&](auto const& got) {
    for (auto const& [label, b] : got) {
      auto const d = meshtensor_test::difference(b.window(), wanted.at(label), tolerance);
      CHECK_MESSAGE(d.empty(), label << ": " << d);
    }
  };
  near(outcome<Program>(mt::cpu_device(1)));
  constexpr mt::cpu::code own = mt::cpu::code::of<stages::graph>();
  near(outcome<Program>(mt::cpu_device(own, 2)));
}

}  // namespace

TEST_CASE("f32") { compare<mt::precision<everywhere, mt::f32>>(1e-5); }
TEST_CASE("f64") { compare<mt::precision<everywhere, mt::f64>>(1e-12); }
TEST_CASE("bf16") { compare<mt::precision<everywhere, mt::f32, mt::bf16>>(0.02); }
TEST_CASE("attention of few queries") { compare<mt::precision<few_queries, mt::f32>>(1e-4); }
TEST_CASE("attention of many queries") { compare<mt::precision<many_queries, mt::f32>>(1e-4); }
TEST_CASE("attention in bf16") { compare<mt::precision<many_queries, mt::f32, mt::bf16>>(0.05); }
