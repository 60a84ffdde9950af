// SPDX-License-Identifier: Apache-2.0
// Trains the Transformer on one device; each device that a build has is compiled in a file of its own.
#pragma once

#include "../transformer.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include <meshtensor/data/bigram.hpp>
#include <meshtensor/data/sample.hpp>
#include <meshtensor/data/text.hpp>
#include <meshtensor/inspect/check.hpp>
#include <meshtensor/inspect/trace_events.hpp>
#include <meshtensor/io/checkpoints.hpp>
#include <meshtensor/job/agree.hpp>
#include <meshtensor/run/one_store.hpp>
#include <meshtensor/train/progress_line.hpp>

#include "command_line.hpp"

namespace transformer {

/// Every extent and axis, for a batch of `texts`.
inline auto sizes(options const& o, std::int64_t texts) {
  return std::tuple(data(o.mesh.at("data")), model(o.mesh.at("model")), batch(texts), length(o.length),
                    layers(o.layers), d_model(o.d_model), heads(o.heads), d_head(o.d_head), d_ff(o.d_ff));
}
template <class Executable, class... Store>
Executable made(auto const& given, Store&... weights) {
  return std::apply([&](auto const&... each) { return Executable(weights..., each...); }, given);
}

/// Trains on a device, looks at held-out text and writes some.
template <class Device>
struct trainer {
  template <class Program, class Layout>
  using program = mt::executable<programs, Program, transformer::mesh, Layout, Device>;
  using training = program<train_step, transformer::layout>;
  using evaluation = program<evaluate, transformer::layout>;
  using conversation = program<generate, one_text>;
  static_assert(mt::one_store<training, evaluation, conversation>);

  mt::job const& job;
  options const& o;
  mt::text_windows const& windows;
  mt::store weights{job, o.seed};
  training step = made<training>(sizes(o, o.batch), weights);
  evaluation ask = made<evaluation>(sizes(o, o.batch), weights);
  conversation answer_to = made<conversation>(sizes(o, 1), weights);
  mt::text_batch chosen{};
  mt::checkpoints keep{weights, o.save, {.every = o.save.empty() ? 0 : o.every}};

  /// Data and random numbers depend on the step only, so there is nothing else to restore.
  void resume() {
    auto const start = keep.resume();
    if (start) mt::print(job, "resumed {} at step {}\n", start->path(), start->step());
  }

  /// Calls f for at most `most` held-out batches, spread evenly.
  template <class F>
  std::int64_t each_held_out(std::int64_t most, F f) {
    std::int64_t const all = windows.held_out_batches(o.batch), used = std::min(all, most);
    for (std::int64_t i = 0; i < used; ++i) {
      windows.held_out(i * all / used, o.batch, chosen);
      f();
    }
    return used;
  }
  double held_out_loss(std::int64_t most) {
    double sum = 0;
    std::int64_t const used = each_held_out(most, [&] {
      sum +=
          static_cast<double>(ask(mt::feed<"text">(chosen.text), mt::feed<"next">(chosen.next)).template get<"loss">());
    });
    return sum / static_cast<double>(used);
  }

  void train() {
    std::int64_t const wanted = o.steps != 0 ? o.steps : o.minutes != 0 ? 0 : 1500;
    mt::agreement agreed(job);
    mt::progress_line line(job);
    double const begin = mt::seconds_now();
    auto const resumed = static_cast<std::int64_t>(weights.step());
    std::int64_t done = resumed;
    double const begun = wanted == 0 ? 0 : static_cast<double>(done) / static_cast<double>(wanted);
    double over = begun;  // the fraction of the training that is done
    double looking = 0, next_look = std::floor(over * static_cast<double>(o.evaluations)) +
                                    1;  // seconds of evaluation; the number of the next one
    while (over < 1) {
      windows.training(o.seed, static_cast<std::uint64_t>(done), o.batch, chosen);
      double const all_steps = wanted != 0 ? static_cast<double>(wanted)
                               : over == 0 ? 1e6
                                           : static_cast<double>(done) / over;
      auto const result = step(mt::feed<"text">(chosen.text), mt::feed<"next">(chosen.next),
                               mt::set<"steps">(all_steps), mt::set<"learning_rate">(o.learning_rate),
                               mt::set<"dropout">(o.dropout), mt::set<"warmup">(static_cast<double>(o.warmup)));
      auto const loss = static_cast<double>(result.template get<"loss">());
      if (!std::isfinite(loss))
        throw mt::error("R42", {"the loss of step ", done, " is not a number: try a lower --learning-rate"});

      ++done;
      keep.after_step();
      time_steps(done, wanted == 0 ? 1'000'000 : wanted, line);
      double elapsed = mt::seconds_now() - begin;
      if (o.minutes != 0) elapsed = agreed(elapsed);
      if (wanted != 0) over = static_cast<double>(done) / static_cast<double>(wanted);
      if (o.minutes != 0) over = std::max(over, elapsed / (60 * o.minutes));
      line.show({.step = done,
                 .steps = wanted,
                 .loss = loss,
                 .per_second = static_cast<double>((done - resumed) * o.batch * o.length) / (elapsed - looking),
                 .seconds_left = (1 - over) / (over - begun) * elapsed});

      if (over < 1 && over * static_cast<double>(o.evaluations) >= next_look) {
        next_look = std::floor(over * static_cast<double>(o.evaluations)) + 1;
        double const before = mt::seconds_now(), held_out = held_out_loss(8);
        line.clear();
        mt::print(job, "step {:>6}  loss {:.4f}  held out {:.4f}\n", done, loss, held_out);
        looking += mt::seconds_now() - before;
      }
    }
    if (!o.save.empty() && done % o.every != 0) keep.save();
    keep.finish();
    line.clear();
  }

