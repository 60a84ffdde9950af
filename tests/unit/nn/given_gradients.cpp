// SPDX-License-Identifier: Apache-2.0
// Optimizers with gradients in place of a loss: those of each example or member, transformed and reduced, beside the
// loss; noise; and what is refused.
// passes: start-up
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/full.hpp"
#include "meshtensor/regime/replicas.hpp"
#include "meshtensor/regime/synchronous.hpp"

#include "unit/op/trial.hpp"

namespace mt = meshtensor;
using mt::to, trial::numbers_of, trial::program;

namespace {

inline constexpr struct example_dim : mt::dim<"example", 4> {} example;
inline constexpr struct member_dim : mt::dim<"member", 3> {} member;
inline constexpr struct replica_dim : mt::dim<"replica", 2> {} replica;
inline constexpr struct rounds_dim : mt::dim<"rounds", 3> {} rounds;
inline constexpr struct in_dim : mt::dim<"in", 3> {} in;
inline constexpr struct hidden_dim : mt::dim<"hidden", 5> {} hidden;

template <class Program>
struct in_f64 : mt::precision<Program, mt::f64> {};

/// The loss of one example, or the losses of several.
inline constexpr mt::layer loss_of = [](mt::scope auto s, auto x, auto... kept) {
  auto h = tanh(mt::nn::linear(s / "first", x, in, hidden));
  auto error = einsum(h, s.parameter("last", hidden, mt::normal(0.5)), to(kept...)) - 0.25;
  return error * error;
};

struct sgd {
  static constexpr auto with() { return mt::sgd{.learning_rate = 0.1, .clip_norm = 0.25}; }
};
struct unclipped {
  static constexpr auto with() { return mt::sgd{.learning_rate = 0.1}; }
};
struct momentum {
  static constexpr auto with() { return mt::momentum{.learning_rate = 0.1, .nesterov = true, .weight_decay = 0.1}; }
};
struct adam {
  static constexpr auto with() { return mt::adam{.learning_rate = 0.05}; }
};
struct adamw {
  static constexpr auto with() { return mt::adamw{.learning_rate = 0.05, .decayed = mt::decayed::matrices}; }
};
struct adafactor {
  static constexpr auto with() { return mt::adafactor{.learning_rate = 0.05}; }
};
struct lars {
  static constexpr auto with() { return mt::lars{.learning_rate = 0.05}; }
};

enum class form { by_loss, by_gradients, behind_map, in_map };

/// A step from the mean of all examples' losses, in four forms.
template <class How, form Form>
struct one_step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), example, in);
    if constexpr (Form == form::by_loss || Form == form::by_gradients) {
      auto losses = loss_of(s / "network", x, example);
      if constexpr (Form == form::by_loss) How::with().minimize(s / "optimizer", mean(losses));
      else
        How::with().minimize(s / "optimizer",
                             mt::gradient_by_parameters<mt::f64>(mean(losses)).transformed([](auto g) { return g; }));
      s.output("losses", losses);
    } else if constexpr (Form == form::behind_map) {
      auto [losses, all] = mt::map(s, example, x, [&](mt::scope auto m, auto one) {
        auto loss = loss_of(m / "network", one);
        return std::tuple(loss, mt::gradient_by_parameters<mt::f64>(loss));
      });
      How::with().minimize(s / "optimizer", all.transformed([](auto g) { return mean(g, example); }));
      s.output("losses", losses);
    } else {
      s.output("losses", mt::map(s, example, x, [&](mt::scope auto m, auto one) {
                 auto loss = loss_of(m / "network", one);
                 auto mine = mt::gradient_by_parameters<mt::f64>(loss);
                 How::with().minimize(m / "optimizer",
                                      mine.transformed([](auto g) { return mean(mt::across(g, example), example); }));
                 return loss;
               }));
    }
  }
};

