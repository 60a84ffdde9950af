// SPDX-License-Identifier: Apache-2.0
// The loop of the Transformer's training, with evaluations, checkpoints and samples of text.
#include "training.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#if MESHTENSOR_WITH_MPI
#  include <mpi.h>
#endif

#include <meshtensor/datasets/text/bigram.hpp>
#include <meshtensor/datasets/text/sample.hpp>
#include <meshtensor/datasets/text/text.hpp>
#include <meshtensor/io/checkpoints.hpp>
#include <meshtensor/job/agree.hpp>
#include <meshtensor/train/progress_line.hpp>
#include <meshtensor/train/stop_request.hpp>
#include <meshtensor/train/tensorboard.hpp>

#include "../common/curve.hpp"

namespace transformer {

namespace {

#ifdef OPEN_MPI
constexpr char const* launcher = "mpirun --allow-run-as-root --oversubscribe -n";
#elif MESHTENSOR_WITH_MPI
constexpr char const* launcher = "mpiexec -n";
#endif

#ifndef MESHTENSOR_SOURCE_DIR
#  define MESHTENSOR_SOURCE_DIR ""
#endif

/// The library's headers and documentation. They are read from the source folder of the build, or from a folder above
/// this program if that folder is gone.
std::vector<std::uint8_t> own_text() {
  namespace fs = std::filesystem;
  std::error_code problem;
  fs::path root = MESHTENSOR_SOURCE_DIR;
  for (fs::path at = fs::read_symlink("/proc/self/exe", problem);
       !fs::exists(root / "include/meshtensor") && at.has_relative_path(); at = at.parent_path())
    root = at.parent_path();
  if (!fs::exists(root / "include/meshtensor"))
    throw mt::error("R40", "the library's headers are not where they were: name a text with --text FILE");
  auto all = mt::datasets::read_texts(root / "include", {".hpp"});
  if (!fs::exists(root / "docs")) return all;
  auto const docs = mt::datasets::read_texts(root / "docs", {".md"});
  all.insert(all.end(), docs.begin(), docs.end());
  return all;
}

/// Trains the model, evaluates it on held-out text, and lets it write text.
struct training {
  mt::job const& job;
  options const& o;
  mt::datasets::text_windows const& windows;
  learner& programs;
  mt::store& weights;
  mt::datasets::text_batch chosen{};
  std::vector<double> predicted{};  // when each step would end on the network of the options
  std::vector<double> losses{};     // of the steps since this process started
  mt::checkpoints keep{weights, o.save, {.every = o.save.empty() ? 0 : o.every}};

  /// Restores the newest checkpoint, if there is one. Data and random numbers depend only on the step, so that nothing
  /// else must be restored.
  void resume() {
    auto const start = keep.resume();
    if (start) mt::print(job, "resumed {} at step {}\n", start->path(), start->step());
  }

  /// Calls `f` for at most `most` held-out batches, spread evenly, and returns their number. `chosen` is the batch.
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
    std::int64_t const used = each_held_out(most, [&] { sum += programs.loss_of(chosen); });
    return sum / static_cast<double>(used);
  }

  /// `  after 12.3 s`: when a step would end, or an empty text if nothing is predicted for it.
  std::string predicted_text(std::int64_t step) const {
    if (step < 1 || step > std::ssize(predicted)) return "";
    return "  after " + mt::seconds_text(predicted[static_cast<std::size_t>(step - 1)]);
  }

