// SPDX-License-Identifier: Apache-2.0
// A small network of every layer for images beside PyTorch's, from the same weights: the losses of four steps, then all
// parameters and running averages, then an evaluation and its gradients, as tests/data/image_layers_by_torch.py has
// recorded them.
//
// passes: start-up
// needs: cpu
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "meshtensor/device/default.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/source_path.hpp"

namespace mt = meshtensor;

namespace net {
using mt::to;
namespace nn = mt::nn;

inline constexpr struct batch : mt::dim<"batch", 4> {} batch;
inline constexpr struct rows : mt::dim<"rows", 7> {} rows;
inline constexpr struct cols : mt::dim<"cols", 5> {} cols;
inline constexpr struct rows_2 : mt::dim<"rows_2", mt::divided(rows, 2)> {} rows_2;
inline constexpr struct k_rows : mt::dim<"k_rows", 3> {} k_rows;
inline constexpr struct k_cols : mt::dim<"k_cols", 3> {} k_cols;
inline constexpr struct c_in : mt::dim<"c_in", 3> {} c_in;
inline constexpr struct middle : mt::dim<"middle", 6> {} middle;
inline constexpr struct groups : mt::dim<"groups", 2> {} groups;
inline constexpr struct in_group : mt::dim<"in_group", 3> {} in_group;
inline constexpr struct out_group : mt::dim<"out_group", 2> {} out_group;
inline constexpr struct out : mt::dim<"out", groups * out_group> {} out;
inline constexpr struct last : mt::dim<"last", 5> {} last;

constexpr auto loss_of(mt::scope auto s, auto x, nn::batch_statistics from) {
  auto const down = mt::window(rows, rows_2, k_rows, {.stride = 2, .padding = mt::centred_padding});
  auto const on = mt::window(rows_2, rows_2, k_rows, {.padding = mt::centred_padding});
  auto const beside = mt::window(cols, cols, k_cols, {.padding = mt::centred_padding});
  auto first = nn::convolution(s / "first", x, c_in, middle, down, beside, nn::no_bias);
  auto normed = relu(nn::batch_norm(s / "norm", first, middle, from));
  auto apart = nn::convolution(s / "groups", split(normed, middle, to(groups, in_group)), to(groups, in_group),
                               to(groups, out_group), on, beside);
  auto y = merge(apart, to(groups, out_group), out);
  y = tanh(nn::group_norm(s / "group_norm", y, out, to(groups, out_group), rows_2, cols));
  y = y + nn::instance_norm(s / "instance_norm", y * y, out, rows_2, cols);
  int const iterations = from == nn::batch_statistics::of_batch ? 1 : 0;
  auto weight = nn::spectral_norm(s / "spectral", s.parameter("weight", out, last), last, iterations);
  auto z = einsum(y, weight, to(batch, rows_2, cols, last));
  auto large = nn::convolution_transposed(s / "up", z, last, c_in, down);
  return mean(large * (large * 0.5 + 0.3));
}

/// A step of gradient descent, with the statistics from `From`.
template <nn::batch_statistics From>
struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, rows, cols, c_in);
    auto loss = loss_of(s, x, From);
    s.output("loss", loss);
    s.output("dx", gradient(loss, x));
    mt::sgd{.learning_rate = 0.5}.minimize(s / "optimizer", loss);
  }
};
struct train : step<nn::batch_statistics::of_batch> {};
struct evaluate : step<nn::batch_statistics::running> {};
struct freeze : step<nn::batch_statistics::frozen> {};

inline constexpr struct data : mt::axis<"data", 2> {} data;
inline constexpr struct space : mt::axis<"space", 2> {} space;
struct mesh : mt::mesh<data, space> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<rows, space>> {};
struct by_channels : mt::layout<mt::shard<batch, data>, mt::shard<middle, space>, mt::shard<last, space>> {};
}  // namespace net