/// Runs two programs for some steps and compares all that they give, up to a tolerance. One variable may differ.
template <class A, class B>
void check_same(double tolerance, std::string const& except = "") {
  program p = program::of<in_f64<A>>(), q = program::of<in_f64<B>>();
  p.fill_at_random(-1.5, 1.5), q.fill_at_random(-1.5, 1.5);
  double moved = 0;
  auto const same = [&](mt::block const& got, mt::block const& wanted) {
    auto const a = numbers_of(got), b = numbers_of(wanted);
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      CHECK(std::abs(a[i] - b[i]) <= tolerance);
      moved += std::abs(a[i]);
    }
  };
  for (int step = 0; step < 3; ++step) {
    p.settings.step = q.settings.step = static_cast<std::uint64_t>(step);
    mt::blocks const got = p.run(), wanted = q.run();
    REQUIRE(got.size() == wanted.size());
    for (auto const& [label, b] : wanted) same(got.at(label), b);
    REQUIRE(p.variables.size() == q.variables.size());
    for (auto const& [label, b] : q.variables) {
      CAPTURE(label);
      if (label != except) same(p.variables.at(label), b);
    }
  }
  CHECK(moved > 1);
}
template <class How>
void check_forms() {
  check_same<one_step<How, form::by_gradients>, one_step<How, form::by_loss>>(0);
  check_same<one_step<How, form::behind_map>, one_step<How, form::by_loss>>(1e-13);
  check_same<one_step<How, form::in_map>, one_step<How, form::behind_map>>(0);
}

}  // namespace

TEST_CASE("the mean of the gradients of each example trains as the mean loss does, by every optimizer") {
  check_forms<sgd>(), check_forms<momentum>(), check_forms<adam>();
  check_forms<adamw>(), check_forms<adafactor>(), check_forms<lars>();
}

namespace {

/// Differentially private training, Abadi et al. 2016, with all parameters together, and with each by its name.
namespace together {
struct privately {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), example, in);
    auto [losses, all] = mt::map(s, example, x, [&](mt::scope auto m, auto one) {
      auto w = m.parameter("w", in, hidden);
      auto b = m.parameter("b", hidden, mt::zeros);
      auto loss = loss_of_one(one, w, b);
      auto mine = mt::gradient_by_parameters<mt::f64>(loss);
      auto share = 1 / maximum(1, mt::global_norm(mine) / 0.125);
      return std::tuple(loss, mine.transformed([&](auto g) { return g * share; }));
    });
    mt::sgd{.learning_rate = 0.5}.minimize(s / "optimizer", all.transformed([&](auto g) {
      auto total = sum(g, example);
      return (total + 0.2 * mt::normal_like(s / "noise", total)) / extent(example);
    }));
    s.output("losses", losses);
  }
  static constexpr auto loss_of_one(auto one, auto w, auto b) {
    auto error = sum(tanh(einsum(one, w, to(hidden)) + b)) - 0.25;
    return error * error;
  }
};
}  // namespace together
namespace by_name {  // the same name, because noise follows from it
struct privately {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), example, in);
    auto w = s.parameter("w", in, hidden);
    auto b = s.parameter("b", hidden, mt::zeros);
    auto [losses, by_w, by_b] = mt::map(s, example, x, [&](mt::scope auto, auto one) {
      auto loss = together::privately::loss_of_one(one, w, b);
      auto [dw, db] = gradient(loss, w, b);
      auto share = 1 / maximum(1, sqrt(sum(dw * dw) + sum(db * db)) / 0.125);
      return std::tuple(loss, dw * share, db * share);
    });
    auto noisy = [&](auto g, auto... dims) {
      return (sum(g, example) + 0.2 * normal(s / "noise", s.real(), to(dims...))) / extent(example);
    };
    s.update(w, w - 0.5 * noisy(by_w, in, hidden));
    s.update(b, b - 0.5 * noisy(by_b, hidden));
    s.output("losses", losses);
  }
};

}  // namespace by_name

/// Members with parameters of their own, clipped by the norm of all members together.
struct members_together {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), example, in);
    auto [losses, all] = mt::each(s / "members", member, [&](mt::scope auto m) {
      auto loss = mean(loss_of(m, x, example));
      return std::tuple(loss, mt::gradient_by_parameters<mt::f64>(loss));
    });
    auto share = 1 / maximum(1, mt::global_norm(all) / 0.125);
    mt::adam{.learning_rate = 0.05}.minimize(s / "members" / "optimizer",
                                             all.transformed([&](auto g) { return g * share; }));
    s.output("losses", losses);
  }
};
struct members_apart {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), example, in);
    auto losses = mt::each(s / "members", member, [&](mt::scope auto m) {
      auto loss = mean(loss_of(m, x, example));
      auto mine = mt::gradient_by_parameters<mt::f64>(loss);
      auto norm = mt::global_norm(mine);
      auto share = 1 / maximum(1, sqrt(sum(mt::across(norm * norm, member), member)) / 0.125);
      mt::adam{.learning_rate = 0.05}.minimize(m / "optimizer", mine.transformed([&](auto g) { return g * share; }));
      return loss;
    });
    s.output("losses", losses);
  }
};

