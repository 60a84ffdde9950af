// SPDX-License-Identifier: Apache-2.0
// Generates small programs that train in loops, branches and eaches, and runs them on plain numbers, too.
#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/full.hpp"
#include "property/subject.hpp"

namespace property {

inline constexpr struct rounds_dim : mt::dim<"rounds", 3> {} rounds;
inline constexpr struct member_dim : mt::dim<"member", 2> {} member;

/// A program in which every value is one number. Its bodies update variables once, amend the updates and read them.
class control_fuzzer {
 public:
  explicit control_fuzzer(std::uint64_t seed, bool untraced = false) : c_{seed}, graph_(new mt::module{}) {
    written const nothing{};
    whole_ = body(nothing, 0, false);
    if (untraced) return;
    mt::builder b(*graph_);
    b.begin_region(mt::region_kind::entry, b.intern(entry()));
    scope const s(&b, mt::no_id, mt::line(std::source_location()));
    auto const x = s.input("x", mt::f64);
    s.output("y", traced({s, variables(s)}, x, whole_, number(x * 0.5)));
  }

  std::string source() const { return text(whole_, 0); }
  static mt::name entry() { return "main"; }
  mt::module const& graph() const { return *graph_; }
  int count(char const* what) const { return count_in(whole_, what); }

  /// The values of the variables: three of the whole program, and three for each of two members.
  static constexpr std::size_t size = 9;
  using values = std::array<double, size>;
  /// The variable's path, and its element.
  static std::pair<std::string, std::int64_t> place_of(std::size_t slot) {
    std::string const label = "v" + std::to_string(slot % 3);
    if (slot < 3) return {label, 0};
    return {"members/" + label, static_cast<std::int64_t>(slot / 3 - 1)};
  }
  /// Runs one step on plain numbers. Returns the output.
  double run(double x, values& all) const {
    values next{};
    flags is_next{};
    double const y = computed({x, 0}, whole_, x * 0.5, all, next, is_next);
    for (std::size_t v = 0; v < size; ++v)
      if (is_next[v]) all[v] = next[v];
    return y;
  }

 private:
  using scope = mt::trace_scope<mt::dtype::f64>;
  using number = mt::tensor<mt::dtype::f64>;
  using written = std::array<bool, 6>;
  using flags = std::array<bool, size>;
  enum class kind { move, descend, update, amend, read_next, loop, branch, members };
  struct statement {
    kind what;
    std::size_t variable = 0, other = 0;
    double a = 0, b = 0;
    std::vector<statement> first, second;
  };
  using body_of = std::vector<statement>;

  // ---- what is generated ----

  double factor() { return 0.25 * (c_.below(7) - 3); }
  // `taken`: variables that a body around this one has updated.
  body_of body(written const& taken, int depth, bool in_each) {
    body_of all;
    written mine{};
    for (int n = 2 + c_.below(3), i = 0; i < n; ++i) statements(all, taken, mine, depth, in_each);
    last_ = mine;
    return all;
  }
  std::size_t readable(bool in_each) { return static_cast<std::size_t>(c_.below(in_each ? 6 : 3)); }
  std::size_t own(bool in_each) { return static_cast<std::size_t>(c_.below(3)) + (in_each ? 3 : 0); }
  void statements(body_of& all, written const& taken, written& mine, int depth, bool in_each) {
    statement s{kind::move, own(in_each), readable(in_each), factor(), factor(), {}, {}};
    int const what = c_.below(depth < 3 ? 12 : 7);
    bool const may_update = !taken[s.variable] && !mine[s.variable];
    if (what < 2) {
      s.variable = s.other;
    } else if (what < 5) {
      if (!may_update && !mine[s.variable]) return;
      s.what = !may_update ? kind::amend : what < 4 ? kind::descend : kind::update;
      mine[s.variable] = true;
    } else if (what < 7) {
      s.what = kind::read_next;
      s.variable = s.other;
    } else {
      written around = taken;
      for (std::size_t v = 0; v < 6; ++v) around[v] = around[v] || mine[v];
      bool const opens = what == 7 && !in_each;
      if (opens) s.what = kind::members, s.first = body(around, depth + 1, true);
      else if (what < 10) s.what = kind::loop, s.first = body(around, depth + 1, in_each);
      else {
        s.what = kind::branch, s.first = body(around, depth + 1, in_each);
        written const of_first = last_;
        s.second = body(around, depth + 1, in_each);
        for (std::size_t v = 0; v < 6; ++v) last_[v] = last_[v] || of_first[v];
      }
      for (std::size_t v = 0; v < 6; ++v) mine[v] = mine[v] || last_[v];
    }
    all.push_back(std::move(s));
  }
  static std::string text(body_of const& all, int indent) {
    std::string t;
    constexpr char const* names[] = {"move", "descend", "update", "amend", "next", "loop", "branch", "each"};
    for (statement const& s : all) {
      t += std::string(static_cast<std::size_t>(indent), ' ') + names[static_cast<int>(s.what)] + " v" +
           std::to_string(s.variable) + " by v" + std::to_string(s.other) + "\n" + text(s.first, indent + 2);
      if (!s.second.empty())
        t += std::string(static_cast<std::size_t>(indent), ' ') + "else\n" + text(s.second, indent + 2);
    }
    return t;
  }
  static int count_in(body_of const& all, std::string const& what) {
    int n = 0;
    for (statement const& s : all)
      n += count_in(s.first, what) + count_in(s.second, what) +
           (what == (s.what == kind::loop      ? "loops"
                     : s.what == kind::branch  ? "branches"
                     : s.what == kind::members ? "eaches"
                     : s.what == kind::amend   ? "amends"
                     : s.what == kind::descend ? "gradients"
                                               : ""));
    return n;
  }

