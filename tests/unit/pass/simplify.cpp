// SPDX-License-Identifier: Apache-2.0
// simplify: the same results bit for bit, from fewer nodes; nothing merged that only looks alike.
#include "meshtensor/pass/simplify.hpp"

#include <doctest/doctest.h>

#include "meshtensor/emit/print.hpp"
#include "meshtensor/pass/differentiate.hpp"
#include "meshtensor/pass/verify.hpp"
#include "unit/pass/results.hpp"

using namespace meshtensor_test;

namespace {

template <class Program>
void check_program() {
  auto const t = made([] { return mt::trace<Program>(); });
  REQUIRE(mt::verify(*t).view() == "");
  auto const d = made([&] { return mt::differentiate(*t); });
  REQUIRE(mt::verify(*d).view() == "");
  auto const s = made([&] { return mt::simplify(*d); });
  CAPTURE(mt::text_of(*s));
  CHECK(mt::verify(*s).view() == "");
  CHECK(s->node_count < d->node_count);
  auto const again = made([&] { return mt::simplify(*s); });
  CHECK(mt::text_of(*again) == mt::text_of(*s));
  check_equal_results(*d, *s);
  auto const p = made([&] { return mt::prune(*d); });
  CHECK(mt::verify(*p).view() == "");
  check_equal_results(*d, *p);
  if (count(*t, mt::primitive::gradient) == 0) return;
  auto const early =
      made([&] { return mt::simplify(*t); });  // before differentiation it must keep what a gradient needs
  CHECK(mt::verify(*early).view() == "");
  auto const later = made([&] { return mt::differentiate(*early); });
  CHECK(mt::verify(*later).view() == "");
  CHECK(count(*early, mt::primitive::gradient) == count(*t, mt::primitive::gradient));
}

}  // namespace

TEST_CASE_TEMPLATE("the same results, bit for bit", P, network, deep, recurrent, carried, branching, composed, noisy,
                   moved, guarded, both) {
  check_program<P>();
}

TEST_CASE("the compiler and the run time simplify alike") {
  static constexpr mt::module at_compile_time = mt::simplify(traced<recurrent>);
  static_assert(mt::verify(at_compile_time).empty());
  auto const s = made([] { return mt::simplify(traced<recurrent>); });
  CHECK(mt::text_of(*s) == mt::text_of(at_compile_time));
}

TEST_CASE("what is computed twice is computed once") {
  auto const d = made([] { return mt::differentiate(traced<network>); });
  auto const s = made([&] { return mt::simplify(*d); });
  CHECK(count(traced<network>, mt::function::tanh) == 2);
  CHECK(count(*s, mt::function::tanh) == 1);
  CHECK(count(*s, mt::function::exp) == 0);
  CHECK(count(*s, mt::primitive::constant) == 2);  // one and the rate
  CHECK(count(*s, mt::primitive::write) == 2);
}

TEST_CASE("loops keep the carries, inputs and outputs that matter") {
  auto const s = made([] { return mt::simplify(traced<recurrent>); });
  for (int i = 0; i < s->node_count; ++i) {
    mt::node const& n = s->nodes[i];
    if (n.kind != mt::primitive::repeat) continue;
    auto const l = mt::loop::of(n);
    CHECK(l.carries == 1);
    CHECK(l.stacked == 1);
    CHECK(n.operands.count == 4);  // the carry, the sequence, the parameter, and one of two equal invariants
    CHECK(n.results.count == 2);   // the carry, and one of two equal outputs
  }
}

TEST_CASE("branches and loops that may end early lose what nobody uses") {
  auto const s = made([] { return mt::simplify(traced<branching>); });
  int loops = 0;
  for (int i = 0; i < s->node_count; ++i) {
    mt::node const& n = s->nodes[i];
    if (n.kind != mt::primitive::repeat) continue;
    ++loops;
    CHECK(mt::loop::of(n).ends_early);
    CHECK(mt::loop::of(n).carries == 2);  // the number of iterations that are known to run, and the one that is used
    CHECK(n.results.count == 2);
  }
  CHECK(loops == 3);  // two branches and a loop
}

