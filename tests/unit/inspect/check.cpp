// SPDX-License-Identifier: Apache-2.0
// `check` names the first value that differs from the reference, and finds nothing where nothing is wrong.
//
// passes: start-up
// needs: cpu
#include "meshtensor/inspect/checker.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "meshtensor/device/default.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/loops_that_end.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct width : mt::dim<"width", 12> {} width;
inline constexpr struct inner : mt::dim<"inner", 12> {} inner;
inline constexpr struct classes : mt::dim<"classes", 4> {} classes;
inline constexpr struct blocks : mt::dim<"blocks", 3> {} blocks;
inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model", 2> {} model;
struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<inner, model>, mt::shard<classes, model>> {};
struct spread : mt::layout<mt::shard<batch, data, model>, mt::in<"optimizer", mt::shard<width, data>>> {};

constexpr int line_of_drop = __LINE__ + 4, line_of_gain = __LINE__ + 6, line_of_down = __LINE__ + 7;
struct train {
  constexpr void operator()(mt::scope auto s) const {
    auto x = mt::repeat(s / "blocks", blocks, s.input("x", mt::f32, batch, width), [](mt::scope auto r, auto h) {
      auto seen = mt::nn::dropout(r / "drop", h, 0.25);
      auto up = tanh(einsum(seen, r.parameter("up", width, inner), to(batch, inner)));
      auto more = up * r.parameter("gain", inner, mt::constant(1.5));
      return h + einsum(more, r.parameter("down", inner, width), to(batch, width));
    });
    auto logits = mt::nn::linear(s / "last", x, width, classes);
    auto loss = mean(mt::nn::cross_entropy(logits, s.input("label", mt::i32, batch), classes));
    mt::adam{.learning_rate = s.number("rate", 0.01)}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

std::vector<float> some_x(int rows) {
  std::vector<float> x(static_cast<std::size_t>(rows) * 12);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 19) / 10 - 0.9f;
  return x;
}
std::vector<std::int32_t> some_labels(int rows) {
  std::vector<std::int32_t> labels(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i * 3 % 4);
  return labels;
}

// ---- a program that is wrong on purpose ----

/// A processor's program that a test may spoil, and a device that may be wrong.
struct spoilt {
  mt::name label = mt::entry_name<train>();
  mt::mesh_shape shape = mesh::shape;
  std::unique_ptr<mt::lowering> low;

  spoilt() {
    shape.bind(data(2));
    std::vector<mt::dim_extent> const extents{batch(8)};
    low = mt::lower(mt::detail::traced<train>, label, shape, layout::rules, extents);
  }
  mt::module& graph() { return low->graph; }
  /// The first node of a kind and function for which `fits` holds.
  template <class Fits>
  mt::node& find(mt::primitive kind, Fits fits) {
    for (int i = 0; i < graph().node_count; ++i)
      if (graph().nodes[i].kind == kind && fits(graph().nodes[i])) return graph().nodes[i];
    FAIL("the program has no such node");
    return graph().nodes[0];
  }
  std::uint32_t line(mt::node const& n) { return graph().sites[n.site].line; }

  mt::check_result look(mt::reference_device const& device = {}) {
    auto const job = mt::job::in_lockstep();
    mt::store values(job, 5);
    mt::session<mt::reference_device> step(values, low->graph, low->planned, shape, low->entry, device);
    auto const x = some_x(8);
    auto const labels = some_labels(8);
    step.feed("x", x.data());
    step.feed("label", labels.data());
    mt::detail::checker checks(mt::detail::traced<train>, label, shape, low->planned);
    mt::detail::checked_session here(step);
    return checks.run(low->graph, here, values);
  }
};

bool is(mt::node const& n, mt::function f) { return n.function == static_cast<std::uint8_t>(f); }
std::string at(int line) { return "check.cpp:" + std::to_string(line); }

void wrong_tanh(mt::evaluation const& e) {
  mt::evaluate<>(e);
  if (e.n.kind != mt::primitive::elementwise || !is(e.n, mt::function::tanh)) return;
  auto* const y = e.results[0].as<float>();
  y[e.results[0].size() - 1] += 0.125f;  // one element of each processor
}

void agrees(mt::check_result const& r) {
  INFO(text_of(r));
  CHECK(r.agrees());
  CHECK(r.compared > 100);
}

}  // namespace

