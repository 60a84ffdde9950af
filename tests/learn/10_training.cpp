// SPDX-License-Identifier: Apache-2.0
// Lesson 10. You put the previous lessons together and train a network of two layers with dropout. It learns on one
// rank, and on four ranks under two layouts. Up to rounding, its losses do not depend on the ranks or on the layout.
#include <doctest/doctest.h>

#include <cmath>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
using mt::to;

namespace lesson {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct pixels : mt::dim<"pixels", 8> {} pixels;
inline constexpr struct hidden : mt::dim<"hidden", 16> {} hidden;
inline constexpr struct classes : mt::dim<"classes", 4> {} classes;

inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};
// The first layout is data parallelism: each rank along `data` computes a part of the batch. The second one also shards
// the hidden dim over `model`. In addition, it shards the optimizer's state of the first weight over `data`, because
// this weight has the dim `pixels`. This saves memory.
struct by_batch : mt::layout<mt::shard<batch, data>> {};
struct by_both
    : mt::layout<mt::shard<batch, data>, mt::shard<hidden, model>, mt::in<"optimizer", mt::shard<pixels, data>>> {};

// Each layer gets a scope of its own. The rate of dropout is a number, so an evaluation can set it to 0.
inline constexpr mt::layer network = [](mt::scope auto s, auto image) {
  auto h = gelu(mt::nn::linear(s / "first", image, pixels, hidden));
  h = mt::nn::dropout(s / "drop", h, s.number("dropout", 0.1));
  return mt::nn::linear(s / "last", h, hidden, classes);
};

// One step computes the network, its loss, the gradients and the update. All of them belong to the program.
struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto image = s.input("image", s.real(), batch, pixels);
    auto label = s.input("label", mt::i32, batch);
    auto loss = mean(mt::nn::cross_entropy(network(s / "model", image), label, classes));
    mt::adam{.learning_rate = s.number("learning_rate", 1e-2)}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

// The data are 32 images of four classes in turn. Each class has a pattern of its own, a sine with its own frequency,
// plus a small offset that differs for each image.
mt::array<float, batch, pixels> images(batch(32));
mt::array<std::int32_t, batch> labels(batch(32));
bool const filled = [] {
  for (int b = 0; b < 32; ++b) {
    labels(batch(b)) = b % 4;
    for (int p = 0; p < 8; ++p)
      images(batch(b), pixels(p)) = std::sin(float(p + 1) * float(b % 4 + 1)) + 0.01f * float(b);
  }
  return true;
}();

// Trains 30 steps on a mesh of the given size, and returns the loss of each step.
template <class Layout>
std::vector<float> train(std::int64_t along_data, std::int64_t along_model) {
  auto job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<train_step, mesh, Layout> step(weights, batch(32), data(along_data), model(along_model));
  std::vector<float> losses;
  for (int i = 0; i < 30; ++i)
    losses.push_back(step(mt::feed<"image">(images), mt::feed<"label">(labels)).template get<"loss">());
  return losses;
}
}  // namespace lesson
using namespace lesson;

TEST_CASE("the loss falls, and alike under every layout") {
  // We train on one rank, on four ranks with data parallelism, and on 2 x 2 ranks with the second layout.
  auto const alone = train<by_batch>(1, 1), four = train<by_batch>(4, 1), both = train<by_both>(2, 2);
  CHECK(alone.back() < alone.front() - 0.5f);
  // The losses agree in every step, although the network uses dropout. They may differ in the last digits, because each
  // layout adds floats in its own order.
  for (std::size_t i = 0; i < alone.size(); ++i) {
    CHECK(four[i] == doctest::Approx(alone[i]).epsilon(1e-4));
    CHECK(both[i] == doctest::Approx(alone[i]).epsilon(1e-4));
  }
  // With the same layout on the same mesh, a second run gives the same losses bit for bit.
  CHECK(both == train<by_both>(2, 2));
}
