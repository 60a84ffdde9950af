// SPDX-License-Identifier: Apache-2.0
// Executables: what is fed, what comes out, numbers, warnings, and sizes that do not fit.
#include <doctest/doctest.h>

#include "small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

namespace {

struct idle_rules : mt::layout<mt::shard<batch, data>, mt::shard<mt::dim<"colums">{}, model>,
                               mt::in<"optimiser", mt::shard<rows, data>>, mt::in<"inner", mt::shard<rows, data>>> {};

struct noisy {
  constexpr void operator()(mt::scope auto s) const { s.output("noise", uniform(s, mt::f32, mt::to(rows, columns))); }
};

struct named {
  constexpr void operator()(mt::scope auto s) const { s.output("sum", sum(s.parameter("weights/table", columns))); }
};

struct scaled {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", s.input("x", mt::f32, columns) * s.number("r", 2));
    s.output("z", s.input("b", mt::f32) * 10);
    s.output("n", full(s, s.number("n", 4), mt::i32));
  }
};

std::string sentence(auto const& f) {
  try {
    f();
  } catch (mt::error const& e) { return e.what(); }
  return "nothing was thrown";
}
template <class A>
std::vector<float> numbers(A const& a) {
  return {a.begin(), a.end()};
}

using stepping = mt::executable<grow_and_look, grow, mesh, spread>;

}  // namespace

TEST_CASE("outputs are numbers, or arrays with named dims") {
  for (auto* make : {+[] { return mt::job::as_threads(); }, +[] { return mt::job::in_lockstep(); }}) {
    auto job = make();
    mt::store weights(job);
    stepping step(weights, batch(4), data(2));
    weights.set("table", counted());
    mt::array<float, batch, rows> x(batch(4));
    x(batch(3), rows(1)) = 1, x(batch(0), rows(2)) = 2;
    auto const result = step(mt::feed<"x">(x));
    float const total = result.get<"sum">();
    CHECK(total == 23 * 12);
    auto const y = result.get<"y">().gather();
    static_assert(std::is_same_v<decltype(y(batch(0))), float const&>);
    CHECK(y.extent(batch) == 4);
    CHECK(y(batch(3), columns(5)) == 11);
    CHECK(y(batch(0), columns(1)) == 26);
    CHECK(result.get<"y">().local() == y);  // one process holds all
    mt::array<float, columns, batch> const transposed = y;
    CHECK(transposed(batch(3), columns(5)) == 11);
    CHECK(softmax(y, columns).extent(batch) == 4);  // and operations at once go on from here
  }
}

TEST_CASE("arrays are fed by the names of their dims") {
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  stepping step(weights, batch(2), data(1));
  weights.set("table", counted());
  mt::array<float, batch, rows> const x({1, 2, 3, 4, 5, 6, 7, 8});
  auto const fed = [&](auto const& f) { return numbers(step(f, mt::set<"step">(0)).template get<"y">().gather()); };
  auto const expected = fed(mt::feed<"x">(x));
  CHECK(expected[0] == 6 * 2 + 12 * 3 + 18 * 4);
  CHECK(fed(mt::feed<"x">(mt::array<float, rows, batch>(x))) == expected);
  CHECK(fed(mt::feed<"x">(mt::any_array<float>(x))) == expected);
  CHECK(fed(mt::feed<"x">(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8})) == expected);
  CHECK(fed(mt::feed<"x">(std::span(x.data(), 8))) == expected);

  CHECK(sentence([&] { step(mt::feed<"x">(std::vector<float>(3))); }) ==
        "meshtensor R11: the input 'x' is [batch=2, rows=4], 8 elements, but 3 elements were fed");
  CHECK(
      sentence([&] { step(mt::feed<"x">(mt::array<float, batch, rows>(batch(3)))); }).starts_with("meshtensor R11: "));
  CHECK(sentence([&] { step(mt::feed<"x">(mt::any_array<float>())); }).starts_with("meshtensor R11: "));
  CHECK(sentence([&] { step(mt::feed_local<"x">(x.data())); }).starts_with("meshtensor R06: "));
}

