// SPDX-License-Identifier: Apache-2.0
// Generates small programs of two nested maps, whose loops and branches differ by one index or by both. Inside, they
// use both indices, draw random numbers and watch tensors, some of which would be NaN for pairs that take no part.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/full.hpp"
#include "meshtensor/op/gradient.hpp"
#include "meshtensor/op/random.hpp"
#include "meshtensor/op/steps.hpp"
#include "meshtensor/op/while_loop.hpp"
#include "property/subject.hpp"

namespace property {

inline constexpr struct task_dim : mt::dim<"task", 3> {} task;
inline constexpr struct rival_dim : mt::dim<"rival", 2> {} rival;
inline constexpr struct twice_dim : mt::dim<"twice", 2> {} twice;

/// A program in which every value of a pair is one number. It can be traced for all pairs, or for one of them alone.
class decision_fuzzer {
 public:
  static constexpr int tasks = 3, others = 2;
  struct pair {
    int task, rival;
  };

  explicit decision_fuzzer(std::uint64_t seed)
      : c_{seed}, body_(statements(0, {})), inner_gradient_(c_.one_in(2)), is_squared_(c_.one_in(2)) {}

  /// For all pairs: input x and outputs [task, rival].
  std::unique_ptr<mt::module> together() const {
    return traced([this](scope const& s, number const& w) {
      auto const x = s.input("x", mt::f64, task, rival);
      auto const [y, g] =
          mt::map(s / "tasks", task, x, [&](scope const& m, mt::tensor<mt::dtype::f64, rival_dim> const& mine) {
            return mt::map(m / "others", rival, mine,
                           [&](scope const& n, number const& one) { return result(n, w, one, nullptr); });
          });
      s.output("y", y), s.output("g", g);
      s.output("dx", gradient(sum(y * y), x)), s.output("dw", gradient(sum(y * y), w));
    });
  }
  /// For one pair: the same without dims.
  std::unique_ptr<mt::module> alone(pair const& p) const {
    return traced([&](scope const& s, number const& w) {
      auto const x = s.input("x", mt::f64);
      auto const body = mt::layer([&](mt::scope auto n, auto one) { return result(n, w, one, &p); });
      auto const [y, g] = body((s / "tasks") / "others", x);
      s.output("y", y), s.output("g", g);
      s.output("dx", gradient(y * y, x)), s.output("dw", gradient(y * y, w));
    });
  }
  int count(char const* what) const { return count_in(body_, what); }
  std::string source() const { return text(body_, 0); }

 private:
  using scope = mt::trace_scope<mt::dtype::f64>;
  using number = mt::tensor<mt::dtype::f64>;
  enum class kind { move, index, draw, root, watch, branch, loop, empty_loop };
  enum class condition { by_value, by_index, by_both };
  /// `above` says for a `root` which open condition by an index it relies on.
  struct statement {
    kind what = kind::move;
    condition by = condition::by_value;
    bool of_task = false;
    double a = 0, b = 0;
    int label = 0;
    std::size_t above = 0;
    std::vector<statement> first, second;
  };
  using statements_of = std::vector<statement>;
  /// What is known of a body: whether the indices that the conditions around it compare are those of tasks, and whether
  /// it is in a branch, where nothing is watched.
  struct known {
    std::vector<bool> of_task;
    bool in_branch = false;
  };

  // ---- what is generated ----

  statements_of statements(int depth, known const& around) {
    statements_of all;
    for (int n = (depth == 0 ? 2 : 1) + c_.below(3), i = 0; i < n; ++i) {
      statement s{};
      s.of_task = c_.one_in(2), s.a = 0.25 * (c_.below(7) - 3), s.b = 0.25 * (c_.below(5) - 2), s.label = labels_++;
      int const what = c_.below(depth < 3 ? 14 : 8);
      if (what < 3) s.what = what < 1 ? kind::move : kind::index;
      else if (what < 5) s.what = kind::draw;
      else if (what < 7 && !around.of_task.empty())
        s.what = kind::root, s.above = static_cast<std::size_t>(c_.below(static_cast<int>(around.of_task.size())));
      else if (what == 7 && !around.in_branch && watched_++ < 20) s.what = kind::watch;
      else if (what == 8 && depth == 0) s.what = kind::empty_loop;
      else if (what > 8) {
        s.what = what < 11 ? kind::branch : kind::loop;
        s.by = static_cast<condition>(c_.below(3));
        known inside = around;
        if (s.by != condition::by_value) inside.of_task.push_back(s.of_task);
        inside.in_branch = around.in_branch || s.what == kind::branch;
        s.first = statements(depth + 1, inside);
        inside.of_task = around.of_task;
        if (s.what == kind::branch) s.second = statements(depth + 1, inside);
      }
      all.push_back(std::move(s));
    }
    return all;
  }
  static constexpr char const* names[] = {"moves",   "indices",  "draws", "roots",
                                          "watches", "branches", "loops", "empty"};
  static int count_in(statements_of const& all, std::string const& what) {
    int n = 0;
    for (statement const& s : all)
      n += (what == names[static_cast<int>(s.what)]) + count_in(s.first, what) + count_in(s.second, what);
    return n;
  }
  static std::string text(statements_of const& all, std::size_t indent) {
    constexpr char const* conditions[] = {"the value", "an index", "both"};
    std::string t;
    for (statement const& s : all) {
      t += std::string(indent, ' ') + names[static_cast<int>(s.what)] + (s.of_task ? " (task) " : " (rival) ") +
           std::to_string(s.a) + " " + std::to_string(s.b);
      t += s.first.empty() ? "\n" : std::string(" by ") + conditions[static_cast<int>(s.by)] + "\n";
      t += text(s.first, indent + 2);
      if (!s.second.empty()) t += std::string(indent, ' ') + "else\n" + text(s.second, indent + 2);
    }
    return t;
  }

