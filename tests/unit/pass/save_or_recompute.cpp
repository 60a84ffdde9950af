// SPDX-License-Identifier: Apache-2.0
// save_or_recompute: the same results bit for bit, with as little kept for later loops as arithmetic alone allows.
#include "meshtensor/pass/save_or_recompute.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "meshtensor/emit/print.hpp"
#include "meshtensor/graph/spell.hpp"
#include "meshtensor/nn/dropout.hpp"
#include "meshtensor/nn/norm.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/rematerialize.hpp"
#include "meshtensor/pass/differentiate.hpp"
#include "meshtensor/pass/simplify.hpp"
#include "meshtensor/pass/verify.hpp"
#include "unit/pass/results.hpp"

using namespace meshtensor_test;

namespace {

/// Differentiated, with and without the choice.
struct forms {
  std::unique_ptr<mt::module> before, after;
};
template <class Program>
forms forms_of() {
  auto d = made([] { return mt::differentiate(traced<Program>); });
  auto s = made([&] { return mt::simplify(mt::save_or_recompute(*d)); });
  REQUIRE(mt::verify(*s).view() == "");
  return {std::move(d), std::move(s)};
}

/// What the loops of a module give stacked, in alphabetical order.
std::string stacked(mt::module const& m) {
  mt::speller const spell(m);
  std::vector<std::string> all;
  for (int i = 0; i < m.node_count; ++i) {
    mt::node const& n = m.nodes[i];
    if (n.kind != mt::primitive::repeat) continue;
    for (int k = mt::loop::of(n).carries + mt::loop::of(n).sums; k < n.results.count; ++k)
      all.push_back(spell.type(m.result(n, k)));
  }
  std::sort(all.begin(), all.end());
  std::string text;
  for (auto const& one : all) text += (text.empty() ? "" : "; ") + one;
  return text;
}

template <class Layer>
constexpr void train(mt::scope auto s, Layer const& layer) {
  auto x = s.input("x", mt::f32, batch, in);
  auto y = repeat(s / "blocks", layers, x, layer);
  s.output("dx", gradient(einsum(y, y, y, mt::to()), x));
}

/// Both operands of the product are functions of the carry.
inline constexpr mt::layer curves = [](mt::scope auto, auto x) {
  auto a = tanh(x * 2);
  return exp(a) * sigmoid(a * x) + maximum(x, 0);
};
struct chain {
  constexpr void operator()(mt::scope auto s) const { train(s, curves); }
};

inline constexpr mt::layer normal_block = [](mt::scope auto s, auto x) {
  auto w = s.parameter("w", in, hidden, mt::ones);
  auto h = einsum(mt::nn::layer_norm(s / "norm", x, in), w, mt::to(batch, hidden));
  return x + einsum(maximum(h + 1, 0), w, mt::to(batch, in));
};
struct normalized {
  constexpr void operator()(mt::scope auto s) const { train(s, normal_block); }
};

inline constexpr mt::layer dropping_block = [](mt::scope auto s, auto x) {
  return mt::nn::dropout(s / "drop", tanh(x), 0.25) + x;
};
struct dropping {
  constexpr void operator()(mt::scope auto s) const { train(s, dropping_block); }
};

/// One value of the size of three that follow from it.
inline constexpr mt::layer widening = [](mt::scope auto, auto x) {
  auto a = tanh(einsum(x, mt::to(in)));  // smaller than the carry
  return x * exp(a) + x * sin(a) * cos(a);
};
struct widened {
  constexpr void operator()(mt::scope auto s) const { train(s, widening); }
};

/// A loop in a loop, whose inner body uses what the outer one computes, carries, slices and has for all iterations.
struct inside {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto c = s.input("c", mt::f32, in);
    auto y = repeat(s / "outer", layers, x, [&](mt::scope auto r, auto h) {
      auto w = r.parameter("w", in, mt::ones);
      auto g = exp(h * w * 0.125);
      auto p = einsum(h, w, mt::to(batch));
      return repeat(r / "inner", meshtensor_test::time, h, [&](mt::scope auto q, auto k) {
        auto v = q.parameter("v", in, mt::ones);
        return tanh(k * v + g) * sin(k * p * c) + exp(k * w * 0.25);
      });
    });
    s.output("dx", gradient(einsum(y, y, mt::to()), x));
  }
};

