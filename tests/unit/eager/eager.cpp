// SPDX-License-Identifier: Apache-2.0
// The eager scope computes what programs do, and operations on arrays have the programs' names.
#include <doctest/doctest.h>

#include "meshtensor/array/array_text.hpp"
#include "meshtensor/eager/array_operations.hpp"
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/each.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct pixels_dim : mt::dim<"pixels", 3> {} pixels;
inline constexpr struct few_dim : mt::dim<"few", 2> {} few;
inline constexpr struct joined_dim : mt::dim<"joined", few * pixels> {} joined;
inline constexpr struct classes_dim : mt::dim<"classes", 4> {} classes;
inline constexpr struct layers_dim : mt::dim<"layers", 3> {} layers;

template <class A>
std::vector<double> numbers(A const& a) {
  return {a.begin(), a.end()};
}
std::string code_of(auto const& f) {
  try {
    f();
  } catch (mt::error const& e) { return e.code(); }
  return "none";
}

// One parameter, moved against its gradient by half of it: w ← w − w·rate for the loss w²/2.
struct shrink {
  constexpr void operator()(mt::scope auto s) const {
    auto const w = s.parameter("w", pixels, mt::constant(8));
    auto const x = s.input("x", s.real(), batch, pixels);
    auto const loss = sum(w * w) / 2;
    mt::sgd{.learning_rate = s.number("rate", 0.5)}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
    s.output("y", x * w);
  }
};

mt::array<float, batch, pixels> const image({1, 2, 3, 4, 5, 6});

}  // namespace

TEST_CASE("tensors of an eager scope have values at once") {
  mt::eager s;
  auto const x = s(image);
  auto const y = x * 2.0 + 1;
  CHECK(numbers(s.value(y)) == std::vector<double>{3, 5, 7, 9, 11, 13});
  auto const w = s.parameter("w", pixels, mt::ones);
  auto const loss = sum(x * w * w);
  CHECK(s.value(loss) == 21);
  CHECK(numbers(s.value(gradient(loss, w))) == std::vector<double>{10, 14, 18});
  CHECK(numbers(s.value(gradient(loss, x))) == std::vector<double>(6, 1));
  CHECK(s.value(sum(y)) == 48);  // what was recorded before stays
}

TEST_CASE("loops, branches and layers run too") {
  mt::eager s;
  auto const x = s(image);
  auto const grown = mt::repeat(s, layers, x, [](auto, auto h) { return h * 2; });
  CHECK(numbers(s.value(grown)) == std::vector<double>{8, 16, 24, 32, 40, 48});
  auto const [trips, last] = mt::while_loop(
      s / "grow", mt::at_most(10), [](auto, auto h) { return sum(h) < 100; },
      [](auto r, auto h) {
        auto const twice = h * 2;
        r.watch("twice", twice);
        return twice;
      },
      x);
  CHECK(s.value(trips) == 3);
  CHECK(s.value(sum(last)) == 168);
  auto const chosen = mt::cond(s, sum(x) > 100, [&](auto) { return x; }, [&](auto) { return -x; });
  CHECK(numbers(s.value(chosen)) == numbers(-image));
  CHECK(numbers(s.value(gradient(sum(last * last + chosen), x))) ==
        std::vector<double>{127, 255, 383, 511, 639, 767});  // 2 * 8 * 8 x, less 1
  auto const twice = numbers(s.get<float>("grow/twice"));    // of three iterations of ten, then zeros
  REQUIRE(twice.size() == 60);
  CHECK(std::vector<double>(twice.begin() + 12, twice.begin() + 18) == std::vector<double>{8, 16, 24, 32, 40, 48});
  CHECK(twice[18] == 0);
  auto const h = mt::nn::linear(s / "up", x, pixels, classes);
  CHECK(s.value(h).extent(classes) == 4);
  CHECK(code_of([&] {
          mt::repeat(s, layers, x, [&](auto, auto inner) {
            s.value(inner);
            return inner;
          });
        }) == "R15");
}

TEST_CASE("a whole program, step by step") {
  mt::eager s(mt::feed<"x">(image));
  CHECK(s.run(shrink{}).get<float>("loss").item() == 96);
  CHECK(numbers(s.get<float>("w")) == std::vector<double>{4, 4, 4});
  CHECK(s.run(shrink{}, mt::set<"rate">(0.25)).get<float>("loss").item() == 24);
  CHECK(numbers(s.get<float>("w")) == std::vector<double>{3, 3, 3});
  s.assign("w", mt::array<float, pixels>({0, 0, 2}));
  CHECK(s.run(shrink{}).get<float>("loss").item() == 2);
  CHECK(numbers(s.get<float>("y")) == std::vector<double>{0, 0, 6, 0, 0, 12});
}

