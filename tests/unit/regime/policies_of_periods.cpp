// SPDX-License-Identifier: Apache-2.0
// The policies that differ from step to step, beside their algorithms on the host.
// passes: start-up
#include <algorithm>

#include "unit/regime/beside_host.hpp"

using namespace beside_host;

TEST_CASE("local SGD takes the mean at the end of each period") {
  compare<mt::local_sgd<3>>(7, [](values const&, values const& after, auto&, std::string const&, int step) {
    return (step + 1) % 3 == 0 ? mean(after) : after;
  });
  compare<mt::local_sgd<1>>(
      2, [](values const&, values const& after, auto&, std::string const&, int) { return mean(after); });
}
TEST_CASE("slow momentum and DiLoCo take a step of an outer optimizer at the end of each period") {
  compare<mt::slow_momentum<2>>(7, outer<false>(2, 1, 0.5));
  compare<mt::diloco<3>>(10, outer<true>(3, 0.7, 0.9));
  compare<mt::diloco<1>>(3, outer<true>(1, 0.7, 0.9));
}

namespace {
template <class Policy, int Steps>
struct with_period : Policy {
  constexpr with_period() { this->period = Steps; }
};
}  // namespace
TEST_CASE("a policy of one's own sets the period") {
  compare<with_period<mt::local_sgd<100>, 3>>(7, [](values const&, values const& after, auto&, std::string const&,
                                                    int step) { return (step + 1) % 3 == 0 ? mean(after) : after; });
  compare<with_period<mt::diloco<1>, 3>>(10, outer<true>(3, 0.7, 0.9));
}

namespace {
/// A policy in steps that end a period of `every`, and another one in the others.
mixing in_some(int every, mixing const& first, mixing const& other) {
  return [=](values const& before, values const& after, std::map<std::string, values>& states, std::string const& path,
             int step) { return ((step + 1) % every == 0 ? first : other)(before, after, states, path, step); };
}
/// The mean of parameters by the weights, which stay.
values weighted_mean(values const&, values const& after, std::map<std::string, values>& states, std::string const&,
                     int) {
  values const w = spread(states["regime/push_sum_weight"], after);
  return combined(mean(combined(after, w, times)), mean(w), over);
}
}  // namespace
TEST_CASE("one policy until a step and another one from then on, which counts from 0") {
  compare<mt::by_step<mt::first_steps<3>, mt::local_sgd<1>, mt::diloco<2>>>(
      8, [](values const& before, values const& after, std::map<std::string, values>& states, std::string const& path,
            int step) {
        return step < 3 ? mean(after) : outer<true>(2, 0.7, 0.9)(before, after, states, path, step - 3);
      });
}
TEST_CASE("post-local SGD averages gradients until a step, and parameters later") {
  compare<mt::by_step<mt::first_steps<4>, mt::synchronous, mt::local_sgd<3>>, plain_step>(
      10, [](values const& before, values const& after, auto&, std::string const&, int step) {
        if (step < 4) return combined(before, mean(combined(after, before, minus)), plus);
        return (step - 4 + 1) % 3 == 0 ? mean(after) : after;
      });
}
TEST_CASE("gossip with an average at times keeps the weighted mean") {
  using policy = mt::by_step<mt::every_nth_step<3>, mt::local_sgd<1>, mt::stochastic_gradient_push<irregular<3>>>;
  compare<policy>(8, in_some(3, weighted_mean, push<irregular<3>, false>), {"regime/push_sum_weight"});
}
TEST_CASE("NoLoCo takes an outer step in random pairs") {
  using pairs = mt::random_matching<1>;
  compare<mt::no_loco<2>>(9, [](values const& before, values const& after, std::map<std::string, values>& states,
                                std::string const& path, int step) {
    values &start = states["start of " + path], &velocity = states["regime/" + path + "/velocity"];
    if (velocity.empty()) velocity = values(before.size(), numbers(before[0].size()));
    if (step % 2 == 0) start = before;
    if (step % 2 == 0) return after;
    values const middle = mixed<pairs>(start, step), way = combined(middle, mixed<pairs>(after, step), minus);
    velocity = combined(velocity, way, [](double v, double w) { return 0.5 * v - 0.7 * w; });
    velocity = combined(velocity, combined(start, middle, minus), minus);
    return combined(start, velocity, plus);
  });
}
TEST_CASE("streaming DiLoCo takes the outer steps of its fragments one after the other") {
  // The parameters are first/bias, first/weight and gain in an order of their own, so a fragment is found by its steps.
  std::vector<std::string> order;
  program const listed = program::of<in_f64<mt::replicas<train_step, replica, mt::streaming_diloco<4, 2>>>>();
  for (int v = 0; v < listed.graph().variable_count; ++v)
    if (mt::variable const& one = listed.graph().variables[v]; one.trainable) {
      mt::diagnostic path{};
      mt::add_path(path, listed.graph(), one.path);
      order.emplace_back(path.view());
    }
  REQUIRE(order.size() == 3);
  compare<mt::streaming_diloco<4, 2>>(
      11, [&](values const& before, values const& after, std::map<std::string, values>& states, std::string const& path,
              int step) {
        auto const which = std::find(order.begin(), order.end(), path) - order.begin();
        values &start = states["start of " + path], &velocity = states["velocity of " + path];
        if (velocity.empty()) velocity = values(before.size(), numbers(before[0].size()));
        int const place = (step + (which % 2 == 1 ? 2 : 0)) % 4;
        if (step == 0 || place == 0) start = before;
        if (place != 3) return after;
        values const gradient = combined(start, mean(after), minus);
        auto const kept = [](double v, double g) { return v * 0.9 + g; };
        velocity = combined(velocity, gradient, kept);
        return combined(start, combined(velocity, gradient, kept), [](double s, double u) { return s - 0.7 * u; });
      });
}
