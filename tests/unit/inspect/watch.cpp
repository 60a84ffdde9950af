// SPDX-License-Identifier: Apache-2.0
// What a program watches: tensors and gradients, in loops and outside, whole on every layout, the same as eagerly.
//
// passes: start-up
// needs: cpu
// sanitize: yes
#include "meshtensor/inspect/watched.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "meshtensor/device/default.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct width : mt::dim<"width", 4> {} width;
inline constexpr struct inner : mt::dim<"inner", 8> {} inner;
inline constexpr struct blocks : mt::dim<"blocks", 3> {} blocks;
inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model", 2> {} model;
struct mesh : mt::mesh<data, model> {};
struct whole : mt::layout<> {};
struct spread : mt::layout<mt::shard<batch, data>, mt::shard<inner, model>> {};
struct other : mt::layout<mt::shard<width, data>, mt::in<"blocks", mt::shard<inner, model>>> {};

inline constexpr mt::layer block = [](mt::scope auto r, auto h) {
  auto const up = tanh(einsum(h, r.parameter("up", width, inner), to(batch, inner)));
  r.watch("up", up);
  r.watch_gradient("up by the loss", up);
  return h + einsum(up, r.parameter("down", inner, width), to(batch, width));
};

template <bool Again>
struct train {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, batch, width) * 1;
    s.watch_gradient("x by the loss", x);
    auto const y = [&] {
      if constexpr (Again) return mt::repeat(s / "blocks", blocks, x, mt::rematerialize(block));
      else return mt::repeat(s / "blocks", blocks, x, block);
    }();
    auto const loss = mean(y * y * x);  // x is used twice: its gradient has two terms
    auto const derivative = gradient(loss, x);
    s.watch("loss", loss);
    s.watch("slope", derivative);
    s.output("slope of x", derivative);
    s.output("y", y);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
  }
};
/// As long as the square sum is less than 40, with a branch in each iteration; `Again`: the gradient runs three
/// iterations again at a time.
template <bool Again>
struct grow {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, batch, width);
    auto const [count, y] = while_loop(
        s / "grow", Again ? mt::at_most(9).recomputing(3) : mt::at_most(9),
        [](auto, auto h) { return sum(h * h) < 40; },
        [](mt::scope auto r, auto h) {
          auto const wide = h * 1.5 + 0.25;
          r.watch("wide", wide);
          r.watch_gradient("wide by the loss", wide);
          return cond(r / "either", sum(wide) > 0, [&](auto) { return wide; }, [&](auto) { return wide * -1; });
        },
        x);
    auto const loss = mean(y * y);
    s.output("count", count);
    s.output("dx", gradient(loss, x));
  }
};
std::vector<double> some_x() {
  std::vector<double> x(4 * 4);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * 7 % 19) / 10 - 0.9;
  return x;
}

template <class Layout, bool Again, class Device>
void run(mt::eager<mt::dtype::f64>& reference, mt::store& first, int processors) {
  auto const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<mt::precision<train<Again>, mt::dtype::f64>, mesh, Layout, Device> step(weights, batch(4),
                                                                                         data(processors / 2));
  for (std::string const& path : first.names()) weights.set(path, first.get<double>(path));
  step(mt::feed<"x">(some_x()));
  CHECK(step.watched() ==
        std::vector<std::string>{"blocks/up", "blocks/up by the loss", "loss", "slope", "x by the loss"});
  for (std::string const& label : step.watched()) {
    auto const seen = step.watched(label), expected = reference.template get<double>(label);
    INFO(label, ": ", text_of(seen), " instead of ", text_of(expected));
    REQUIRE(seen.size() == expected.size());
    for (std::int64_t i = 0; i < seen.size(); ++i)
      CHECK(seen.data()[i] == doctest::Approx(expected.data()[i]).epsilon(1e-12));
  }
}

}  // namespace

