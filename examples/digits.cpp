// SPDX-License-Identifier: Apache-2.0
// Learns to read handwritten digits from files in the format of MNIST. It trains three times on two ranks, to compare
// three layouts: the batch, the rows of each image or the channels are sharded. The last fifth of the images is held
// out as a test. Start it as `digits IMAGES LABELS [EPOCHS]`.
// Run it alone, with threads as ranks, or with mpirun -n 2. The option `--device NAME` chooses another device.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include <meshtensor/datasets/image/idx.hpp>
#include <meshtensor/datasets/image/image_range.hpp>
#include <meshtensor/datasets/image/image_stream.hpp>
#include <meshtensor/meshtensor.hpp>

#include "common/main_on_device.hpp"

namespace mt = meshtensor;

namespace digits {
using namespace mt::nn;

inline constexpr struct batch : mt::dim<"batch", 50> {} batch;
inline constexpr struct rows : mt::dim<"rows", 28> {} rows;
inline constexpr struct cols : mt::dim<"cols", 28> {} cols;
inline constexpr struct rows_2 : mt::dim<"rows_2", mt::divided(rows, 2)> {} rows_2;
inline constexpr struct cols_2 : mt::dim<"cols_2", mt::divided(cols, 2)> {} cols_2;
inline constexpr struct rows_4 : mt::dim<"rows_4", mt::divided(rows_2, 2)> {} rows_4;
inline constexpr struct cols_4 : mt::dim<"cols_4", mt::divided(cols_2, 2)> {} cols_4;
inline constexpr struct k_rows : mt::dim<"k_rows", 3> {} k_rows;
inline constexpr struct k_cols : mt::dim<"k_cols", 3> {} k_cols;
inline constexpr struct colours : mt::dim<"colours", 3> {} colours;
inline constexpr struct edges : mt::dim<"edges", 16> {} edges;
inline constexpr struct strokes : mt::dim<"strokes", 32> {} strokes;
inline constexpr struct shapes : mt::dim<"shapes", 64> {} shapes;
inline constexpr struct digit : mt::dim<"digit", 10> {} digit;

inline constexpr mt::layer convolved = [](mt::scope auto s, auto statistics, auto x, auto from, auto to,
                                          auto... along) {
  return relu(batch_norm(s / "norm", convolution(s / "conv", x, from, to, along..., no_bias), to, statistics));
};

// Three convolutions, two of which halve the resolution. The norms use the `statistics` of the batch, or the running
// ones.
inline constexpr mt::layer network = [](mt::scope auto s, auto x, auto statistics) {
  constexpr mt::window_options each{.padding = mt::centred_padding};
  constexpr mt::window_options every_second{.stride = 2, .padding = mt::centred_padding};
  auto e = convolved(s / "edges", statistics, x, colours, edges, mt::window(rows, rows, k_rows, each),
                     mt::window(cols, cols, k_cols, each));
  auto f = convolved(s / "strokes", statistics, e, edges, strokes, mt::window(rows, rows_2, k_rows, every_second),
                     mt::window(cols, cols_2, k_cols, every_second));
  auto g = convolved(s / "shapes", statistics, f, strokes, shapes, mt::window(rows_2, rows_4, k_rows, every_second),
                     mt::window(cols_2, cols_4, k_cols, every_second));
  auto weight = s.parameter("last", rows_4, cols_4, shapes, digit, mt::normal(0.02));
  return einsum(g, weight, mt::to(batch, digit)) + s.parameter("bias", digit, mt::zeros);
};

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto image = s.input("image", mt::f32, batch, rows, cols, colours);
    auto logits = network(s / "network", image, batch_statistics::of_batch);
    auto loss = mean(cross_entropy(logits, s.input("label", mt::i32, batch), digit));
    mt::adam{.learning_rate = s.number("rate", 0.002)}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct evaluate {
  constexpr void operator()(mt::scope auto s) const {
    auto image = s.input("image", mt::f32, batch, rows, cols, colours);
    auto guess = argmax(network(s / "network", image, batch_statistics::running), digit);
    auto is_right = mt::cast<mt::f32>(guess == mt::cast<mt::i64>(s.input("label", mt::i32, batch)));
    s.output("right", sum(is_right * s.input("counts", mt::f32, batch)));
  }
};
using programs = mt::programs<train_step, evaluate>;

inline constexpr struct workers : mt::axis<"workers", 2> {} workers;
struct mesh : mt::mesh<workers> {};
struct by_batch : mt::layout<mt::shard<batch, workers>> {};
struct by_rows : mt::layout<mt::shard<rows, workers>> {};
struct by_channels : mt::layout<mt::shard<edges, workers>, mt::shard<shapes, workers>> {};

struct curve {
  std::vector<double> losses;  // the mean of each epoch
  double right = 0;            // the share of the held-out digits that the network reads correctly
};
template <class Device, class Layout>
curve train(mt::job const& job, char const* what, mt::datasets::image_set const& learnt,
            mt::datasets::image_set const& held_out, int epochs) {
  mt::datasets::image_options how{
      .rows = 50, .height = 28, .width = 28, .seed = 1, .crop = mt::datasets::image_crop::moved};
  how.most_moved = 2, how.flip = false, how.channels = 3, how.mean = {0.13f, 0.13f, 0.13f},
  how.deviation = {0.31f, 0.31f, 0.31f};
  mt::datasets::image_options in_order = how;
  in_order.seed.reset(), in_order.shorter = 28;
  mt::datasets::image_batches const seen(learnt, how), asked(held_out, in_order);

  mt::store weights(job);
  mt::executable<programs, train_step, mesh, Layout, Device> step(weights);
  mt::executable<programs, evaluate, mesh, Layout, Device> judge(weights);
  auto const steps = seen.per_epoch();
  mt::datasets::image_stream stream(seen);
  curve found;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    double loss = 0, right = 0;
    for (std::int64_t i = 0; i < steps; ++i) {
      double const done = static_cast<double>((epoch - 1) * steps + i) / static_cast<double>(epochs * steps);
      mt::datasets::image_batch const& b = stream.next();
      auto const result = step(mt::feed<"image">(b.pixels), mt::feed<"label">(b.labels),
                               mt::set<"rate">(0.002 * (1 + std::cos(std::numbers::pi * done)) / 2));
      loss += static_cast<double>(float{result.template get<"loss">()}) / static_cast<double>(steps);
    }
    for (mt::datasets::image_stream rest(asked); !rest.at_end();) {
      mt::datasets::image_batch const& b = rest.next();
      right += static_cast<double>(
          float{judge(mt::feed<"image">(b.pixels), mt::feed<"label">(b.labels), mt::feed<"counts">(b.counts))
                    .template get<"right">()});
    }
    found.losses.push_back(loss);
    found.right = right / static_cast<double>(held_out.size());
    mt::print(job, "{} in parts, epoch {:>2}: loss {:.4f}, {:.2f} % of the held-out digits\n", what, epoch, loss,
              100 * found.right);
  }
  return found;
}