TEST_CASE("one processor's part is read where it lies") {
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  struct alone : mt::mesh<data> {};
  mt::executable<grow_and_look, grow, alone, mt::layout<>> step(weights, batch(1), data(1));
  weights.set("table", counted());
  std::vector<float> x{1, 0, 0, 0};
  CHECK(numbers(step(mt::feed_local<"x">(x)).get<"y">().local())[5] == 5);
  x = {0, 0, 0, 1};
  CHECK(sentence([&] { step(mt::set<"step">(0)); }) ==
        "meshtensor R02: the input 'x' was not fed: feed_local gives a part to one step, so feed it in each step");
  CHECK(numbers(step(mt::set<"step">(0), mt::feed_local<"x">(x)).get<"y">().local())[5] == 24);  // the table grew by 1
  for (std::size_t const size : {0, 3, 5})
    CHECK(sentence([&] { step(mt::feed_local<"x">(std::vector<float>(size))); }) ==
          "meshtensor R11: this rank's part of the input 'x' has 4 elements, but " + std::to_string(size) +
              " were fed");
}

TEST_CASE("a step that is refused takes none of its arguments") {
  struct whole : mt::layout<> {};
  auto job = mt::job::in_lockstep();
  mt::store weights(job, 3);
  mt::executable<scaled, mt::mesh<>, whole, mt::reference_device> step(weights);
  float const one = 1, seven = 7;
  std::vector<float> const ones(6, 1), sevens(6, 7), three(3);
  std::vector<float> fetched(6, -1);
  CHECK(sentence([&] { step(mt::feed<"x">(sevens)); }) == "meshtensor R02: the input 'b' was not fed");
  CHECK(sentence([&] { step(mt::feed<"b">(one)); }) == "meshtensor R02: the input 'x' was not fed");
  auto const is_as_before = [&] {
    auto const r = step();
    return r.get<"y">().gather()(columns(5)) == 2 && r.get<"z">() == 10 && r.get<"n">() == 4 && weights.seed() == 3;
  };
  step(mt::feed<"x">(ones), mt::feed<"b">(one));
  CHECK(is_as_before());
  auto const refuse = [&](auto const&... given) { return sentence([&] { step(given...); }).substr(0, 14); };
  CHECK(refuse(mt::feed<"b">(seven), mt::set<"r">(5), mt::feed<"x">(sevens), mt::set<"seed">(9), mt::set<"r">(6),
               mt::fetch_local<"y">(fetched), mt::feed<"x">(three)) == "meshtensor R11");
  CHECK(is_as_before());
  CHECK(refuse(mt::feed_local<"x">(sevens), mt::feed<"b">(seven), mt::fetch_local<"y">(std::span(fetched).first(3))) ==
        "meshtensor R11");
  CHECK(is_as_before());
  CHECK(refuse(mt::feed<"x">(sevens), mt::set<"r">(5), mt::set<"n">(1e12), mt::set<"seed">(9)) == "meshtensor T02");
  CHECK(is_as_before());
  CHECK(refuse(mt::feed<"x">(sevens), mt::set<"r">(5), mt::set<"seed">(0.5)) == "meshtensor T02");
  CHECK(is_as_before());
  CHECK(fetched == std::vector<float>(6, -1));
}

TEST_CASE("a number that is set when an executable is made holds until it is set again") {
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  stepping step(weights, mt::set<"step">(10), batch(2), data(1));
  weights.set("table", std::vector<float>(24));
  step(mt::feed<"x">(std::vector<float>(8)));
  step();
  CHECK(weights.get<float>("table").data()[0] == 20);
  step(mt::set<"step">(1));
  CHECK(weights.get<float>("table").data()[0] == 21);
}

TEST_CASE("one axis left open takes what was started; alone that is one processor") {
  auto job = mt::job::as_threads();
  mt::store weights(job);
  CHECK(stepping(weights, batch(2)).bound_mesh().size() == 2);
}

TEST_CASE("sizes that do not fit are refused") {
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  CHECK(sentence([&] { stepping(weights, data(1)); }) ==
        "meshtensor S11: the dim 'batch' has no extent: give one, as in batch(64)");
  struct open_mesh : mt::mesh<data, mt::axis<"other">{}> {};
  using open = mt::executable<grow_and_look, grow, open_mesh, mt::layout<mt::shard<batch, data>>>;
  CHECK(sentence([&] { open(weights, batch(2)); }).starts_with("meshtensor S12: the mesh axis 'other' has no size"));
  CHECK(sentence([&] { stepping(weights, batch(2), data(1), model(3)); }).starts_with("meshtensor S01: "));
  constexpr mt::axis<"other"> other;
  CHECK(sentence([&] { open(weights, batch(2), data(4294967297)); }) ==
        "meshtensor S01: the axis 'data' cannot have the extent 4294967297: a mesh has at most 1048576 ranks");
  CHECK(sentence([&] { open(weights, batch(2), data(1024), other(1025)); }) ==
        "meshtensor S01: the axis 'other' cannot have the extent 1025: a mesh has at most 1048576 ranks, and its other "
        "axes have 1024");
  CHECK(sentence([&] { mt::mesh_shape{}.add("data", 1 << 20).add("model", 2); }) ==
        "meshtensor S01: a mesh has at most 1048576 ranks");
}

