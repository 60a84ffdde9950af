// SPDX-License-Identifier: Apache-2.0
// Loops that end early and branches: values, gradients and trained parameters are those of the same program without
// them, and the same under every layout.
// timeout: 600
// passes: start-up
#include "meshtensor/meshtensor.hpp"

#include <cmath>

#include "property/control_forms.hpp"
#include "property/program.hpp"
#include "property/second_order.hpp"

using namespace control_forms;

namespace {

/// One sentence about the first value that differs, of two programs whose dims have other numbers; empty: none.
std::string difference(mt::blocks const& got, mt::blocks const& wanted, double tolerance) {
  if (got.size() != wanted.size()) return "other values";
  for (auto const& [label, b] : wanted) {
    mt::block const& a = got.at(label);
    if (a.type() != b.type() || a.size() != b.size()) return "'" + label + "' has another dtype or size";
    double const allowed = tolerance * meshtensor_test::detail::greatest(b);
    for (std::int64_t i = 0; i < b.size(); ++i)
      if (double const x = a.number_at(i), y = b.number_at(i); !(x == y || std::abs(x - y) <= allowed))
        return "'" + label + "', element " + std::to_string(i) + ": " + std::to_string(x) + ", not " +
               std::to_string(y);
  }
  return "";
}
mt::blocks without_gradients(mt::blocks all) {
  all.erase("dx");
  return all;
}

}  // namespace

TEST_CASE("values, gradients and trained parameters are those of the program written by hand") {
  for (tried const& p : forms_of_programs())
    for (std::uint64_t const seed : {11, 12, 13}) {
      INFO(std::string(p.label) << ", seed " << seed);
      auto const given = extents(*p.as_loop, {4, 6, 3});
      subject loop(*p.as_loop, p.entry, given), hand(*p.by_hand, p.entry, given);
      loop.steps = hand.steps = 3;
      fill(loop, seed), fill(hand, seed);
      loop.expect(), hand.expect();
      for (int t = 0; t < loop.steps; ++t) {
        CHECK(difference(loop.expected_outputs(t), hand.expected_outputs(t), 1e-11) == "");
        CHECK(difference(loop.expected_variables(t), hand.expected_variables(t), 1e-11) == "");
      }
      CHECK(difference(without_gradients(loop.expected_outputs()), without_gradients(hand.expected_outputs()), 0) ==
            "");
    }
}

namespace {

/// The mean in which every element has another weight, as in the programs.
double weighed(mt::block const& y) {
  double sum = 0;
  for (std::int64_t i = 0; i < y.size(); ++i) sum += y.number_at(i) * (y.number_at(i) * 0.5 + 0.3);
  return sum / static_cast<double>(y.size());
}
std::string counts_of(mt::blocks const& outputs) {
  std::string all;
  for (auto const& [label, b] : outputs)
    for (std::int64_t i = 0; label.starts_with("count") && i < b.size(); ++i)
      all += label + " " + std::to_string(b.number_at(i)) + ", ";
  return all;
}

}  // namespace

TEST_CASE("a loop whose gradient saves some iterations alone gives the same") {
  for (tried const& p : forms_of_programs()) {
    INFO(std::string(p.label));
    auto const given = extents(*p.as_loop, {4, 6, 3});
    subject all(*p.as_loop, p.entry, given), some(*p.recomputed, p.entry, given);
    all.steps = some.steps = 2;
    fill(all), fill(some);
    all.expect(), some.expect();
    for (int t = 0; t < all.steps; ++t) {
      CHECK(difference(some.expected_outputs(t), all.expected_outputs(t), 1e-12) == "");
      CHECK(difference(some.expected_variables(t), all.expected_variables(t), 1e-12) == "");
    }
    CHECK(difference(without_gradients(some.expected_outputs()), without_gradients(all.expected_outputs()), 0) == "");
    some.tolerance = p.in_it == sums::none ? meshtensor_test::same_bits : meshtensor_test::closeness(1e-9);
    tally t;
    rng c{9};
    for (auto const& mesh : meshtensor_test::meshes())
      meshtensor_test::some_layouts(dims_in_use(some.graph()), mesh, 6, c,
                                    [&](mt::layout_rules const& rules) { some.check_layout(mesh, rules, t); });
    CHECK(t.tried >= 9);
  }
}

