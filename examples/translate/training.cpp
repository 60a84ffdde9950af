// SPDX-License-Identifier: Apache-2.0
// The loop of the training on pairs of texts, with evaluations, curves and checkpoints.
#include "training.hpp"

#include <cmath>
#include <filesystem>
#include <memory>

#include <meshtensor/datasets/prefetched.hpp>
#include <meshtensor/io/checkpoints.hpp>
#include <meshtensor/train/event_file.hpp>
#include <meshtensor/train/loss_guard.hpp>
#include <meshtensor/train/progress_line.hpp>
#include <meshtensor/train/stop_request.hpp>

#include "last_epochs.hpp"

namespace translation {

namespace {

/// Sums over an epoch so far. A checkpoint has `nats` and `words`, so that a resumed epoch ends with the same loss.
struct epoch_sums {
  double nats = 0, words = 0;  // of the batches so far
  double start = mt::seconds_now(), words_here = 0;
};

[[noreturn]] void refuse(std::string const& why, std::int64_t step) {
  throw mt::error("R42",
                  {"step ", step, ": ", why, ": see what made it with --check-numerics, from the last checkpoint ",
                   "if there is one (--resume), or try a lower --learning-rate"});
}

}  // namespace

double training::look() const {
  mt::datasets::pair_batches const batches(all.valid.tokens, all.buckets, all.vocabulary.special());
  mt::datasets::batch_part const part = by.mine();
  mt::datasets::prefetched<mt::datasets::pair_batch> next(
      [&](std::int64_t number, mt::datasets::pair_batch& b) { batches.read(number, b, part); });
  double sum = 0, count = 0;
  for (std::int64_t i = 0; i < batches.per_epoch(); ++i) {
    batch_loss const of = by.look(next.next());
    sum += of.nats * of.words, count += of.words;
  }
  return sum / count;
}

std::optional<std::string> training::run() {
  mt::datasets::pair_batches const batches(all.train.tokens, all.buckets, all.vocabulary.special(), o.seed);
  mt::datasets::batch_filling const& f = batches.filling();
  mt::print(job, "{} pairs in {} batches an epoch, {:.1f} % of the targets are padding\n", f.pairs, batches.per_epoch(),
            100 * f.target_padding());

  mt::checkpoints keep(weights, o.save, {.every = o.save.empty() ? 0 : o.every, .only = is_training, .may_fail = true});
  epoch_sums epoch;
  if (o.resume)
    if (auto const found = keep.resume({.only = is_training})) {
      epoch.nats = found->get<double>("nats"), epoch.words = found->get<double>("words");
      mt::print(job, "resumed {} at step {}\n", found->path(), found->step());
    }
  auto const noted = [&] { return mt::notes{{"nats", epoch.nats}, {"words", epoch.words}}; };
  auto const first = static_cast<std::int64_t>(weights.step());
  std::int64_t const per_epoch = batches.per_epoch(), steps = o.epochs * per_epoch;
  last_epochs recent(weights, std::filesystem::path(o.save.empty() ? o.keep : o.save) / "epochs", o.average);

  mt::stop_request stop(job, {.seconds = 60 * o.time_limit});
  mt::loss_guard is_wrong(job);
  mt::datasets::batch_part const part = by.mine();
  mt::datasets::prefetched<mt::datasets::pair_batch> next(
      [&](std::int64_t number, mt::datasets::pair_batch& b) { batches.read(number, b, part); }, first);
  std::unique_ptr<mt::event_file> events;
  if (job.is_root()) events = std::make_unique<mt::event_file>(std::filesystem::path(o.keep) / "events", first);
  mt::progress_line line(job);
  double const started = mt::seconds_now();
  epoch.start = started;
  if (o.profile) by.record(true);

  for (std::int64_t step = first; step < steps;) {
    batch_loss const of = by.learn(next.next());
    ++step;
    if (is_wrong(of.nats)) refuse(is_wrong.reason(), step);
    epoch.nats += of.nats * of.words, epoch.words += of.words, epoch.words_here += of.words;
    double const now = mt::seconds_now();
    line.show({.step = step,
               .steps = steps,
               .loss = of.nats,
               .per_second = epoch.words_here / (now - epoch.start),
               .seconds_left = (now - started) / static_cast<double>(step - first) * static_cast<double>(steps - step),
               .units = "words"});
    if (events) events->scalar("loss/train", of.nats, step);

    if (step % per_epoch == 0) {
      std::int64_t const number = step / per_epoch;
      double const seconds = now - epoch.start, nats = look();
      line.clear();
      mt::print(job, "epoch {:>3}  updates {:>6}  loss {:.4f}  validation {:.4f}  perplexity {:.2f}\n", number, step,
                epoch.nats / epoch.words, nats, std::exp(nats));
      mt::progress(job, "{:.1f} s, {:.0f} words a second\n", seconds, epoch.words_here / seconds);
      if (events) events->scalar("loss/validation", nats, step);
      if (o.profile) mt::progress(job, "{}", by.profile()), by.record(false);
      recent.keep(number);
      if (o.score_every != 0 && number % o.score_every == 0) mt::print(job, "{}", score());
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
  std::int64_t const meant = recent.average(o.epochs);
  mt::print(job, "mean of the last {} epochs: validation {:.4f}\n", meant, look());
  return {};
}

}  // namespace translation
