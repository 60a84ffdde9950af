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
/// All ranks make it and call it, but only one rank writes. Every number is in the file when the call returns.
/// Therefore a program that is killed loses at most the numbers of its current step. A training that goes on from a
/// checkpoint begins another file in the same folder. `first_step` is the first step that the new file has. TensorBoard
/// no longer draws the points of earlier files from this step on. With an empty folder, nothing is written.
///
/// Warnings: R17 the folder cannot be written. The training goes on.
class tensorboard {
 public:
  tensorboard(job const& job, std::filesystem::path const& folder, std::int64_t first_step = 0) {
    if (!folder.empty() && job.is_root()) file_.emplace(folder, first_step);
  }

  /// Whether this rank writes, and no event has failed so far.
  bool is_written() const { return file_ && file_->good(); }

  /// Writes a number, with a path as its tag: `loss/validation`. errors R51 the tag is not UTF-8
  void scalar(std::string_view tag, double value, std::int64_t step) {
    if (file_) file_->scalar(tag, value, step);
  }
  /// Writes a text in Markdown. errors R51 as above
  void text(std::string_view tag, std::string_view words, std::int64_t step) {
    if (file_) file_->text(tag, words, step);
  }
  /// Writes every output without dims of the last step of an executable, each under its name behind the prefix:
  /// `train/loss`. For example, a learning rate is among them if the program has it as an output:
  /// `s.output("learning_rate", rate)`.
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
