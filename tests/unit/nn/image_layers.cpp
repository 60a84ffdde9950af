// SPDX-License-Identifier: Apache-2.0
// Convolutions and norms of images: values, gradients against finite differences and against plain operations.
#include "unit/nn/network.hpp"

#include "meshtensor/nn/convolution.hpp"
#include "meshtensor/nn/group_norm.hpp"
#include "meshtensor/nn/spectral_norm.hpp"
#include "meshtensor/op/reshape.hpp"

using namespace small_network;
using mt::to;

namespace {

inline constexpr struct pair_dim : mt::dim<"pair", 2> {} pair;
inline constexpr struct triple_dim : mt::dim<"triple", 3> {} triple;
inline constexpr struct half_dim : mt::dim<"half", mt::divided(length, 2)> {} half;
constexpr auto along() { return mt::window(length, length, head, {.padding = mt::centred_padding}); }
constexpr auto down() { return mt::window(length, half, head, {.stride = 2, .padding = mt::centred_padding}); }

auto const mapped = [](auto s, auto x, auto) { return mt::nn::convolution(s / "conv", x, model, hidden, down()); };
inline constexpr mt::layer plain = [](mt::scope auto s, auto x) {
  auto const kernel = s.parameter("kernel", head, model, hidden, mt::normal(sqrt(2 / (extent(head) * extent(model)))));
  return conv(x, kernel, to(batch, half, hidden), down()) + s.parameter("bias", hidden);
};

// Each half of `model`, by a kernel of its own.
auto const grouped = [](auto s, auto x, auto) {
  return mt::nn::convolution(s / "conv", split(x, model, to(heads, pair)), to(heads, pair), to(heads, triple), along());
};
inline constexpr mt::layer plain_groups = [](mt::scope auto s, auto x) {
  auto const y = split(x, model, to(heads, pair));  // first: check_same needs the dims in one order
  auto const kernel =
      s.parameter("kernel", head, heads, pair, triple, mt::normal(sqrt(2 / (extent(head) * extent(pair)))));
  return conv(y, kernel, to(batch, length, heads, triple), along()) + s.parameter("bias", heads, triple);
};

// One dim of channels becomes several, and several become one.
auto const to_several = [](auto s, auto x, auto) {
  auto const y = mt::nn::convolution(s / "apart", x, model, to(heads, triple), along());
  return mt::nn::convolution(s / "joined", y, to(heads, triple), hidden, along());
};
auto const listed = [](auto s, auto x, auto) {
  auto const y = mt::nn::convolution(s / "apart", x, to(model), to(heads, triple), along());
  return mt::nn::convolution(s / "joined", y, to(heads, triple), to(hidden), along());
};

// Without channels, as a grey image.
auto const of_grey = [](auto s, auto x, auto) {
  return mt::nn::convolution(s / "conv", sum(x, model), to(), hidden, down());
};
auto const of_grey_groups = [](auto s, auto x, auto) {
  return mt::nn::convolution(s / "conv", sum(x, model), to(), to(heads, triple), along());
};
auto const to_grey = [](auto s, auto x, auto) {
  auto const grey = mt::nn::convolution(s / "conv", x, model, to(), down());
  return mt::nn::convolution_transposed(s / "up", grey, to(), hidden, down());
};
inline constexpr mt::layer plain_grey = [](mt::scope auto s, auto x) {
  auto const kernel = s.parameter("kernel", head, hidden, mt::normal(sqrt(2 / extent(head))));
  return conv(x, kernel, to(batch, half, hidden), down()) + s.parameter("bias", hidden);
};

inline constexpr mt::layer plain_group_norm = [](mt::scope auto s, auto x) {
  auto const y = split(x, model, to(heads, pair));
  auto const centred = y - mean(y, length, pair);
  auto const normed = centred / sqrt(mean(centred * centred, length, pair) + 1e-5);
  return merge(normed, to(heads, pair), model) * s.parameter("gain", model, mt::ones) + s.parameter("bias", model);
};
inline constexpr mt::layer plain_instance_norm = [](mt::scope auto s, auto x) {
  auto const centred = x - mean(x, length);
  auto const normed = centred / sqrt(mean(centred * centred, length) + 1e-5);
  return normed * s.parameter("gain", model, mt::ones) + s.parameter("bias", model);
};

/// A program's variables before its first step.
template <class Program>
mt::blocks variables_of() {
  trial::program p = trial::program::of<Program>();
  p.run();
  return p.variables;
}

inline constexpr struct k_rows_dim : mt::dim<"k_rows", 3> {} k_rows;
inline constexpr struct k_cols_dim : mt::dim<"k_cols", 3> {} k_cols;
inline constexpr struct rows_dim : mt::dim<"rows", 4> {} rows;
inline constexpr struct cols_dim : mt::dim<"cols", 4> {} cols;
inline constexpr struct few_dim : mt::dim<"few", 8> {} few;
inline constexpr struct many_dim : mt::dim<"many", 64> {} many;

struct begun {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, few, rows, cols);
    auto const over = mt::window(rows, rows, k_rows, {.padding = mt::centred_padding});
    auto const beside = mt::window(cols, cols, k_cols, {.padding = mt::centred_padding});
    auto const y = mt::nn::convolution(s / "in", x, few, many, over, beside);
    static_assert(
        std::is_same_v<std::remove_cvref_t<decltype(y)>, mt::tensor<mt::f32, batch_dim, many_dim, rows_dim, cols_dim>>);
    auto const z = mt::nn::convolution(s / "out", y, many, few, over, beside, mt::nn::no_bias,
                                       mt::nn::he_normal(k_rows, k_cols, few));
    s.output("y", mt::nn::convolution(s / "each", z, to(few), to(few), over, mt::normal(0)));
  }
};
double deviation(mt::block const& b) {
  double squares = 0;
  for (std::int64_t i = 0; i < b.size(); ++i) squares += b.number_at(i) * b.number_at(i);
  return std::sqrt(squares / static_cast<double>(b.size()));
}

