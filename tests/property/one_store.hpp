// SPDX-License-Identifier: Apache-2.0
// Checks that programs with separate parameters do not influence each other through a shared store, in any order of
// steps.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/device/reference.hpp"
#include "meshtensor/run/session.hpp"
#include "support/layouts.hpp"
#include "support/programs.hpp"

namespace one_store {

namespace mt = meshtensor;
using mt::to, programs::batch, programs::inner, programs::layers, programs::model, programs::steps;

/// A small network with all kinds of random numbers, in a loop, too.
inline constexpr mt::layer network = [](mt::scope auto s, auto x) {
  auto noisy = mt::nn::dropout(s / "drop", x, 0.25) + 0.1 * normal(s / "noise", s.real(), to(batch, model));
  auto deep = repeat(s / "deep", layers, noisy, [](mt::scope auto r, auto h) {
    return h + mt::nn::dropout(r / "drop", tanh(h * r.parameter("gain", model, mt::normal(0.5))), 0.25);
  });
  return mt::nn::linear(s / "down", tanh(mt::nn::linear(s / "up", deep, model, inner)), inner, model);
};

/// One program for each number: each has its own network, optimizer, schedule, average, random numbers and counts,
/// though all optimizers have the same scope.
template <int Which>
struct learner {
  constexpr void operator()(mt::scope auto s) const {
    if constexpr (Which == 0) learn(s, s / "first", mt::sgd{.learning_rate = rate(s)});
    if constexpr (Which == 1) learn(s, s / "second", mt::momentum{.learning_rate = rate(s), .clip_norm = 0.5});
    if constexpr (Which == 2) learn(s, s / "third", mt::adam{.learning_rate = rate(s), .clip_norm = 1});
    if constexpr (Which == 3) learn(s, s / "fourth", mt::adamw{.learning_rate = rate(s), .weight_decay = rate(s)});
    if constexpr (Which == 4) learn(s, s / "fifth", mt::adafactor{.learning_rate = rate(s)});
  }

 private:
  static constexpr mt::number rate(auto s) {
    if constexpr (Which % 3 == 0) return mt::nn::warmup_cosine(s, s.number("peak", 0.2), 2, 7, 0.1);
    else if constexpr (Which % 3 == 1) return mt::nn::inverse_square_root(s, 0.1, 2);
    else return mt::nn::warmup_linear(s, 0.1, 3, 9, 0.2);
  }
  static constexpr void learn(auto s, auto own, auto const& how) {
    auto x = s.input("x", s.real(), batch, model);
    auto d = network(own, x) - x * (1 + 0.1 * s.step());
    auto loss = mean(d * d);
    s.output("loss", loss);
    s.output("noise", uniform(own / "seen", s.real(), to(model)));
    how.minimize(s / "optimizer", loss);
    mt::moving_average{.decay = 0.75}.follow(own / "average", own);
  }
};

/// A loss accumulated over microbatches, and a program that changes nothing.
struct in_parts {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, model);
    auto parts = s.input("parts", s.real(), steps, batch, model);
    auto [loss, gradients] = mt::accumulate(s / "sixth", steps, std::tuple(parts), [](auto m, auto now) {
      auto d = network(m, now) - now;
      return mean(d * d);
    });
    s.output("loss", loss + 0 * sum(x));
    mt::adam{.learning_rate = mt::nn::warmup_constant(s, 0.1, 4)}.minimize(s / "optimizer", gradients);
  }
};
struct drawing {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, model);
    s.output("loss", mean(mt::nn::dropout(s / "drop", x, 0.5)) * (s.step() + 1));
    s.output("noise", normal(s / "noise", s.real(), to(model)));
  }
};

inline constexpr int count = 7;

struct traced_program {
  std::unique_ptr<mt::module> traced;
  mt::name entry;
};
inline std::vector<traced_program> all_programs() {
  std::vector<traced_program> all;
  auto const add = [&]<class P>() { all.push_back({mt::on_heap([] { return mt::trace<P>(); }), mt::entry_name<P>()}); };
  add.operator()<learner<0>>(), add.operator()<learner<1>>(), add.operator()<learner<2>>();
  add.operator()<learner<3>>(), add.operator()<learner<4>>(), add.operator()<in_parts>(), add.operator()<drawing>();
  return all;
}

/// Every bit that this process holds of outputs and, at the end, of variables, by step of the program and name.
using course = std::map<std::string, std::vector<std::byte>>;

/// The programs of one mesh and layout, lowered once.
class lowered_programs {
 public:
  lowered_programs(std::vector<traced_program> const& all, mt::mesh_shape mesh, mt::layout_rules const& rules)
      : mesh_(mesh) {
    for (traced_program const& p : all) low_.push_back(mt::lower(*p.traced, p.entry, mesh, rules, {}));
  }

