// SPDX-License-Identifier: Apache-2.0
// Softmax and its kin, and the mask of what comes after.
#include "meshtensor/op/softmax.hpp"

#include "unit/op/values.hpp"

using namespace laws;

TEST_CASE("softmax and its kin do not overflow") {
  CHECK(of([](auto, auto x) { return softmax(x, b); }, {1000, 1000, -1000, -1e30, -1e30, -1e30}) ==
        numbers{0.5, 0.5, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3});
  CHECK(of([](auto, auto x) { return log_softmax(x, b); }, {0, -1000, -1e9, 7, 7, -1e30})[1] == -1000);
  CHECK(of([](auto, auto x) { return logsumexp(x, b); }, {1000, -1000, 0, -1000, -1e30, -1e30}) ==
        numbers{1000, -1000});
}

TEST_CASE("a nan is the result of what gets one, as in PyTorch") {
  numbers const nans(6, no_number);
  CHECK(same(of([](auto, auto v) { return softmax(v, b); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return log_softmax(v, b); }, nans), nans));
}

TEST_CASE("elements of -inf take no part; where there are no others, softmax and all gradients are zero") {
  numbers const some = {0, -inf, std::log(3.0), -inf, -inf, -inf};
  CHECK(same(of([](auto, auto x) { return softmax(x, b); }, some), {0.25, 0, 0.75, 0, 0, 0}, 1e-15));
  CHECK(same(of([](auto, auto x) { return log_softmax(x, b); }, some),
             {-std::log(4.0), -inf, std::log(0.75), -inf, -inf, -inf}, 1e-15));
  CHECK(same(of([](auto, auto x) { return logsumexp(x, b); }, some), {std::log(4.0), -inf}, 1e-15));
  CHECK(of([](auto, auto x) { return logsumexp(x, b); }, {inf, -inf, 0, 1, inf, inf}) == numbers{inf, inf});
  CHECK(same(of([](auto s, auto x) { return derivative_of(s, x, softmax(x, b)); }, some), {-0.375, 0, 0.375, 0, 0, 0},
             1e-15));
  CHECK(same(of([](auto s, auto x) { return derivative_of(s, x, select(x < -9, 0, log_softmax(x, b))); }, some),
             {0, 0, 0, 0, 0, 0}, 1e-15));
  CHECK(same(of([](auto, auto x) { return gradient(sum(log_softmax(x, b)), x); }, some), {0.25, 1, -1.25, 0, 0, 0},
             1e-15));
  CHECK(
      same(of([](auto, auto x) { return gradient(sum(logsumexp(x, b)), x); }, some), {0.25, 0, 0.75, 0, 0, 0}, 1e-15));
  numbers const least(6, -std::numeric_limits<float>::max());  // finite, however low, is not masked
  CHECK(same(of<mt::dtype::f32>([](auto, auto x) { return softmax(x, b); }, least), numbers(6, 1.0f / 3)));
  CHECK(same(of<mt::dtype::bf16>([](auto, auto x) { return softmax(x, b); }, some), {0.25, 0, 0.75, 0, 0, 0}, 1e-2));
  CHECK(same(of<mt::dtype::bf16>([](auto, auto x) { return gradient(sum(logsumexp(x, b)), x); }, some),
             {0.25, 0, 0.75, 0, 0, 0}, 1e-2));
}

TEST_CASE("the gradient of logsumexp in bf16 adds up to 1, however large the elements are") {
  numbers const large = {256, 256, 256, -20, -20, -inf};
  CHECK(same(of<mt::dtype::bf16>([](auto, auto x) { return gradient(sum(logsumexp(x, b)), x); }, large),
             {1.0 / 3, 1.0 / 3, 1.0 / 3, 0.5, 0.5, 0}, 1e-3));
  CHECK(of<mt::dtype::bf16>([](auto, auto x) { return logsumexp(x, b); }, large) == numbers{258, -19.25});
}

TEST_CASE("causal hides what comes after") {
  CHECK(of([](auto, auto x) { return causal(x, a, b); }, one_to_six) == numbers{1, -1e30, -1e30, 4, 5, -1e30});
  CHECK(of([](auto, auto x) { return causal(x, b, a); }, one_to_six) == numbers{1, 2, 3, -1e30, 5, 6});
}

TEST_CASE("laws") {
  hold_for_one("softmax", [](auto, auto x, auto, auto...) { return softmax(x, b); });
  hold("softmax of a product", [](auto, auto x, auto y, auto...) { return softmax(4 * (x * y), c); });
  hold_for_one("log_softmax", [](auto, auto x, auto, auto...) { return log_softmax(3 * x, b); });
  hold_for_one("logsumexp", [](auto, auto x, auto, auto...) { return logsumexp(3 * x, b); });
  hold_for_one("causal, then softmax", [](auto, auto x, auto, auto...) { return softmax(causal(x, a, b), b); });
}

TEST_CASE("on ranks, some of which have no element of a dim") {
  hold_sharded("softmax", [](auto, auto x, auto, auto...) { return softmax(x, b); }, "a");
  hold_sharded("softmax", [](auto, auto x, auto, auto...) { return softmax(x, b); }, "b");
}
