// SPDX-License-Identifier: Apache-2.0
// A program whose loops and branches differ by index, under each tool that looks at programs: the check against the
// reference, the check of numbers, explanations, the drawing, predictions, recordings and watched tensors.
// passes: start-up
// timeout: 300
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "meshtensor/emit/drawing.hpp"
#include "meshtensor/emit/graphviz.hpp"
#include "meshtensor/emit/print.hpp"
#include "meshtensor/inspect/check.hpp"
#include "meshtensor/inspect/explain.hpp"
#include "meshtensor/inspect/explain_html.hpp"
#include "meshtensor/inspect/predict.hpp"
#include "meshtensor/inspect/profile.hpp"
#include "meshtensor/inspect/watched.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/temporary_folder.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct member : mt::dim<"member"> {} member;
inline constexpr struct batch : mt::dim<"batch", 4> {} batch;
inline constexpr struct width : mt::dim<"width", 2> {} width;
inline constexpr struct next_width : mt::dim<"next_width", 2> {} next_width;

/// Members that iterate until each is settled, learn if their loss is finite, and choose one of three penalties.
struct settling {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, member, batch, width);
    auto way = s.input("way", mt::i32, member);
    auto [losses, counts] = mt::each(s / "members", member, std::tuple(x, way), [](mt::scope auto m, auto own, auto k) {
      auto w = m.parameter("w", width, next_width, mt::normal(0.4));
      auto [n, h] = mt::while_loop(
          m / "settle", mt::at_most(8), [](auto, auto v) { return max(abs(v)) > 0.3; },
          [&](auto, auto v) { return rename(tanh(einsum(v, w, to(batch, next_width))), next_width, width) * 0.8; },
          own);
      m.watch("settled", h);
      auto penalty = mt::switch_case(
          m / "way", k, [&](auto) { return mean(w * w); }, [&](auto) { return log(mean(own * own)); },
          [&](mt::scope auto b) { return mt::full(b, 0, mt::f32); });
      auto loss = mean(h * h) + 0.1 * penalty;
      mt::cond(
          m / "guard", abs(loss) < 1e30,
          [&](mt::scope auto b) {
            mt::adam{.learning_rate = 0.01}.minimize(b / "optimizer", loss);
            return loss;
          },
          [&](mt::scope auto) { return loss; });
      return std::tuple(loss, n);
    });
    s.output("losses", losses), s.output("counts", counts);
  }
};
inline constexpr struct ranks : mt::axis<"ranks"> {} ranks;
struct mesh : mt::mesh<ranks> {};
struct one_each : mt::layout<mt::shard<member, ranks>> {};
struct by_batch : mt::layout<mt::shard<batch, ranks>> {};
struct by_width : mt::layout<mt::shard<width, ranks>> {};

mt::array<float, member, batch, width> numbers(float bad = 0) {
  mt::array<float, member, batch, width> x(member(3));
  for (int i = 0; i < 24; ++i) x.data()[i] = 0.1f * static_cast<float>((7 * i + i / 8 * 5) % 19 - 9);
  for (int i = 0; i < 8; ++i) x.data()[i] *= 0.25f;
  if (bad != 0) x.data()[11] = bad;
  return x;
}
mt::array<int, member> const ways({2, 1, 0}, member(3));

}  // namespace

TEST_CASE_TEMPLATE("every value agrees with the reference", Layout, one_each, by_batch, by_width) {
  for (int const n : {1, 2, 3, 4, 6}) {
    auto const found =
        mt::check<settling, mesh, Layout>(ranks(n), member(3), mt::feed<"x">(numbers()), mt::feed<"way">(ways));
    CHECK_MESSAGE(found.agrees(), n << " ranks: " << text_of(found));
    CHECK(found.compared > 100);
  }
}

TEST_CASE("members iterate as often as they need, and results are those of one rank") {
  auto const job = mt::job::in_lockstep();
  mt::any_array<float> alone;
  for (int const n : {1, 2, 3}) {
    mt::store weights(job);
    mt::executable<settling, mesh, one_each> step(weights, ranks(n), member(3));
    step.check_numerics();
    for (int i = 0; i < 3; ++i) {
      auto const r = step(mt::feed<"x">(numbers()), mt::feed<"way">(ways));
      if (n == 1 && i == 2) alone = r.get<"losses">().gather();
      if (i == 2) CHECK(r.get<"losses">().gather() == alone);
      auto const counts = r.get<"counts">().gather();
      CHECK(counts.data()[0] == 0);
      CHECK(counts.data()[1] > 0);
      CHECK(counts.data()[1] != counts.data()[2]);
    }
  }
}

TEST_CASE("the check of numbers is silent about what no index computes, and finds what one does") {
  auto const job = mt::job::in_lockstep();
  for (int const n : {1, 3}) {
    mt::store weights(job);
    mt::executable<settling, mesh, one_each> step(weights, ranks(n), member(3));
    step.check_numerics();
    mt::array<float, member, batch, width> x = numbers();
    for (int i = 0; i < 8; ++i) x.data()[i] = 0;  // the logarithm of member 0 would be infinite: it is not taken
    step(mt::feed<"x">(x), mt::feed<"way">(ways));
    try {
      step(mt::feed<"x">(x), mt::feed<"way">(mt::array<int, member>({1, 2, 2}, member(3))));
      FAIL("an infinite logarithm is not found");
    } catch (mt::error const& e) {
      CHECK(e.code() == "R32");
      CHECK(std::string(e.what()).find("log in members/way (each_under_tools.cpp:") != std::string::npos);
      CHECK(std::string(e.what()).find("member=0") != std::string::npos);
    }
  }
}

TEST_CASE("explanations, drawings and predictions") {
  auto const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<settling, mesh, one_each> step(weights, ranks(3), member(3));
  std::string const text = mt::explain(step);
  CHECK(text.find("members/w") != std::string::npos);
  CHECK(text.find("updates' is declared") == std::string::npos);  // the optimizer's count, which is no mistake
  meshtensor_test::temporary_folder const folder;
  CHECK(mt::explain_html(step, (folder / "plan.html").string()));
  CHECK(folder.read("plan.html").find("members") != std::string::npos);
  std::string const picture = mt::drawing(step);
  CHECK(picture.find("member") != std::string::npos);
  CHECK(mt::graphviz(step.graph()).find("while_loop") != std::string::npos);
  CHECK(mt::instructions(step).find("begin_loop") != std::string::npos);
  mt::predicted_step const t = mt::predict(step, {{"ranks", 5e-6, 25e9}}, {2e14, 2e12});
  CHECK(t.seconds > 0);
  step.record();
  step(mt::feed<"x">(numbers()), mt::feed<"way">(ways));
  CHECK(mt::profile(step).find("members") != std::string::npos);
  CHECK(mt::watched(step).find("settled") != std::string::npos);
}
