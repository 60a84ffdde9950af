// SPDX-License-Identifier: Apache-2.0
// Mistakes that show when a program runs: each is one sentence with the names, the numbers and what to do.
#include <doctest/doctest.h>

#include "meshtensor/inspect/explain.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {
namespace net {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct in : mt::dim<"in", 6> {} in;
inline constexpr struct joined : mt::dim<"joined", 12> {} joined;
inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model", 2> {} model;
struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<joined, data, model>> {};

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    for (int i = 0; i < 3; ++i) x = x * s.parameter("gain", in);          // one parameter, three times
    [[maybe_unused]] auto unused = s.parameter("forgotten", in, joined);  // no loss depends on it
    auto loss = mean(x * x);
    mt::sgd{.learning_rate = s.number("rate", 0.1)}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
    s.output("y", x);
  }
};
inline constexpr mt::layer bias_of = [](mt::scope auto s) { return s.parameter("bias", in, mt::ones); };
// One parameter by two ways of writing its path: d loss / d bias = x + 2 x.
struct by_slash {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    auto loss = sum(bias_of(s / "item") * x) + 2 * sum(s.parameter("item/bias", in, mt::ones) * x);
    mt::sgd{.learning_rate = 1}.minimize(s / "deep/er", loss);
    s.output("loss", loss);
  }
};
inline constexpr struct known : mt::dim<"known", batch - 1> {} known;
struct shifted {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", mt::slice(s.input("x", mt::f32, batch), batch, known, 1));
  }
};
// Along a dim of four and of three elements: what reaches beyond it is known before the first step.
inline constexpr struct three : mt::dim<"three", 3> {} three;
inline constexpr struct five : mt::dim<"five", 5> {} five;
inline constexpr struct placed : mt::dim<"placed", mt::windowed(batch, 5)> {} placed;
inline constexpr struct lines : mt::dim<"lines"> {} lines;
inline constexpr struct area : mt::dim<"area", batch * lines> {} area;
struct plane {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.input("x", mt::f32, batch, lines) * 2); }
};
struct flat {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", merge(s.input("x", mt::f32, batch, lines), mt::to(batch, lines), area));
  }
};
template <class F>
struct of_batch {
  constexpr void operator()(mt::scope auto s) const { s.output("y", F()(s, s.input("x", mt::f32, batch, in))); }
};
using cut = decltype([](auto, auto x) { return mt::slice(x, batch, three, 0, 2); });
using still = decltype([](auto, auto x) { return mt::slice(x, batch, three, 0, 0); });
using spread = decltype([](auto, auto x) { return mt::pad(x, batch, five, 3); });
constexpr auto smoothed(auto s, auto x, auto to, mt::window_options how) {
  return conv(x, s.parameter("kernel", five), mt::to(to, in), mt::window(batch, to, five, how));
}
using around = decltype([](auto s, auto x) { return smoothed(s, x, batch, {.padding = mt::circular_padding}); });
using within = decltype([](auto s, auto x) { return smoothed(s, x, three, {}); });
using placed_by = decltype([](auto s, auto x) { return smoothed(s, x, placed, {}); });
}  // namespace net
using net::batch, net::data;
using run = mt::executable<net::step, net::mesh, net::layout>;

std::string said(auto const& f) {
  try {
    f();
  } catch (mt::error const& e) { return e.what(); }
  return "nothing";
}
void check_says(std::string const& all, std::string_view text) {
  CHECK_MESSAGE(all.find(text) != std::string::npos, all);
}

struct warnings {
  std::vector<std::string> all;
  warnings() {
    mt::on_warning() = [this](std::string const& sentence) { all.push_back(sentence); };
  }
  ~warnings() { mt::on_warning() = {}; }
};
}  // namespace

TEST_CASE("feeding: what is missing, of another size or of another type") {
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  warnings quiet;
  run step(weights, batch(4), data(1));
  check_says(said([&] { step(); }), "R02: the input 'x' was not fed");
  check_says(said([&] { step(mt::feed<"x">(std::vector<float>(20))); }), "R11: ");
  step(mt::feed<"x">(std::vector<float>(24, 1)));
  check_says(said([&] { step(mt::feed<"x">(mt::array<float, net::batch, net::in>(batch(3)))); }), "R11: ");
}

TEST_CASE("extents and processors that do not fit") {
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  check_says(said([&] { run step(weights, data(1)); }),
             "S11: the dim 'batch' has no extent: give one, as in batch(64)");
  check_says(said([&] { run step(weights, batch(4), net::in(7), data(1)); }), "its type says 6");
  mt::mesh_shape mesh = net::mesh::shape;
  check_says(said([&] { mt::detail::bind_open_axis(mesh, 1); }),
             "R05: 1 process was started, but the axis 'data' is open and the other axes of the mesh need 2: start a "
             "multiple of that, as by mpirun -n 4");
}

TEST_CASE("a parameter that no loss depends on is a warning, and one that is declared thrice is named by explain") {
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  warnings heard;
  struct again : net::layout {};
  mt::executable<net::step, net::mesh, again> first(weights, batch(4), data(1)), second(weights, batch(4), data(1));
  int told = 0;
  for (std::string const& sentence : heard.all)
    told += sentence.starts_with("G36: the loss does not depend on 'forgotten', so");
  CHECK(told == 1);
  check_says(mt::explain(first), "'gain' is declared 3 times by one program: one parameter, shared");
}