  /// Compares the first step on the mesh with the same step on whole tensors.
  int checked() {
    windows.training(o.seed, 0, o.batch, chosen);
    auto const found = std::apply(
        [&](auto const&... each) {
          return mt::check<programs, train_step, transformer::mesh, transformer::layout, Device>(
              weights, each..., mt::feed<"text">(chosen.text), mt::feed<"next">(chosen.next),
              mt::set<"dropout">(o.dropout));
        },
        sizes(o, o.batch));
    mt::print(job, "{}\n", text_of(found));
    return found.agrees() ? 0 : 1;
  }

  /// Records twenty steps, from the fourth on if there are so many, and prints the profile or writes the trace.
  void time_steps(std::int64_t done, std::int64_t all, mt::progress_line& line) {
    if ((!o.profile && o.trace.empty()) || all < 2) return;
    std::int64_t const first = std::min<std::int64_t>(3, all - 1), last = std::min<std::int64_t>(first + 20, all);
    if (done == first) step.record();
    if (done != last) return;
    line.clear();
    if (o.profile) mt::progress(job, "{}", mt::profile(step));
    if (!o.trace.empty()) mt::write_trace(step, o.trace);
    step.record(false);
  }

  /// Generates text byte by byte, each sampled from the model's probabilities.
  std::vector<std::uint8_t> written() {
    std::string const prompt = o.prompt.empty() ? "\n" : o.prompt;
    std::vector<std::uint8_t> all(prompt.begin(), prompt.end());
    mt::random_key const key{o.seed, 0x73616d706c65ull, 0};
    auto const room = static_cast<std::size_t>(o.length);
    std::vector<std::uint8_t> seen(room);
    std::vector<std::int32_t> last(1);
    std::vector<float> likely;
    bool const greedy = o.temperature < 1e-3;
    for (std::int64_t i = 0; i < o.sample_bytes; ++i) {
      std::size_t const count = std::min(room, all.size());
      std::copy(all.end() - static_cast<std::ptrdiff_t>(count), all.end(), seen.begin());
      last[0] = static_cast<std::int32_t>(count) - 1;
      auto const next =
          answer_to(mt::feed<"text">(seen), mt::feed<"last">(last), mt::set<"temperature">(greedy ? 1 : o.temperature))
              .template get<"likely">()
              .local();
      likely.assign(next.data(), next.data() + next.size());
      if (greedy)
        all.push_back(static_cast<std::uint8_t>(std::max_element(likely.begin(), likely.end()) - likely.begin()));
      else
        all.push_back(mt::draw_byte(
            likely, mt::random_uniform<double>(mt::random_stream(key, 0), static_cast<std::uint64_t>(i))));
    }
    return all;
  }
};

/// Returns the exit code: 1 where a bigram model is better.
template <class Device>
int run(mt::job const& job, options const& o, mt::text_windows const& windows) {
  double const begin = mt::seconds_now();
  trainer<Device> t{job, o, windows};
  mt::print(job, "text    {}: {} bytes, {} of them held out\n", o.text.empty() ? "the library itself" : o.text,
            windows.size(), windows.held_out_bytes());
  mt::print(job, "mesh    data = {}, model = {}\n", o.mesh.at("data"), o.mesh.at("model"));
  if (o.resume) t.resume();
  mt::memory_use const use = t.step.memory();
  auto const mb = [](std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; };
  mt::progress(job,
               "the first step begins after {:.1f} s; memory: {:.1f} MB planned, {:.1f} for libraries, {:.1f} else\n",
               mt::seconds_now() - begin, mb(use.planned), mb(use.workspace), mb(use.process));
  if (o.check) return t.checked();
  t.train();

  mt::byte_pairs learnt, asked;
  windows.each_pair_learnt([&](std::uint8_t byte, std::uint8_t next) { learnt.add(byte, next); });
  std::int64_t const most = 128;
  t.each_held_out(most, [&] { asked.add(t.chosen); });
  double const loss = t.held_out_loss(most), bigram = mt::bigram_loss(learnt, asked);
  mt::print(job, "held-out loss   {:.4f} nats a byte\nbigram model    {:.4f}\n", loss, bigram);
  auto const sample = t.written();
  mt::print(job, "\n{}\n", mt::shown(sample));
  if (loss < bigram) return 0;
  mt::progress(job, "transformer: the held-out loss {:.4f} is not below that of a bigram model, {:.4f}: train longer\n",
               loss, bigram);
  return 1;
}

}  // namespace transformer