TEST_CASE("of iterations of a loop that ends early that do not run, zeros are seen") {
  auto const job = mt::job::in_lockstep();
  mt::store none(job);
  mt::eager<mt::dtype::f64> at_once(none, batch(4));
  at_once.run(grow<false>{}, mt::feed<"x">(some_x()));
  auto const see = [&](auto layout, auto device, int processors) {
    mt::store weights(job);
    mt::executable<grow<false>, mesh, decltype(layout), decltype(device)> step(weights, batch(4), data(processors / 2));
    auto const count = step(mt::feed<"x">(some_x())).template get<"count">();
    REQUIRE(count == 3);
    auto const seen = step.watched("grow/wide"), by_loss = step.watched("grow/wide by the loss");
    CHECK(mt::detail::text_of(seen.dims()) == "[while_loop/2=9, batch=4, width=4]");
    CHECK(at_once.get<double>("grow/wide") == seen);
    std::vector<double> h = some_x();
    for (std::int64_t i = 0; i < 9; ++i)
      for (std::size_t k = 0; k < 16; ++k) {
        std::int64_t const at = 16 * i + static_cast<std::int64_t>(k);
        h[k] = h[k] * 1.5 + 0.25;
        CHECK(seen.data()[at] == doctest::Approx(i < 3 ? h[k] : 0));
        CHECK((by_loss.data()[at] != 0) == (i < 3));
      }
  };
  for (int processors : {2, 8}) {
    see(whole{}, mt::reference_device{}, processors);
    see(spread{}, mt::reference_device{}, processors);
    see(other{}, mt::default_device{}, processors);
  }
}

TEST_CASE("in a loop that the gradient runs again, the same gradients are seen") {
  auto const job = mt::job::in_lockstep();
  mt::store none(job), weights(job);
  mt::eager<mt::dtype::f64> at_once(none, batch(4));
  at_once.run(grow<false>{}, mt::feed<"x">(some_x()));
  mt::executable<grow<true>, mesh, spread, mt::reference_device> step(weights, batch(4), data(4));
  step(mt::feed<"x">(some_x()));
  for (std::string const label : {"grow/wide", "grow/wide by the loss"}) {
    CAPTURE(label);
    auto const seen = step.watched(label), wanted = at_once.get<double>(label);
    REQUIRE(seen.dims().size() == 4);  // loops of three iterations each
    REQUIRE(seen.size() == wanted.size());
    for (std::int64_t i = 0; i < seen.size(); ++i)
      CHECK(seen.data()[i] == doctest::Approx(wanted.data()[i]).epsilon(1e-12));
  }
}

TEST_CASE("on every layout what an eager scope sees") {
  auto const job = mt::job::in_lockstep();
  mt::store first(job, 3);
  mt::executable<mt::precision<train<false>, mt::dtype::f64>, mesh, whole, mt::reference_device> makes(first, batch(4),
                                                                                                       data(1));
  mt::eager<mt::dtype::f64> s(first, batch(4));
  s.run(mt::precision<train<false>, mt::dtype::f64>{}, mt::feed<"x">(some_x()));

  // What is seen is what the program computes: the loop by hand.
  auto const up = first.get<double>("blocks/up"), down = first.get<double>("blocks/down");
  auto const seen = s.get<double>("blocks/up");
  REQUIRE(mt::detail::text_of(seen.dims()) == "[blocks=3, batch=4, inner=8]");
  auto const x = some_x();
  for (int b = 0; b < 4; ++b) {
    std::vector<double> h(x.begin() + 4 * b, x.begin() + 4 * b + 4);
    for (int l = 0; l < 3; ++l) {
      std::vector<double> u(8);
      for (int i = 0; i < 8; ++i) {
        for (int w = 0; w < 4; ++w) u[i] += h[w] * up(blocks(l), width(w), inner(i));
        u[i] = std::tanh(u[i]);
        CHECK(seen(blocks(l), batch(b), inner(i)) == doctest::Approx(u[i]).epsilon(1e-12));
      }
      for (int w = 0; w < 4; ++w)
        for (int i = 0; i < 8; ++i) h[w] += u[i] * down(blocks(l), inner(i), width(w));
    }
  }
  CHECK(s.get<double>("x by the loss") == s.get<double>("slope of x"));
  CHECK(s.get<double>("slope") == s.get<double>("slope of x"));

  for (int processors : {2, 4, 8}) {
    run<spread, false, mt::reference_device>(s, first, processors);
    run<other, true, mt::reference_device>(s, first, processors);
    run<spread, true, mt::default_device>(s, first, processors);
    run<whole, false, mt::default_device>(s, first, processors);
  }
}
