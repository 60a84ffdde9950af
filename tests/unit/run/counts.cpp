// SPDX-License-Identifier: Apache-2.0
// What is counted by itself: the steps of a program, the updates that an optimizer makes of a parameter, those of an
// average. Programs that disagree on what they share are told so, with both lines.
// alone
#include <doctest/doctest.h>

#include <cmath>
#include <utility>

#include "meshtensor/device/reference.hpp"
#include "meshtensor/run/session.hpp"
#include "support/folder.hpp"
#include "support/layouts.hpp"
#include "unit/run/small_programs.hpp"

using namespace small;
using meshtensor_test::sentence;

namespace {

inline constexpr mt::layer trunk = [](mt::scope auto s, auto x) { return x * s.parameter("w", rows, mt::ones); };
inline constexpr mt::layer head = [](mt::scope auto s, auto x) {
  return x * s.parameter("w", rows, mt::ones) + s.parameter("b", rows);
};

/// Adam's first step is the learning rate in every direction, if it is counted as the first.
struct pretrain {
  constexpr void operator()(mt::scope auto s) const {
    auto const y = trunk(s / "trunk", s.input("x", mt::f32, rows));
    mt::adam{.learning_rate = 0.25}.minimize(s / "optimizer", sum(y * y));
    s.output("step", 0 * sum(y) + s.step());
  }
};
struct tune {
  constexpr void operator()(mt::scope auto s) const {
    auto const y = head(s / "head", trunk(s / "trunk", s.input("x", mt::f32, rows)));
    auto const rate = mt::nn::warmup_linear(s, 0.25, 1, 1000);
    mt::adam{.learning_rate = rate}.minimize(s / "optimizer", sum(y * y));
    mt::moving_average{.decay = 0.5}.follow(s / "average", s / "head");
    s.output("step", 0 * sum(y) + s.step());
  }
};
struct pretrain_more : pretrain {};
struct ask {
  constexpr void operator()(mt::scope auto s) const {
    auto const y = trunk(s / "trunk", s.input("x", mt::f32, rows));
    s.output("step", 0 * sum(y) + s.step());
    s.output("noise", uniform(s / "noise", mt::f32, to(rows)));
  }
};
namespace other {
struct ask : ::ask {};
}  // namespace other

mt::job const& turns() {
  static mt::job const job = mt::job::in_lockstep();
  return job;
}

/// A program on a store, lowered for one processor.
template <class Program>
struct running {
  explicit running(mt::store& values)
      : low(mt::lower(*mt::on_heap([] { return mt::trace<Program>(); }), mt::entry_name<Program>(), {}, {}, {})),
        session(values, low->graph, low->planned, {}, low->entry, {}, [] {}, mt::counted_name<Program>()) {
    float const x[] = {1, 2, 3, -4};
    if (!session.inputs().ports().empty()) session.feed("x", x);
  }
  float step(char const* output = "step") {
    session.step();
    return *session.local(output).template as<float>();
  }
  std::unique_ptr<mt::lowering> low;
  mt::session<mt::reference_device> session;
};

std::vector<float> elements(mt::store& values, char const* label) {
  auto const whole = values.get<float>(label);
  return {whole.begin(), whole.end()};
}
/// Whether every element is off by so much from what it was.
bool moved_by(float by, std::vector<float> const& before, std::vector<float> const& after) {
  bool all = true;
  for (std::size_t i = 0; i < before.size(); ++i)
    all = all && std::abs(std::abs(after[i] - before[i]) - by) < 1e-4f * by;
  return all;
}

}  // namespace

TEST_CASE("an optimizer counts the updates of each parameter, a schedule those of its optimizer") {
  mt::store values(turns());
  running<pretrain> before(values);
  for (int t = 0; t < 40; ++t) CHECK(before.step() == static_cast<float>(t));
  running<tune> step(values);
  CHECK(elements(values, "trunk/w") != elements(values, "head/w"));
  auto const w = elements(values, "head/w"), b = elements(values, "head/b");
  CHECK(step.step() == 0);
  // The head is new to the optimizer, whose 41st update this is.
  float const rate = 0.25f * (1 - 39.0f / 999);
  CHECK(moved_by(rate, w, elements(values, "head/w")));
  CHECK(moved_by(rate, b, elements(values, "head/b")));
  CHECK(elements(values, "average/w") == elements(values, "head/w"));
  CHECK(values.counts().updates == mt::counts_by_name{{"average/b", 1},
                                                      {"average/w", 1},
                                                      {"optimizer/head/b", 1},
                                                      {"optimizer/head/w", 1},
                                                      {"optimizer/trunk/w", 41}});
  CHECK(values.counts().steps == mt::counts_by_name{{"pretrain", 40}, {"tune", 1}});
  CHECK(values.step() == 41);
}

