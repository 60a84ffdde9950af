// SPDX-License-Identifier: Apache-2.0
// Saves checkpoints, in the background of a training or at once.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "meshtensor/io/load.hpp"

namespace meshtensor {

/// How and when `checkpoints` and `save` write, and what they keep.
struct checkpoint_options {
  /// `after_step` saves every so many steps; 0: never.
  std::int64_t every = 0;
  /// The number of newest checkpoints that stay in the folder; 0: all.
  int keep = 3;
  /// Whether a thread writes a copy while the steps go on; else `save` returns when all is on the disk.
  bool in_background = true;
  /// Whether values may have NaN. Else a step with NaN is not saved, and no earlier checkpoint is removed for it.
  bool nan = false;
  /// Selects the values to save, by name; empty: all. `resume` loads only these: other values keep their contents, or
  /// get their initializers.
  std::function<bool(std::string const&)> only = {};
  /// Whether a checkpoint that cannot be written, as on a full disk, is a warning and the training goes on; else an
  /// error.
  bool may_fail = false;
};

namespace io {

/// Saves the checkpoints of a run: see checkpoint/writer.hpp.
class checkpoint_saver {
 public:
  virtual ~checkpoint_saver() = default;
  virtual std::optional<loaded> resume(load_options const& how) = 0;
  /// Proceeds with a checkpoint that is being written. Returns whether this step is to be saved.
  virtual bool after_step() = 0;
  virtual void save(notes more) = 0;
  virtual void finish() = 0;
  virtual std::string const& last() const = 0;
  virtual std::int64_t failed() const = 0;
};
template <class = lazy>
std::unique_ptr<checkpoint_saver> saver_of(store& weights, std::string folder, checkpoint_options const& how);

}  // namespace io

/// The checkpoints of a run, in a folder that all processes see. Each processor has a file with the blocks that it
/// alone writes. An index completes the checkpoint: it is written when all ranks have written their files. If one rank
/// cannot write, all throw, and earlier checkpoints stay. All processes call its functions in the same order.
///
///     mt::checkpoints keep(weights, "run", {.every = 100});
///     if (auto const start = keep.resume()) batch = start->get<std::int64_t>("batch");
///     while (…) {
///       step(mt::feed<"x">(…));
///       keep.after_step([&] { return mt::notes{{"batch", batch}}; });
///     }
///     keep.finish();
///
/// errors  C01 a file cannot be written, C09 a value has NaN: thrown by the next call after it happened; the job can go
///         on, and save later steps. C12 `only` selects no value
class checkpoints {
 public:
  checkpoints(store& weights, std::filesystem::path const& folder, checkpoint_options const& how = {})
      : saver_(io::saver_of(weights, folder.string(), how)) {}
  checkpoints(checkpoints const&) = delete;
  checkpoints& operator=(checkpoints const&) = delete;
  /// Waits for a checkpoint that is being written. While an exception unwinds, the other ranks may not get here: then
  /// the checkpoint is not completed.
  ~checkpoints() = default;

  /// Loads the newest checkpoint, as `mt::load` does; nothing if there is none yet.
  std::optional<loaded> resume(load_options const& how = {}) { return saver_->resume(how); }

  /// Call it after every step. `more()` returns the notes of a step that is saved.
  template <std::invocable More>
  void after_step(More const& more) {
    if (saver_->after_step()) saver_->save(more());
  }
  void after_step() {
    after_step([] { return notes(); });
  }

  /// Saves now, after any earlier checkpoint is on the disk.
  void save(notes more = {}) { saver_->save(std::move(more)); }

  /// Returns when all saved checkpoints are on the disk.
  void finish() { saver_->finish(); }

  /// The folder of the newest checkpoint saved by this object; empty if there is none.
  std::string const& last() const { return saver_->last(); }
  /// The number of failed saves, which `may_fail` allows.
  std::int64_t failed() const { return saver_->failed(); }

 private:
  std::unique_ptr<io::checkpoint_saver> saver_;
};

/// Saves the values, step and seed of a store, and what a program notes beside them, as the next checkpoint of a
/// folder; none that is there goes. Returns its own folder. All processes call it.
///
/// errors  C01 a file cannot be written, C09 a value has NaN
template <class = lazy>
std::string save(store& weights, std::filesystem::path const& folder, notes more = {},
                 checkpoint_options how = {.keep = 0});

}  // namespace meshtensor

#if !MESHTENSOR_COMPILED_IO
#  include "meshtensor/io/checkpoint/writer.hpp"
#endif
