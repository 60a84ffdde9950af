// SPDX-License-Identifier: Apache-2.0
// passes: start-up
#include "in_replicas.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <meshtensor/emit/chart.hpp>

#include "../common/built_devices.hpp"
#include "../common/traced_step.hpp"
#include "../digits.hpp"
#include "images.hpp"

namespace digits {

namespace {

using examples::replica;

inline constexpr std::int64_t asked_at_once = 500;  // held-out images, because each step takes the mean of all replicas
inline constexpr struct ranks : mt::axis<"ranks"> {} ranks;
struct mesh_of_replicas : mt::mesh<ranks> {};
struct layout_of_one : mt::layout<mt::shard<batch, ranks>> {};
using layout_of_replicas = mt::over_replicas<layout_of_one, replica, ranks>;
using layout_of_evaluation = examples::layout_of_consensus<layout_of_one, ranks>;

/// Judges images by the mean of all replicas: the sum of their losses, and the number that it reads correctly.
struct judge_mean {
  void operator()(mt::scope auto s) const {
    auto const image = s.input("image", mt::f32, batch, rows, cols, colours);
    auto const label = s.input("label", mt::i32, batch);
    auto const counts = s.input("counts", mt::f32, batch);
    auto const logits = network(s / "network", image, batch_statistics::running);
    auto const is_right = mt::cast<mt::f32>(argmax(logits, digit) == mt::cast<mt::i64>(label));
    s.output("right", sum(is_right * counts));
    s.output("loss", sum(cross_entropy(logits, label, digit) * counts));
  }
};

/// The images to learn from and the held-out ones, as batches.
struct batches {
  mt::datasets::idx_images all;
  mt::datasets::image_range learnt, held_out;
  std::int64_t of_replica;
  mt::datasets::image_batches seen, asked;

  batches(options const& given, std::int64_t replicas)
      : all(given.images, given.labels),
        learnt(all, 0, all.size() - all.size() / 5),
        held_out(all, all.size() - all.size() / 5),
        of_replica(given.batch != 0 ? given.batch : std::clamp<std::int64_t>(learnt.size() / replicas, 1, 50)),
        seen(learnt, moved(of_replica * replicas, given.seed)),
        asked(held_out, in_order(asked_at_once)) {}
};
/// What a training reached.
struct outcome {
  mt::curve losses;                // of each step, by seconds, if they are predicted
  double held_out = 0, right = 0;  // the loss of the mean of all replicas, and the share of digits that it reads
  double loss = 0;                 // of all replicas since the last look at held-out images
};

template <class Device>
class training {
 public:
  training(mt::job const& job, options const& given, examples::regime_options const& o, batches const& data)
      : job_(job), given_(given), o_(o), data_(data), weights_(job, given.seed) {}

  outcome run() {
    std::int64_t const per_epoch = data_.seen.per_epoch();
    std::int64_t const steps = given_.steps != 0 ? given_.steps : per_epoch * given_.epochs;
    std::int64_t const every = given_.steps != 0 ? std::max<std::int64_t>(1, steps / 10) : per_epoch;
    mt::print(job_, "regime {}; each learns from {} of the {} images of a step, with a learning rate of at most {}\n",
              step_.plan().regime_text(o_), data_.of_replica, data_.of_replica * o_.replicas, rate_at(0));
    std::vector<double> const times = predicted(steps);
    mt::datasets::image_stream stream(data_.seen);
    outcome found{{o_.regime}};
    double loss = 0;
    std::int64_t looked = 0;
    for (std::int64_t i = 0; i < steps; ++i) {
      double const mean = take_step(stream.next(), static_cast<double>(i) / static_cast<double>(steps));
      loss += mean;
      if (!times.empty()) found.losses.points.push_back({times[static_cast<std::size_t>(i)], mean});
      if ((i + 1) % every != 0 && i + 1 != steps) continue;
      found.loss = std::exchange(loss, 0) / static_cast<double>(i + 1 - std::exchange(looked, i + 1));
      look(found);
      mt::print(job_, "mean of replicas, {}: loss {:.4f}, held out {:.4f}, {:.2f} % of the held-out digits{}\n",
                given_.steps != 0 ? fmt::format("step {:>5}", i + 1) : fmt::format("epoch {:>2}", (i + 1) / every),
                found.loss, found.held_out, 100 * found.right,
                times.empty() ? "" : ", after " + mt::seconds_text(times[static_cast<std::size_t>(i)]));
    }
    return found;
  }

 private:
  examples::traced_plan plan_on(std::int64_t n, examples::traced_program program, mt::layout_rules const& rules) const {
    return {std::move(program), mesh_of_replicas::shape, rules, mt::capabilities_of<Device>,
            std::tuple(ranks(n), replica(o_.replicas), batch(data_.of_replica))};
  }
  examples::traced_plan plan_of_step(std::int64_t n) const {
    return plan_on(n, examples::traced_replicas<train_step>(o_), layout_of_replicas::sharding_rules);
  }
  std::int64_t ranks_here() const { return std::max(1, job_.get().size()); }

