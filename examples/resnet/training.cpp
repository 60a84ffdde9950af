// SPDX-License-Identifier: Apache-2.0
// The loop of the training on images, with evaluations, curves and checkpoints.
#include "training.hpp"

#include <filesystem>
#include <memory>

#include <meshtensor/datasets/image/image_stream.hpp>
#include <meshtensor/io/checkpoints.hpp>
#include <meshtensor/train/event_file.hpp>
#include <meshtensor/train/loss_guard.hpp>
#include <meshtensor/train/progress_line.hpp>
#include <meshtensor/train/stop_request.hpp>

namespace resnet {

namespace {

/// Sums over an epoch so far. A checkpoint has `nats` and `images`, so that a resumed epoch ends with the same loss.
struct epoch_sums {
  double nats = 0, images = 0;
  double start = mt::seconds_now(), images_here = 0, waited = 0;

  double seconds() const { return mt::seconds_now() - start; }
};

[[noreturn]] void refuse(std::string const& why, std::int64_t step) {
  throw mt::error("R42",
                  {"step ", step, ": ", why, ": see what made it with --check-numerics, from the last checkpoint ",
                   "if there is one (--resume), or try a lower --learning-rate"});
}

}  // namespace

std::string text_of(scores const& s) {
  auto const of_all = [&](double n) { return s.images == 0 ? 0 : n / static_cast<double>(s.images); };
  return fmt::format("validation {:.4f}  top-1 {:.4f}  top-5 {:.4f}  ({} and {} of {})", of_all(s.nats),
                     of_all(static_cast<double>(s.first)), of_all(static_cast<double>(s.among_five)), s.first,
                     s.among_five, s.images);
}

scores training::look() const {
  mt::datasets::image_batches const batches(*all.valid, all.judged);
  scores s;
  for (mt::datasets::image_stream next(batches, by.mine(), 0, {.threads = static_cast<int>(o.readers)});
       !next.at_end();) {
    mt::datasets::image_batch const& b = next.next();
    for (std::string const& sentence : b.skipped) mt::warn(job.get(), sentence);
    by.look(b, s);
  }
  return s;
}

std::optional<std::string> training::run() {
  mt::datasets::image_batches const batches(*all.train, all.learnt);
  std::int64_t const images = batches.size(), steps = steps_of(o, images);
  mt::print(job, "{} images of {} classes to learn from, {} updates of {}\n", images, all.train->classes().size(),
            steps, o.batch);
  if (o.trains_replicas())
    mt::print(job, "regime {}; each learns from {} of the {} images of an update, with a learning rate of at most {}\n",
              by.regime(), o.batch / o.replicas, o.batch, o.learning_rate);

  std::vector<double> const times = by.predicted(steps);
  if (!times.empty())
    mt::print(job, "the times of updates are those of a rank for each replica on {} with pauses of {}, as predicted\n",
              o.network, o.pauses.empty() ? "0%" : o.pauses);

  mt::checkpoints keep(weights, o.save, {.every = o.save.empty() ? 0 : o.every, .may_fail = true});
  epoch_sums epoch;
  if (o.resume)
    if (auto const found = keep.resume()) {
      epoch.nats = found->get<double>("nats"), epoch.images = found->get<double>("images");
      mt::print(job, "resumed {} at step {}\n", found->path(), found->step());
    }
  auto const noted = [&] { return mt::notes{{"nats", epoch.nats}, {"images", epoch.images}}; };
  auto const first = static_cast<std::int64_t>(weights.step());

  mt::stop_request stop(job, {.seconds = 60 * o.time_limit});
  mt::loss_guard is_wrong(job);
  mt::datasets::image_stream next(batches, by.mine(), first * o.batch, {.threads = static_cast<int>(o.readers)});
  std::unique_ptr<mt::event_file> events;
  if (job.is_root()) events = std::make_unique<mt::event_file>(std::filesystem::path(o.keep) / "events", first);
  auto const write = [&](char const* tag, double value, std::int64_t step) {
    if (events) events->scalar(tag, value, step);
  };
  mt::progress_line line(job);
  double const started = mt::seconds_now();
  epoch.start = started;
  if (o.profile) by.record(true);

  for (std::int64_t step = first; step < steps;) {
    double const asked = mt::seconds_now();
    mt::datasets::image_batch const& b = next.next();
    epoch.waited += mt::seconds_now() - asked;
    for (std::string const& sentence : b.skipped) mt::warn(job.get(), sentence);
    batch_loss const of = by.learn(b);
    ++step;
    if (is_wrong(of.nats)) refuse(is_wrong.reason(), step);
    epoch.nats += of.nats * of.images, epoch.images += of.images, epoch.images_here += of.images;
    double const seconds = epoch.seconds(), each = (mt::seconds_now() - started) / static_cast<double>(step - first);
    line.show({.step = step,
               .steps = steps,
               .loss = of.nats,
               .per_second = epoch.images_here / seconds,
               .seconds_left = each * static_cast<double>(steps - step),
               .units = "images",
               .waiting = epoch.waited / seconds});
    write("loss/train", of.nats, step);
    if (o.print_every != 0 && step % o.print_every == 0) {
      line.clear();
      mt::print(job, "step {:>6}  loss {:.6f}\n", step, of.nats);
    }

    if (step * o.batch / images != (step - 1) * o.batch / images || step == steps) {
      scores const s = look();
      line.clear();
      mt::print(job, "epoch {:>3}  updates {:>6}  loss {:.4f}  {}{}\n", epoch_of(o, images, step), step,
                epoch.nats / epoch.images, text_of(s),
                times.empty() ? "" : "  after " + mt::seconds_text(times[static_cast<std::size_t>(step - 1)]));
      mt::progress(job, "{:.1f} s, {:.1f} images a second, {:.0f} % of the time waiting for data\n", seconds,
                   epoch.images_here / seconds, 100 * epoch.waited / seconds);
      auto const of_all = [&](auto n) { return static_cast<double>(n) / static_cast<double>(s.images); };
      write("loss/validation", of_all(s.nats), step);
      write("top-1/validation", of_all(s.first), step);
      write("top-5/validation", of_all(s.among_five), step);
      if (o.profile) mt::progress(job, "{}", by.profile()), by.record(false);
      epoch = {};
    }
    keep.after_step(noted);
    if (step < steps && stop()) {
      if (!o.save.empty()) keep.save(noted());
      keep.finish();
      line.clear();
      mt::progress(job, "{} has ended the training after step {}{}\n", stop.reason(), step,
                   o.save.empty() ? "" : ": the same command with --resume goes on");
      return stop.reason();
    }
  }
  if (!o.save.empty() && steps > first && steps % o.every != 0) keep.save(noted());
  keep.finish();
  return {};
}

}  // namespace resnet