TEST_CASE("tensors of the scope keep their meaning when programs run") {
  mt::eager s;
  auto const x = s(image);
  auto const y = x * 10;
  auto const rate = s.number("rate", 2);
  CHECK(numbers(s.value(y)) == std::vector<double>{10, 20, 30, 40, 50, 60});
  mt::array<float, batch, pixels> const other({7, 7, 7, 7, 7, 7});
  for (int step = 0; step < 2; ++step) s.run(shrink{}, mt::feed<"x">(other), mt::set<"rate">(0.5));
  CHECK(numbers(s.value(y)) == std::vector<double>{10, 20, 30, 40, 50, 60});
  CHECK(s.value(sum(y + x * rate)) == 210 + 21 * 0.5);
  CHECK(numbers(s.value(gradient(sum(y * y), x))) == std::vector<double>{200, 400, 600, 800, 1000, 1200});
}

TEST_CASE("values follow the variables that are assigned, and those that programs update") {
  mt::eager s;
  s.assign("w", mt::array<float, pixels>({1, 2, 3}));
  CHECK(numbers(s.get<float>("w")) == std::vector<double>{1, 2, 3});
  auto const w = s.parameter("w", pixels, mt::constant(8));
  auto const y = sum(w * w);
  CHECK(s.value(y) == 14);
  s.assign("w", mt::array<float, pixels>({4, 4, 8}));
  CHECK(s.value(sum(s.parameter("w", pixels, mt::constant(8)))) == 16);
  CHECK(s.value(y) == 96);
  CHECK(numbers(s.value(gradient(y, w))) == std::vector<double>{8, 8, 16});
  CHECK(numbers(s.get<float>("w")) == std::vector<double>{4, 4, 8});
  CHECK(s.run(shrink{}, mt::feed<"x">(image)).get<float>("loss").item() == 48);
  CHECK(numbers(s.value(w)) == std::vector<double>{2, 2, 4});
  CHECK(s.value(y) == 24);
}

TEST_CASE("a gradient is taken at the numbers of the value beside it") {
  mt::eager s(mt::set<"rate">(1));
  auto const x = s(image);
  auto const noise = mt::uniform(s / "noise", mt::f32, to(batch, pixels));
  auto const y = sum(x * s.number("rate", 5)), drawn = sum(x * noise);
  s.watch("y", y);
  CHECK(s.value(y) == 21);
  auto const before = s.value(noise);
  s.take(mt::set<"rate">(3), mt::set<"seed">(3));
  CHECK(s.get<float>("y").item() == 63);
  CHECK(s.value(y) == 63);
  CHECK(numbers(s.value(gradient(y, x))) == std::vector<double>(6, 3));
  CHECK(s.value(gradient(drawn, x)) == s.value(noise));
  CHECK(!(s.value(noise) == before));
}

namespace {
/// Shares a variable with `shrink`, but its dims come first here.
struct look_at_variable {
  constexpr void operator()(mt::scope auto s) const {
    auto const y = s.parameter("w", pixels, mt::constant(8)) * s.number("factor", 1);
    s.output("y", broadcast(y, to(classes, pixels)));
  }
};
}  // namespace

TEST_CASE("programs with other dims share a variable") {
  mt::eager s(mt::feed<"x">(image));
  s.run(shrink{}).run(look_at_variable{});
  CHECK(numbers(s.get<float>("y")) == std::vector<double>(12, 4));
  CHECK(mt::detail::text_of(s.get<float>("w").dims()) == "[pixels=3]");
  CHECK(s.run(shrink{}).get<float>("loss").item() == 24);
}

TEST_CASE("names that a program does not have are refused") {
  mt::eager s(mt::feed<"x">(image), mt::set<"factor">(2));  // may be those of another program
  CHECK_THROWS_WITH_AS(s.run(shrink{}, mt::set<"raet">(3)),
                       "meshtensor R07: the program has no number 'raet'; did you mean 'rate'?", mt::error);
  CHECK_THROWS_WITH_AS(s.run(look_at_variable{}, mt::feed<"x">(image)), "meshtensor R02: the program has no input 'x'",
                       mt::error);
  CHECK(code_of([&] { s.run(shrink{}, mt::feed<"xx">(std::vector<float>(6))); }) == "R02");
  s.assign("v", mt::array<float, pixels>({1, 1, 1}));
  CHECK_THROWS_WITH_AS(
      s.run(shrink{}),
      "meshtensor R13: a value was assigned to 'v', but the program has no such variable; did you mean 'w'?",
      mt::error);
  CHECK(s.run(shrink{}, mt::set<"seed">(3)).get<float>("loss").item() == 96);
  s.assign("w", mt::array<float, pixels>({1, 1, 1})), s.assign("gain", mt::array<float, pixels>({2, 2, 2}));
  auto const gain = s.parameter("gain", pixels);
  CHECK(numbers(s.run(look_at_variable{}).get<float>("y")) == std::vector<double>(12, 2));
  CHECK(s.value(sum(gain)) == 6);
}

