// SPDX-License-Identifier: Apache-2.0
// Gradients in an each by tensors that the body computed or that all indices share, and next values that a second each
// of the same scope reads.
// passes: start-up
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/full.hpp"
#include "meshtensor/op/put.hpp"

#include "unit/op/trial.hpp"

namespace mt = meshtensor;
using mt::to, trial::numbers_of, trial::program;

namespace {

inline constexpr struct member_dim : mt::dim<"member", 3> {} member;
inline constexpr struct rounds_dim : mt::dim<"rounds", 2> {} rounds;
inline constexpr struct in_dim : mt::dim<"in", 2> {} in;

using numbers = std::vector<double>;
template <class Program>
struct in_f64 : mt::precision<Program, mt::f64> {};

void check(mt::block const& got, numbers const& wanted) {
  REQUIRE(got.size() == static_cast<std::int64_t>(wanted.size()));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    CHECK(numbers_of(got)[i] == doctest::Approx(wanted[i]).epsilon(1e-12));
}
template <class Program>
std::string refusal() {
  try {
    return program::of<in_f64<Program>>().graph().report.empty() ? "" : "it is refused late";
  } catch (mt::error const& e) { return std::string(e.code()); }
}
numbers const rows{0.5, 1.5, 2.5, 3.5, 4.5, 5.5};

struct by_what_is_shared {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), member, in);
    auto const w = s.input("w", s.real(), in);
    auto const [g, h, fast, joined] = mt::map(s, member, x, [&](mt::scope auto m, auto x1) {
      auto const y = w * 2;  // the same for all indices
      auto const one = mt::full(m, 1, m.real());
      auto const moved =
          mt::repeat(m, rounds, w, [&](mt::scope auto, auto v) { return v - 0.1 * gradient(sum(v * x1, in), v); });
      auto const part = sum(w, in);
      return std::tuple(gradient(sum(y * x1, in), y), gradient(one * one * sum(x1, in), one), moved,
                        put(x1, part, in, 1));
    });
    s.output("g", g), s.output("h", h), s.output("fast", fast), s.output("joined", joined);
  }
};

}  // namespace

TEST_CASE("an index has gradients of its own by tensors that all indices share") {
  program p = program::of<in_f64<by_what_is_shared>>();
  p.fill("x", rows), p.fill("w", {0.25, -0.5});
  mt::blocks const given = p.run();
  numbers h, fast, joined;
  for (std::size_t i = 0; i < 3; ++i) {
    h.push_back(2 * (rows[2 * i] + rows[2 * i + 1]));
    fast.push_back(0.25 - 0.2 * rows[2 * i]), fast.push_back(-0.5 - 0.2 * rows[2 * i + 1]);
    joined.push_back(rows[2 * i]), joined.push_back(-0.25);
  }
  check(given.at("g"), rows), check(given.at("h"), h), check(given.at("fast"), fast), check(given.at("joined"), joined);
}

namespace {
struct again {
  constexpr void operator()(mt::scope auto s) const {
    auto const wide = s.state("wide", s.real(), member);
    s.update(wide, wide + 3);
    mt::each(s / "a", member, [](mt::scope auto m) {
      auto const v = m.state("v", m.real());
      m.update(v, v + 1 + cast(mt::index(m, member), m.real()));
    });
    s.output("y", mt::each(s / "a", member, wide, [](mt::scope auto m, auto w) {
               auto const v = m.state("v", m.real());
               m.amend(v, m.next(v) * 10);
               return m.next(v) + 1000 * m.next(w);
             }));
  }
};
}  // namespace

TEST_CASE("a second each reads and amends what the first one wrote") {
  program p = program::of<in_f64<again>>();
  check(p.run().at("y"), {3010, 3020, 3030});
  check(p.variables.at("a/v"), {10, 20, 30});
}

namespace {
struct loss_outside {
  constexpr void operator()(mt::scope auto s) const {
    auto const w = s.parameter("w", in, mt::constant(1.0));
    auto const l = sum(w * w, in);
    s.output("g", mt::each(s, member, [&](mt::scope auto) { return gradient(l, w); }));
  }
};
struct partly_outside {
  constexpr void operator()(mt::scope auto s) const {
    auto const w = s.parameter("w", in, mt::constant(1.0));
    auto const h = w * w;
    mt::each(s / "m", member, [&](mt::scope auto m) {
      auto const v = m.parameter("v", in, mt::constant(1.0));
      auto const l = sum(h * w * v, in);
      auto const g = gradient_by_parameters<mt::f64>(l);
      m.update(v, v - sum(any_tensor_of(g), in));
    });
  }
  static constexpr auto any_tensor_of(auto const& g) { return mt::tensor<mt::f64, in_dim>(g.owner, g[0].gradient.id); }
};
}  // namespace

TEST_CASE("a gradient that would not see a part of its loss outside is refused") {
  CHECK(refusal<loss_outside>() == "G48");
  CHECK(refusal<partly_outside>() == "G48");
}
