// SPDX-License-Identifier: Apache-2.0
// Learns to read handwritten digits from files in the format of MNIST. It trains three times on two ranks, to compare
// three layouts: the batch, the rows of each image or the channels are sharded. The last fifth of the images is held
// out as a test. Start it as `digits IMAGES LABELS [EPOCHS]`. With `--regime POLICY --replicas N` it trains replicas of
// the network instead, and with several policies it compares their losses by the time that a network would take.
// Run it alone, with threads as ranks, or with mpirun -n 2. The option `--device NAME` chooses another device.
#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "common/machine_rates.hpp"
#include "common/main_on_device.hpp"
#include "common/regime_words.hpp"
#include "digits.hpp"
#include "digits/images.hpp"
#include "digits/in_replicas.hpp"

namespace digits {

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
            mt::datasets::image_set const& held_out, options const& o) {
  mt::datasets::image_batches const seen(learnt, moved(50, o.seed)), asked(held_out, in_order());
  int const epochs = o.epochs;

  mt::store weights(job, o.seed);
  mt::executable<programs, train_step, mesh, Layout, Device> step(weights, batch(50));
  mt::executable<programs, evaluate, mesh, Layout, Device> judge(weights, batch(50));
  auto const steps = seen.per_epoch();
  mt::datasets::image_stream stream(seen);
  curve found;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    double loss = 0, right = 0;
    for (std::int64_t i = 0; i < steps; ++i) {
      double const done = static_cast<double>((epoch - 1) * steps + i) / static_cast<double>(epochs * steps);
      mt::datasets::image_batch const& b = stream.next();
      auto const result =
          step(mt::feed<"image">(b.pixels), mt::feed<"label">(b.labels), mt::set<"rate">(rate_at(done)));
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
int compare(mt::job const& job, options const& o) {
  mt::datasets::idx_images const all(o.images, o.labels);
  std::int64_t const fifth = all.size() / 5;
  mt::datasets::image_range const learnt(all, 0, all.size() - fifth), held_out(all, all.size() - fifth);
  curve const of[] = {train<Device, by_batch>(job, "batch", learnt, held_out, o),
                      train<Device, by_rows>(job, "rows", learnt, held_out, o),
                      train<Device, by_channels>(job, "channels", learnt, held_out, o)};
  double most = 0;
  for (curve const& c : of) most = std::max(most, std::abs(c.losses[0] - of[0].losses[0]));
  mt::print(job, "losses of the first epoch differ by {:.0e} at most\n", most);
  return most < 0.002 ? 0 : 1;
}

template <class Device>
int compare_or_train_replicas(mt::job const& job, options const& o) {
  if (!o.regimes.empty()) return train_replicas(job, examples::name_of_device<Device>(), o);
  return compare<Device>(job, o);
}

/// Takes the options from the words. Returns a sentence about a mistake, or an empty text.
std::string take_words(std::vector<std::string>& words, options& o) {
  std::string seed = "0", batch_size, steps;
  if (auto const mistake = examples::take_options(words, {{"--seed", &seed},
                                                          {"--batch", &batch_size},
                                                          {"--steps", &steps},
                                                          {"--rates", &o.rates},
                                                          {"--curves", &o.curves}});
      !mistake.empty())
    return mistake;
  o.seed = static_cast<std::uint64_t>(examples::number_of(seed));
  if (o.seed == 0 && seed != "0") return "--seed: '" + seed + "' is not a whole number";
  if (auto const mistake = examples::take_compared_regimes(words, o.regimes); !mistake.empty()) return mistake;
  o.batch = examples::number_of(batch_size), o.steps = examples::number_of(steps);
  for (auto const& [option, word, number] :
       {std::tuple("--batch", batch_size, o.batch), std::tuple("--steps", steps, o.steps)})
    if (!word.empty() && number < 1) return std::string(option) + ": '" + word + "' is not a number from 1 on";
  bool const draws = !o.curves.empty(), predicts = !o.regimes.empty() && !o.regimes[0].network.empty();
  if (o.regimes.empty() && (o.batch != 0 || o.steps != 0)) return "--batch and --steps need --regime";
  if ((draws || !o.rates.empty()) && !predicts) return "--curves and --rates need --network, which predicts times";
  examples::machine_rates given;
  if (!o.rates.empty() && (!examples::read_rates(o.rates, given) || given.flops == 0 || given.memory == 0))
    return "--rates: '" + o.rates + "' is not like flops=1e11,memory=1e10";
  return "";
}
}  // namespace digits

int main(int argc, char** argv) {
  digits::options o;
  return examples::main_on_device(
      argc, argv,
      "IMAGES LABELS [EPOCHS] [--seed N] " + std::string(examples::regime_usage) +
          " [--batch N] [--steps N] [--rates LIST] [--curves FILE]",
      "IMAGES and LABELS are IDX files, such as train-images-idx3-ubyte.gz. EPOCHS is how often they are learnt from "
      "(12).\n" +
          examples::regime_help() +
          "Several POLICIES, with commas between them, are compared by their losses after predicted seconds.\n"
          "--batch is the number of images of a replica in a step (50, or as many as there are). --steps is the length "
          "of a training in place of EPOCHS.\n"
          "--rates are those of a rank (measured): flops=1e11,memory=1e10. --curves draws losses by predicted seconds "
          "as an SVG image.\n",
      2, 3,
      [&]<class Device>(mt::job const& job, auto const& words, std::type_identity<Device>) {
        o.images = words[0], o.labels = words[1];
        if (words.size() > 2) o.epochs = static_cast<int>(examples::number_of(words[2]));
        if (o.epochs >= 1) return digits::compare_or_train_replicas<Device>(job, o);
        mt::progress(job, "digits: '{}' is no number of epochs\n", words[2]);
        return 2;
      },
      [&](std::vector<std::string>& words) { return digits::take_words(words, o); });
}