TEST_CASE("what was given by name takes the program's order of dims") {
  mt::array<float, pixels, batch> const transposed = image;
  mt::eager s(mt::feed<"x">(transposed), mt::set<"rate">(0));
  CHECK(numbers(s.run(shrink{}).get<float>("y")) == std::vector<double>{8, 16, 24, 32, 40, 48});
}

TEST_CASE("what is missing or does not fit is said") {
  mt::eager s(batch(2));
  CHECK(code_of([&] { s.run(shrink{}); }) == "R02");
  CHECK(code_of([&] { s.run(shrink{}, mt::feed<"x">(std::vector<float>(5))); }) == "R11");
  CHECK(code_of([&] { s.run(shrink{}, mt::feed<"x">(std::vector<double>(6))); }) == "R14");
  CHECK(code_of([&] { s.take(batch(3)); }) == "R11");
  s.run(shrink{}, mt::feed<"x">(std::vector<float>(6)));
  CHECK(code_of([&] { s.get<float>("los"); }) == "R13");
  CHECK(code_of([&] { s.get<double>("loss"); }) == "R14");
  mt::eager open;
  CHECK(code_of([&] { open.value(open.parameter("p", batch)); }) == "S11");
}

TEST_CASE("a step that is refused takes none of its arguments") {
  mt::array<float, batch, pixels> const other({7, 7, 7, 7, 7, 7});
  std::vector<float> const wrong(5);
  mt::eager s(mt::set<"rate">(0));
  s.run(shrink{}, mt::feed<"x">(image));
  CHECK(code_of([&] { s.run(shrink{}, mt::feed<"x">(other), mt::set<"rate">(1), mt::feed<"x">(wrong)); }) == "R11");
  CHECK(code_of([&] { s.run(shrink{}, mt::feed<"x">(other), mt::set<"rate">(1), batch(3)); }) == "R11");
  CHECK(code_of([&] { s.take(mt::feed<"x">(other), mt::set<"rate">(1), mt::set<"new">(1), batch(3)); }) == "R11");
  s.run(shrink{});
  CHECK(numbers(s.get<float>("y")) == std::vector<double>{8, 16, 24, 32, 40, 48});
  CHECK(numbers(s.get<float>("w")) == std::vector<double>{8, 8, 8});
  CHECK(code_of([&] { s.run(shrink{}, mt::set<"seed">(0.5), mt::set<"rate">(1)); }) == "T02");
  s.run(shrink{});
  CHECK(numbers(s.get<float>("w")) == std::vector<double>{8, 8, 8});
  // Extents of a call that was refused bind nothing.
  mt::eager fresh;
  CHECK(code_of([&] { fresh.take(batch(5), mt::feed<"x">(image)); }) == "R11");
  fresh.run(shrink{}, mt::feed<"x">(image));
  CHECK(fresh.get<float>("y").size() == 6);
}

TEST_CASE("operations on arrays") {
  auto const p = softmax(image * 2.0, pixels);
  CHECK(doctest::Approx(sum(p)) == 2);
  CHECK(mean(image) == 3.5f);
  CHECK(numbers(image - mean(image, batch)) == std::vector<double>{-1.5, -1.5, -1.5, 1.5, 1.5, 1.5});
  CHECK(numbers(select(image < 3, image, -image)) == std::vector<double>{1, 2, -3, -4, -5, -6});
  CHECK(numbers(einsum(image, image, to(pixels))) == std::vector<double>{17, 29, 45});
  CHECK(numbers(slice(image, pixels, few, 1)) == std::vector<double>{2, 3, 5, 6});
  CHECK(numbers(merge(rename(image, batch, few), to(few, pixels), joined)) == numbers(image));
  CHECK(numbers(mt::cast<mt::dtype::i32>(image / 2)) == std::vector<double>{0, 1, 1, 2, 2, 3});
  mt::array<std::int32_t, batch> const which({1, 3});
  CHECK(numbers(one_hot(which, classes, mt::f32)) == std::vector<double>{0, 1, 0, 0, 0, 0, 0, 1});
  CHECK(numbers(gather(mt::array<float, classes>({5, 6, 7, 8}), which, classes)) == std::vector<double>{6, 8});
  CHECK(numbers(argmax(image, pixels)) == std::vector<double>{2, 2});
  CHECK(any(image > 5));
  CHECK(!all(image > 5));
  static_assert(std::is_same_v<decltype(exp(image)), mt::array<float, batch, pixels>>);
  static_assert(std::is_same_v<decltype(image < image), mt::array<bool, batch, pixels>>);
}