namespace {

/// Two programs that train one network, which one average follows.
struct upwards {
  constexpr void operator()(mt::scope auto s) const {
    auto const y = trunk(s / "trunk", s.input("x", mt::f32, rows));
    mt::sgd{.learning_rate = 1}.minimize(s / "optimizer", -sum(y));
    mt::moving_average{.decay = 0.5}.follow(s / "average", s / "trunk");
    s.output("step", sum(y));
  }
};
struct also_upwards : upwards {};

}  // namespace

TEST_CASE("programs that train the same parameters continue each other's updates") {
  mt::store values(turns()), alone(turns());
  running<pretrain> step(values), only(alone);
  running<pretrain_more> more(values);
  for (int t = 0; t < 10; ++t) {
    if (t % 3 == 1) more.step();
    else step.step();
    only.step();
    CHECK(elements(values, "trunk/w") == elements(alone, "trunk/w"));
  }
  CHECK(values.counts().updates == alone.counts().updates);
}

namespace {

/// Training with a schedule and an average, one step a call and several steps a call.
struct trained {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, rows);
    auto const y = trunk(s / "trunk", x) + x;
    mt::adam{.learning_rate = mt::nn::warmup_linear(s, 0.1, 4, 40)}.minimize(s / "optimizer", sum(y * y));
    mt::moving_average{.decay = 0.75}.follow(s / "average", s / "trunk");
    s.output("step", sum(y));
  }
};
inline constexpr struct often_dim : mt::dim<"often", 3> {} often;
struct trained_often {
  constexpr void operator()(mt::scope auto s) const { mt::steps(s, often, trained{}); }
};

}  // namespace

TEST_CASE("steps of one call and of several calls continue each other's updates") {
  mt::store values(turns()), alone(turns());
  running<trained> step(values), only(alone);
  running<trained_often> many(values);
  float const x[] = {1, 2, 3, -4, 1, 2, 3, -4, 1, 2, 3, -4};
  many.session.feed("x", x);
  for (int const of_call : {1, 3, 1, 1, 3, 3, 1}) {
    if (of_call == 1) step.step();
    else many.step();
    for (int t = 0; t < of_call; ++t) only.step();
    for (char const* label : {"trunk/w", "average/w"}) {
      auto const got = elements(values, label), wanted = elements(alone, label);
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(wanted[i]).epsilon(1e-6));
    }
  }
  CHECK(values.counts().updates == alone.counts().updates);
}

namespace {

/// Optimizers in a branch, whose updates a state counts. One of them has no number that depends on the count.
template <bool HasSchedule>
struct guarded {
  constexpr void operator()(mt::scope auto s) const {
    auto const y = trunk(s / "trunk", s.input("x", mt::f32, rows));
    auto const loss = sum(y * y);
    s.output("step", mt::cond(
                         s, loss < 1e6f,
                         [&](mt::scope auto b) {
                           if constexpr (HasSchedule) mt::adam{}.minimize(b / "optimizer", loss);
                           else mt::sgd{}.minimize(b / "optimizer", loss);
                           return loss;
                         },
                         [&](mt::scope auto) { return loss; }));
  }
};
struct unguarded {
  constexpr void operator()(mt::scope auto s) const {
    auto const y = trunk(s / "trunk", s.input("x", mt::f32, rows));
    auto const loss = sum(y * y);
    mt::sgd{}.minimize(s / "optimizer", loss);
    s.output("step", loss);
  }
};
template <class First, class Second>
std::vector<std::string> warnings_of() {
  std::vector<std::string> all;
  auto const before = std::exchange(mt::on_warning(), [&](std::string const& sentence) { all.push_back(sentence); });
  mt::store values(turns());
  running<First> first(values);
  running<Second> second(values);
  mt::on_warning() = before;
  return all;
}

}  // namespace

TEST_CASE("programs that count the same updates in two ways are warned of, if a number depends on the count") {
  CHECK(warnings_of<guarded<true>, guarded<true>>().empty());
  CHECK(warnings_of<guarded<false>, unguarded>().empty());
  CHECK(warnings_of<trained, trained_often>().empty());
  for (auto const& all : {warnings_of<guarded<true>, pretrain>(), warnings_of<pretrain, guarded<true>>(),
                          warnings_of<unguarded, guarded<true>>()}) {
    REQUIRE(all.size() == 1);
    CHECK(all[0].starts_with("G56: one program counts the updates 'optimizer/trunk/w' in the store, and another one"));
  }
}

