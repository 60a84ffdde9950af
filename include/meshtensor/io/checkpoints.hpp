// SPDX-License-Identifier: Apache-2.0
// Saves checkpoints, either in the background of a training or at once.
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

/// Options of `checkpoints` and `save`: how and when they write, and what they keep.
struct checkpoint_options {
  /// The number of steps between two saves of `after_step`, which saves when the store has reached or passed a multiple
  /// of it since the last call. With 0 it never saves.
  std::int64_t every = 0;
  /// The number of newest checkpoints that stay in the folder. With 0 all stay. If it is not given, `checkpoints` keeps
  /// 3, and `save` keeps all.
  std::optional<int> keep = {};
  /// If true, a thread writes a copy while the steps go on. Otherwise `save` returns when all is on the disk.
  bool in_background = true;
  /// Whether values may have NaN. Otherwise a step with NaN is not saved, so it also removes no earlier checkpoint.
  bool nan = false;
  /// Selects the values to save, by name. If it is empty, all are saved. `resume` loads only the selected values. The
  /// other values keep their contents, or get their initializers.
  std::function<bool(std::string const&)> only = {};
  /// If true, a checkpoint that cannot be written, for example on a full disk, is a warning, and the training goes on.
  /// Otherwise it is an error.
  bool may_fail = false;
};

namespace io {

/// Saves the checkpoints of a run. The implementation is in checkpoint/background_writer.hpp.
class checkpoint_saver {
 public:
  virtual ~checkpoint_saver() = default;
  virtual std::optional<loaded> resume(load_options const& how) = 0;
  /// Makes progress with a checkpoint that is being written. Returns whether this step is to be saved.
  virtual bool after_step() = 0;
  virtual void save(notes more) = 0;
  virtual void finish() = 0;
  virtual std::string const& last() const = 0;
  virtual std::int64_t failed() const = 0;
};
template <class = lazy>
std::unique_ptr<checkpoint_saver> saver_of(store& weights, std::string folder, checkpoint_options const& how);

}  // namespace io

/// The checkpoints of a run, in a folder that all processes see. Each rank has a file with the blocks that it alone
/// writes. The checkpoint is complete when it has an index, which is written after all ranks have written their files.
/// If one rank cannot write, all throw, and earlier checkpoints stay. All processes call its functions in the same
/// order. For example:
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
  /// Waits for a checkpoint that is being written. While an exception unwinds, the other ranks may not get here.
  /// Therefore the checkpoint is not completed in this case.
  ~checkpoints() = default;

  /// Loads the newest checkpoint, as `mt::load` does. Returns nothing if there is none yet.
  std::optional<loaded> resume(load_options const& how = {}) { return saver_->resume(how); }

  /// Must be called after every step, or after several steps that belong together. `more()` returns the notes. It is
  /// called only if the step is saved.
  template <std::invocable More>
  void after_step(More const& more) {
    if (saver_->after_step()) saver_->save(more());
  }
  void after_step() {
    after_step([] { return notes(); });
  }

  /// Saves now, but first waits until any earlier checkpoint is on the disk.
  void save(notes more = {}) { saver_->save(std::move(more)); }

  /// Returns when all saved checkpoints are on the disk.
  void finish() { saver_->finish(); }

  /// The folder of the newest checkpoint that this object saved, or an empty string if there is none.
  std::string const& last() const { return saver_->last(); }
  /// The number of failed saves, which `may_fail` allows.
  std::int64_t failed() const { return saver_->failed(); }

 private:
  std::unique_ptr<io::checkpoint_saver> saver_;
};

/// Saves the values, step and seed of a store, and the notes of the program, as the next checkpoint of a folder. It
/// removes no earlier checkpoint, unless `keep` is given. Returns the folder of the new checkpoint. All processes call
/// it.
///
/// errors  C01 a file cannot be written, C09 a value has NaN
template <class = lazy>
std::string save(store& weights, std::filesystem::path const& folder, notes more = {}, checkpoint_options how = {});

}  // namespace meshtensor

#if !MESHTENSOR_COMPILED_IO
#  include "meshtensor/io/checkpoint/background_writer.hpp"
#endif
