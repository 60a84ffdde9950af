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
    return mt::sharding{}.keeps_whole(n.attribute[0]).passes_partial(mt::linearity::separate);
  }
  static constexpr void gradient(mt::differentiation& d, mt::node const& n) {
    mt::value_id const operands[] = {d.cotangent(d.b.m.result(n))};
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

/// The same without a sharding: the dim among the attributes is whole on every rank.
struct reversed_by_default {
  static constexpr mt::name name{"reversed_by_default"};
  static constexpr mt::declaration declares = reversed_rule::declares;
  static constexpr void infer(mt::inference& i) { reversed_rule::infer(i); }
  static constexpr void gradient(mt::differentiation& d, mt::node const& n) {
    mt::value_id const operands[] = {d.cotangent(d.b.m.result(n))};
    d.contribute(d.b.m.operand(n, 0), mt::add_extension<reversed_by_default>(d.b, operands, {{n.attribute[0]}}));
  }
  static void evaluate(mt::evaluation const& e) { reversed_rule::evaluate(e); }
};

template <class Rule = reversed_rule, mt::handle H, mt::dim_type D>
constexpr auto reversed(H const& x, D along, mt::line const& where = {}) {
  return mt::extension<Rule>(where, to(along), x);
}

/// The elements along a dim, shifted by a count to the right or back, around the end, and scaled by a number.
struct rotated_rule {
  static constexpr mt::name name{"rotated"};
  static constexpr mt::declaration declares{.attributes = {{mt::attribute_kind::dim},
                                                           {mt::attribute_kind::count},
                                                           {mt::attribute_kind::flag},
                                                           {mt::attribute_kind::number}},
                                            .text = "along {0} by {1}, times {3}"};
  static constexpr void infer(mt::inference& i) {
    i.expect(i.dims_of(0).has(i.attributes[0]), "T01 rotated: the operand lacks the dim", 1, 1);
    i.give(i[0].type, i.dims_of(0));
  }
  static constexpr void gradient(mt::differentiation& d, mt::node const& n) {
    mt::value_id const operands[] = {d.cotangent(d.b.m.result(n))};
    mt::attributes back{{n.attribute[0], n.attribute[1], static_cast<mt::id>(1 - n.attribute[2]), n.attribute[3]}};
    d.contribute(d.b.m.operand(n, 0), mt::add_extension<rotated_rule>(d.b, operands, back));
  }
  static void evaluate(mt::evaluation const& e) {
    mt::view const &x = e.operands[0], &y = e.results[0];
    int const along = y.find(e.n.attribute[0]);
    std::int64_t const count = y.extent[along], by = e.n.attribute[1] % count;
    std::int64_t const right = e.n.attribute[2] != 0 ? count - by : by;
    mt::walk<2> w;
    for (int i = 0; i < y.count; ++i) w.extent[w.count++] = y.extent[i];
    w.bind(0, x, y.dim), w.bind(1, y, y.dim);
    if (w.empty()) return;
    mt::with_element(y.type, [&]<class E>() {
      do {
        std::int64_t const moved = ((w.index[along] + right) % count - w.index[along]) * y.stride[along];
        y.as<E>()[w.offset[1] + moved] = mt::element_of<E>(static_cast<double>(x.as<E>()[w.offset[0]]) * e.number(3));
      } while (w.next());
    });
  }
};
template <mt::handle H, mt::dim_type D>
constexpr auto rotated(H const& x, D along, int by, mt::number const& times, mt::line const& where = {}) {
  return mt::extension<rotated_rule>(where, to(along), {by, false, times}, x);
}

// ---- its tests ----

inline constexpr struct batch_dim : mt::dim<"batch", 24> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 6> {} length;

template <class Rule>
struct mirror_by {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f64, batch, length);
    auto w = s.parameter("w", length, mt::normal(1));
    auto y = reversed<Rule>(x * w, length) + reversed<Rule>(x, batch) * 0.5;
    auto loss = sum(y * y * 0.1 + y * x);
    s.output("y", y);
    s.output("dx", gradient(loss, x));
    mt::sgd{.learning_rate = 0.01}.minimize(s / "optimizer", loss);
  }
};
struct wheel {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f64, batch, length);
    auto y = rotated(x * x, length, 2, s.number("gain", 0.5)) + rotated(x, batch, 25, 2);
    s.output("y", y);
    s.output("dx", gradient(sum(y * y * 0.1 + y * x), x));
  }
};
inline constexpr struct place_dim : mt::dim<"place", 4> {} place;
struct mirror : mirror_by<reversed_rule> {};
struct mirror_by_default : mirror_by<reversed_by_default> {};
using program = mt::precision<mirror, mt::dtype::f64>;
struct whole : mt::mesh<> {};
struct nothing_sharded : mt::layout<> {};

