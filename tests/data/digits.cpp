// SPDX-License-Identifier: Apache-2.0
// Handwritten digits (MNIST's 10,000 test images; the first 8,000 to learn from, the rest to be asked about): a network
// of two layers reads them, alone and on four processors.
//
// passes: start-up
// needs: cpu
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <meshtensor/device/default.hpp>
#include <meshtensor/meshtensor.hpp>

#include "support/skip.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch : mt::dim<"batch", 100> {} batch;
inline constexpr struct pixels : mt::dim<"pixels", 784> {} pixels;
inline constexpr struct hidden : mt::dim<"hidden", 64> {} hidden;
inline constexpr struct classes : mt::dim<"classes", 10> {} classes;
inline constexpr struct data : mt::axis<"data", 2> {} data;
inline constexpr struct model : mt::axis<"model", 2> {} model;
struct alone : mt::mesh<> {};
struct whole : mt::layout<> {};
struct four : mt::mesh<data, model> {};
struct spread : mt::layout<mt::shard<batch, data>, mt::shard<hidden, model>> {};

inline constexpr mt::layer network = [](mt::scope auto s, auto images) {
  auto x = mt::cast<mt::dtype::f32>(images) / 255.0;
  auto h = relu(mt::nn::linear(s / "first", x, pixels, hidden));
  return mt::nn::linear(s / "last", h, hidden, classes);
};
struct learn {
  constexpr void operator()(mt::scope auto s) const {
    auto images = s.input("images", mt::u8, batch, pixels);
    auto digits = s.input("digits", mt::u8, batch);
    auto loss = mean(mt::nn::cross_entropy(network(s / "network", images), digits, classes));
    mt::adam{.learning_rate = 2e-3}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct read {
  constexpr void operator()(mt::scope auto s) const {
    auto images = s.input("images", mt::u8, batch, pixels);
    s.output("digits", argmax(network(s / "network", images), classes));
  }
};
struct programs : mt::programs<learn, read> {};

std::vector<std::uint8_t> unpacked(std::string const& file) {
  std::string const command = "gzip -dc '" + file + "'";
  std::unique_ptr<FILE, int (*)(FILE*)> const pipe(popen(command.c_str(), "r"), pclose);
  std::vector<std::uint8_t> all;
  for (int c = 0; pipe && (c = std::fgetc(pipe.get())) != EOF;) all.push_back(static_cast<std::uint8_t>(c));
  return all;
}

struct outcome {
  std::vector<float> losses;
  int right = 0;
};
template <class Mesh, class Layout>
outcome trained(std::uint8_t const* images, std::uint8_t const* digits) {
  auto job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<programs, learn, Mesh, Layout, mt::default_device> step(weights);
  mt::executable<programs, read, Mesh, Layout, mt::default_device> ask(weights);
  auto const some = [](std::uint8_t const* from, int i, std::size_t each) {
    return std::vector<std::uint8_t>(from + static_cast<std::size_t>(i) * 100 * each,
                                     from + static_cast<std::size_t>(i + 1) * 100 * each);
  };
  outcome o;
  for (int epoch = 0; epoch < 5; ++epoch)
    for (int i = 0; i < 80; ++i)
      o.losses.push_back(step(mt::feed<"images">(some(images, i, 784)), mt::feed<"digits">(some(digits, i, 1)))
                             .template get<"loss">());
  for (int i = 80; i < 100; ++i) {
    auto const said = ask(mt::feed<"images">(some(images, i, 784))).template get<"digits">().gather();
    for (int k = 0; k < 100; ++k) o.right += said(batch(k)) == digits[100 * i + k];
  }
  return o;
}

}  // namespace

TEST_CASE("a network of two layers reads digits, however it is spread") {
  char const* const folder = std::getenv("MESHTENSOR_DATA");
  if (folder == nullptr) return meshtensor_test::skip("MESHTENSOR_DATA names no folder of data sets");
  auto const images = unpacked(std::string(folder) + "/mnist/t10k-images-idx3-ubyte.gz");
  auto const digits = unpacked(std::string(folder) + "/mnist/t10k-labels-idx1-ubyte.gz");
  if (images.empty() || digits.empty())
    return meshtensor_test::skip("the folder MESHTENSOR_DATA has no mnist/t10k-*.gz");
  REQUIRE(images.size() == 16 + 10000 * 784);
  REQUIRE(digits.size() == 8 + 10000);

  outcome const one = trained<alone, whole>(images.data() + 16, digits.data() + 8);
  outcome const other = trained<four, spread>(images.data() + 16, digits.data() + 8);
  MESSAGE("of 2,000: " << one.right << " alone, " << other.right << " on four processors");
  CHECK(one.right > 1880);  // a linear model gets about 1,780 of these
  CHECK(other.right > 1880);
  for (std::size_t i = 0; i < 20; ++i) CHECK(one.losses[i] == doctest::Approx(other.losses[i]).epsilon(1e-4));
}