TEST_CASE("what changes nothing is gone") {
  auto const s = made([] { return mt::simplify(traced<moved>); });
  CHECK(count(*s, mt::primitive::rename) == 0);
  CHECK(count(*s, mt::primitive::transpose) == 0);
  CHECK(count(*s, mt::primitive::broadcast) == 1);
  CHECK(count(*s, mt::function::cast) == 1);
  CHECK(count(*s, mt::function::select) == 0);
  CHECK(count(*s, mt::function::stop_gradient) == 0);
  CHECK(count(*s, mt::function::maximum) == 0);
  CHECK(count(*s, mt::function::subtract) == 0);
  CHECK(count(*s, mt::function::divide) == 0);
  CHECK(count(*s, mt::function::negate) == 1);    // times -1
  CHECK(count(*s, mt::function::add) == 2);       // + 0.0 makes a zero of -0
  CHECK(count(*s, mt::function::multiply) == 2);  // times 10, and times 0, which may be NaN
}

TEST_CASE("inputs stay, even unused ones") {
  auto const s = made([] { return mt::simplify(traced<branching>); });
  CHECK(count(*s, mt::primitive::input) == 2);
}

TEST_CASE("random numbers are merged only with themselves") {
  auto const s = made([] { return mt::simplify(traced<noisy>); });
  CHECK(count(*s, mt::primitive::random) == 4);
}

TEST_CASE("a composite keeps its signature; its gradient goes when nobody can ask for it") {
  auto const d = made([] { return mt::differentiate(traced<composed>); });
  auto const s = made([&] { return mt::simplify(*d); });
  int gradients = 0, own = 0;
  for (int i = 0; i < s->node_count; ++i) {
    mt::node const& n = s->nodes[i];
    if (n.kind != mt::primitive::composite) continue;
    gradients += s->names[n.attribute[0]] == mt::name("soft_gradient");
    own += n.regions.count == 2;
  }
  CHECK(gradients == 1);
  CHECK(own == 0);
}

TEST_CASE("copies, paths and regions keep equal nodes apart") {
  auto const build = [](mt::id copy, bool other_path, bool with_dims) {
    return made([&] {
      mt::module m{};
      mt::builder b(m);
      b.begin_region(mt::region_kind::entry, b.intern("e"));
      mt::shape dims{};
      if (with_dims) dims.add(b.dim("n", 4));
      mt::name_id const name = b.intern("x");
      mt::value_id const x = b.add(mt::primitive::input, {}, mt::dtype::f32, dims, {{name}});
      mt::value_id const first = mt::elementwise(b, mt::function::exp, x);
      b.copy = copy;
      if (other_path) b.path = b.add_path(mt::no_id, mt::name("part"));
      mt::value_id const second = mt::elementwise(b, mt::function::exp, x);
      mt::value_id const sum = mt::add(b, first, second);
      m.nodes[b.add_node(mt::primitive::output, 0, mt::ids(&sum, 1), {{name}})].effect = true;
      return mt::simplify(m);
    });
  };
  CHECK(count(*build(0, false, true), mt::function::exp) == 1);
  CHECK(count(*build(1, false, true), mt::function::exp) == 2);
  CHECK(count(*build(0, true, true), mt::function::exp) == 2);   // a layout may differ there
  CHECK(count(*build(0, true, false), mt::function::exp) == 1);  // but not of a scalar
}

TEST_CASE("a module with a finding is handed on") {
  auto const s = made([] {
    mt::module m = traced<network>;
    m.report << "S99 something";
    return mt::simplify(m);
  });
  CHECK(s->report.view() == "S99 something");
  CHECK(s->node_count == traced<network>.node_count);
}

namespace {
/// There and back through a narrower type, and through a wider one.
struct rounding {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    s.output("whole", mt::cast<mt::dtype::f32>(mt::cast<mt::dtype::i32>(x * 3.7)));
    s.output("rounded", mt::cast<mt::dtype::f32>(mt::cast<mt::dtype::bf16>(x * 3.7)));
    s.output("same", mt::cast<mt::dtype::f32>(mt::cast<mt::dtype::f64>(x * 3.7)));
  }
};
}  // namespace

TEST_CASE("a conversion there and back changes nothing only where the other type is wider") {
  auto const t = made([] { return mt::trace<rounding>(); });
  auto const s = made([&] { return mt::simplify(*t); });
  check_equal_results(*t, *s);
  CHECK(count(*s, mt::function::cast) == 4);
}