  /// Trains, and returns whether the training came to its end. It returns false if a signal ended the training early. A
  /// signal does so only if checkpoints are saved.
  bool train() {
    std::int64_t const wanted = o.steps != 0 ? o.steps : o.minutes != 0 ? 0 : 1500;
    mt::agreement agreed(job);
    std::optional<mt::stop_request> stop;
    if (!o.save.empty()) stop.emplace(job);
    mt::progress_line line(job, programs.unit());
    double const begin = mt::seconds_now();
    auto const resumed = static_cast<std::int64_t>(weights.step());
    mt::tensorboard board(job, o.tensorboard, resumed + 1);
    std::int64_t done = resumed;
    double const begun = wanted == 0 ? 0 : static_cast<double>(done) / static_cast<double>(wanted);
    double over = begun;  // the fraction of the training that is done
    double looking = 0, next_look = std::floor(over * static_cast<double>(o.evaluations)) +
                                    1;  // seconds of evaluations, and the number of the next one
    bool wrote_at_half = over >= 0.5;
    if (done == 0) write("before training");
    while (over < 1) {
      windows.training(o.seed, static_cast<std::uint64_t>(done), o.batch, chosen);
      double const all_steps = wanted != 0 ? static_cast<double>(wanted)
                               : over == 0 ? 1e6
                                           : static_cast<double>(done) / over;
      double const loss = programs.learn(chosen, all_steps);
      if (!std::isfinite(loss))
        throw mt::error("R42", {"the loss of step ", done, " is not a number: try a lower --learning-rate"});

      losses.push_back(loss);
      ++done;
      programs.write_numbers(board, done);
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
        mt::print(job, "step {:>6}  loss {:.4f}  held out {:.4f}{}\n", done, loss, held_out, predicted_text(done));
        board.scalar("held_out/loss", held_out, done);
        looking += mt::seconds_now() - before;
      }
      if (over < 1 && over >= 0.5 && !wrote_at_half) {
        wrote_at_half = true;
        double const before = mt::seconds_now();
        line.clear();
        write(fmt::format("after {} steps", done));
        looking += mt::seconds_now() - before;
      }
      if (over < 1 && stop && (*stop)()) {
        if (done % o.every != 0) keep.save();
        keep.finish();
        line.clear();
        mt::progress(job, "{} has ended the training after step {}: the same command with --resume goes on\n",
                     stop->reason(), done);
        return false;
      }
    }
    if (!o.save.empty() && done % o.every != 0) keep.save();
    keep.finish();
    line.clear();
    if (!losses.empty()) mt::print(job, "\nloss of the steps\n{}\n", examples::curve(losses, resumed));
    return true;
  }

  /// Compares the first step on the mesh with the same step on whole tensors. Returns the exit code.
  int checked() {
    windows.training(o.seed, 0, o.batch, chosen);
    auto const [agrees, sentence] = programs.compare(chosen);
    mt::print(job, "{}\n", sentence);
    return agrees ? 0 : 1;
  }

  /// Records twenty steps, then prints the profile or writes the trace. It leaves out the first three steps if it can.
  void time_steps(std::int64_t done, std::int64_t all, mt::progress_line& line) {
    if ((!o.profile && o.trace.empty()) || all < 2) return;
    std::int64_t const first = std::min<std::int64_t>(3, all - 1), last = std::min<std::int64_t>(first + 20, all);
    if (done == first) programs.record(true);
    if (done != last) return;
    line.clear();
    if (o.profile) mt::progress(job, "{}", programs.profile());
    if (!o.trace.empty()) programs.write_trace(o.trace);
    programs.record(false);
  }

  /// Prints how the model continues the prompt. Random numbers are the same in each call, so that samples are
  /// comparable.
  void write(std::string const& when) {
    if (o.sample_bytes != 0) mt::print(job, "\n{}: {}\n\n", when, mt::datasets::shown(written()));
  }

  /// Generates text byte by byte. Each byte is sampled from the model's probabilities.
  std::vector<std::uint8_t> written() {
    std::string const prompt = o.prompt.empty() ? "\n" : o.prompt;
    std::vector<std::uint8_t> all(prompt.begin(), prompt.end());
    mt::random_key const key{o.seed, 0x73616d706c65ull, 0};
    auto const room = static_cast<std::size_t>(o.length);
    std::vector<std::uint8_t> seen(room);
    bool const greedy = o.temperature < 1e-3;
    for (std::int64_t i = 0; i < o.sample_bytes; ++i) {
      std::size_t const count = std::min(room, all.size());
      std::copy(all.end() - static_cast<std::ptrdiff_t>(count), all.end(), seen.begin());
      std::vector<float> const likely =
          programs.likely(seen, static_cast<std::int32_t>(count) - 1, greedy ? 1 : o.temperature);
      if (greedy)
        all.push_back(static_cast<std::uint8_t>(std::max_element(likely.begin(), likely.end()) - likely.begin()));
      else
        all.push_back(mt::datasets::draw_byte(
            likely, mt::random_uniform<double>(mt::random_stream(key, 0), static_cast<std::uint64_t>(i))));
    }
    return all;
  }
};

