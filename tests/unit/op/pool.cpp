// SPDX-License-Identifier: Apache-2.0
// The greatest element, the sum and the mean of each window that moves along a dim.
#include "meshtensor/op/pool.hpp"

#include "unit/op/values.hpp"

using namespace laws;

namespace {
/// How windows of one trial move.
struct movement {
  int size, stride, dilation, low, high;

  constexpr auto window(auto places) const {
    return mt::window(b, places, size, {.stride = stride, .dilation = dilation, .padding = {low, high}});
  }
};
template <class Places, movement M>
constexpr auto greatest = [](auto, auto x, auto, auto...) { return max_pool(x, M.window(Places{})); };
template <class Places, movement M>
constexpr auto total = [](auto, auto x, auto, auto...) { return sum_pool(x, M.window(Places{})); };
template <class Places, movement M>
constexpr auto mean_of_all = [](auto, auto x, auto, auto...) { return mean_pool(x, M.window(Places{})); };
template <class Places, movement M>
constexpr auto mean_of_own =
    [](auto, auto x, auto, auto...) { return mean_pool(x, M.window(Places{}), mt::mean_over::elements); };

template <class F>
void is_as_a_loop(F f, movement const& m, double (*from)(numbers const& own, int size)) {
  trial::program p = with_gradients(laws::apply<F>, 0);
  p.fill_at_random(-1, 1);
  mt::block const got = p.run().at("result"), &x = p.inputs.at("x");
  int const places = static_cast<int>(got.size()) / 2;
  for (int i = 0; i < 2; ++i)
    for (int o = 0; o < places; ++o) {
      numbers own;
      for (int w = 0; w < m.size; ++w)
        if (int const at = m.stride * o + m.dilation * w - m.low; at >= 0 && at < 3)
          own.push_back(x.number_at(i * 3 + at));
      check_close(got.number_at(i * places + o), from(own, m.size), 1e-14);
    }
  hold_for_one("its laws", f);
  hold_sharded("its parts", f, "a");
  hold_sharded("its parts", f, "b");
}
double sum_of(numbers const& own, int) {
  double sum = 0;
  for (double const one : own) sum += one;
  return sum;
}
template <class Places, movement M>
void pools_as_a_loop() {
  INFO("size " << M.size << ", stride " << M.stride << ", dilation " << M.dilation << ", from " << -M.low);
  is_as_a_loop(greatest<Places, M>, M,
               [](numbers const& own, int) { return own.empty() ? 0 : *std::ranges::max_element(own); });
  is_as_a_loop(total<Places, M>, M, sum_of);
  is_as_a_loop(mean_of_all<Places, M>, M, [](numbers const& own, int size) { return sum_of(own, size) / size; });
  is_as_a_loop(mean_of_own<Places, M>, M, [](numbers const& own, int size) {
    return own.empty() ? 0 : sum_of(own, size) / static_cast<double>(own.size());
  });
}

/// Windows of one element, the first of which is padding.
constexpr auto behind_padding() { return mt::window(b, c, 1, {.padding = {1, 0}}); }
}  // namespace

TEST_CASE("values and laws") {
  pools_as_a_loop<laws::part_dim, movement{2, 1, 1, 0, 0}>();
  pools_as_a_loop<laws::part_dim, movement{3, 2, 1, 1, 1}>();
  pools_as_a_loop<laws::c_dim, movement{2, 1, 2, 2, 1}>();
}

TEST_CASE("dtypes") {
  auto const greatest_of_two = [](auto, auto v) { return max_pool(v, mt::window(b, part, 2)); };
  auto const sum_of_three = [](auto, auto v) { return sum_pool(v, mt::window(b, first, 3)); };
  CHECK(of<mt::dtype::i32>(greatest_of_two, {-5, -7, -1, 4, 6, 5}) == numbers{-5, -1, 6, 6});
  CHECK(of<mt::dtype::i64>(sum_of_three, one_to_six) == numbers{6, 15});
  CHECK(of<mt::dtype::bf16>(sum_of_three, {256, 1, 1, 0, 0, 1}) == numbers{258, 1});  // summed in f32
  CHECK(same(of<mt::dtype::f32>(greatest_of_two, {1, no_number, 3, -inf, -inf, 2}), {no_number, no_number, -inf, 2}));
}

TEST_CASE("the first of equals takes the gradient") {
  CHECK(of([](auto, auto v) { return gradient(sum(max_pool(v, mt::window(b, first, 3))), v); }, {1, 7, 7, 4, 4, 4}) ==
        numbers{0, 1, 0, 1, 0, 0});
}

TEST_CASE("what is refused") {
  CHECK_THROWS_WITH_AS(of([](auto, auto v) { return sum_pool(v, mt::window(b, c, 2)); }, one_to_six),
                       doctest::Contains("S03: a window over"), mt::error);
  CHECK_THROWS_WITH_AS(of([](auto, auto v) { return sum_pool(v, mt::window(b, part, 0)); }, one_to_six),
                       doctest::Contains("T47: a window has at least 1 element"), mt::error);
  CHECK_THROWS_WITH_AS(
      of([](auto, auto v) { return sum_pool(v, mt::window(b, b, 3, {.padding = mt::circular_padding})); }, one_to_six),
      doctest::Contains("meshtensor T49: pools have no mt::circular_padding"), mt::error);
}

TEST_CASE("a window of padding alone gives 0") {
  numbers const wanted = {0, 1, 2, 3, 0, 4, 5, 6};
  CHECK(of([](auto, auto v) { return mean_pool(v, behind_padding(), mt::mean_over::elements); }, one_to_six) == wanted);
  CHECK(of([](auto, auto v) { return mean_pool(v, behind_padding()); }, one_to_six) == wanted);
  CHECK(of([](auto, auto v) { return max_pool(v, behind_padding()); }, {-1, -2, -3, -4, -5, -6}) ==
        numbers{0, -1, -2, -3, 0, -4, -5, -6});
  CHECK(of([](auto, auto v) { return gradient(sum(mean_pool(v, behind_padding(), mt::mean_over::elements)), v); },
           one_to_six) == numbers(6, 1));
}