  // ---- as a graph ----

  template <class F>
  static std::unique_ptr<mt::module> traced(F const& body) {
    std::unique_ptr<mt::module> m(new mt::module{});
    mt::builder b(*m);
    b.begin_region(mt::region_kind::entry, b.intern(mt::name("main")));
    scope const s(&b, mt::no_id, mt::line(std::source_location()));
    body(s, s.input("w", mt::f64));
    return m;
  }
  std::tuple<number, number> result(scope const& s, number const& w, number const& x, pair const* one) const {
    number y = run({s, w, one, {}}, body_, x);
    if (is_squared_) y = y * y + w;
    return {y, inner_gradient_ ? gradient(y, w) : y * 1.0};
  }
  /// A body, and for each open condition by an index the number that this index exceeds.
  struct place {
    scope s;
    number w;
    pair const* one;
    std::vector<std::pair<bool, number>> above;

    number index(bool of_task) const {
      if (one != nullptr) return full(s, of_task ? one->task : one->rival, mt::f64);
      return of_task ? cast<mt::f64>(mt::index(s, task)) : cast<mt::f64>(mt::index(s, rival));
    }
    place in(scope const& r) const { return {r, w, one, above}; }
    place in(scope const& r, statement const& by, number const& exceeded) const {
      place p = in(r);
      if (by.by != condition::by_value) p.above.push_back({by.of_task, exceeded});
      return p;
    }
  };
  static mt::named_here numbered(char const* what, int i) {
    mt::named_here label("some");
    label.label = mt::name::of(what + std::to_string(i));
    return label;
  }
  static mt::tensor<mt::boolean> holds(place const& p, statement const& s, number const& t, number const& exceeded) {
    auto const by_value = t * s.a < s.b + 0.125;
    if (s.by == condition::by_value) return by_value;
    auto const by_index = p.index(s.of_task) > exceeded;
    return s.by == condition::by_index ? by_index : by_index && by_value;
  }
  static number run(place const& p, statements_of const& all, number t) {
    for (statement const& s : all) {
      scope const here = p.s / numbered("s", s.label);
      switch (s.what) {
        case kind::move: t = tanh(t * s.a + p.w * s.b + 0.25); break;
        case kind::index: t = t + p.index(s.of_task) * s.a; break;
        case kind::draw: t = t + p.w * 0.125 * sqrt(mt::uniform(here, mt::f64, mt::to()) - 0.125); break;
        case kind::root: {
          auto const& [of_task, exceeded] = p.above[s.above];
          t = tanh(t + p.w * 0.5 * log((p.index(of_task) - exceeded) * 2));
          break;
        }
        case kind::watch: p.s.watch(numbered("t", s.label), t * s.a + p.index(s.of_task)); break;
        case kind::branch: {
          number const exceeded = full(p.s, s.b, mt::f64);
          t = mt::cond(
              here, holds(p, s, t, exceeded), [&](scope const& r) { return run(p.in(r, s, exceeded), s.first, t); },
              [&](scope const& r) { return run(p.in(r), s.second, t); });
          break;
        }
        case kind::loop:
          t = std::get<2>(mt::while_loop(
              here, mt::at_most(3),
              [&](scope const& r, number const& k, number const& h) { return holds(p.in(r), s, h, k); },
              [&](scope const& r, number const& k, number const& h) {
                return std::tuple(k + 1.0, run(p.in(r, s, k), s.first, h));
              },
              full(p.s, s.b, mt::f64), t));
          break;
        case kind::empty_loop:
          mt::steps(p.s, twice, [&](auto const& r) { r.watch(numbered("e", s.label), p.w * t); });
          break;
      }
    }
    return t;
  }

  rng c_;
  int labels_ = 0, watched_ = 0;
  statements_of body_;
  bool inner_gradient_, is_squared_;
};

}  // namespace property