TEST_CASE("a seed is an integer, modulo 2^64") {
  struct whole : mt::layout<> {};
  auto job = mt::job::in_lockstep();
  mt::store weights(job, 3);
  mt::executable<noisy, mesh, whole> step(weights, data(1));
  step(mt::set<"seed">(-1));
  CHECK(weights.seed() == 18446744073709551615u);
  step(mt::set<"seed">(18446744073709551615u));
  CHECK(weights.seed() == 18446744073709551615u);
  CHECK(sentence([&] { step(mt::set<"seed">(0.5)); }) ==
        "meshtensor T02: the seed is 0.5, but must be an integer below 2^64 in size");
  CHECK(sentence([&] { step(mt::set<"seed">(1e30)); }).starts_with("meshtensor T02: the seed is 1e30"));
  CHECK(sentence([&] { step(mt::set<"seed">(std::nan(""))); }).starts_with("meshtensor T02: the seed is nan"));
  CHECK(weights.seed() == 18446744073709551615u);
}

TEST_CASE("the seed is a number like others") {
  struct whole : mt::layout<> {};
  auto job = mt::job::in_lockstep();
  mt::store of_three(job, 3), of_nine(job, 9);
  mt::executable<noisy, mesh, whole> three(of_three, data(1)), nine(of_nine, data(1));
  auto const first = three().get<"noise">().gather();
  CHECK(nine(mt::set<"seed">(3)).get<"noise">().gather() == first);
  CHECK(of_nine.seed() == 3);
  CHECK(!(nine(mt::set<"seed">(9)).get<"noise">().gather() == first));
  mt::store fresh(job, 9);  // where the program has not drawn yet
  mt::eager s(fresh, mt::set<"seed">(3));
  CHECK(s.run(noisy{}).get<float>("noise") == mt::any_array<float>(first));
}

TEST_CASE("a rule that changes nothing is mentioned once") {
  std::vector<std::string> said;
  auto const before = std::exchange(mt::on_warning(), [&](std::string const& s) { said.push_back(s); });
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  for (int i = 0; i < 2; ++i) mt::executable<grow_and_look, look, mesh, idle_rules>(weights, data(1));
  mt::on_warning() = before;
  REQUIRE(said.size() == 3);
  CHECK(said[2] ==
        "S13: the layout's rule for dim 'rows' in scope 'inner' changes nothing, for no tensor there has this dim");
  CHECK(said[0] ==
        "S13: the layout's rule for dim 'colums' changes nothing, for the program has no dim 'colums'; did you "
        "mean 'columns'?");
  CHECK(said[1] ==
        "S13: the layout's rule for dim 'rows' in scope 'optimiser' changes nothing, for the program has no scope "
        "'optimiser'");
}

TEST_CASE("a path in a parameter's name is a scope for which a rule may hold") {
  struct in_weights : mt::layout<mt::in<"weights", mt::shard<columns, data>>> {};
  std::vector<std::string> said;
  auto const before = std::exchange(mt::on_warning(), [&](std::string const& s) { said.push_back(s); });
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<named, mesh, in_weights> step(weights, data(2));
  mt::on_warning() = before;
  CHECK(step.planned().variable_bytes == 12);
  CHECK(said.empty());
}

TEST_CASE("no warning where there is nothing to say, and none if silenced") {
  int said = 0;
  auto const before = std::exchange(mt::on_warning(), [&](std::string const&) { ++said; });
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<grow_and_look, look, mesh, spread> quiet(weights, data(1));
  CHECK(said == 0);
  mt::on_warning() = {};
  struct idle : mt::layout<mt::shard<batch, data>, mt::shard<mt::dim<"nowhere">{}, model>, mt::shard<columns, model>> {
  };
  mt::executable<grow_and_look, look, mesh, idle> silenced(weights, data(1));
  CHECK(said == 0);
  mt::on_warning() = before;
}

TEST_CASE("names that were probably meant") {
  CHECK(mt::edit_distance("kitten", "sitting") == 3);
  CHECK(mt::edit_distance("ab", "ba") == 1);
  CHECK(mt::edit_distance("", "abc") == 3);
  CHECK(mt::nearest("d_mdoel", {"d_model", "d_ff"}) == "d_model");
  CHECK(mt::nearest("x", {"quite_another"}).empty());
  CHECK(mt::nearest("query", {"decoder/attention/query"}) == "decoder/attention/query");
}
