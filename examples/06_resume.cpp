// SPDX-License-Identifier: Apache-2.0
// Saves a training, stops it, and resumes it twice. On the same mesh it continues bit for bit. On another mesh the loss
// is the same up to rounding.
// Run it alone, with threads as ranks, or with mpirun -n 4.
//
// Prints:
//
//     without a stop:
//     data=4, model=1  steps  0 to 60  loss 0.2949492
//     stopped, resumed from the checkpoint of step 30, and from that of step 40 on another mesh:
//     data=4, model=1  steps  0 to 35  loss 0.6695713
//     data=4, model=1  steps 30 to 45  loss 0.6648088
//     data=2, model=2  steps 40 to 60  loss 0.2949492
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include <meshtensor/io/checkpoint.hpp>
#include <meshtensor/job/main.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

namespace network {
using mt::nn::linear;

inline constexpr struct batch : mt::dim<"batch", 16> {} batch;
inline constexpr struct in : mt::dim<"in", 8> {} in;
inline constexpr struct hidden : mt::dim<"hidden", 32> {} hidden;
inline constexpr struct classes : mt::dim<"classes", 4> {} classes;

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto label = s.input("label", mt::i32, batch);
    auto h = mt::nn::dropout(s / "dropout", gelu(linear(s / "first", x, in, hidden)), 0.1);
    auto loss = mean(mt::nn::cross_entropy(linear(s / "last", h, hidden, classes), label, classes));
    mt::adam{.learning_rate = 0.01}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<hidden, model>> {};

// Trains until step `end` and returns the losses. It starts from the newest checkpoint in the folder, if there is one.
std::vector<float> train(mt::job const& job, std::filesystem::path const& folder, int along_data, int along_model,
                         int end) {
  mt::store weights(job);
  mt::executable<train_step, mesh, layout> step(weights, data(along_data), model(along_model));
  mt::checkpoints checkpoints(weights, folder, {.every = 10});
  std::int64_t position = 0;  // in the data, saved as a note in each checkpoint
  if (auto const saved = checkpoints.resume()) position = saved->get<std::int64_t>("position");
  std::int64_t const first = position;

  std::vector<float> losses;
  while (position < end) {
    std::mt19937 generator(static_cast<unsigned>(position));
    mt::array<float, batch, in> x;
    mt::array<std::int32_t, batch> label;
    for (float& e : x) e = std::normal_distribution<float>()(generator);
    for (int i = 0; i < 16; ++i) label(batch(i)) = 2 * (x(batch(i), in(0)) > 0) + (x(batch(i), in(1)) > 0);
    losses.push_back(step(mt::feed<"x">(x), mt::feed<"label">(label)).get<"loss">());
    ++position;
    checkpoints.after_step([&] { return mt::notes{{"position", position}}; });
  }
  checkpoints.finish();
  mt::print(job, "data={}, model={}  steps {:>2} to {}  loss {:.7f}\n", along_data, along_model, first, end,
            losses.back());
  return losses;
}

int run(mt::job const& job) {
  std::filesystem::path const folder = "checkpoints_of_06_resume";
  if (job.is_root()) std::filesystem::remove_all(folder);  // an interrupted run may have left it
  mt::print(job, "without a stop:\n");
  auto const whole = train(job, folder / "whole", 4, 1, 60);
  mt::print(job, "stopped, resumed from the checkpoint of step 30, and from that of step 40 on another mesh:\n");
  train(job, folder / "stopped", 4, 1, 35);  // the last checkpoint is of step 30, so five steps are lost
  auto const resumed = train(job, folder / "stopped", 4, 1, 45);
  auto const elsewhere = train(job, folder / "stopped", 2, 2, 60);
  if (job.is_root()) std::filesystem::remove_all(folder);

  bool const same_bits = std::equal(resumed.begin(), resumed.end(), whole.begin() + 30);
  bool const same_loss = std::abs(elsewhere.back() - whole.back()) < 1e-5f;  // another mesh sums in another order
  return same_bits && same_loss ? 0 : 1;
}
}  // namespace network

int main(int argc, char** argv) { return mt::run_main(argc, argv, network::run); }
