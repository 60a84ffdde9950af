// SPDX-License-Identifier: Apache-2.0
// passes: start-up
// Compares the losses that policies of replicas reach with equal samples. Start it as `losses_of_replicas IMAGES LABELS
// [EPOCHS [SEEDS]]`.
//
// Eight replicas of a small network learn to read handwritten digits, by momentum in Nesterov's form. IMAGES and LABELS
// are IDX files, and the last fifth of the images is held out. All trainings of a seed begin with the same parameters
// and see the same images in the same order, 32 for each replica in a step. It prints one table, with the mean of all
// seeds and ± half of the range.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <meshtensor/datasets/image/idx.hpp>
#include <meshtensor/job/main.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

namespace losses_of_replicas {
using namespace mt::nn;

inline constexpr struct replica : mt::dim<"replica", 8> {} replica;
inline constexpr struct batch : mt::dim<"batch", 32> {} batch;  // images of one replica in a step
inline constexpr struct asked : mt::dim<"asked", 400> {} asked;  // held-out images that are judged at once
inline constexpr struct pixels : mt::dim<"pixels", 196> {} pixels;  // 14 x 14: the means of four pixels each
inline constexpr struct hidden : mt::dim<"hidden", 64> {} hidden;
inline constexpr struct digit : mt::dim<"digit", 10> {} digit;

inline constexpr mt::layer network = [](mt::scope auto s, auto x) {
  return linear(s / "last", relu(linear(s / "first", x, pixels, hidden)), hidden, digit);
};
struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto logits = network(s / "network", s.input("image", mt::f32, batch, pixels));
    auto loss = mean(cross_entropy(logits, s.input("label", mt::i32, batch), digit));
    mt::momentum{.learning_rate = s.number("rate", 0.1), .decay = 0.9, .nesterov = true}.minimize(s / "optimizer",
                                                                                                  loss);
    s.output("loss", loss);
  }
};
struct judge {
  constexpr void operator()(mt::scope auto s) const {
    auto logits = network(s / "network", s.input("image", mt::f32, asked, pixels));
    auto label = s.input("label", mt::i32, asked);
    s.output("loss", mean(cross_entropy(logits, label, digit)));
    s.output("right", mean(mt::cast<mt::f32>(argmax(logits, digit) == mt::cast<mt::i64>(label))));
  }
};
struct layout : mt::layout<> {};

/// Small images, one after another.
struct set_of_digits {
  std::vector<float> images;
  std::vector<std::int32_t> labels;

  explicit set_of_digits(mt::datasets::image_set const& all) {
    mt::datasets::image one;
    for (std::int64_t i = 0; i < all.size(); ++i) {
      all.read(i, one);
      labels.push_back(all.label(i));
      for (std::size_t y = 0; y < 14; ++y)
        for (std::size_t x = 0; x < 14; ++x) images.push_back(mean_of_four(one, 2 * y, 2 * x));
    }
  }
  std::size_t size() const { return labels.size(); }

 private:
  static float mean_of_four(mt::datasets::image const& one, std::size_t y, std::size_t x) {
    std::size_t const channels = one.pixels.size() / (28 * 28);
    auto const at = [&](std::size_t row, std::size_t column) {
      return static_cast<float>(one.pixels[(row * 28 + column) * channels]);
    };
    return ((at(y, x) + at(y, x + 1) + at(y + 1, x) + at(y + 1, x + 1)) / 4 - 33) / 79;
  }
};

/// The loss of the last epoch, and the loss and the accuracy of the mean of all replicas on held-out images.
struct outcome {
  double loss = 0, held_out = 0, right = 0;
};

template <class Policy>
outcome train(mt::job const& job, set_of_digits const& all, int epochs, std::uint64_t seed) {
  using training = mt::replicas<train_step, replica, Policy>;
  mt::store weights(job, seed);
  mt::executable<training, mt::mesh<>, layout> step(weights);
  mt::executable<mt::consensus<judge, training>, mt::mesh<>, layout> of_mean(weights);

  std::size_t const learnt = all.size() / 5 * 4, images = 8 * 32, steps = learnt / images;
  std::vector<std::size_t> order(learnt);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 draw(seed);
  std::vector<float> x(images * 196);
  std::vector<std::int32_t> y(images);
  outcome found;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), draw);
    found.loss = 0;
    for (std::size_t k = 0; k < steps; ++k) {
      for (std::size_t i = 0; i < images; ++i) {
        std::size_t const from = order[k * images + i];
        std::copy_n(&all.images[from * 196], 196, &x[i * 196]);
        y[i] = all.labels[from];
      }
      double const done = (epoch + static_cast<double>(k) / static_cast<double>(steps)) / epochs;
      auto const result = step(mt::feed<"image">(x), mt::feed<"label">(y),
                               mt::set<"rate">(0.05 * (1 + std::cos(std::numbers::pi * done)) / 2));
      for (float const l : result.template get<"loss">().gather())
        found.loss += static_cast<double>(l) / static_cast<double>(8 * steps);
    }
  }
  std::size_t const parts = (all.size() - learnt) / 400;
  for (std::size_t part = 0; part < parts; ++part) {
    auto const first = static_cast<std::ptrdiff_t>(learnt + part * 400);
    std::vector<float> const seen(all.images.begin() + first * 196, all.images.begin() + (first + 400) * 196);
    std::vector<std::int32_t> const labels(all.labels.begin() + first, all.labels.begin() + first + 400);
    auto const result = of_mean(mt::feed<"image">(seen), mt::feed<"label">(labels));
    found.held_out += static_cast<double>(float{result.template get<"loss">()}) / static_cast<double>(parts);
    found.right += 100 * static_cast<double>(float{result.template get<"right">()}) / static_cast<double>(parts);
  }
  return found;
}