/// Selects the pictures of two tensors that show both axes: the text, and the heads of attention.
std::string main_pictures(std::string const& all) {
  std::string text;
  for (std::size_t begin = 0, end; begin < all.size(); begin = end + 2) {
    end = std::min(all.find("\n\n", begin), all.size());
    std::string const picture = all.substr(begin, end - begin), title = picture.substr(0, picture.find('\n'));
    if (!title.starts_with("move") && (title.starts_with("text") || title.find("attention/query") != title.npos))
      text += picture + (picture.ends_with('\n') ? "" : "\n");
  }
  return text;
}

/// Two commands that give the same loss. One runs on another mesh, the other with MPI, or on one rank without MPI.
std::string next_commands(options const& o, double loss) {
  std::int64_t const over_data = o.mesh.at("data"), over_model = o.mesh.at("model"), ranks = over_data * over_model;
  std::string sizes;  // given, because their defaults depend on the mesh
  if (o.batch != 16 || 16 % ranks != 0) sizes += fmt::format(" --batch {}", o.batch);
  if (o.heads != 4 || 4 % ranks != 0) sizes += fmt::format(" --heads {}", o.heads);
  auto const on_mesh = [&](std::int64_t n, std::int64_t m) {
    return fmt::format("{}{}{} --mesh data={},model={}\n", o.program, o.choices, sizes, n, m);
  };
  bool const one_axis = over_model == 1;
  std::string text = o.minutes == 0 ? fmt::format("try next, for the same loss, {:.3f}:\n", loss)
                                    : fmt::format("try next, for a loss near {:.1f}:\n", loss);
  text += "  " + on_mesh(one_axis ? 1 : ranks, one_axis ? std::max<std::int64_t>(ranks, 2) : 1);
#if MESHTENSOR_WITH_MPI
  return text + fmt::format("  {} {} ", launcher, ranks) + on_mesh(over_data, over_model);
#else
  return text + "  " + on_mesh(1, 1);
#endif
}

}  // namespace

int train(mt::job const& job, options const& o, learner_maker make) {
  mt::datasets::text_windows const windows(o.text.empty() ? own_text() : mt::datasets::read_text(o.text), o.length);
  double const begin = mt::seconds_now();
  mt::store weights(job, o.seed);
  auto const programs = make(weights, o);
  training t{job, o, windows, *programs, weights};
  mt::print(job, "text    {}: {} bytes, {} of them held out\n", o.text.empty() ? "the library itself" : o.text,
            windows.size(), windows.held_out_bytes());
  mt::print(job, "mesh    data = {}, model = {}\n", o.mesh.at("data"), o.mesh.at("model"));
  if (o.trains_replicas())
    mt::print(job, "regime  {}\n        each learns from {} of the {} windows of a step, with the learning rate {}\n",
              programs->regime(), o.batch / o.replicas, o.batch, o.learning_rate);
  mt::print(job, "{}", main_pictures(programs->pictures()));
  if (o.resume) t.resume();
  t.predicted = programs->predicted(o.steps != 0 ? o.steps : 1500);
  if (!t.predicted.empty())
    mt::print(job, "times   those of {} ranks on {} with pauses of {}, as predicted\n", o.replicas * o.mesh.at("model"),
              o.network, o.pauses.empty() ? "0%" : o.pauses);
  mt::memory_use const use = programs->memory();
  auto const mb = [](std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; };
  mt::progress(job,
               "the first step begins after {:.1f} s; memory: {:.1f} MB planned, {:.1f} for libraries, {:.1f} else\n",
               mt::seconds_now() - begin, mb(use.planned), mb(use.workspace), mb(use.process));
  if (o.check) return t.checked();
  if (!t.train()) return mt::stop_request::exit_code;

  mt::datasets::byte_pairs learnt, asked;
  windows.each_pair_learnt([&](std::uint8_t byte, std::uint8_t next) { learnt.add(byte, next); });
  std::int64_t const most = 128;
  t.each_held_out(most, [&] { asked.add(t.chosen); });
  double const loss = t.held_out_loss(most), bigram = mt::datasets::bigram_loss(learnt, asked);
  mt::print(job, "held-out loss   {:.4f} nats a byte{}\nbigram model    {:.4f}\n", loss,
            t.predicted_text(static_cast<std::int64_t>(weights.step())), bigram);
  t.write("after training");
  mt::print(job, "{}", next_commands(o, loss));
  if (loss < bigram) return 0;
  mt::progress(job, "transformer: the held-out loss {:.4f} is not below that of a bigram model, {:.4f}: train longer\n",
               loss, bigram);
  return 1;
}

}  // namespace transformer