TEST_CASE("a dim that is made from others must have an element") {
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  check_says(
      said([&] { mt::executable<net::shifted, net::mesh, mt::layout<>> step(weights, batch(1), data(1)); }),
      "S16: the dim 'known' would have the extent 0, by the dims that it is made from: 'batch' is 1, but an extent is "
      "at least 1");
}

TEST_CASE("extents and sizes that no machine has are refused before their bytes are counted") {
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  auto const of = [&](std::int64_t extent) { return said([&] { run step(weights, batch(extent), data(1)); }); };
  check_says(of(std::int64_t{1} << 62),
             "S17: the dim 'batch' cannot have the extent 4611686018427387904: an extent is at most 2^48");
  check_says(of((std::int64_t{1} << 48) + 1),
             "S17: the dim 'batch' cannot have the extent 281474976710657: an extent is at most 2^48");
  check_says(of(std::int64_t{1} << 40), "M10: ");
  check_says(said([&] {
               mt::executable<net::plane, net::mesh, mt::layout<>> step(weights, batch(1 << 30), net::lines(1 << 30),
                                                                        data(1));
             }),
             "S17: the tensors of this program would have more than 2^60 bytes, with one of [batch=1073741824, "
             "lines=1073741824]: give smaller extents");
  check_says(said([&] {
               mt::executable<net::flat, net::mesh, mt::layout<>> step(weights, batch(1 << 30), net::lines(1 << 30),
                                                                       data(1));
             }),
             "S17: the dim 'area' would have an extent of more than 2^48: 'batch' is 1073741824, make it shorter");
}

TEST_CASE("what reaches beyond a dim by extents that are given is refused before the first step") {
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  auto const of = [&]<class F>(std::type_identity<F>, int extent) {
    return said(
        [&] { mt::executable<net::of_batch<F>, net::mesh, mt::layout<>> step(weights, batch(extent), data(1)); });
  };
  CHECK(of(std::type_identity<net::cut>(), 5) == "nothing");
  check_says(
      of(std::type_identity<net::cut>(), 4),
      "S03: a slice of 'batch' (4) from 0 on in steps of 2, as long as 'three' (3), reaches beyond its ends: it needs "
      "'batch' to be at least 5 (node ");
  check_says(of(std::type_identity<net::still>(), 4),
             "S03: a slice of 'batch' has the step 0: the step is 1, another whole number, or a negative one (node ");
  CHECK(of(std::type_identity<net::spread>(), 2) == "nothing");
  check_says(
      of(std::type_identity<net::spread>(), 3),
      "S03: 'batch' (3), padded from 3 on to 'five' (5), reaches beyond its ends: let it begin at 2 or earlier (node ");
  CHECK(of(std::type_identity<net::around>(), 2) == "nothing");
  check_says(of(std::type_identity<net::around>(), 1),
             "S03: a slice of 'batch' (1) from -1 on, as long as 'circular padding of 2' (2), reaches beyond its ends: "
             "it needs 'batch' to be at least 2 (node ");
  check_says(of(std::type_identity<net::within>(), 4),
             "along 'batch' (4), with stride 1, dilation 1 and padding 0 + 0, has 0 places, but 'three' is 3: make the "
             "kernel smaller, or pad more");
  check_says(of(std::type_identity<net::placed_by>(), 4),
             "S16: the dim 'placed' would have the extent 0, by the dims that it is made from: a window needs 5 "
             "elements of 'batch', which has 4");
}

TEST_CASE("a name with a slash is a path") {
  std::vector<float> const x{1, 2, 3, 4, 5, 6}, next{-2, -5, -8, -11, -14, -17};
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  struct layout : mt::layout<mt::shard<net::in, net::model>> {};
  mt::executable<net::by_slash, net::mesh, layout> step(weights, data(1));
  CHECK(step(mt::feed<"x">(x)).get<"loss">() == 63);
  auto const bias = weights.get<float>("item/bias");
  CHECK(std::equal(bias.begin(), bias.end(), next.begin(), next.end()));
  CHECK(weights.names() == std::vector<std::string>{"item/bias"});
  mt::eager<> s(mt::feed<"x">(x));
  s.run(net::by_slash{});
  auto const at_once = s.get<float>("item/bias");
  CHECK(std::equal(at_once.begin(), at_once.end(), next.begin(), next.end()));
}

TEST_CASE("the eager scope says at once what is wrong, and goes on") {
  mt::eager<> s(batch(2));
  auto const x = s(mt::array<float, net::batch, net::in>(batch(2)));
  auto const w = s.parameter("w", net::in);
  s.update(w, w * 2);
  check_says(said([&] { s.update(w, w * 3); }), "G05: 'w' is updated twice in one step, first at first_attempts.cpp:");
  check_says(said([&] { s.update(x, x * 3); }), "G08: update: the first argument is not a parameter or state");
  check_says(said([&] { s.parameter("w", net::joined); }), "G03: 'w' is declared twice");
  CHECK(s.value(sum(x)) == 0);
}