TEST_CASE("nothing is wrong: several meshes, layouts and devices") {
  for (int rows : {8, 16}) {
    auto const x = some_x(rows);
    auto const labels = some_labels(rows);
    auto const look = [&]<class Layout, class Device>(int parts) {
      agrees(mt::check<train, mesh, Layout, Device>(batch(rows), data(parts), mt::feed<"x">(x),
                                                    mt::feed<"label">(labels), mt::set<"rate">(0.5)));
    };
    for (int parts : {1, 2, 4}) {
      look.operator()<layout, mt::reference_device>(parts);
      look.operator()<layout, mt::default_device>(parts);
      look.operator()<spread, mt::default_device>(parts);
    }
  }
}

namespace {
struct by_rows_and_columns : mt::layout<mt::shard<programs::batch, data>, mt::shard<programs::model, model>> {};
}  // namespace

TEST_CASE("nothing is wrong in loops that end early and in branches") {
  std::vector<float> x(24 * 6 * 12);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 19) / 10 - 0.9f;
  auto const look = [&]<class Program>(Program, std::size_t places) {
    std::vector<float> const fed(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(24 * 12 * places));
    auto const r = mt::check<Program, mesh, by_rows_and_columns, mt::default_device>(data(2), mt::feed<"x">(fed));
    INFO(text_of(r));
    CHECK(r.agrees());
    CHECK(r.compared > 50);
  };
  look(loops_that_end::within_a_scan{}, 6);
  look(loops_that_end::branches_within{}, 1);
  look(loops_that_end::branch<false>{}, 1);
}

TEST_CASE("a store is looked at as it is, and stays so") {
  auto const job = mt::job::as_threads();
  mt::store weights(job, 3);
  mt::executable<train, mesh, layout, mt::reference_device> step(weights, batch(8), data(2));
  auto const x = some_x(8);
  auto const labels = some_labels(8);
  for (int i = 0; i < 3; ++i) step(mt::feed<"x">(x), mt::feed<"label">(labels));
  auto const before = weights.get<float>("blocks/up");
  agrees(mt::check<train, mesh, layout, mt::reference_device>(weights, batch(8), data(4), mt::feed<"x">(x),
                                                              mt::feed<"label">(labels)));
  CHECK(weights.get<float>("blocks/up") == before);
  CHECK(weights.step() == 3);
}

TEST_CASE("what is not fed is an error") {
  CHECK_THROWS_WITH_AS((mt::check<train, mesh, layout, mt::reference_device>(batch(8), data(2))),
                       doctest::Contains("was not fed"), mt::error);
}

TEST_CASE("defects, each named by the user's line") {
  spoilt program;
  CHECK(program.look().agrees());
  std::string expected, found;
  auto const look = [&](mt::reference_device const& device = {}) {
    auto const r = program.look(device);
    found = text_of(r);
    INFO("expected: " << expected << "\nfound:    " << found);
    CHECK_FALSE(r.agrees());
    CHECK(found.find(expected) != std::string::npos);
  };
  using mt::primitive;

  SUBCASE("a sum that is made as a maximum") {
    mt::node& n = program.find(primitive::all_reduce, [&](auto const& c) { return program.line(c) == line_of_down; });
    n.function = static_cast<std::uint8_t>(mt::reduction::max);
    expected = "all_reduce of einsum in blocks (" + at(line_of_down) + ") gives f32[batch/data, width]";
    look();
  }
  SUBCASE("a sum that is taken for reduced") {
    mt::node& n = program.find(primitive::einsum, [&](auto const& c) { return program.line(c) == line_of_down; });
    mt::placement& lies = program.graph().values[program.graph().result(n)].layout;
    for (int a = 0; a < mt::max_axes; ++a) lies.set_part(a, mt::reduction::none);
    expected = "einsum in blocks (" + at(line_of_down) + ") gives f32[batch/data, width]";
    look();
  }
  SUBCASE("another function") {
    mt::node& n = program.find(primitive::elementwise, [&](auto const& c) {
      return program.line(c) == line_of_gain && is(c, mt::function::multiply);
    });
    n.function = static_cast<std::uint8_t>(mt::function::add);
    expected = "multiply in blocks (" + at(line_of_gain) + ") gives f32[batch/data, inner/model], at batch=";
    look();
  }
  SUBCASE("random numbers of another place") {
    mt::node& n = program.find(primitive::random, [](auto const&) { return true; });
    ++n.ordinal;
    expected = "random in blocks/drop (" + at(line_of_drop);
    look();
  }
  SUBCASE("an update by another number") {
    for (int i = 0; i < program.graph().number_count; ++i) {
      auto& row = program.graph().numbers[i];
      if (row.kind == mt::number_row::named) row.kind = mt::number_row::literal, row.value = 0.02;
    }
    expected = "in optimizer";
    look();
  }
  SUBCASE("a device that is wrong in one element") {
    expected = "tanh in blocks (" + at(line_of_drop + 1) + ") gives f32[batch/data, inner/model], at batch=";
    look({&wrong_tanh});
    CHECK(found.find("4 of 96 elements differ") != std::string::npos);
  }
  SUBCASE("a sum over fewer processors") {
    mt::node& n = program.find(primitive::all_reduce, [&](auto const& c) { return c.region == program.low->entry; });
    n.attribute[0] = 0;
    expected = "all_reduce of ";
    look();
  }
}

