// SPDX-License-Identifier: Apache-2.0
// Convolutions: an element of the result is a sum of products of the elements that a window reaches with a kernel.
#include "meshtensor/op/conv.hpp"

#include "meshtensor/op/pool.hpp"
#include "meshtensor/op/rename.hpp"
#include "unit/op/values.hpp"

using namespace laws;
using mt::to;

namespace {
struct five_dim : mt::dim<"five", 5> {};

/// x along b with a kernel of three elements for each c.
template <class Places, int Stride, int Dilation, int Low, int High>
constexpr auto moved = [](auto, auto x, auto y, auto... more) {
  return conv(x, rename(y, b, row), to(a, Places{}, c, more...),
              mt::window(b, Places{}, row, {.stride = Stride, .dilation = Dilation, .padding = {Low, High}}));
};
/// The other way: each element of x is spread over the window that would reach it.
template <class Input, int Stride, int Dilation, int Low, int High>
constexpr auto spread = [](auto, auto x, auto y, auto... more) {
  return conv_transposed(x, rename(y, b, row), to(c, a, Input{}, more...),
                         mt::window(Input{}, b, row, {.stride = Stride, .dilation = Dilation, .padding = {Low, High}}));
};

/// The kernel's dim is also the one that the window gives, or moves along, or both.
constexpr auto gives_dim_of_kernel = [](auto, auto x, auto y, auto... more) {
  return conv(x, rename(y, b, row), to(a, row, c, more...), mt::window(b, row, row, {.padding = {1, 1}}));
};
constexpr auto moves_along_dim_of_kernel = [](auto, auto x, auto y, auto... more) {
  return conv(x, y, to(a, row, c, more...), mt::window(b, row, b, {.padding = {1, 1}}));
};
constexpr auto of_one_dim = [](auto, auto x, auto y, auto... more) {
  return conv(x, y, to(a, b, c, more...), mt::window(b, b, b, {.padding = {1, 1}}));
};
constexpr auto spread_from_dim_of_kernel = [](auto, auto x, auto y, auto... more) {
  return conv_transposed(x, y, to(c, a, row, more...), mt::window(row, b, b, {.padding = {1, 1}}));
};

trial::program filled(laws::traced_program traced) {
  trial::program p = with_gradients(traced, 0);
  p.fill_at_random(-1, 1);
  return p;
}
template <class Places, int Stride, int Dilation, int Low, int High>
void moves_as_a_loop() {
  INFO("stride " << Stride << ", dilation " << Dilation << ", padding " << Low << " and " << High);
  using F = std::remove_const_t<decltype(moved<Places, Stride, Dilation, Low, High>)>;
  trial::program p = filled(laws::apply<F>);
  mt::block const got = p.run().at("result"), &x = p.inputs.at("x"), &y = p.inputs.at("y");
  int const places = static_cast<int>(got.size()) / 8;
  for (int i = 0; i < 2; ++i)
    for (int o = 0; o < places; ++o)
      for (int k = 0; k < 4; ++k) {
        double sum = 0;
        for (int w = 0; w < 3; ++w)
          if (int const at = Stride * o + Dilation * w - Low; at >= 0 && at < 3)
            sum += x.number_at(i * 3 + at) * y.number_at(w * 4 + k);
        check_close(got.number_at((i * places + o) * 4 + k), sum, 1e-14);
      }
  hold("its laws", F{});
}
template <class Input, int Stride, int Dilation, int Low, int High>
void spreads_as_a_loop() {
  INFO("stride " << Stride << ", dilation " << Dilation << ", padding " << Low << " and " << High);
  using F = std::remove_const_t<decltype(spread<Input, Stride, Dilation, Low, High>)>;
  trial::program p = filled(laws::apply<F>);
  mt::block const got = p.run().at("result"), &x = p.inputs.at("x"), &y = p.inputs.at("y");
  int const inputs = static_cast<int>(got.size()) / 8;
  numbers wanted(static_cast<std::size_t>(got.size()));
  for (int i = 0; i < 2; ++i)
    for (int o = 0; o < 3; ++o)
      for (int k = 0; k < 4; ++k)
        for (int w = 0; w < 3; ++w)
          if (int const at = Stride * o + Dilation * w - Low; at >= 0 && at < inputs)
            wanted[static_cast<std::size_t>((k * 2 + i) * inputs + at)] +=
                x.number_at(i * 3 + o) * y.number_at(w * 4 + k);
  CHECK(same(trial::numbers_of(got), wanted, 1e-14));
  hold("its laws", F{});
}

/// 1, 10 and 100.
constexpr auto weights(auto s) {
  auto const i = mt::iota(s, row, mt::f64);
  return 1 + i * (40.5 * i - 31.5);
}
constexpr auto around_ring(auto s, auto v) {
  return conv(v, weights(s), to(a, b), mt::window(b, b, row, {.padding = mt::circular_padding}));
}
/// The sum of three elements in their dtype.
constexpr auto summed = [](auto s, auto v) {
  return conv(v, iota(s, row, mt::dtype_constant<decltype(v)::type>{}) * 0 + 1, to(a, first),
              mt::window(b, first, row));
};
}  // namespace