/// A map in a loop, and the updates behind it in each iteration.
struct map_in_scan {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), rounds, example, in);
    auto zero = mt::full(s, 0, s.real());
    auto [last, all] = mt::scan(s, rounds, zero, x, [](mt::scope auto r, auto, auto now) {
      auto [losses, gs] = mt::map(r, example, now, [&](mt::scope auto m, auto one) {
        auto loss = loss_of(m / "network", one);
        return std::tuple(loss, mt::gradient_by_parameters<mt::f64>(loss));
      });
      mt::adam{.learning_rate = 0.05}.minimize(r / "optimizer",
                                               gs.transformed([](auto g) { return mean(g, example); }));
      return std::tuple(mean(losses), losses);
    });
    s.output("losses", all);
  }
};
struct batch_in_scan {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), rounds, example, in);
    auto zero = mt::full(s, 0, s.real());
    auto [last, all] = mt::scan(s, rounds, zero, x, [](mt::scope auto r, auto, auto now) {
      auto losses = loss_of(r / "network", now, example);
      mt::adam{.learning_rate = 0.05}.minimize(r / "optimizer", mean(losses));
      return std::tuple(mean(losses), losses);
    });
    s.output("losses", all);
  }
};

}  // namespace

TEST_CASE("private training of all parameters is that of each by its name") {
  check_same<together::privately, by_name::privately>(1e-13);
}
TEST_CASE("gradients leave an each, with the parameters of all members") {
  check_same<members_together, members_apart>(1e-13);
}
TEST_CASE("a map in a loop gives its gradients to the optimizer of each iteration") {
  check_same<map_in_scan, batch_in_scan>(1e-13);
}

namespace {

/// The network without training, as the first of two programs.
struct evaluation {
  constexpr void operator()(mt::scope auto s) const {
    s.output("losses", loss_of(s / "network", s.input("x", s.real(), example, in), example));
  }
};
struct evaluated_first : mt::programs<in_f64<evaluation>, in_f64<one_step<adam, form::behind_map>>> {};

/// Trains the layer of an iteration. The gradients of its parameters leave a map, or are those of the mean loss.
template <class How, bool Maps>
constexpr auto trained_layer(mt::scope auto s, auto x) {
  auto const optimizer = How::with();
  if constexpr (Maps) {
    auto [losses, all] = mt::map(s, example, x, [](mt::scope auto m, auto one) {
      auto loss = loss_of(m / "network", one);
      return std::tuple(loss, mt::gradient_by_parameters<mt::f64>(loss));
    });
    optimizer.minimize(s / "optimizer", all.transformed([](auto g) { return mean(g, example); }));
    return losses;
  } else {
    auto losses = loss_of(s / "network", x, example);
    optimizer.minimize(s / "optimizer", mean(losses));
    return losses;
  }
}
template <bool Maps>
struct in_layers {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), example, in);
    s.output("last", mt::repeat(s / "layers", rounds, x,
                                [](mt::scope auto r, auto h) { return h * 0.5 + trained_layer<sgd, Maps>(r, h); }));
  }
};
template <bool Maps>
struct in_members {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), example, in);
    s.output("losses",
             mt::each(s / "members", member, [&](mt::scope auto m) { return trained_layer<adam, Maps>(m, x); }));
  }
};
/// Members in each layer, which an optimizer in their each trains, or one behind it.
template <bool Inside>
struct members_in_layers {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), example, in);
    s.output("last", mt::repeat(s / "layers", rounds, x, [](mt::scope auto r, auto h) {
               if constexpr (Inside) {
                 auto losses = mt::each(r / "members", member, [&](mt::scope auto m) {
                   auto loss = mean(loss_of(m, h, example));
                   unclipped::with().minimize(m / "optimizer", loss);
                   return loss;
                 });
                 return h * 0.5 + sum(losses);
               } else {
                 auto [losses, all] = mt::each(r / "members", member, [&](mt::scope auto m) {
                   auto loss = mean(loss_of(m, h, example));
                   return std::tuple(loss, mt::gradient_by_parameters<mt::f64>(loss));
                 });
                 unclipped::with().minimize(r / "members" / "optimizer", all);
                 return h * 0.5 + sum(losses);
               }
             }));
  }
};
template <form Form>
using synchronous = mt::replicas<one_step<momentum, Form>, replica, mt::synchronous>;

}  // namespace

