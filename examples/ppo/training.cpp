// SPDX-License-Identifier: Apache-2.0
// The loop of updates, with scores, a curve and checkpoints.
#include "training.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include <meshtensor/io/checkpoints.hpp>
#include <meshtensor/job/job.hpp>
#include <meshtensor/train/progress_line.hpp>

#include "learner.hpp"

namespace ppo {

namespace {

void write_curve(mt::job const& job, std::string const& file, std::string const& rows) {
  if (file.empty() || !job.is_root()) return;
  std::ofstream out(file);
  if (!(out << "update,episodes,score,loss\n" << rows).flush())
    throw mt::error("R43", {"the curve cannot be written to '", file, "'"});
}

}  // namespace

int train(mt::job const& job, options const& o) {
  mt::store weights(job, o.seed);
  auto const by = make_learner(weights, o);
  if (!o.explain.empty()) return mt::print(job, "{}", by->explained(o.explain)), 0;

  mt::checkpoints keep(weights, o.save, {.every = o.save.empty() ? 0 : o.every});
  if (o.resume)
    if (auto const found = keep.resume()) mt::print(job, "resumed {} at step {}\n", found->path(), found->step());
  auto const first = static_cast<std::int64_t>(weights.step());
  std::string rows;
  update_result since;  // the last line
  double begin = 0;     // of the second update, because the first one also allocates
  for (std::int64_t i = first; i < o.updates; ++i) {
    if (i == first + 1) begin = mt::seconds_now(), by->record(o.profile);
    double const over = static_cast<double>(i) / static_cast<double>(o.updates);
    update_result const now = by->update(o.learning_rate * (1 - over));
    if (!std::isfinite(now.loss))
      throw mt::error("R42", {"the loss of update ", i + 1, " is not a number: try a lower --learning-rate"});
    rows +=
        fmt::format("{},{},{:.17g},{:.17g}\n", i + 1, now.episodes, now.scores / std::max(now.episodes, 1.), now.loss);
    since.episodes += now.episodes, since.scores += now.scores;
    if ((i + 1) % o.print_every == 0 || i + 1 == o.updates) {
      mt::print(job, "update {:>4}  episodes {:>4}  score {:>8.1f}  loss {:.4f}\n", i + 1, since.episodes,
                since.scores / std::max(since.episodes, 1.), now.loss);
      since = {};
    }
    keep.after_step();
  }
  if (!o.save.empty() && o.updates > first && o.updates % o.every != 0) keep.save();
  keep.finish();
  if (o.updates > first + 1) {
    double const seconds = mt::seconds_now() - begin;
    auto const acted = static_cast<double>((o.updates - first - 1) * o.environments * o.steps);
    mt::progress(job, "{:.1f} s, {:.0f} steps of environments a second\n", seconds, acted / seconds);
    if (o.profile) mt::progress(job, "{}", by->profile());
  }
  write_curve(job, o.curve, rows);

  played const end = by->play();
  mt::print(job, "{} episodes of the best actions: score {:.1f}, at least {:.1f}\n", o.episodes, end.mean, end.least);
  return o.goal != 0 && end.mean < o.goal ? 1 : 0;
}

}  // namespace ppo