template <class Program = program>
std::unique_ptr<mt::module> traced() {
  return mt::on_heap([] { return mt::trace<Program>(); });
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

TEST_CASE("without a sharding, the dims that it names are gathered") {
  property::tally t;
  using by_default = mt::precision<mirror_by_default, mt::dtype::f64>;
  property::hold_under_every_layout("mirror_by_default", *traced<by_default>(), mt::entry_name<by_default>(), {}, t);
  property::at_least(100, t.tried);
}

TEST_CASE("it runs on every device, compiled") {
  auto const reference = outputs_of<mt::reference_device>();
  CHECK(reference.size() == 4 * 24 * 6);
  CHECK(outputs_of<mt::default_device>() == reference);
}

TEST_CASE("counts, flags and numbers are attributes behind the dims") {
  mt::array<double, place> const x({1, 2, 3, 4});
  std::vector<double> all;
  for (double v : mt::at_once([](auto const& h) { return rotated(h, place, 1, 10); }, x)) all.push_back(v);
  CHECK(all == std::vector<double>{40, 10, 20, 30});
  property::tally t;
  using precise = mt::precision<wheel, mt::dtype::f64>;
  auto const m = traced<precise>();
  CHECK(mt::text_of(*m).find(", along length by 2, times ") != std::string::npos);
  property::hold_under_every_layout("wheel", *m, mt::entry_name<precise>(), {}, t);
  property::at_least(60, t.tried);
}

TEST_CASE("what is no count and no flag is refused as one") {
  mt::module* const m = new mt::module{};
  std::unique_ptr<mt::module> const owned(m);
  mt::builder b(*m);
  auto const slot = [&](mt::attribute_kind kind, mt::number const& n) { return mt::detail::slot_of(b, kind, n); };
  CHECK(slot(mt::attribute_kind::count, 65534) == 65534);
  CHECK(slot(mt::attribute_kind::flag, true) == 1);
  for (mt::number const& n : {mt::number(-1), mt::number(0.5), mt::number(65535), mt::extent(length)})
    CHECK_THROWS_WITH_AS(slot(mt::attribute_kind::count, n), doctest::Contains("is given as a count or flag"),
                         mt::error);
  CHECK_THROWS_WITH_AS(slot(mt::attribute_kind::flag, 2), doctest::Contains("T53: 2 is given"), mt::error);
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
                       doctest::Contains("R01: there is no StableHLO for reversed, an operation of your own"),
                       mt::error);
}

TEST_CASE("its faults are the program's") {
  mt::module* const m = new mt::module{};
  std::unique_ptr<mt::module> const owned(m);
  mt::builder b(*m);
  b.begin_region(mt::region_kind::entry, b.intern("main"));
  mt::value_id const x =
      b.add(mt::primitive::input, {}, mt::dtype::f32, mt::shape{}.add(b.dim("batch", {24})), {{b.intern("x")}});
  mt::dim_id const length_id = b.dim("length", {6});
  CHECK_THROWS_WITH_AS(mt::add_extension<reversed_rule>(b, mt::ids(&x, 1), {{length_id}}),
                       doctest::Contains("T01: reversed: the operand lacks the dim (f32[batch], 'length')"), mt::error);
}