TEST_CASE("an average begins once, whoever follows it") {
  mt::store values(turns());
  running<upwards> step(values);
  running<also_upwards> other(values);
  step.step();
  CHECK(elements(values, "average/w") == std::vector<float>{2, 3, 4, -3});
  other.step();
  CHECK(elements(values, "trunk/w") == std::vector<float>{3, 5, 7, -7});
  CHECK(elements(values, "average/w") == std::vector<float>{2.5f, 4, 5.5f, -5});
}

namespace {

/// The optimizer of a head has its scope, and that of an average, below the scope of the trunk's optimizer.
struct tune_head {
  constexpr void operator()(mt::scope auto s) const {
    auto const y = head(s / "head", s.input("x", mt::f32, rows));
    mt::sgd{.learning_rate = 0.125}.minimize(s / "optimizer" / "head", sum(y * y));
    mt::moving_average{.decay = 0.5}.follow(s / "optimizer" / "average", s / "head");
    s.output("step", sum(y));
  }
};
struct tune_both {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, rows);
    auto const rate = mt::nn::warmup_constant(s, 1.0, 16);
    mt::sgd{.learning_rate = rate}.minimize(s / "optimizer", sum(trunk(s / "trunk", x)), s / "trunk");
    mt::sgd{.learning_rate = 0.125}.minimize(s / "optimizer" / "head", sum(head(s / "head", x)));
    mt::moving_average{.decay = 0.5}.follow(s / "optimizer" / "average", s / "head");
    s.output("step", sum(x));
  }
};
/// The scope of the optimizer is that of the program.
struct tune_at_root {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, rows);
    auto const rate = mt::nn::warmup_constant(s, 1.0, 16);
    mt::sgd{.learning_rate = rate}.minimize(s, sum(trunk(s / "trunk", x)), s / "trunk");
    auto const y = head(s / "head", x);
    mt::moving_average{.decay = 0.5}.follow(s / "optimizer" / "average", s / "head");
    s.output("step", sum(y));
  }
};

}  // namespace

TEST_CASE("a schedule does not count the updates of optimizers and averages below its optimizer's scope") {
  mt::store values(turns());
  running<tune_head> before(values);
  running<tune_both> step(values);
  for (int t = 0; t < 5; ++t) before.step();
  step.step();
  // The first rate is 1 / 16, and the gradient is x.
  CHECK(elements(values, "trunk/w") == std::vector<float>{0.9375f, 0.875f, 0.8125f, 1.25f});
  CHECK(values.counts().updates.at("optimizer/trunk/w") == 1);
  CHECK(values.counts().updates.at("optimizer/head/head/w") == 6);
  CHECK(values.counts().updates.at("optimizer/average/w") == 6);
  running<tune_at_root> at_root(values);
  values.set("trunk/w", std::vector<float>{1, 1, 1, 1});
  at_root.step();
  CHECK(elements(values, "trunk/w") == std::vector<float>{0.9375f, 0.875f, 0.8125f, 1.25f});
}

TEST_CASE("a program that updates nothing counts its steps and draws other numbers in each") {
  mt::store values(turns());
  running<ask> asks(values);
  running<other::ask> others(values);
  running<pretrain> step(values);
  float const first = asks.step("noise");
  step.step(), others.step();
  CHECK(asks.step("noise") != first);
  CHECK(asks.step() == 2);
  CHECK(others.step() == 1);
  CHECK(step.step() == 1);
  CHECK(values.step() == 2);
  CHECK(values.counts().steps == mt::counts_by_name{{"ask", 3}, {"other::ask", 2}, {"pretrain", 2}});
}

TEST_CASE("all counts are given one number, and an executable is left out of the store's steps") {
  mt::store values(turns());
  running<pretrain> step(values);
  values.set_step(1000);
  running<tune> later(values);
  CHECK(step.step() == 1000);
  CHECK(later.step() == 1000);
  CHECK(values.counts().updates.at("optimizer/trunk/w") == 1002);
  CHECK(values.counts().updates.at("optimizer/head/w") == 1001);
  later.session.exclude_from_step_count();
  CHECK(later.step() == 1001);
  CHECK(values.step() == 1002);
}