  /// When all ranks would end each step, if each replica had one. Nothing if no network is given.
  std::vector<double> predicted(std::int64_t steps) const {
    if (o_.network.empty()) return {};
    mt::print(job_, "the times are those of {} ranks on {} with pauses of {}, as predicted\n", o_.replicas, o_.network,
              o_.pauses.empty() ? "0%" : o_.pauses);
    return plan_of_step(o_.replicas).predicted(o_, step_.rates_of_rank(given_.rates), steps);
  }
  /// Returns the mean of all replicas' losses.
  double take_step(mt::datasets::image_batch const& b, double done) {
    step_([&](auto& run) { run.feed("image", b.pixels), run.feed("label", b.labels), run.set("rate", rate_at(done)); });
    mt::block const losses = step_.whole("loss");
    double mean = 0;
    for (std::int64_t r = 0; r < losses.size(); ++r) mean += losses.number_at(r) / static_cast<double>(losses.size());
    return mean;
  }
  void look(outcome& found) {
    double right = 0, judged = 0;
    for (mt::datasets::image_stream rest(data_.asked); !rest.at_end();) {
      mt::datasets::image_batch const& b = rest.next();
      judge_(
          [&](auto& run) { run.feed("image", b.pixels), run.feed("label", b.labels), run.feed("counts", b.counts); });
      right += judge_.number("right"), judged += judge_.number("loss");
    }
    auto const of_all = [&](double sum) { return sum / static_cast<double>(data_.held_out.size()); };
    found.held_out = of_all(judged), found.right = of_all(right);
  }

  mt::job const& job_;
  options const& given_;
  examples::regime_options const& o_;
  batches const& data_;
  mt::store weights_;
  examples::traced_step<Device> step_{weights_, plan_of_step(ranks_here())};
  examples::traced_step<Device> judge_{
      weights_, examples::traced_plan(examples::traced_consensus<judge_mean, train_step>(o_), mesh_of_replicas::shape,
                                      layout_of_evaluation::sharding_rules, mt::capabilities_of<Device>,
                                      std::tuple(ranks(ranks_here()), replica(o_.replicas), batch(asked_at_once)))};
};

/// Writes the picture, or an empty file. Only the process that prints for the job does so. Errors R17
void write(mt::job const& job, std::string const& file, std::string const& image) {
  if (file.empty() || !job.is_root()) return;
  std::ofstream out(file);
  out << image;
  if (!out.flush())
    throw mt::error("R17", {"'", file, "' cannot be written: name a file in a folder that exists and has room"});
}

template <class Device>
int train_on(mt::job const& job, options const& given) {
  examples::regime_options const& first = given.regimes[0];
  batches const data(given, first.replicas);
  if (data.of_replica * first.replicas > data.learnt.size()) {
    mt::progress(job,
                 "digits: {} replicas with {} images each need {} images for a step, but there are {} to learn "
                 "from: give fewer with --replicas or --batch\n",
                 first.replicas, data.of_replica, data.of_replica * first.replicas, data.learnt.size());
    return 2;
  }
  write(job, given.curves, "");  // so that a mistake shows before the training
  mt::chart chart{fmt::format("{} replicas on {}, pauses of {}", first.replicas, first.network,
                              first.pauses.empty() ? "0%" : first.pauses),
                  {"simulated time", "s"},
                  {"training loss"},
                  {}};
  std::string rows;
  for (examples::regime_options const& o : given.regimes) {
    outcome const found = training<Device>(job, given, o, data).run();
    if (found.losses.points.empty()) continue;
    auto const steps = static_cast<std::int64_t>(found.losses.points.size());
    chart.curves.push_back(found.losses.averaged(std::max<std::int64_t>(1, steps / 10)));
    rows += fmt::format("| {} | {} | {:.4f} | {:.4f} | {:.2f} % |\n", o.regime,
                        mt::seconds_text(found.losses.points.back().x), found.loss, found.held_out, 100 * found.right);
    write(job, given.curves, mt::drawing(chart));
  }
  if (given.regimes.size() > 1)
    mt::print(job,
              "\n| policy | simulated time | loss | held-out loss | held-out digits |\n|---|---|---|---|---|\n{}\n{}",
              rows, mt::text_of(chart));
  return 0;
}

}  // namespace

int train_replicas(mt::job const& job, std::string const& device, options const& o) {
  return examples::on_device(device,
                             [&]<class Device>(std::type_identity<Device>) { return train_on<Device>(job, o); });
}

}  // namespace digits
