// SPDX-License-Identifier: Apache-2.0
// Lesson 10. All of it: a network of two layers with dropout learns, alone and on four processors under two layouts,
// and what it learns does not depend on them.
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
struct by_batch : mt::layout<mt::shard<batch, data>> {};
struct by_both
    : mt::layout<mt::shard<batch, data>, mt::shard<hidden, model>, mt::in<"optimizer", mt::shard<pixels, data>>> {};

inline constexpr mt::layer network = [](mt::scope auto s, auto image) {
  auto h = gelu(mt::nn::linear(s / "first", image, pixels, hidden));
  h = mt::nn::dropout(s / "drop", h, s.number("dropout", 0.1));
  return mt::nn::linear(s / "last", h, hidden, classes);
};

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto image = s.input("image", s.real(), batch, pixels);
    auto label = s.input("label", mt::i32, batch);
    auto loss = mean(mt::nn::cross_entropy(network(s / "model", image), label, classes));
    mt::adam{.learning_rate = s.number("learning_rate", 1e-2)}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

// Patterns of four classes.
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
  auto const alone = train<by_batch>(1, 1), four = train<by_batch>(4, 1), both = train<by_both>(2, 2);
  CHECK(alone.back() < alone.front() - 0.5f);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    CHECK(four[i] == doctest::Approx(alone[i]).epsilon(1e-4));
    CHECK(both[i] == doctest::Approx(alone[i]).epsilon(1e-4));
  }
  CHECK(both == train<by_both>(2, 2));  // and again bit for bit
}