TEST_CASE("an average begins with its first update, also if all counts are set before") {
  mt::store values(turns());
  running<upwards> step(values);
  values.set("trunk/w", std::vector<float>{2, 3, 4, -3});  // from elsewhere, after ten steps
  values.set_step(10);
  step.step();
  auto const first = elements(values, "trunk/w");
  CHECK(elements(values, "average/w") == first);
  CHECK(values.counts().updates.at("average/w") == 1);
  mt::store later(turns());
  later.set_step(10);
  running<upwards> begun(later);
  begun.step();
  CHECK(elements(later, "average/w") == elements(later, "trunk/w"));
  // An average that is given goes on.
  mt::store given(turns());
  running<upwards> on(given);
  given.set_step(10);
  given.set("average/w", std::vector<float>{0, 0, 0, 0});
  on.step();
  auto next = elements(given, "trunk/w");
  for (float& w : next) w /= 2;
  CHECK(elements(given, "average/w") == next);
  given.set_step(20);
  CHECK(given.counts().updates.at("average/w") == 20);
}

namespace {

inline constexpr struct latent_dim : mt::dim<"latent", 3> {} latent;
inline constexpr struct few_dim : mt::dim<"few", 5> {} few;
inline constexpr mt::layer generator = [](mt::scope auto s, auto z) {
  return tanh(mt::nn::linear(s / "out", mt::nn::dropout(s / "drop", z, 0.25), latent, rows));
};
inline constexpr mt::layer discriminator = [](mt::scope auto s, auto x) {
  return einsum(tanh(x), s.parameter("w", rows), to(few)) + s.parameter("b");
};
constexpr auto softplus(auto const& x) { return log(1 + exp(x)); }

/// Both have the same scope for their optimizers, but other parameters.
struct generator_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const fake = generator(s / "generator", normal(s / "z", mt::f32, to(few, latent)));
    auto const loss = mean(softplus(-discriminator(s / "discriminator", fake)));
    s.output("step", loss);
    mt::adam{.learning_rate = mt::nn::warmup_cosine(s, 0.1, 4, 20), .beta_1 = 0.5}.minimize(s / "optimizer", loss,
                                                                                            s / "generator");
    mt::moving_average{.decay = 0.75}.follow(s / "average", s / "generator");
  }
};
struct discriminator_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const real = normal(s / "real", mt::f32, to(few, rows)) * 0.5 + s.input("x", mt::f32, rows);
    auto const fake = generator(s / "generator", normal(s / "z", mt::f32, to(few, latent)));
    auto const loss = mean(softplus(-discriminator(s / "discriminator", real))) +
                      mean(softplus(discriminator(s / "discriminator", fake)));
    s.output("step", loss);
    mt::adamw{.learning_rate = mt::nn::inverse_square_root(s, 0.2, 3)}.minimize(s / "optimizer", loss,
                                                                                s / "discriminator");
  }
};

void copy_values(mt::store& from, mt::store& to, std::string const& under) {
  for (std::string const& label : from.names())
    if (label.starts_with(under)) to.set(label, from.get<float>(label));
}

}  // namespace

TEST_CASE("a generator and a discriminator on one store are those with stores of their own") {
  meshtensor_test::rng c{3};
  for (int round = 0; round < 4; ++round) {
    mt::store both(turns(), 2), first(turns(), 2), second(turns(), 2);
    running<generator_step> makes(both), makes_alone(first);
    running<discriminator_step> tells(both), tells_alone(second);
    for (int t = 0; t < 20; ++t) {
      if (c.one_in(2)) {
        CHECK(makes.step() == makes_alone.step());
        copy_values(first, second, "generator/");
      } else {
        CHECK(tells.step() == tells_alone.step());
        copy_values(second, first, "discriminator/");
      }
    }
    for (mt::store* own : {&first, &second})
      for (std::string const& label : own->names())
        CHECK(elements(both, label.c_str()) == elements(*own, label.c_str()));
    CHECK(both.counts().updates.at("average/out/weight") == makes.session.numbers().step + 1);
  }
}

TEST_CASE("programs of an eager scope count by themselves, too") {
  mt::eager both, first, second;
  meshtensor_test::rng c{5};
  mt::array<float, rows> x;
  for (float n = 1; float& e : x) e = n++;
  for (int t = 0; t < 12; ++t) {
    if (c.one_in(2)) {
      both.run(pretrain{}, mt::feed<"x">(x)), first.run(pretrain{}, mt::feed<"x">(x));
      CHECK(both.get<float>("step").item() == first.get<float>("step").item());
      CHECK(both.get<float>("optimizer/trunk/w/v") == first.get<float>("optimizer/trunk/w/v"));
      second.assign("trunk/w", first.get<float>("trunk/w"));
    } else {
      both.run(ask{}, mt::feed<"x">(x)), second.run(ask{}, mt::feed<"x">(x));
      CHECK(both.get<float>("step").item() == second.get<float>("step").item());
      CHECK(both.get<float>("noise") == second.get<float>("noise"));
    }
  }
  CHECK(both.get<float>("trunk/w") == first.get<float>("trunk/w"));
}