TEST_CASE("a loop's gradient is that of finite differences") {
  for (tried const& p : forms_of_programs()) {
    INFO(std::string(p.label));
    subject s(*p.as_loop, p.entry, extents(*p.as_loop, {2, 3, 2}));
    fill(s);
    s.expect();
    if (p.stops || !s.expected_outputs().contains("dx")) continue;
    mt::block const dx = s.expected_outputs().at("dx");
    std::string const counts = counts_of(s.expected_outputs());
    mt::block& x = s.inputs.at("x");
    double scale = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) scale = std::max(scale, std::abs(dx.number_at(i)));
    CHECK(scale > 1e-3);
    for (std::int64_t i = 0; i < x.size(); ++i) {
      constexpr double step = 1e-5;
      double const here = x.number_at(i);
      auto const at = [&](double there) {
        x.set(i, there);
        s.expect();
        CHECK(counts_of(s.expected_outputs()) == counts);
        return weighed(s.expected_outputs().at("y"));
      };
      double const by_differences = (at(here + step) - at(here - step)) / (2 * step);
      x.set(i, here);
      INFO("element " << i << ": " << dx.number_at(i) << ", by differences " << by_differences);
      CHECK(std::abs(dx.number_at(i) - by_differences) <= 1e-6 * (1 + scale));
    }
  }
}

TEST_CASE("so is a gradient's gradient, which is that of the program written by hand") {
  std::uint64_t number = 0;
  for (tried const& p : forms_of_programs()) {
    if (!is_in_even_sample(number++)) continue;
    second_order const loop_twice(*p.as_loop), hand_twice(*p.by_hand);
    REQUIRE(!loop_twice.by.empty());
    auto const given = extents(*p.as_loop, {3, 4, 2});
    if (!p.stops) check_differences(p.label, loop_twice, p.entry, "", 1e-6, {}, given);
    INFO(std::string(p.label));
    subject loop(*loop_twice.graph, p.entry, given), hand(*hand_twice.graph, p.entry, given);
    fill(loop), fill(hand);
    loop.expect(), hand.expect();
    CHECK(difference(loop.expected_outputs(), hand.expected_outputs(), 1e-9) == "");
    loop.tolerance = 1e-9;
    tally t;
    rng c{7};
    for (auto const& mesh : meshtensor_test::meshes())
      meshtensor_test::some_layouts(dims_in_use(loop.graph()), mesh, 3, c,
                                    [&](mt::layout_rules const& rules) { loop.check_layout(mesh, rules, t); });
    CHECK(t.tried >= 5);
  }
}

TEST_CASE("under every layout") {
  tally all;
  for (tried const& p : forms_of_programs()) {
    tally t;
    for (sizes const& of : {sizes{12, 12, 6}, sizes{7, 5, 3}}) {
      INFO(std::string(p.label) << ", batch of " << of.batch);
      subject s(*p.as_loop, p.entry, extents(*p.as_loop, of));
      s.steps = 2;
      if (p.in_it == sums::some) s.tolerance = 1e-9;
      fill(s);
      s.expect();
      auto const dims = dims_in_use(s.graph()), scopes = scopes_of(s.graph());
      rng c{1 + sample_number()};
      std::uint64_t number = 0;
      for (auto const& mesh : meshtensor_test::meshes())
        sampled_layouts(dims, scopes, mesh, {64, 12}, number, c,
                        [&](mt::layout_rules const& rules) { s.check_layout(mesh, rules, t); });
    }
    t.say(p.label);
    all.tried += t.tried;
  }
  at_least(2000, all.tried);
}

