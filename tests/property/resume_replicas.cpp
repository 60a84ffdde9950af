// SPDX-License-Identifier: Apache-2.0
// Replicas resume with another number under any layout: what a mesh reads and merges is, bit for bit, what one rank
// merges, wherever the checkpoint was written.
//
// passes: start-up
// needs: io
// timeout: 300
#include <doctest/doctest.h>

#include <memory>

#include "meshtensor/io/checkpoint.hpp"
#include "property/sample.hpp"
#include "support/folder.hpp"
#include "unit/io/replica_programs.hpp"

namespace mt = meshtensor;
using namespace replica_programs;

namespace {

struct by_columns : mt::layout<mt::shard<hidden, data, model>> {};
struct by_rows : mt::layout<mt::shard<in, model>, mt::shard<layers, data>> {};
struct crosswise : mt::layout<mt::shard<replica, model>, mt::shard<next, data>> {};
using policy = mt::stochastic_gradient_push<mt::random_out_degrees<5>>;

struct place {
  int layout, on_data, on_model;
};
constexpr place places[] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 5, 1}, {1, 2, 2},
                            {1, 5, 1}, {2, 2, 3}, {3, 2, 4}, {3, 1, 7}};
constexpr int counts[] = {1, 2, 3, 4, 6, 8};

/// A store with a training of some replicas, under a layout.
struct held {
  held(mt::job const& job, int replicas, place const& at, std::uint64_t seed) : weights(job, seed) {
    if (at.layout == 0) make<by_replicas>(replicas, at);
    else if (at.layout == 1) make<by_columns>(replicas, at);
    else if (at.layout == 2) make<by_rows>(replicas, at);
    else make<crosswise>(replicas, at);
  }
  template <class Layout>
  void make(int replicas, place const& at) {
    step = std::make_shared<run_in_f64<replicas_of<policy>, Layout>>(weights, replica(replicas), data(at.on_data),
                                                                     model(at.on_model));
  }
  /// Gives all floats numbers of their own, and integers counts.
  void draw() {
    for (auto& [label, s] : weights.values()) {
      auto const size = static_cast<std::size_t>(s.bytes() / static_cast<std::int64_t>(mt::bytes_of(s.type)));
      std::vector<double> const drawn = numbers(size, ++drawn_from);
      if (s.type == mt::f64) weights.set(label, drawn);
      else weights.set(label, std::vector<std::int64_t>(drawn.begin(), drawn.end()));
    }
  }

  mt::store weights;
  std::shared_ptr<void> step;
  std::uint64_t drawn_from = 11;
};

}  // namespace

TEST_CASE("from every layout and number to every other") {
  auto const before = std::exchange(mt::on_warning(), {});
  auto const job = mt::job::in_lockstep();
  std::uint64_t number = 0;
  long tried = 0;
  for (int const n : counts)
    for (place const& from : places) {
      meshtensor_test::own_folder const folder;
      held one(job, n, from, 1);
      one.draw();
      mt::save(one.weights, folder.path());
      for (int const m : counts) {
        held alone(job, m, {0, 1, 1}, 2);
        mt::load(alone.weights, folder.path()).require_all();
        auto const expected = bytes_of(alone.weights);
        if (n == m) CHECK(expected == bytes_of(one.weights));
        for (place const& to : places) {
          if (!property::is_in_even_sample(number++)) continue;
          INFO(n << " in " << from.layout << from.on_data << from.on_model << " to " << m << " in " << to.layout
                 << to.on_data << to.on_model);
          held other(job, m, to, 3);
          mt::load(other.weights, folder.path()).require_all();
          CHECK(bytes_of(other.weights) == expected);
          ++tried;
        }
      }
    }
  mt::on_warning() = before;
  property::at_least(2916, tried);
}