  // ---- as a graph ----

  static std::vector<number> variables(scope const& s) {
    return {s.state("v0", mt::f64), s.state("v1", mt::f64), s.state("v2", mt::f64)};
  }
  // A scope, and the variables that its body sees.
  struct place {
    scope own;
    std::vector<number> seen;
    place in(scope const& s) const { return {s, seen}; }
    number read(std::size_t v) const { return seen[v]; }
  };
  static number traced(place const& p, number const& x, body_of const& all, number t) {
    scope const& s = p.own;
    for (statement const& one : all) {
      std::size_t const v = one.variable;
      switch (one.what) {
        case kind::move: t = tanh(t * one.a + p.read(v) * one.b + x); break;
        case kind::descend: {
          auto const w = p.read(v);
          auto const e = w * x * one.a + p.read(one.other) * one.b + stop_gradient(t) + 0.5;
          s.update(w, w - 0.1 * gradient(e * e, w));
          break;
        }
        case kind::update: s.update(p.read(v), tanh(p.read(one.other) * one.a + t * one.b) + 0.25); break;
        case kind::amend: {
          auto const w = p.read(v);
          s.amend(w, s.next(w) * one.a + p.read(one.other) * one.b);
          break;
        }
        case kind::read_next: t = tanh(t + s.next(p.read(v)) * one.a); break;
        case kind::loop:
          t = std::get<0>(mt::scan(s, rounds, t, mt::iota(s, rounds, mt::i64),
                                   [&](scope const& r, number const& inside, auto const&) {
                                     number const last = traced(p.in(r), x, one.first, inside);
                                     return std::tuple(last, last);
                                   }));
          break;
        case kind::branch:
          t = mt::cond(
              s, t * one.a < one.b * 0.25, [&](scope const& r) { return traced(p.in(r), x, one.first, t); },
              [&](scope const& r) { return traced(p.in(r), x, one.second, t); });
          break;
        case kind::members:
          t = mean(mt::each(s / "members", member,
                            [&](scope const& m) {
                              place inside = p.in(m);
                              for (number const& own_variable : variables(m)) inside.seen.push_back(own_variable);
                              number const own = x + cast<mt::f64>(mt::index(m, member)) * 0.5;
                              return traced(inside, own, one.first, t);
                            }),
                   member);
      }
    }
    return t;
  }

  // ---- on plain numbers ----

  struct world {
    double x;
    std::size_t index;  // of the member
    std::size_t slot(std::size_t v) const { return v < 3 ? v : v + 3 * index; }
  };
  static double computed(world const& w, body_of const& all, double t, values const& before, values& next,
                         flags& is_next) {
    for (statement const& one : all) {
      std::size_t const v = w.slot(one.variable), other = w.slot(one.other);
      double const pending = is_next[v] ? next[v] : before[v];
      auto const set = [&](double y) { next[v] = y, is_next[v] = true; };
      switch (one.what) {
        case kind::move: t = std::tanh(t * one.a + before[v] * one.b + w.x); break;
        case kind::descend: {
          double const factor = w.x * one.a + (other == v ? one.b : 0);
          double const e = before[v] * w.x * one.a + before[other] * one.b + t + 0.5;
          set(before[v] - 0.1 * 2 * e * factor);
          break;
        }
        case kind::update: set(std::tanh(before[other] * one.a + t * one.b) + 0.25); break;
        case kind::amend: set(pending * one.a + before[other] * one.b); break;
        case kind::read_next: t = std::tanh(t + pending * one.a); break;
        case kind::loop: loop(w, one, t, before, next, is_next); break;
        case kind::branch: {
          bool const holds = t * one.a < one.b * 0.25;
          t = computed(w, holds ? one.first : one.second, t, before, next, is_next);
          break;
        }
        case kind::members: {
          double sum = 0;
          for (std::size_t i = 0; i < 2; ++i)
            sum += computed({w.x + 0.5 * static_cast<double>(i), i}, one.first, t, before, next, is_next);
          t = sum / 2;
        }
      }
    }
    return t;
  }
  // The updates of an iteration are the values before the next one.
  static void loop(world const& w, statement const& one, double& t, values const& before, values& next,
                   flags& is_next) {
    values now = before;
    flags ever{};
    for (int r = 0; r < 3; ++r) {
      values then = next;
      flags did = is_next;
      t = computed(w, one.first, t, now, then, did);
      for (std::size_t k = 0; k < size; ++k)
        if (did[k] && !is_next[k]) now[k] = then[k], ever[k] = true;
    }
    for (std::size_t k = 0; k < size; ++k)
      if (ever[k]) next[k] = now[k], is_next[k] = true;
  }

  rng c_;
  written last_{};
  body_of whole_;
  std::unique_ptr<mt::module> graph_;
};

}  // namespace property