/// `0.1234 ±0.0012`: the mean and half of the range.
std::string text_of(std::vector<double> const& all, int digits) {
  auto const [least, most] = std::minmax_element(all.begin(), all.end());
  double const mean = std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  return fmt::format("{:.{}f} ±{:.{}f}", mean, digits, (*most - *least) / 2, digits);
}

int compare(mt::job const& job, std::string const& images, std::string const& labels, int epochs, int seeds) {
  set_of_digits const all(mt::datasets::idx_images(images, labels));
  mt::print(job, "8 replicas, {} epochs, {} seeds\n", epochs, seeds);
  mt::print(job, "| policy | loss | held-out loss | accuracy, % | loss, difference | held-out loss, difference |\n");
  mt::print(job, "|---|---|---|---|---|---|\n");
  double loss_of_synchronous = 0, held_out_of_synchronous = 0;
  auto const row = [&]<class Policy>(char const* name, Policy) {
    std::vector<double> loss, held_out, right;
    for (int seed = 1; seed <= seeds; ++seed) {
      outcome const o = train<Policy>(job, all, epochs, static_cast<std::uint64_t>(seed));
      loss.push_back(o.loss), held_out.push_back(o.held_out), right.push_back(o.right);
    }
    double const mean = std::accumulate(loss.begin(), loss.end(), 0.0),
                 mean_held_out = std::accumulate(held_out.begin(), held_out.end(), 0.0);
    if (loss_of_synchronous == 0) loss_of_synchronous = mean, held_out_of_synchronous = mean_held_out;
    mt::print(job, "| {} | {} | {} | {} | {:+.1f} % | {:+.1f} % |\n", name, text_of(loss, 4), text_of(held_out, 4),
              text_of(right, 2), 100 * (mean / loss_of_synchronous - 1),
              100 * (mean_held_out / held_out_of_synchronous - 1));
  };
  using irregular = mt::random_out_degrees<1>;
  row("synchronous", mt::synchronous{});
  row("gradient push, one_peer_exponential", mt::stochastic_gradient_push<mt::one_peer_exponential>{});
  row("overlapped gradient push, one_peer_exponential", mt::overlapped_gradient_push<mt::one_peer_exponential>{});
  row("overlapped gradient push, random_out_degrees", mt::overlapped_gradient_push<irregular>{});
  row("the same without weights: decentralized_sgd", mt::decentralized_sgd<irregular>{});
  row("synchronous, top_k_values<1, 100>", mt::compressed<mt::top_k_values<1, 100>, mt::synchronous>{});
  row("synchronous, quantized<4>", mt::compressed<mt::quantized<4>, mt::synchronous>{});
  using push = mt::stochastic_gradient_push<mt::one_peer_exponential>;
  row("gradient push, one_peer_exponential, quantized<8>", mt::compressed<mt::quantized<8>, push>{});
  row("gradient push, one_peer_exponential, top_k_values<1, 10>", mt::compressed<mt::top_k_values<1, 10>, push>{});
  return 0;
}

}  // namespace losses_of_replicas

int main(int argc, char** argv) {
  auto const program = [](mt::job const& job, mt::program_arguments const& words) {
    if (words.size() < 2 || words.size() > 4)
      return mt::progress(job, "losses_of_replicas IMAGES LABELS [EPOCHS [SEEDS]]\n"), 2;
    int const epochs = words.size() > 2 ? std::atoi(words[2].c_str()) : 10;
    int const seeds = words.size() > 3 ? std::atoi(words[3].c_str()) : 5;
    return losses_of_replicas::compare(job, words[0], words[1], std::max(1, epochs), std::max(1, seeds));
  };
  return mt::run_main(argc, argv, program, "IMAGES LABELS [EPOCHS [SEEDS]]");
}