/// A matrix whose singular values are 3, 2 and 1.
template <int Iterations>
struct divided {
  constexpr void operator()(mt::scope auto s) const {
    auto const weight = s.parameter("weight", length, head);
    s.output("y", mt::nn::spectral_norm(s / "norm", weight, length, Iterations));
  }
};
void set_diagonal(trial::program& p, double size = 1) {
  mt::block& weight = p.variables.at("weight");
  for (std::int64_t i = 0; i < 9; ++i) weight.set(i, i % 4 == 0 ? (3 - static_cast<double>(i / 4)) * size : 0);
}

}  // namespace

TEST_CASE("convolution") {
  check_gradients("convolution", mapped);
  check_same("convolution", mapped, [](auto s, auto x, auto) { return plain(s / "conv", x); });
  check_gradients("in groups", grouped);
  check_same("in groups", grouped, [](auto s, auto x, auto) { return plain_groups(s / "conv", x); });
  check_same("to several dims", to_several, listed);
  check_gradients("each channel by itself", [](auto s, auto x, auto) {
    return mt::nn::convolution(s / "conv", x, to(model), to(model), along(), mt::nn::no_bias);
  });
  check_gradients("from no channels", of_grey);
  check_same("from no channels", of_grey, [](auto s, auto x, auto) { return plain_grey(s / "conv", sum(x, model)); });
  check_gradients("from no channels to several dims", of_grey_groups);
  check_gradients("to no channels", to_grey);
  check_gradients("transposed", [](auto s, auto x, auto) {
    auto const y = mt::nn::convolution(s / "down", x, model, hidden, down());
    return mt::nn::convolution_transposed(s / "up", y, hidden, model, down()) + x;
  });
}