template <class Device>
int compare(mt::job const& job, std::string const& images, std::string const& labels, int epochs) {
  mt::datasets::idx_images const all(images, labels);
  std::int64_t const fifth = all.size() / 5;
  mt::datasets::image_range const learnt(all, 0, all.size() - fifth), held_out(all, all.size() - fifth);
  curve const of[] = {train<Device, by_batch>(job, "batch", learnt, held_out, epochs),
                      train<Device, by_rows>(job, "rows", learnt, held_out, epochs),
                      train<Device, by_channels>(job, "channels", learnt, held_out, epochs)};
  double most = 0;
  for (curve const& c : of) most = std::max(most, std::abs(c.losses[0] - of[0].losses[0]));
  mt::print(job, "losses of the first epoch differ by {:.0e} at most\n", most);
  return most < 0.002 ? 0 : 1;
}

/// The number that the text says, or 0 if the text is not a whole number.
int number_of(std::string_view text) {
  int n = 0;
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
  return problem == std::errc{} && end == text.data() + text.size() ? n : 0;
}
}  // namespace digits

int main(int argc, char** argv) {
  return examples::main_on_device(
      argc, argv, "IMAGES LABELS [EPOCHS]",
      "IMAGES and LABELS are IDX files, such as train-images-idx3-ubyte.gz. EPOCHS is how often they are learnt from "
      "(12).\n",
      2, 3, []<class Device>(mt::job const& job, auto const& words, std::type_identity<Device>) {
        int const epochs = words.size() > 2 ? digits::number_of(words[2]) : 12;
        if (epochs >= 1) return digits::compare<Device>(job, words[0], words[1], epochs);
        mt::progress(job, "digits: '{}' is no number of epochs\n", words[2]);
        return 2;
      });
}
