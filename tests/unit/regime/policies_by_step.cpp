// SPDX-License-Identifier: Apache-2.0
// Pairs of policies in one training, beside the same pairs on the host. Each counts its own turns.
// passes: start-up
#include "unit/regime/policies_on_host.hpp"

using namespace policies_on_host;

namespace {

using changing = mt::one_peer_exponential;
using matching = mt::random_matching<1>;
using uneven = irregular<3>;

/// A policy and a function that makes its form on the host.
template <class Policy, auto Make>
struct paired {
  using policy = Policy;
  static shared on_host() { return Make(); }
};
template <class T, auto... Args>
shared made() {
  return std::make_shared<T>(Args...);
}
struct no_policy {};
/// A policy whose replicas take the mean of their steps, from parameters that may differ.
struct steps_in_common {
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    for (int i = 0; i < r.size(); ++i) {
      auto const [before, after] = r[i];
      r.set(r[i], before + r.mean(after - before, before));
    }
  }
};
struct common_steps : policy {
  void act(parameter& p, int) const override {
    p.after = combined(p.before, p.mean_of(combined(p.after, p.before, minus)), plus);
  }
};
using means_of_steps = paired<steps_in_common, made<common_steps>>;
using nothing = paired<no_policy, made<nothing_at_all>>;
template <int H>
using local = paired<mt::local_sgd<H>, made<means, H>>;
template <int H>
using slow = paired<mt::slow_momentum<H>, made<outer_momentum, H, 1.0, 0.5, false>>;
template <int H>
using diloco = paired<mt::diloco<H>, made<outer_momentum, H, 0.7, 0.9, true>>;
template <int H>
using streaming = paired<mt::streaming_diloco<H, 2>, made<outer_momentum_of_fragments, H>>;
template <int H, mt::topology T>
using pairs = paired<mt::no_loco<H, T>, made<in_pairs<T>, H>>;
template <mt::topology T>
using mixing_of = paired<mt::decentralized_sgd<T>, made<gossip<T>>>;
template <mt::topology T>
using push_of = paired<mt::stochastic_gradient_push<T>, made<pushed<T, false>>>;
template <mt::topology T>
using early_push = paired<mt::overlapped_gradient_push<T>, made<pushed<T, true>>>;
using synchronous = paired<mt::synchronous, made<gradients>>;

template <int Steps, class A, class B>
struct alternating {
  using policy = mt::by_step<mt::every_nth_step<Steps>, typename A::policy, typename B::policy>;
  static shared on_host() { return std::make_shared<in_turn>(Steps, A::on_host(), B::on_host()); }
};
template <int Steps, class A, class B>
struct sequence {
  using policy = mt::by_step<mt::first_steps<Steps>, typename A::policy, typename B::policy>;
  static shared on_host() { return std::make_shared<one_after_the_other>(Steps, A::on_host(), B::on_host()); }
};

template <class Step, class... Each>
void check_all(int steps) {
  (check<typename Each::policy, Step>(steps, Each::on_host()), ...);
}

}  // namespace

