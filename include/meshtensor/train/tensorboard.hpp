// SPDX-License-Identifier: Apache-2.0
// Writes the numbers of a training to TensorBoard, from one rank.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "meshtensor/job/job.hpp"
#include "meshtensor/train/event_file.hpp"

namespace meshtensor {

/// Curves of a training, which `tensorboard --logdir FOLDER` draws while they grow:
///
///     mt::tensorboard board(job, "runs/first", weights.step() + 1);
///     …
///     board.outputs(step, number);                       // the loss, and every other output without dims
///     board.scalar("loss/validation", held_out, number);
///
/// All ranks make it and call it, and one rank writes. Every number is in the file when the call returns, so a program
/// that is killed loses at most the step in which it was. A training that goes on from a checkpoint begins another file
/// in the same folder. `first_step` is the first step that it writes, and what earlier files have from there on is not
/// drawn any more. With an empty folder nothing is written.
///
/// Warnings: R17 the folder cannot be written; the training goes on
class tensorboard {
 public:
  tensorboard(job const& job, std::filesystem::path const& folder, std::int64_t first_step = 0) {
    if (!folder.empty() && job.is_root()) file_.emplace(folder, first_step);
  }

  /// Whether this rank writes, and could so far.
  bool is_written() const { return file_ && file_->good(); }

  /// A number, with a path as its tag: `loss/validation`. errors R51 the tag is not UTF-8
  void scalar(std::string_view tag, double value, std::int64_t step) {
    if (file_) file_->scalar(tag, value, step);
  }
  /// A text, in Markdown. errors R51 as above
  void text(std::string_view tag, std::string_view words, std::int64_t step) {
    if (file_) file_->text(tag, words, step);
  }
  /// Every output without dims of the last step of an executable, each under its name behind the prefix: `train/loss`.
  /// A learning rate is there if the program gives it out: `s.output("learning_rate", rate)`.
  template <class Step>
  requires requires(Step const& s) { s.scalars(); }
  void outputs(Step const& last, std::int64_t step, std::string_view prefix = "") {
    if (!file_) return;
    for (auto const& [name, value] : last.scalars()) file_->scalar(std::string(prefix) + name, value, step);
  }

 private:
  std::optional<event_file> file_;
};

}  // namespace meshtensor