namespace {

using recorded = std::map<std::string, std::vector<double>>;
recorded read() {
  std::ifstream file(meshtensor_test::source_path(__FILE__).replace_extension(".txt"));
  REQUIRE(file.good());
  recorded all;
  std::string name;
  std::size_t index = 0;
  double value = 0;
  while (file >> name >> index >> value) {
    REQUIRE(all[name].size() == index);
    all[name].push_back(value);
  }
  REQUIRE(all.size() == 21);
  return all;
}

template <class T>
std::vector<T> values(int place, std::size_t count, double around, double scale) {
  std::vector<T> all(count);
  for (std::size_t i = 0; i < count; ++i)
    all[i] = static_cast<T>(scale * (around + 0.2 * std::sin(0.7 * (place + 1) + 1.3 * static_cast<double>(i) +
                                                             0.01 * static_cast<double>(i % 97 * (i % 89)))));
  return all;
}
template <class T>
std::vector<T> image(int step) {
  return values<T>(step, 4 * 7 * 5 * 3, 0.1 * step, 5);
}

void check_near(auto const& got, std::vector<double> const& wanted, double tolerance) {
  REQUIRE(static_cast<std::size_t>(got.size()) == wanted.size());
  double worst = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(got.data()[i]) - wanted[i]) / (1 + std::abs(wanted[i])));
  CHECK(worst < tolerance);
}

template <class A>
bool are_equal(A const& a, A const& b) {
  return std::equal(a.data(), a.data() + a.size(), b.data(), b.data() + b.size());
}

template <class Layout, class T, mt::dtype Type>
void same_as_torch(double tolerance) {
  recorded const torch = read();
  auto const job = mt::job::as_threads();
  mt::store weights(job);
  auto const made = [&]<class Program>() {
    return mt::executable<mt::precision<Program, Type>, net::mesh, Layout, mt::default_device>(weights);
  };
  auto train = made.template operator()<net::train>();
  int place = 0;
  for (std::string const& name : weights.names()) {
    auto start = weights.get<T>(name);
    double const around = name.ends_with("gain") || name.ends_with("variance") ? 1 : 0;
    auto const first = values<T>(place++, static_cast<std::size_t>(start.size()), around, 1);
    std::copy(first.begin(), first.end(), start.data());
    weights.set(name, start);
  }
  REQUIRE(place == 16);
  for (int i = 0; i < 4; ++i) {
    double const loss = train(mt::feed<"x">(image<T>(i))).template get<"loss">();
    double const wanted = torch.at("loss")[static_cast<std::size_t>(i)];
    INFO(loss << ", PyTorch: " << wanted);
    CHECK(std::abs(loss - wanted) < tolerance);
  }
  for (std::string const& name : weights.names()) {
    INFO(name);
    check_near(weights.get<T>(name), torch.at(name), tolerance);
  }
  std::map<std::string, mt::any_array<T>> trained;
  for (std::string const& name : weights.names()) trained.emplace(name, weights.get<T>(name));
  auto freeze = made.template operator()<net::freeze>();
  auto const frozen = freeze(mt::feed<"x">(image<T>(7)));
  CHECK(std::abs(static_cast<double>(frozen.template get<"loss">()) - torch.at("evaluated")[0]) < tolerance);
  check_near(frozen.template get<"dx">().gather(), torch.at("dx"), tolerance);
  for (char const* name : {"norm/gain", "norm/bias", "norm/mean", "norm/variance", "spectral/left", "spectral/right"}) {
    INFO(std::string(name));
    CHECK(are_equal(weights.get<T>(name), trained.at(name)));
  }
  CHECK(!are_equal(weights.get<T>("first/kernel"), trained.at("first/kernel")));

  for (auto const& [name, value] : trained) weights.set(name, value);
  auto evaluate = made.template operator()<net::evaluate>();
  auto const evaluated = evaluate(mt::feed<"x">(image<T>(7)));
  CHECK(std::abs(static_cast<double>(evaluated.template get<"loss">()) - torch.at("evaluated")[0]) < tolerance);
  check_near(evaluated.template get<"dx">().gather(), torch.at("dx"), tolerance);
  for (char const* name : {"norm/gain", "norm/bias"})
    check_near(weights.get<T>(name), torch.at("evaluated/" + std::string(name)), tolerance);
  for (char const* name : {"norm/mean", "norm/variance", "spectral/left", "spectral/right"})
    CHECK(are_equal(weights.get<T>(name), trained.at(name)));
}

}  // namespace

TEST_CASE("in f64, by images and rows") { same_as_torch<net::layout, double, mt::dtype::f64>(1e-10); }
TEST_CASE("in f32, by channels") { same_as_torch<net::by_channels, float, mt::dtype::f32>(1e-5); }