TEST_CASE("an eager scope goes on where its store is") {
  mt::store values(turns());
  running<pretrain> step(values);
  for (int t = 0; t < 3; ++t) step.step();
  mt::eager s(values);
  s.run(pretrain{}, mt::feed<"x">(std::vector<float>{1, 2, 3, -4}));
  CHECK(step.step() == 3);
  CHECK(s.get<float>("trunk/w") == values.get<float>("trunk/w"));
}

// ---- what two declarations disagree on ----

namespace {

struct two_rates {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, rows) * s.number("rate", 0.1);
    s.output("y", x * s.number("rate", 0.5));
  }
};
struct two_starts {
  constexpr void operator()(mt::scope auto s) const {
    auto const w = s.parameter("w", rows, mt::ones);
    s.output("y", w + s.parameter("w", rows, mt::normal(0.02)));
  }
};
struct same_start {
  constexpr void operator()(mt::scope auto s) const {
    auto const w = s.parameter("w", rows) + s.parameter("w", rows, mt::zeros);
    s.output("y", w * s.number("rate", 1e-7) * s.number("rate", 1e-7));
  }
};
struct starts_with_ones {
  constexpr void operator()(mt::scope auto s) const { s.output("step", sum(s.parameter("w", rows, mt::ones))); }
};
struct starts_at_random {
  constexpr void operator()(mt::scope auto s) const { s.output("step", sum(s.parameter("w", rows, mt::uniform(0.5)))); }
};
struct fast {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", s.input("x", mt::f32, rows) * s.number("rate", 2));
  }
};
struct slow {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", s.input("x", mt::f32, rows) * s.number("rate", 1e-7));
  }
};

template <class Program>
std::string traced() {
  return sentence([] { mt::on_heap([] { return mt::trace<Program>(); }); });
}
bool has(std::string const& text, std::initializer_list<char const*> all) {
  for (char const* each : all)
    if (text.find(each) == text.npos) return false;
  return true;
}

}  // namespace

TEST_CASE("one name is one number, one path has one initializer") {
  CHECK(has(traced<two_rates>(),
            {"G03: the number 'rate' is declared twice, as 0.1 (counts.cpp:", ") and as 0.5 (counts.cpp:"}));
  CHECK(has(traced<two_starts>(), {"G03: 'w' is declared twice, starting with ones (counts.cpp:",
                                   ") and with normal(0.02) (counts.cpp:", "give both the same initializer"}));
  CHECK(traced<same_start>().empty());
  mt::eager s;
  CHECK(has(sentence([&] { s.run(two_starts{}); }), {"G03: 'w' is declared twice, starting with ones ("}));
  CHECK(has(sentence([&] { s.run(two_rates{}, mt::feed<"x">(std::vector<float>(4))); }),
            {"G03: the number 'rate' is declared twice"}));
}

TEST_CASE("programs that are declared together agree, too") {
  CHECK(has(traced<mt::programs<fast, slow>>(), {"as 2 (counts.cpp:", ") and as 1e-7 (counts.cpp:"}));
  CHECK(
      has(traced<mt::programs<starts_at_random, starts_with_ones>>(), {"starting with uniform(0.5) (", "with ones ("}));
  CHECK(traced<mt::programs<fast, starts_with_ones>>().empty());
  CHECK(has(traced<mt::programs<ask, other::ask>>(), {"G03: two programs of a set are called 'ask'"}));
}

TEST_CASE("programs of one store agree on how a parameter starts, whichever is made first") {
  for (bool const reversed : {false, true}) {
    mt::store values(turns());
    std::string const why = sentence([&] {
      if (reversed) running<starts_at_random> first(values);
      running<starts_with_ones> one(values);
      running<starts_at_random> other(values);
    });
    CHECK(has(why, {"R04: 'w' starts with ", "ones (counts.cpp:", "uniform(0.5) (counts.cpp:"}));
  }
  mt::eager s;
  s.run(starts_with_ones{});
  CHECK(has(sentence([&] { s.run(starts_at_random{}); }), {"R04: 'w' starts with ones (", "with uniform(0.5) ("}));
}