/// Where a position is that of the iteration: a value with the loop's own dim, which cannot be stacked.
struct positions {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, meshtensor_test::time, in);
    auto [last, all] =
        scan(s / "along", meshtensor_test::time, einsum(x, mt::to(in)), x, [&](mt::scope auto q, auto h, auto slice) {
          auto here = mt::iota(q, meshtensor_test::time, mt::i32);
          auto row = einsum(slice, mt::to());
          auto weights = exp(mt::cast<mt::dtype::f32>(here) * row);
          auto mixed = einsum(x, weights, mt::to(in));
          return std::tuple(tanh(h + mixed), mixed);
        });
    s.output("dx", gradient(einsum(last, last, mt::to()) + einsum(all, all, mt::to()), x));
  }
};

/// Products, norms, random numbers: all that a layer has, made again but for what it starts from.
inline constexpr mt::layer rich_block = [](mt::scope auto s, auto x) {
  auto h = einsum(mt::nn::layer_norm(s / "norm", x, in), s.parameter("w", in, hidden), mt::to(batch, hidden));
  auto kept = mt::nn::dropout(s / "drop", maximum(h + s.parameter("bias", hidden), 0), 0.25);
  return x + einsum(kept, s.parameter("v", hidden, in), mt::to(batch, in));
};
struct rich {
  constexpr void operator()(mt::scope auto s) const { train(s, rich_block); }
};
struct rematerialized {
  constexpr void operator()(mt::scope auto s) const { train(s, mt::rematerialize(rich_block)); }
};
/// One layer of two is made again, the other is kept.
struct half_rematerialized {
  constexpr void operator()(mt::scope auto s) const {
    train(s, [](mt::scope auto r, auto x) { return rich_block(r / "b", mt::rematerialize(rich_block)(r / "a", x)); });
  }
};

/// Two losses: what both loops of their gradients need is made again in each.
struct two_gradients {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = repeat(s / "blocks", layers, x, curves);
    s.output("dx", gradient(einsum(y, y, mt::to()), x));
    s.output("dx of another loss", gradient(einsum(exp(y), mt::to()), x));
  }
};

/// A stacked output that the user sees is there anyway.
struct seen {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto bias = s.input("bias", mt::f32, layers, in);
    auto [y, all] = scan(s / "blocks", layers, x, bias, [](mt::scope auto, auto h, auto b) {
      auto a = tanh(h * 2);
      return std::tuple(exp(a) + b, a);
    });
    s.output("all", all);
    s.output("dx", gradient(einsum(y, y, mt::to()), x));
  }
};

/// No gradient: a loop of the user's over what another one gave.
struct handed_on {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto bias = s.input("bias", mt::f32, layers, in);
    auto [y, given] = scan(s / "first", layers, x, bias, [](mt::scope auto, auto h, auto b) {
      return std::tuple(tanh(h) + b, std::tuple(exp(h * 2), sin(h + b)));
    });
    auto [z, all] = scan(s / "second", layers, y, given, [](mt::scope auto, auto h, auto p, auto q) {
      return std::tuple(h * p + q, einsum(h, mt::to(batch)));
    });
    s.output("z", z);
    s.output("all", all);
  }
};