TEST_CASE("values and laws") {
  moves_as_a_loop<laws::first_dim, 1, 1, 0, 0>();
  moves_as_a_loop<laws::d_dim, 1, 1, 1, 1>();
  moves_as_a_loop<laws::part_dim, 2, 1, 1, 1>();
  moves_as_a_loop<laws::d_dim, 1, 2, 2, 2>();
  moves_as_a_loop<laws::part_dim, 1, 1, -1, 2>();
}

TEST_CASE("values and laws of transposed convolutions") {
  spreads_as_a_loop<five_dim, 1, 1, 0, 0>();
  spreads_as_a_loop<five_dim, 2, 1, 1, 1>();
}

TEST_CASE("dtypes") {
  CHECK(of<mt::dtype::f32>(summed, one_to_six) == numbers{6, 15});
  CHECK(of<mt::dtype::i32>(summed, one_to_six) == numbers{6, 15});
  CHECK(of<mt::dtype::i64>(summed, one_to_six) == numbers{6, 15});
  CHECK(of<mt::dtype::bf16>(summed, {256, 1, 1, 0, 0, 1}) == numbers{258, 1});  // summed in f32
}

TEST_CASE("a sharded dim is reached beyond the parts, some of which are empty") {
  for (char const* dim : {"a", "b", "c"}) {
    hold_sharded("along the window", moved<laws::d_dim, 1, 1, 1, 1>, dim);
    hold_sharded("transposed", spread<five_dim, 2, 1, 1, 1>, dim);
  }
}

TEST_CASE("a dim of the kernel may be one that the window moves along or gives") {
  auto const all = [](char const* what, auto f) {
    hold(what, f);
    for (char const* dim : {"a", "b", "c", "row"}) hold_sharded(what, f, dim);
  };
  all("the one that it gives", gives_dim_of_kernel);
  all("the one that it moves along", moves_along_dim_of_kernel);
  all("both", of_one_dim);
  all("transposed", spread_from_dim_of_kernel);
}

TEST_CASE("a result of another extent than the window has places is refused") {
  using F = std::remove_const_t<decltype(moved<laws::part_dim, 1, 1, 1, 1>)>;
  CHECK_THROWS_WITH_AS(with_gradients(laws::apply<F>, 0), doctest::Contains("S03: a window over 'row'"), mt::error);
}

TEST_CASE("a convolution along a ring") {
  CHECK(of([](auto s, auto v) { return around_ring(s, v); }, one_to_six) == numbers{213, 321, 132, 546, 654, 465});
  CHECK_THROWS_WITH_AS(
      of(
          [](auto s, auto v) {
            return conv_transposed(v, weights(s), to(a, b), mt::window(b, b, row, {.padding = mt::circular_padding}));
          },
          one_to_six),
      doctest::Contains("meshtensor T49: mt::circular_padding is for convolutions that are not"), mt::error);
}
