// SPDX-License-Identifier: Apache-2.0
// Learns to read handwritten digits from files in the format of MNIST. It trains three times on two ranks, to compare
// three layouts: the batch, the rows of each image or the channels are sharded. The last fifth of the images is held
// out as a test. Start it as `digits IMAGES LABELS [EPOCHS]`. With `--regime POLICY --replicas N` it trains replicas of
// the network instead.
// Run it alone, with threads as ranks, or with mpirun -n 2. The option `--device NAME` chooses another device.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

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
  if (o.regime.trains_replicas()) return train_replicas(job, examples::name_of_device<Device>(), o);
  return compare<Device>(job, o);
}
}  // namespace digits

int main(int argc, char** argv) {
  digits::options o;
  return examples::main_on_device(
      argc, argv, std::string("IMAGES LABELS [EPOCHS] [--seed N] ") + examples::regime_usage,
      "IMAGES and LABELS are IDX files, such as train-images-idx3-ubyte.gz. EPOCHS is how often they are learnt from "
      "(12).\n" +
          examples::regime_help(),
      2, 3,
      [&]<class Device>(mt::job const& job, auto const& words, std::type_identity<Device>) {
        o.images = words[0], o.labels = words[1];
        if (words.size() > 2) o.epochs = static_cast<int>(examples::number_of(words[2]));
        if (o.epochs >= 1) return digits::compare_or_train_replicas<Device>(job, o);
        mt::progress(job, "digits: '{}' is no number of epochs\n", words[2]);
        return 2;
      },
      [&](std::vector<std::string>& words) -> std::string {
        std::string seed = "0";
        if (auto const mistake = examples::take_options(words, {{"--seed", &seed}}); !mistake.empty()) return mistake;
        o.seed = static_cast<std::uint64_t>(examples::number_of(seed));
        if (o.seed == 0 && seed != "0") return "--seed: '" + seed + "' is not a whole number";
        return examples::take_regime_words(words, o.regime);
      });
}
