// SPDX-License-Identifier: Apache-2.0
// Trains a 3-D U-Net that finds balls among boxes in noisy volumes. Depth and rows are sharded over 2x2 ranks, so that
// each rank has a quarter of every volume and a halo from its neighbours. The losses are those of one rank.
// Run it alone, with threads as ranks, or with mpirun -n 4. The option `--device NAME` chooses another device.
//
// Prints:
//
//     1x1 ranks, step  79: loss 0.4, Dice score 0.6
//     ...
//     2x2 ranks, step  79: loss 0.4, Dice score 0.7
//     ...
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include <meshtensor/meshtensor.hpp>

#include "common/main_on_device.hpp"

namespace mt = meshtensor;

namespace volumes {
using namespace mt::nn;

inline constexpr struct batch : mt::dim<"batch", 4> {} batch;
inline constexpr struct depth : mt::dim<"depth", 16> {} depth;
inline constexpr struct rows : mt::dim<"rows", 16> {} rows;
inline constexpr struct cols : mt::dim<"cols", 16> {} cols;
inline constexpr struct depth_2 : mt::dim<"depth_2", mt::divided(depth, 2)> {} depth_2;  // half the resolution
inline constexpr struct rows_2 : mt::dim<"rows_2", mt::divided(rows, 2)> {} rows_2;
inline constexpr struct cols_2 : mt::dim<"cols_2", mt::divided(cols, 2)> {} cols_2;
inline constexpr struct depth_4 : mt::dim<"depth_4", mt::divided(depth_2, 2)> {} depth_4;
inline constexpr struct rows_4 : mt::dim<"rows_4", mt::divided(rows_2, 2)> {} rows_4;
inline constexpr struct cols_4 : mt::dim<"cols_4", mt::divided(cols_2, 2)> {} cols_4;
inline constexpr struct k_depth : mt::dim<"k_depth", 3> {} k_depth;
inline constexpr struct k_rows : mt::dim<"k_rows", 3> {} k_rows;
inline constexpr struct k_cols : mt::dim<"k_cols", 3> {} k_cols;
inline constexpr struct light : mt::dim<"light", 1> {} light;  // channels of a volume, then of the network
inline constexpr struct fine : mt::dim<"fine", 8> {} fine;
inline constexpr struct middle : mt::dim<"middle", 16> {} middle;
inline constexpr struct coarse : mt::dim<"coarse", 16> {} coarse;
inline constexpr struct two_fine : mt::dim<"two_fine", fine + fine> {} two_fine;
inline constexpr struct two_middle : mt::dim<"two_middle", middle + middle> {} two_middle;

// A window covers three voxels. There is one window at each voxel, or one at every second voxel.
constexpr auto each(auto dim, auto kernel) { return mt::window(dim, dim, kernel, {.padding = mt::centred_padding}); }
constexpr auto every_second(auto dim, auto half, auto kernel) {
  return mt::window(dim, half, kernel, {.stride = 2, .padding = mt::centred_padding});
}

inline constexpr mt::layer convolved = [](mt::scope auto s, auto x, auto from, auto to, auto... windows) {
  return relu(batch_norm(s / "norm", convolution(s / "conv", x, from, to, windows..., no_bias), to));
};

// The U-Net of Çiçek et al., arXiv:1606.06650, goes down to a quarter of the resolution and up again. On the way up, it
// joins the values of the same resolution from the way down.
inline constexpr mt::layer u_net = [](mt::scope auto s, auto x) {
  auto d = every_second(depth, depth_2, k_depth);
  auto d_2 = every_second(depth_2, depth_4, k_depth);
  auto r = every_second(rows, rows_2, k_rows);
  auto r_2 = every_second(rows_2, rows_4, k_rows);
  auto c = every_second(cols, cols_2, k_cols);
  auto c_2 = every_second(cols_2, cols_4, k_cols);
  auto at_1 = convolved(s / "down_1", x, light, fine, each(depth, k_depth), each(rows, k_rows), each(cols, k_cols));
  auto at_2 = convolved(s / "down_2", at_1, fine, middle, d, r, c);
  auto at_4 = convolved(s / "down_4", at_2, middle, coarse, d_2, r_2, c_2);
  auto up_2 = convolution_transposed(s / "up_2", at_4, coarse, middle, d_2, r_2, c_2, no_bias);
  auto y_2 = convolved(s / "join_2", concat(at_2, middle, up_2, middle, two_middle), two_middle, middle,
                       each(depth_2, k_depth), each(rows_2, k_rows), each(cols_2, k_cols));
  auto up_1 = convolution_transposed(s / "up_1", y_2, middle, fine, d, r, c, no_bias);
  auto y_1 = convolved(s / "join_1", concat(at_1, fine, up_1, fine, two_fine), two_fine, fine, each(depth, k_depth),
                       each(rows, k_rows), each(cols, k_cols));
  return einsum(y_1, s.parameter("last", fine), mt::to(batch, depth, rows, cols)) + s.parameter("bias", mt::zeros);
};

// The Dice score is twice the common part of both sets, divided by the sum of their sizes: Milletari et al.,
// arXiv:1606.04797. The 1 avoids a division by zero.
inline constexpr mt::layer dice = [](mt::scope auto, auto found, auto truth) {
  return 2 * sum(found * truth) / (sum(found) + sum(truth) + 1);
};

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto truth = s.input("truth", mt::f32, batch, depth, rows, cols);
    auto logits = u_net(s / "u_net", s.input("volume", mt::f32, batch, depth, rows, cols, light));
    auto loss = 1 - dice(s, sigmoid(logits), truth);
    mt::adam{.learning_rate = s.number("rate", 0.01)}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
    s.output("score", dice(s, mt::cast<mt::f32>(logits > 0), truth));
  }
};