namespace {
inline constexpr struct down : mt::dim<"down", 37> {} down;
inline constexpr struct across : mt::dim<"across", 37> {} across;
inline constexpr struct aside : mt::dim<"aside", 37> {} aside;
struct alone : mt::mesh<> {};
struct whole : mt::layout<> {};

/// A matrix and the same memory with its dims named the other way round, in one kernel.
struct symmetric {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.parameter("x", down, across, mt::normal(1));
    auto y = x * 3 + s.number("more", 1);
    auto transposed = mt::rename(mt::rename(mt::rename(y, down, aside), across, down), aside, across);
    auto skew = y * 0.5 - transposed;
    s.output("skew", mt::rename(skew, across, aside) + 1);
  }
};
}  // namespace

TEST_CASE("a kernel does not overwrite what it reads under another name") {
  auto const r = mt::check<symmetric, alone, whole, mt::default_device>();
  INFO(text_of(r));
  CHECK(r.agrees());
}

namespace {
inline constexpr struct terms : mt::dim<"terms", 64> {} terms;
inline constexpr struct sums : mt::dim<"sums", 64> {} sums;
inline constexpr struct part_of_sums : mt::dim<"part_of_sums", 16> {} part_of_sums;
inline constexpr struct turns : mt::dim<"turns", 3> {} turns;
struct by_terms : mt::layout<mt::shard<terms, data>> {};
struct by_sums : mt::layout<mt::shard<sums, data>> {};

/// Sums in bf16, which are rounded to another neighbour if their terms are added in another order, and what is made of
/// them in wider dtypes.
template <class Made>
struct made_of_bf16 {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::bf16, terms);
    auto w = s.input("w", mt::bf16, terms, sums);
    s.output("made", Made{}(s, einsum(x, w, to(sums))));
  }
};
template <class Made>
mt::check_result check_of_bf16(Made) {
  std::vector<mt::bf16_t> x, w;
  for (int i = 0; i < 64; ++i) x.emplace_back(static_cast<float>(std::sin(0.7 * i)));
  for (int i = 0; i < 64 * 64; ++i) w.emplace_back(static_cast<float>(std::sin(0.37 * i)));
  mt::check_result all;
  auto const look = [&]<class Layout, class Device>(int parts) {
    mt::check_result const r =
        mt::check<made_of_bf16<Made>, mesh, Layout, Device>(data(parts), mt::feed<"x">(x), mt::feed<"w">(w));
    INFO(parts << " parts: " << text_of(r));
    CHECK(r.agrees());
    all.compared += r.compared, all.undecided += r.undecided;
  };
  for (int parts : {2, 4}) {
    look.template operator()<by_terms, mt::reference_device>(parts);
    look.template operator()<by_terms, mt::default_device>(parts);
    look.template operator()<by_sums, mt::reference_device>(parts);
  }
  CHECK(all.compared > 10);
  return all;
}
}  // namespace

