// SPDX-License-Identifier: Apache-2.0
// The policies that differ from step to step, beside their algorithms on the host.
// passes: start-up
#include "unit/regime/policies_on_host.hpp"

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
TEST_CASE("streaming DiLoCo takes the outer steps of its fragments one after the other") {
  using policies_on_host::outer_momentum_of_fragments;
  policies_on_host::check<mt::streaming_diloco<4, 2>>(11, std::make_shared<outer_momentum_of_fragments>(4));
}
