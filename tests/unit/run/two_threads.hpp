// SPDX-License-Identifier: Apache-2.0
// Two threads that step on one store: a step during another one is refused (R27) before it has taken anything.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <thread>

#include "meshtensor/meshtensor.hpp"

namespace two_threads {

namespace mt = meshtensor;

inline constexpr struct batch : mt::dim<"batch", 6> {} batch;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>> {};

/// Adds its input's elements and its number to a state, which is exact in any order of steps.
struct summing {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, batch);
    auto const total = s.state("total", mt::f64);
    auto const steps = s.state("steps", mt::i64);
    auto const by = sum(x, batch) + s.number("more", 0);
    s.update(total, total + by);
    s.update(steps, steps + 1);
    s.output("by", by);
  }
};

/// Steps until `wanted` steps were not refused; the number of refused ones.
template <class Step>
long until_done(int wanted, Step const& step) {
  long refused = 0;
  for (int done = 0; done < wanted;) {
    try {
      step();
      ++done;
    } catch (mt::error const& e) {
      if (e.code() != "R27") throw;
      ++refused;
      std::this_thread::yield();
    }
  }
  return refused;
}

/// Two threads step, on executables of their own or on one: each step counts once and has its own feeds.
template <class Device>
void take_turns(mt::job const& job, int processors, int wanted) {
  std::array<double, 6> const ones{1, 1, 1, 1, 1, 1}, threes{3, 3, 3, 3, 3, 3};
  for (bool const shares : {false, true}) {
    mt::store weights(job);
    using executable = mt::executable<summing, mesh, layout, Device>;
    executable first(weights, data(processors)), second(weights, data(processors));
    executable& other = shares ? first : second;
    bool own = true;
    long refused = 0, refused_there = 0;
    std::thread there([&] {
      refused_there = until_done(wanted, [&] {
        auto const result = other(mt::feed<"x">(threes), mt::set<"more">(7));
        if (!shares) own = own && result.template get<"by">() == 25;
      });
    });
    refused = until_done(wanted, [&] {
      auto const result = first(mt::feed<"x">(ones), mt::set<"more">(0.5));
      if (!shares) CHECK(result.template get<"by">() == 6.5);
    });
    there.join();
    CHECK(own);
    CHECK(weights.step() == 2 * static_cast<std::uint64_t>(wanted));
    CHECK(first.steps() == 2 * static_cast<std::uint64_t>(wanted));
    CHECK(weights.template get<double>("total").data()[0] == wanted * (6.5 + 25));
    CHECK(weights.template get<std::int64_t>("steps").data()[0] == 2 * wanted);
    MESSAGE((refused + refused_there) << " steps were refused");
  }
}

}  // namespace two_threads