  /// Runs the steps of the programs in `order` on one store; `only`: those of one program, with the others left out.
  std::array<course, count> run(mt::job const& job, std::vector<int> const& order, int only = -1) const {
    mt::store values(job, 5);
    std::array<std::unique_ptr<mt::session<mt::reference_device>>, count> sessions;
    std::array<course, count> all;
    std::array<int, count> done{};
    std::vector<double> parts;
    for (int i = 0; i < 3 * 24 * 12; ++i) parts.push_back(0.01 * (i % 97) - 0.4);
    for (int const which : order) {
      if (only >= 0 && which != only) continue;
      auto const w = static_cast<std::size_t>(which);
      auto& s = sessions[w];
      if (!s) {  // before its first step
        s = std::make_unique<mt::session<mt::reference_device>>(values, low_[w]->graph, low_[w]->planned, mesh_,
                                                                low_[w]->entry);
        std::vector<float> const narrow(parts.begin(), parts.end());
        s->feed("x", narrow.data());
        if (which == 5) s->feed("parts", narrow.data());
      }
      s->step();
      std::string const when = "step " + std::to_string(done[w]++) + " ";
      for (char const* label : {"loss", "noise"})
        if (which != 5 || label == std::string("loss"))
          for (std::size_t k = 0; k < s->held().size(); ++k)
            keep(all[w], when + label, s->held()[k].rank(), s->local(label, k));
    }
    for (auto& [path, v] : values.values())
      for (std::size_t w = 0; w < count; ++w)
        if (path.find(name_of(w)) != std::string::npos)
          for (std::size_t k = 0; k < v.blocks.size(); ++k) {
            mt::view part = v.windows[k];
            part.data = v.block_of(k);
            keep(all[w], path, static_cast<int>(k), part);
          }
    return all;
  }

 private:
  static std::string name_of(std::size_t w) {
    constexpr char const* names[] = {"first", "second", "third", "fourth", "fifth", "sixth", "drawing"};
    return names[w];
  }
  static void keep(course& to, std::string const& label, int rank, mt::view const& v) {
    auto const* first = static_cast<std::byte const*>(static_cast<void const*>(v.data));
    to[label + " " + std::to_string(rank)].assign(first, first + v.bytes());
  }

  mt::mesh_shape mesh_;
  std::vector<std::unique_ptr<mt::lowering>> low_;
};

/// Each mesh with a layout of the programs on it.
inline std::vector<std::pair<mt::mesh_shape, mt::layout_rules>> all_spreads() {
  auto const one = mt::mesh_shape{}.add("data", 2);
  auto const two = mt::mesh_shape{}.add("data", 2).add("tensor", 2);
  return {{mt::mesh_shape{}.add("data", 1), {}},
          {one, mt::layout_rules{}.shard("batch", {"data"})},
          {one, mt::layout_rules{}.shard("model", {"data"}, "optimizer").shard("batch", {"data"})},
          {mt::mesh_shape{}.add("data", 3), mt::layout_rules{}.shard("model", {"data"})},
          {two, mt::layout_rules{}.shard("batch", {"data"}).shard("model", {"tensor"})}};
}

/// Draws orders of steps at random, and checks that a program's steps are the same as alone.
inline int hold(mt::job const& job, int orders, std::uint64_t seed) {
  auto const programs = all_programs();
  meshtensor_test::rng c{seed};
  int compared = 0;
  for (auto const& [mesh, rules] : all_spreads()) {
    if (job.get().size() != 0 && job.get().size() != mesh.size()) continue;
    lowered_programs const low(programs, mesh, rules);
    for (int o = 0; o < orders; ++o) {
      std::vector<int> order;
      for (int i = 0; i < 24; ++i) order.push_back(c.below(count));
      std::string drawn;
      for (int const which : order) drawn += std::to_string(which);
      INFO("mesh of " << mesh.size() << ", order " << drawn);
      auto const together = low.run(job, order);
      for (int which = 0; which < count; ++which) {
        if (std::ranges::count(order, which) == 0) continue;
        auto const alone = low.run(job, order, which);
        course const& x = together[static_cast<std::size_t>(which)];
        course const& y = alone[static_cast<std::size_t>(which)];
        INFO("program " << which);
        CHECK(!x.empty());
        CHECK(x.size() == y.size());
        for (auto const& [label, bytes] : x) {
          INFO(label);
          CHECK(y.at(label) == bytes);
        }
        ++compared;
      }
    }
  }
  return compared;
}

}  // namespace one_store