TEST_CASE("an each has values at once, and gradients go through it") {
  mt::eager s;
  auto const x = s(image);
  auto const doubled = x * 2;
  auto const [y, g] = mt::map(s / "rows", pixels, doubled, [](auto, auto column) {
    auto const loss = sum(column * column);
    return std::tuple(loss, gradient(loss, column));
  });
  CHECK(numbers(s.value(y)) == std::vector<double>{4 * 17, 4 * 29, 4 * 45});
  CHECK(numbers(s.value(g)) == std::vector<double>{4, 16, 8, 20, 12, 24});
  auto const further = y + 1;  // and node by node again
  CHECK(numbers(s.value(further)) == std::vector<double>{69, 117, 181});
  CHECK(numbers(s.value(gradient(sum(further), x))) == std::vector<double>{8, 16, 24, 32, 40, 48});
  auto const drawn = mt::map(s / "drawn", pixels, [](mt::scope auto m) { return mt::uniform(m, mt::f32, to()); });
  mt::eager other;
  auto const row = mt::uniform(other / "drawn", mt::f32, to(pixels));
  CHECK(numbers(s.value(drawn)) == numbers(other.value(row)));
}

TEST_CASE("a tensor in an each is read neither there nor from outside") {
  mt::eager s;
  auto const x = s(image);
  std::vector<decltype(sum(x))> inside;
  std::string code;
  auto const y = mt::map(s / "rows", pixels, x, [&](auto, auto column) {
    inside.push_back(sum(column));
    code = code_of([&] { s.value(inside[0]); });
    return inside[0];
  });
  CHECK(code == "G29");
  CHECK(numbers(s.value(y)) == std::vector<double>{5, 7, 9});
  CHECK(code_of([&] { s.value(inside[0]); }) == "R15");
}

namespace {
/// Members that learn from the same input by themselves, each with a branch of its own, and count their steps.
struct members {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, pixels);
    auto const losses = mt::each(s / "members", few, [&](mt::scope auto m) {
      auto const w = m.parameter("w", pixels, mt::normal(1));
      auto const steps = m.state("steps", m.real());
      auto const y = mt::cond(m / "side", sum(w) > 0, [&](auto) { return x * w; }, [&](auto) { return x - w; });
      auto const loss = mean(y * y);
      mt::sgd{.learning_rate = 0.125}.minimize(m / "optimizer", loss);
      m.update(steps, steps + 1);
      return loss;
    });
    s.output("losses", losses);
  }
};
}  // namespace

TEST_CASE("a program with an each makes the steps of the interpreter") {
  mt::eager s;
  auto const m = mt::on_heap([] { return mt::differentiate(mt::widen(mt::trace<members>())); });
  auto const numbers_of_dims = mt::bind(*m, mt::mesh_shape{}, std::vector<mt::dim_extent>{{mt::name("batch"), 2}});
  mt::shape of_x{};
  for (mt::name const label : {mt::name("batch"), mt::name("pixels")})
    for (int i = 0; i < m->dim_count; ++i)
      if (m->dim_name(i) == label) of_x.add(static_cast<mt::dim_id>(i));
  mt::blocks inputs, variables;
  inputs["x"] = mt::block(mt::dtype::f32, of_x, numbers_of_dims);
  for (std::int64_t i = 0; i < 6; ++i) inputs["x"].set(i, image.data()[i]);
  mt::settings set;
  for (int step = 0; step < 3; ++step, ++set.step) {
    mt::blocks const wanted = mt::interpreter(*m, numbers_of_dims).run(0, inputs, variables, set);
    s.run(members{}, mt::feed<"x">(image));
    auto const same = [&](std::string const& label, mt::block const& b) {
      auto const got = s.template get<float>(label);
      REQUIRE(got.size() == b.size());
      for (std::int64_t i = 0; i < b.size(); ++i) CHECK(static_cast<double>(got.data()[i]) == b.number_at(i));
    };
    same("losses", wanted.at("losses"));
    same("members/w", variables.at("members/w")), same("members/steps", variables.at("members/steps"));
  }
}
