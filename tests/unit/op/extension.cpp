// SPDX-License-Identifier: Apache-2.0
// An operation of one's own, declared in one file outside of the library: traced, differentiated, sharded, printed,
// refused, and run on both devices as one of the library's would be.
// needs: cpu
#include "meshtensor/op/extension.hpp"

#include <doctest/doctest.h>

#include "meshtensor/device/default.hpp"
#include "meshtensor/emit/print.hpp"
#include "meshtensor/emit/stablehlo.hpp"
#include "meshtensor/meshtensor.hpp"
#include "property/program.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

// ---- the operation ----

/// The elements along a dim from the last to the first.
struct reversed_rule {
  static constexpr mt::name name{"reversed"};
  static constexpr mt::declaration declares{.attributes = {{mt::attribute_kind::dim}}, .text = "along {0}"};
  static constexpr void infer(mt::inference& i) {
    i.expect(i.dims_of(0).has(i.attributes[0]), "T01 reversed: the operand lacks the dim", 1, 1);
    i.give(i[0].type, i.dims_of(0));
  }
  static constexpr mt::sharding sharding(mt::module const&, mt::node const& n) {
    return mt::sharding{}.keeps_whole(n.attribute[0]).passes_partial(mt::linearity::alone);
  }
  static constexpr void gradient(mt::differentiation& d, mt::node const& n) {
    mt::id const operands[] = {d.cotangent(d.b.m.result(n))};
    d.contribute(d.b.m.operand(n, 0), mt::add_extension<reversed_rule>(d.b, operands, {{n.attribute[0]}}));
  }
  static void evaluate(mt::evaluation const& e) {
    mt::view const &x = e.operands[0], &y = e.results[0];
    int const along = y.find(e.n.attribute[0]);
    mt::walk<2> w;
    for (int i = 0; i < y.count; ++i) w.extent[w.count++] = y.extent[i];
    w.bind(0, x, y.dim), w.bind(1, y, y.dim);
    if (w.empty()) return;
    mt::with_element(y.type, [&]<class E>() {
      do {
        std::int64_t const mirrored = (y.extent[along] - 1 - 2 * w.index[along]) * y.stride[along];
        y.as<E>()[w.offset[1] + mirrored] = x.as<E>()[w.offset[0]];
      } while (w.next());
    });
  }
};

template <mt::handle H, mt::dim_type D>
constexpr auto reversed(H const& x, D along, mt::line const& where = {}) {
  return mt::extension<reversed_rule>(where, to(along), x);
}

// ---- its tests ----

inline constexpr struct batch_dim : mt::dim<"batch", 24> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 6> {} length;

struct mirror {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f64, batch, length);
    auto w = s.parameter("w", length, mt::normal(1));
    auto y = reversed(x * w, length) + reversed(x, batch) * 0.5;
    auto loss = sum(y * y * 0.1 + y * x);
    s.output("y", y);
    s.output("dx", gradient(loss, x));
    mt::sgd{.learning_rate = 0.01}.minimize(s / "optimizer", loss);
  }
};
using program = mt::precision<mirror, mt::dtype::f64>;
struct whole : mt::mesh<> {};
struct nothing_sharded : mt::layout<> {};

std::unique_ptr<mt::module> traced() {
  return mt::on_heap([] { return mt::trace<program>(); });
}

template <class Device>
std::vector<double> outputs_of() {
  mt::job const job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<program, whole, nothing_sharded, Device> step(values);
  std::vector<double> x(24 * 6), all;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.01 * static_cast<double>(i * i % 37);
  for (int i = 0; i < 2; ++i) {
    auto const result = step(mt::feed<"x">(x));
    for (double v : result.template get<"y">().gather()) all.push_back(v);
    for (double v : result.template get<"dx">().gather()) all.push_back(v);
  }
  return all;
}

}  // namespace

TEST_CASE("it is the same under every layout") {
  property::tally t;
  property::hold_under_every_layout("mirror", *traced(), mt::entry_name<program>(), {}, t);
  property::at_least(100, t.tried);
}

TEST_CASE("it runs on every device, compiled") {
  auto const reference = outputs_of<mt::reference_device>();
  CHECK(reference.size() == 4 * 24 * 6);
  CHECK(outputs_of<mt::default_device>() == reference);
}

TEST_CASE("it is printed by its name") {
  std::string const text = mt::text_of(*traced());
  CHECK(text.find("reversed(%") != std::string::npos);
  CHECK(text.find(", along length)") != std::string::npos);
}

TEST_CASE("what an emitter lacks is refused by its name") {
  mt::mesh_shape const one = mt::mesh_shape{}.add("ax", 1);
  auto const l = mt::lower(*traced(), mt::entry_name<program>(), one, {}, {}, {});
  CHECK_THROWS_WITH_AS(mt::stablehlo(l->graph, l->entry, l->planned.numbers, one),
                       doctest::Contains("R01: there is no StableHLO for reversed yet"), mt::error);
}

TEST_CASE("its faults are the program's") {
  mt::module* const m = new mt::module{};
  std::unique_ptr<mt::module> const owned(m);
  mt::builder b(*m);
  b.begin_region(mt::region_kind::entry, b.intern("main"));
  mt::id const x =
      b.add(mt::primitive::input, {}, mt::dtype::f32, mt::shape{}.add(b.dim("batch", {24})), {{b.intern("x")}});
  mt::id const length_id = b.dim("length", {6});
  CHECK_THROWS_WITH_AS(mt::add_extension<reversed_rule>(b, mt::ids(&x, 1), {{length_id}}),
                       doctest::Contains("T01: reversed: the operand lacks the dim (f32[batch], 'length')"), mt::error);
}