TEST_CASE("gradients leave a map in a step that stands behind another program") {
  program set = program::of<evaluated_first>(), alone = program::of<in_f64<one_step<adam, form::behind_map>>>();
  set.fill_at_random(-1.5, 1.5), alone.fill_at_random(-1.5, 1.5);
  mt::binding const numbers = mt::bind(set.graph(), mt::mesh_shape{}, {});
  for (int step = 0; step < 3; ++step) {
    mt::blocks const got = mt::interpreter(set.graph(), numbers).run(1, set.inputs, set.variables, set.settings);
    CHECK(numbers_of(got.at("losses")) == numbers_of(alone.run().at("losses")));
    ++set.settings.step;
  }
}
TEST_CASE("gradients leave a map or an each by the parameters of the layer, member or replica around it") {
  check_same<in_layers<true>, in_layers<false>>(1e-13);
  check_same<members_in_layers<false>, members_in_layers<true>>(1e-13, "layers/members/optimizer/updates");
  check_same<in_members<true>, in_members<false>>(1e-13);
  check_same<synchronous<form::behind_map>, synchronous<form::by_loss>>(1e-13);
}

namespace {

/// No parameter of an f32 program is f64.
struct norm_of_none {
  constexpr void operator()(mt::scope auto s) const {
    auto loss = mean(s.parameter("w", in) * 2);
    s.output("y", mt::global_norm(mt::gradient_by_parameters<mt::f64>(loss)));
  }
};
struct shows_all {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), example, in);
    auto all = mt::map(s, example, x, [&](mt::scope auto m, auto one) {
      return mt::gradient_by_parameters<mt::f64>(loss_of(m / "network", one)).transformed([](auto g) {
        return mt::across(g, example);
      });
    });
    mt::adam{}.minimize(s / "optimizer", all.transformed([](auto g) { return mean(g, example); }));
  }
};
struct not_reduced {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), example, in);
    auto all = mt::map(s, example, x, [&](mt::scope auto m, auto one) {
      return mt::gradient_by_parameters<mt::f64>(loss_of(m / "network", one));
    });
    mt::adam{}.minimize(s / "optimizer", all);
  }
};
struct summed_whole {
  constexpr void operator()(mt::scope auto s) const {
    auto loss = mean(loss_of(s / "network", s.input("x", s.real(), example, in), example));
    mt::sgd{}.minimize(s / "optimizer",
                       mt::gradient_by_parameters<mt::f64>(loss).transformed([](auto g) { return sum(g); }));
  }
};
struct differs_in_map {
  constexpr void operator()(mt::scope auto s) const {
    mt::map(s, example, s.input("x", s.real(), example, in), [&](mt::scope auto m, auto one) {
      mt::sgd{}.minimize(m / "optimizer", mt::gradient_by_parameters<mt::f64>(loss_of(m / "network", one)));
    });
  }
};
template <class Program>
std::string refusal() {
  try {
    program::of<in_f64<Program>>();
    return "";
  } catch (mt::error const& e) { return e.what(); }
}

}  // namespace

TEST_CASE("the norm of no gradients is 0") { CHECK(trial::result_of<norm_of_none>() == std::vector<double>{0}); }
TEST_CASE("gradients that show all indices already do not leave a map") {
  CHECK(refusal<shows_all>().find("T44: the body of each and map returns f64[example, in, hidden], which has their dim "
                                  "'example' already: reduce over the dim, or rename it") != std::string::npos);
}
TEST_CASE("a gradient with other dims than its parameter is refused") {
  CHECK(
      refusal<not_reduced>().find("T03: minimize: the gradient by 'network/first/weight' is f64[example, in, hidden], "
                                  "and the parameter f64[in, hidden]: take the sum or mean") != std::string::npos);
  CHECK(refusal<summed_whole>().find("T03: minimize: the gradient by 'network/first/weight' is f64[], and the "
                                     "parameter f64[in, hidden]: keep the dims of the parameter") != std::string::npos);
  CHECK(refusal<differs_in_map>().find("G47") != std::string::npos);
}