TEST_CASE("SGP with slow momentum: the outer step is that of all steps since the last one") {
  check_all<train_step, alternating<4, slow<1>, push_of<changing>>, alternating<4, slow<1>, push_of<uneven>>,
            alternating<3, diloco<2>, push_of<uneven>>, alternating<3, local<1>, push_of<uneven>>,
            alternating<3, means_of_steps, push_of<uneven>>, alternating<2, streaming<4>, push_of<changing>>,
            alternating<2, slow<2>, early_push<uneven>>>(17);
}
TEST_CASE("a policy in every n-th step has whole periods, whatever the other one does") {
  check_all<train_step, alternating<4, local<1>, diloco<4>>, alternating<3, diloco<2>, mixing_of<mt::ring>>,
            alternating<2, local<2>, local<3>>, alternating<4, mixing_of<mt::directed_ring>, local<4>>,
            alternating<3, mixing_of<changing>, slow<3>>, alternating<3, nothing, diloco<2>>,
            alternating<1, slow<2>, nothing>, alternating<3, mixing_of<changing>, streaming<4>>,
            alternating<3, pairs<1, matching>, local<2>>>(17);
}
TEST_CASE("the rounds of a topology are the turns of its policy") {
  check_all<train_step, alternating<2, push_of<changing>, nothing>, alternating<3, mixing_of<changing>, local<2>>,
            alternating<3, nothing, mixing_of<changing>>, alternating<2, pairs<1, matching>, nothing>,
            alternating<2, push_of<changing>, early_push<uneven>>>(11);
}
TEST_CASE("NoLoCo meets in all rounds of a topology") {
  check_all<train_step, pairs<3, changing>, pairs<2, changing>, pairs<2, matching>>(13);
}
TEST_CASE("one policy after the other: a period that needs equal replicas begins at their mean") {
  check_all<train_step, sequence<5, local<2>, diloco<2>>, sequence<5, mixing_of<changing>, slow<3>>,
            sequence<4, nothing, diloco<2>>, sequence<4, diloco<3>, slow<2>>,
            sequence<4, pairs<2, matching>, diloco<2>>, sequence<3, nothing, streaming<4>>,
            sequence<3, diloco<2>, pairs<2, changing>>, sequence<3, local<2>, push_of<uneven>>>(13);
}
TEST_CASE("push-sum hands over the weighted mean to a policy without weights") {
  check_all<train_step, sequence<5, push_of<uneven>, local<3>>, sequence<5, early_push<uneven>, diloco<2>>,
            sequence<3, push_of<uneven>, pairs<1, matching>>, sequence<4, push_of<uneven>, mixing_of<mt::ring>>,
            sequence<4, push_of<changing>, push_of<uneven>>>(11);
}
TEST_CASE("by_step in by_step counts the turns of its own policies") {
  check_all<train_step, sequence<2, local<1>, sequence<4, diloco<4>, local<2>>>,
            sequence<6, sequence<3, nothing, diloco<3>>, mixing_of<changing>>,
            alternating<3, alternating<2, slow<2>, local<3>>, push_of<uneven>>,
            alternating<2, local<1>, alternating<2, diloco<1>, mixing_of<changing>>>,
            alternating<3, sequence<2, diloco<1>, slow<2>>, mixing_of<changing>>,
            alternating<2, nothing, sequence<3, local<2>, slow<2>>>,
            sequence<3, nothing, alternating<3, slow<1>, push_of<uneven>>>,
            alternating<3, sequence<3, push_of<uneven>, local<1>>, push_of<changing>>>(19);
}
TEST_CASE("gradients are averaged first, and periods of any depth follow") {
  check_all<plain_step, sequence<3, synchronous, sequence<3, diloco<2>, local<2>>>,
            sequence<3, sequence<2, synchronous, local<1>>, slow<2>>,
            sequence<2, synchronous, alternating<3, diloco<1>, push_of<uneven>>>>(13);
}
TEST_CASE("compressed means follow push-sum, which has given all replicas its mean") {
  using means = mt::by_step<mt::first_steps<4>, mt::stochastic_gradient_push<uneven>, mt::local_sgd<3>>;
  using bytes = mt::by_step<mt::first_steps<4>, mt::stochastic_gradient_push<uneven>,
                            mt::compressed<mt::quantized<8>, mt::local_sgd<3>>>;
  program whole = program::of<in_f64<mt::replicas<train_step, replica, means>>>(),
          rounded = program::of<in_f64<mt::replicas<train_step, replica, bytes>>>();
  for (program* p : {&whole, &rounded}) {
    p->run();
    p->settings.step = 0;
    for (auto& [path, b] : p->variables)
      for (std::int64_t i = 0; i < b.size(); ++i)
        b.set(i, path == "regime/push_sum_weight"                                ? 1
                 : path.starts_with("regime/") || path.starts_with("optimizer/") ? 0
                                                                                 : 0.5);
    for (int step = 0; step < 10; ++step)
      p->fill("x", drawn(8 * n, 100 + static_cast<std::uint64_t>(step))), p->fill("y", drawn(4 * n, 7)), p->run();
  }
  numbers const exact = numbers_of(whole.variables.at("gain")), near = numbers_of(rounded.variables.at("gain"));
  for (std::size_t i = 0; i < exact.size(); ++i) {
    CHECK(near[i] == near[i % 3]);  // the step ends a period, so all replicas are equal
    CHECK(std::abs(near[i] - exact[i]) < 0.01);
  }
}