TEST_CASE("kernels begin as He et al. say, or as asked; biases as zeros") {
  mt::blocks const all = variables_of<begun>();
  CHECK(all.size() == 5);
  REQUIRE(all.at("in/kernel").size() == 9 * 8 * 64);
  CHECK(deviation(all.at("in/kernel")) == doctest::Approx(std::sqrt(2 / (9.0 * 8))).epsilon(0.05));
  CHECK(deviation(all.at("out/kernel")) == doctest::Approx(std::sqrt(2 / (9.0 * 8))).epsilon(0.05));
  CHECK(deviation(all.at("in/bias")) == 0);
  CHECK(all.at("in/bias").size() == 64);
  CHECK(all.at("each/kernel").size() == 3 * 8);
  CHECK(deviation(all.at("each/kernel")) == 0);
  CHECK(all.at("each/bias").size() == 8);
}

TEST_CASE("group_norm") {
  auto const normed = [](auto s, auto x, auto) {
    return mt::nn::group_norm(s / "norm", x, model, to(heads, pair), length);
  };
  check_gradients("group_norm", normed);
  check_same("group_norm", normed, [](auto s, auto x, auto) { return plain_group_norm(s / "norm", x); });
  check_gradients("without positions",
                  [](auto s, auto x, auto) { return mt::nn::group_norm(s / "norm", x, model, to(heads, pair)); });
}

TEST_CASE("instance_norm") {
  auto const normed = [](auto s, auto x, auto) { return mt::nn::instance_norm(s / "norm", x, model, length); };
  check_gradients("instance_norm", normed);
  check_same("instance_norm", normed, [](auto s, auto x, auto) { return plain_instance_norm(s / "norm", x); });
}

TEST_CASE("spectral_norm finds the largest singular value, and keeps its vectors in an evaluation") {
  trial::program p = trial::program::of<divided<1>>();
  p.run();
  set_diagonal(p);
  for (int i = 0; i < 60; ++i) p.run();
  mt::block const y = p.run().at("y");
  for (std::int64_t i = 0; i < 9; ++i)
    CHECK(std::abs(y.number_at(i) - p.variables.at("weight").number_at(i) / 3) < 1e-6);

  trial::program several = trial::program::of<divided<8>>();
  several.run();
  set_diagonal(several);
  for (int i = 0; i < 8; ++i) several.run();
  CHECK(std::abs(several.run().at("y").number_at(0) - 1) < 1e-6);

  trial::program still = trial::program::of<divided<0>>();
  still.variables = p.variables;
  mt::block const same = still.run().at("y");
  for (std::int64_t i = 0; i < 9; ++i) CHECK(std::abs(same.number_at(i) - y.number_at(i)) < 1e-6);
  for (char const* name : {"norm/left", "norm/right"})
    CHECK(trial::numbers_of(still.variables.at(name)) == trial::numbers_of(p.variables.at(name)));
}

TEST_CASE("spectral_norm of a weight of zeros, which is trained later") {
  trial::program p = trial::program::of<divided<1>>();
  p.run();
  auto const vectors = [&] {
    return std::pair(trial::numbers_of(p.variables.at("norm/left")), trial::numbers_of(p.variables.at("norm/right")));
  };
  auto const before = vectors();
  mt::block& weight = p.variables.at("weight");
  for (std::int64_t i = 0; i < 9; ++i) weight.set(i, 0);
  for (int i = 0; i < 3; ++i)
    for (double const y : trial::numbers_of(p.run().at("y"))) CHECK(y == 0);
  CHECK(vectors() == before);
  set_diagonal(p);
  for (int i = 0; i < 60; ++i) p.run();
  CHECK(std::abs(p.run().at("y").number_at(0) - 1) < 1e-6);
}

TEST_CASE("spectral_norm of huge and of tiny weights") {
  for (double const size : {1e-36, 1e-25, 1e-14, 1e14, 1e25, 1e36}) {
    INFO("size " << size);
    trial::program p = trial::program::of<divided<30>>();
    p.run();
    set_diagonal(p, size);
    mt::block const y = p.run().at("y");
    for (std::int64_t i = 0; i < 9; ++i)
      CHECK(std::abs(y.number_at(i) - (i % 4 == 0 ? 1 - static_cast<double>(i / 4) / 3 : 0)) < 1e-5);
  }
}