TEST_CASE("what is made of bf16 has the tolerance of bf16, whatever its own dtype") {
  using mt::dtype;
  auto const exact = [](auto made) { CHECK(check_of_bf16(made).undecided == 0); };
  exact([](auto, auto y) { return mt::cast<dtype::f32>(y); });
  exact([](auto, auto y) { return mt::cast<dtype::f64>(mt::cast<dtype::bf16>(mt::cast<dtype::f32>(y))); });
  exact([](auto, auto y) { return mt::slice(mt::cast<dtype::f32>(y), sums, part_of_sums, 3); });
  exact([](auto, auto y) { return sum(mt::cast<dtype::f32>(y)); });
  exact([](auto, auto y) { return mean(mt::cast<dtype::f64>(y) * mt::cast<dtype::f64>(y)); });
  exact([](auto s, auto y) {
    return mt::repeat(s / "turns", turns, mt::cast<dtype::f32>(y),
                      [](mt::scope auto, auto z) { return tanh(z * 0.5); });
  });
}

TEST_CASE("integers that are made of bf16 may be either neighbour, and what follows from them is counted") {
  using mt::dtype;
  auto const is_counted = [](auto made) {
    mt::check_result const r = check_of_bf16(made);
    CHECK(r.undecided <= r.compared);
    return r.undecided > 0;
  };
  CHECK(is_counted([](auto, auto y) { return mt::cast<dtype::i32>(y * 64); }));
  CHECK(is_counted([](auto, auto y) { return sum(mt::cast<dtype::i64>(y * 64)); }));
  CHECK(is_counted([](auto, auto y) { return argsort(y, sums); }));
  is_counted([](auto, auto y) { return mt::cast<dtype::f32>(y > y * 1.0001) * 10; });
  check_of_bf16([](auto, auto y) { return mt::cast<dtype::i32>(abs(y) < 100); });  // none is close
}

namespace {
/// Of bf16 that is fed, so that nothing was rounded on the way.
struct made_of_fed {
  constexpr void operator()(mt::scope auto s) const {
    auto x = mt::slice(s.input("x", mt::bf16, sums), sums, part_of_sums, 3);
    s.output("y", tanh(mt::cast<mt::dtype::f32>(x) * 0.5));
  }
};
void slightly_wrong_tanh(mt::evaluation const& e) {
  mt::evaluate<>(e);
  if (e.n.kind == mt::primitive::elementwise && is(e.n, mt::function::tanh)) e.results[0].as<float>()[1] += 0.01f;
}
}  // namespace

TEST_CASE("a cast of bf16 that was fed has the tolerance of f32") {
  mt::mesh_shape shape = mesh::shape;
  shape.bind(data(2));
  auto const low = mt::lower(mt::detail::traced<made_of_fed>, mt::entry_name<made_of_fed>(), shape, by_sums::rules, {});
  auto const job = mt::job::in_lockstep();
  mt::store values(job, 5);
  mt::session<mt::reference_device> step(values, low->graph, low->planned, shape, low->entry,
                                         mt::reference_device{&slightly_wrong_tanh});
  std::vector<mt::bf16_t> const x(64, mt::bf16_t(1.0f));
  step.feed("x", x.data());
  mt::detail::checker checks(mt::detail::traced<made_of_fed>, mt::entry_name<made_of_fed>(), shape, low->planned);
  mt::detail::checked_session here(step);
  auto const r = checks.run(low->graph, here, values);
  INFO(text_of(r));
  CHECK(r.difference.find("tanh") != std::string::npos);
}

namespace {
/// Its mean of squares is also computed from elements that are far smaller, whose squares are subnormal.
struct normed {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", mt::nn::layer_norm(s / "norm", s.input("x", mt::f32, batch, inner), inner));
  }
};
}  // namespace

TEST_CASE("subnormal numbers may differ, because sums of them have few digits") {
  for (float const scale : {0.01f, 0.3f, 1.f, 10.f}) {
    std::vector<float> x(4 * 12);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = scale * (static_cast<float>(i * 37 % 11) / 5 - 1);
    auto const look = [&]<class Device>() {
      auto const r = mt::check<normed, mesh, layout, Device>(batch(4), data(2), mt::feed<"x">(x));
      INFO("elements up to " << scale << ": " << text_of(r));
      CHECK(r.agrees());
      CHECK(r.compared > 5);
    };
    look.operator()<mt::reference_device>();
    look.operator()<mt::default_device>();
  }
}