/// A branch, and in the other one a loop that ends when a condition no longer holds.
struct branched {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = cond(
        s / "either", einsum(x, mt::to()) > 0, [&](mt::scope auto r) { return curves(r, curves(r, x)); },
        [&](mt::scope auto r) {
          auto const is_small = [](mt::scope auto, auto h) { return einsum(h, h, mt::to()) < 100; };
          return std::get<1>(while_loop(r / "grow", mt::at_most(5), is_small, curves, x));
        });
    s.output("dx", gradient(einsum(y, y, mt::to()), x));
  }
};

}  // namespace

TEST_CASE_TEMPLATE("the same results, bit for bit", P, deep, recurrent, chain, normalized, dropping, widened, inside,
                   rich, rematerialized, half_rematerialized, two_gradients, seen, handed_on, positions, branched) {
  auto const f = forms_of<P>();
  CAPTURE(mt::text_of(*f.after));
  check_equal_results(*f.before, *f.after);
  CHECK(stacked(*f.after).size() <= stacked(*f.before).size());  // texts, the shorter the less
}

TEST_CASE("what follows from one kept value is made again") {
  CHECK(stacked(*forms_of<chain>().before) != "f32[layers, batch, in]");
  CHECK(stacked(*forms_of<chain>().after) == "f32[layers, batch, in]");
}

TEST_CASE("a norm is made again from what it was made of") {
  // the carry; the mean and the scale; what the second product is made of
  CHECK(stacked(*forms_of<normalized>().after) ==
        "f32[layers, batch, hidden]; f32[layers, batch, in]; f32[layers, batch]; f32[layers, batch]");
}

TEST_CASE("what a branch is given is at hand, and a loop in it keeps its carry") {
  CHECK(stacked(*forms_of<branched>().after) ==
        "f32[cond/2, while_loop/3, batch, in]; f32[while_loop/3, batch, in]; i64[cond/2]");
}

TEST_CASE("random numbers are not made twice: a mask is a byte each") {
  CHECK(stacked(*forms_of<dropping>().after) == "bool[layers, batch, in]; f32[layers, batch, in]");
}

TEST_CASE("of two values the smaller one is kept") {
  CHECK(stacked(*forms_of<widened>().after) == "f32[layers, batch, in]; f32[layers, in]");
}

TEST_CASE("through two loops") {
  // the carries of both loops, and p; g, which the inner loop has from the outer one, follows from the outer carry
  CHECK(stacked(*forms_of<inside>().after) ==
        "f32[layers, batch, in]; f32[layers, batch]; f32[layers, time, batch, in]; f32[time, batch, in]");
}

TEST_CASE("a layer that asks for it keeps what it starts from") {
  CHECK(stacked(*forms_of<rich>().after) ==
        "bool[layers, batch, hidden]; f32[layers, batch, hidden]; f32[layers, batch, in]; f32[layers, batch]; "
        "f32[layers, batch]");
  CHECK(stacked(*forms_of<rematerialized>().after) == "f32[layers, batch, in]");
  // what the second layer starts from follows from what the first one starts from
  CHECK(stacked(*forms_of<half_rematerialized>().after) == stacked(*forms_of<rich>().after));
}

TEST_CASE("random numbers and products are the same when they are made again") {
  auto const plain = forms_of<rich>(), again = forms_of<rematerialized>();
  CHECK(count(*again.after, mt::primitive::random) == 2 * count(*plain.after, mt::primitive::random));
  CHECK(count(*again.after, mt::primitive::einsum) > count(*plain.after, mt::primitive::einsum));
}

TEST_CASE("for two loops") { CHECK(stacked(*forms_of<two_gradients>().after) == "f32[layers, batch, in]"); }

TEST_CASE("what is there anyway costs nothing") { CHECK(stacked(*forms_of<seen>().after) == "f32[layers, batch, in]"); }

TEST_CASE("loops of the user's own") {
  CHECK(stacked(*forms_of<handed_on>().before) == "f32[layers, batch, in]; f32[layers, batch, in]; f32[layers, batch]");
  CHECK(stacked(*forms_of<handed_on>().after) == "f32[layers, batch, in]; f32[layers, batch]");
}