// A rule for `depth` also holds for `depth_2` and `depth_4`, because their extents are quotients of it.
inline constexpr struct planes : mt::axis<"planes"> {} planes;
inline constexpr struct lines : mt::axis<"lines"> {} lines;
struct mesh : mt::mesh<planes, lines> {};
struct layout : mt::layout<mt::shard<depth, planes>, mt::shard<rows, lines>> {};

struct volume_batch {
  mt::array<float, batch, depth, rows, cols, light> volume;
  mt::array<float, batch, depth, rows, cols> truth;

  // Draws two balls and two boxes, each in its own quarter of the volume, and adds noise. `truth` marks only the balls.
  explicit volume_batch(std::mt19937& generator) {
    auto const below = [&](unsigned most) { return static_cast<int>(generator() % most); };
    for (int b = 0; b < 4; ++b) {
      struct body {
        std::array<int, 3> at;
        int radius;
        bool is_ball;
      };
      std::array<body, 4> bodies;
      int const first = below(4);
      for (int k = 0; k < 4; ++k)
        bodies[static_cast<std::size_t>(k)] = {
            {2 + below(12), 2 + below(4) + k % 2 * 8, 2 + below(4) + k / 2 * 8}, 2 + below(2), (k + first) % 4 < 2};
      for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 16; ++j)
          for (int k = 0; k < 16; ++k) {
            bool in_ball = false, in_box = false;
            for (body const& o : bodies) {
              int const x = std::abs(i - o.at[0]), y = std::abs(j - o.at[1]), z = std::abs(k - o.at[2]);
              if (o.is_ball) in_ball = in_ball || x * x + y * y + z * z <= (o.radius + 1) * (o.radius + 1);
              else in_box = in_box || std::max({x, y, z}) <= o.radius;
            }
            float const noise = static_cast<float>(below(1000)) / 1000 - 0.5f;
            volume(batch(b), depth(i), rows(j), cols(k), light(0)) = (in_ball || in_box ? 1.f : 0.f) + noise;
            truth(batch(b), depth(i), rows(j), cols(k)) = in_ball ? 1.f : 0.f;
          }
    }
  }
};

constexpr int steps = 240;

struct curve {
  std::vector<float> losses;
  float score = 0;  // the mean of the last forty steps, each of which has new volumes
};
template <class Device>
curve train(mt::job const& job, mt::job const& speaker, int planes_count, int lines_count) {
  mt::store weights(job);
  mt::executable<train_step, mesh, layout, Device> step(weights, planes(planes_count), lines(lines_count));
  std::mt19937 generator(1);
  curve found;
  for (int i = 0; i < steps; ++i) {
    volume_batch const seen(generator);
    double const rate = 0.005 * (1 + std::cos(std::numbers::pi * i / steps));
    auto const result = step(mt::feed<"volume">(seen.volume), mt::feed<"truth">(seen.truth), mt::set<"rate">(rate));
    found.losses.push_back(result.template get<"loss">());
    float const score = result.template get<"score">();
    if (i >= steps - 40) found.score += score / 40;
    if (i % 80 == 79)
      mt::print(speaker, "{}x{} ranks, step {:>3}: loss {:.4f}, Dice score {:.3f}\n", planes_count, lines_count, i,
                found.losses.back(), score);
  }
  return found;
}

template <class Device>
int compare(mt::job const& job) {
  auto const alone = train<Device>(mt::job::in_lockstep(), job, 1, 1);
  auto const cut = train<Device>(job, job, 2, 2);
  float most = 0;
  for (std::size_t i = 0; i < 20; ++i) most = std::max(most, std::abs(cut.losses[i] - alone.losses[i]));
  mt::print(job, "the first twenty losses differ by {:.0e} at most; scores {:.3f} and {:.3f}\n", most, alone.score,
            cut.score);
  return most < 1e-3f && alone.score > 0.9f && cut.score > 0.9f ? 0 : 1;
}
}  // namespace volumes

int main(int argc, char** argv) {
  return examples::main_on_device(argc, argv, []<class Device>(mt::job const& job, std::type_identity<Device>) {
    return volumes::compare<Device>(job);
  });
}