namespace {

template <class Program>
void check_at_once(char const* label, std::int64_t elements) {
  INFO(std::string(label));
  std::vector<double> x(static_cast<std::size_t>(elements));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * 37 % 101) / 40 - 1.25;
  auto const m = traced<Program>();
  auto const given = extents(*m, {4, 6, 3});
  subject s(*m, mt::entry_name<Program>(), given);
  mt::block& in = s.inputs.at("x");
  REQUIRE(in.size() == elements);
  for (std::size_t i = 0; i < x.size(); ++i) in.set(static_cast<std::int64_t>(i), x[i]);
  s.expect();
  mt::eager at_once(mt::feed<"x">(x));
  for (mt::dim_extent const& e : given) {
    if (e.label == mt::name("batch")) at_once.take(control::batch(e.extent));
    if (e.label == mt::name("model")) at_once.take(control::model(e.extent));
    if (e.label == mt::name("inner")) at_once.take(control::inner(e.extent));
  }
  at_once.run(mt::precision<Program, mt::dtype::f64>{});
  auto const y = at_once.template get<double>("y");
  mt::block const& wanted = s.expected_outputs().at("y");
  REQUIRE(y.size() == wanted.size());
  int different = 0;
  for (std::int64_t i = 0; i < y.size(); ++i) different += !(y.data()[i] == wanted.number_at(i));
  CHECK(different == 0);
}

}  // namespace

TEST_CASE("an eager scope gives the same") {
  using namespace control;
  check_at_once<newton<written::as_loop, true>>("newton", 24);
  check_at_once<branching<written::as_loop>>("branching", 24);
  check_at_once<settling<written::as_loop>>("settling", 24);
  check_at_once<in_scan<written::as_loop>>("in scan", 72);
  check_at_once<in_loops<written::as_loop>>("in loops", 72);
  check_at_once<both_trained<written::as_loop>>("both trained", 24);
}

TEST_CASE("what a branch or loop does not run leaves no infinity in values and gradients") {
  auto const m = traced<control::guarded>();
  subject s(*m, mt::entry_name<control::guarded>(), extents(*m, {4, 6, 3}));
  fill(s);
  s.expect();
  mt::blocks const out = s.expected_outputs();
  CHECK(out.at("count").number_at(0) == 0);
  for (std::int64_t i = 0; i < out.at("y").size(); ++i) {
    CHECK(out.at("y").number_at(i) == s.inputs.at("x").number_at(i) * 2);
    CHECK(out.at("dx").number_at(i) == 2);
  }
  tally t;
  rng c{3};
  for (auto const& mesh : meshtensor_test::meshes())
    meshtensor_test::some_layouts(dims_in_use(s.graph()), mesh, 9, c,
                                  [&](mt::layout_rules const& rules) { s.check_layout(mesh, rules, t); });
  CHECK(t.tried >= 9);
}

TEST_CASE("in bf16, with parameters in f32") {
  auto const check = [&]<class Loop, class Hand>(char const* label, meshtensor_test::closeness how) {
    INFO(std::string(label));
    auto const of = [](auto program) {
      return mt::on_heap([] { return mt::trace<mt::precision<decltype(program), mt::dtype::f32, mt::dtype::bf16>>(); });
    };
    auto const as_loop = of(Loop{}), by_hand = of(Hand{});
    auto const given = extents(*as_loop, {12, 6, 4});
    subject loop(*as_loop, mt::entry_name<Loop>(), given), hand(*by_hand, mt::entry_name<Hand>(), given);
    fill(loop), fill(hand);
    loop.expect(), hand.expect();
    CHECK(difference(without_gradients(loop.expected_outputs()), without_gradients(hand.expected_outputs()), 0) == "");
    CHECK(difference(loop.expected_outputs(), hand.expected_outputs(), 0.02) == "");
    loop.tolerance = how;
    tally t;
    rng c{5};
    for (auto const& mesh : meshtensor_test::meshes())
      meshtensor_test::some_layouts(dims_in_use(loop.graph()), mesh, 27, c,
                                    [&](mt::layout_rules const& rules) { loop.check_layout(mesh, rules, t); });
    t.say(label);
    CHECK(t.tried >= 40);
  };
  using namespace control;
  check.operator()<newton<written::as_loop, true>, newton<written::by_hand, true>>("newton",
                                                                                   meshtensor_test::same_bits);
  check.operator()<counted<written::as_loop>, counted<written::by_hand>>("counted", meshtensor_test::same_bits);
  check.operator()<settling<written::as_loop>, settling<written::by_hand>>("settling", 0.05);
}
