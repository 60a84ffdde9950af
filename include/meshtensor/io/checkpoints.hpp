// SPDX-License-Identifier: Apache-2.0
// Saves checkpoints, in the background of a training or at once.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <utility>

#include "meshtensor/io/load.hpp"
#include "meshtensor/io/saving.hpp"

namespace meshtensor {

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
      : weights_(weights),
        folder_(folder.string()),
        how_(how),
        saved_step_(weights.step()),
        all_(job_of()),
        greatest_(job_of()),
        numbers_(job_of()) {
    if (how.every < 0 || how.keep < 0)
      throw error("C12", {"checkpoints are saved every ", how.every, " steps and ", how.keep,
                          " are kept: neither can be negative"});
  }
  checkpoints(checkpoints const&) = delete;
  checkpoints& operator=(checkpoints const&) = delete;
  /// Waits for a checkpoint that is being written. While an exception unwinds, the other ranks may not get here: then
  /// the checkpoint is not completed.
  ~checkpoints() {
    if (phase_ == phase::idle || std::uncaught_exceptions() > exceptions_ || job_of().has_failed()) return;
    try {
      finish();
    } catch (std::exception const& e) { warn(job_of(), std::string("C01: the last checkpoint is lost: ") + e.what()); }
  }

  /// Loads the newest checkpoint, as `mt::load` does; nothing if there is none yet.
  std::optional<loaded> resume(load_options const& how = {}) {
    finish();
    load_options meant = how;
    if (how_.only)
      meant.only = [only = how_.only, also = how.only](std::string const& label) {
        return only(label) && (!also || also(label));
      };
    auto found = io::load_newest(weights_, folder_, meant);
    saved_step_ = weights_.step();
    return found;
  }

  /// Call it after every step. `more()` returns the notes of a step that is saved.
  template <std::invocable More>
  void after_step(More const& more) {
    advance(false);
    bool const due = how_.every > 0 && weights_.step() % static_cast<std::uint64_t>(how_.every) == 0;
    if (due && weights_.step() != saved_step_) save(more());
  }
  void after_step() {
    after_step([] { return notes(); });
  }

  /// Saves now, after any earlier checkpoint is on the disk.
  void save(notes more = {}) {
    finish();
    warn_of_left();
    begin(std::move(more));
    if (!how_.in_background) finish();
  }

  /// Returns when all saved checkpoints are on the disk.
  void finish() { advance(true); }

  /// The folder of the newest checkpoint saved by this object; empty if there is none.
  std::string const& last() const { return last_; }
  /// The number of failed saves, which `may_fail` allows.
  std::int64_t failed() const { return failed_; }

 private:
  enum class phase { idle, writing, committing };

  job_runner& job_of() const { return weights_.runner(); }

  /// Copies the blocks that this process writes, and starts to write them.
  void begin(notes more) {
    saved_step_ = weights_.step();
    io::checkpoint_name made;
    all_([&] { now_ = io::saving(weights_, std::move(more), how_.only); });
    bool const begun = attempt([&] {
      all_([&] {
        if (job_of().is_root()) made = io::make_next(folder_, now_.step());
      });
    });
    if (!begun) return;
    now_.set_place(folder_, {static_cast<std::uint64_t>(greatest_(static_cast<double>(made.number))), now_.step()});
    phase_ = phase::writing;
    settle([&] {
      now_.take(weights_, io::process_of(job_of()));
      if (how_.in_background) now_.copy_to(copy_);
      work_ = start([this] { now_.write(how_.nan); });
    });
  }
  template <class F>
  std::future<void> start(F const& f) const {
    return std::async(how_.in_background ? std::launch::async : std::launch::deferred, f);
  }

  /// Proceeds to the next phase if the threads of all processes have finished theirs.
  void advance(bool wait) {
    while (phase_ != phase::idle) {
      if (wait && work_.valid()) work_.wait();
      bool const busy = work_.valid() && work_.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
      if (greatest_(busy ? 1 : 0) > 0) return;
      bool const good = settle([&] {
        if (work_.valid()) work_.get();
      });
      if (!good) return;
      if (phase_ == phase::writing) commit();
      else phase_ = phase::idle, last_ = now_.path();
    }
  }
  /// Collects what the other ranks have written, and starts to write the index.
  void commit() {
    if (job_of().size() > 1) {
      io::saved_file const mine = now_.written();
      auto const bytes = numbers_(static_cast<std::uint64_t>(mine.bytes)), headers = numbers_(mine.header);
      now_.set_written(bytes, headers);
    }
    phase_ = phase::committing;
    settle([&] {
      if (job_of().is_root()) work_ = start([this] { now_.commit(how_.keep); });
    });
  }
  /// Runs `f` on all processes. An error on one ends the save on all and removes the checkpoint's files. Returns false
  /// after an error that `may_fail` allows.
  template <class F>
  bool settle(F const& f) {
    return attempt([&] {
      try {
        all_(f);
      } catch (...) {
        if (work_.valid()) work_.wait();
        phase_ = phase::idle;
        if (job_of().is_root()) io::remove_checkpoint(now_.path());
        throw;
      }
    });
  }
  /// Runs `f`, which fails on all processes or on none. Returns false after an error that `may_fail` allows, with a
  /// warning.
  template <class F>
  bool attempt(F const& f) {
    try {
      f();
      return true;
    } catch (error const& e) {
      if (!how_.may_fail || (e.code() != "C01" && e.code() != "C02")) throw;
      ++failed_;
      warn(job_of(), "C01: the checkpoint of step " + std::to_string(saved_step_) +
                         " is not saved, and the program goes on: " + e.sentence());
      return false;
    }
  }
  void warn_of_left() {
    auto const* const from = dynamic_cast<io::saved_values const*>(weights_.source().get());
    if (from == nullptr || from == warned_ || !from->are_known() || from->left().empty()) return;
    warned_ = from;
    warn(job_of(), "C10: " + from->about_left() + ": the checkpoints from now on will not have it");
  }

  store& weights_;
  std::string folder_;
  checkpoint_options how_;
  std::uint64_t saved_step_;
  all_or_throw all_;
  agreement greatest_;
  numbers_of_all numbers_;
  int exceptions_ = std::uncaught_exceptions();
  io::saved_values const* warned_ = nullptr;

  phase phase_ = phase::idle;
  io::saving now_;
  std::string last_;
  std::int64_t failed_ = 0;
  arena copy_;
  std::future<void> work_;  // last: it is destroyed, and so waited for, before what it uses
};

/// Saves the values, step and seed of a store, and what a program notes beside them, as the next checkpoint of a
/// folder; none that is there goes. Returns its own folder. All processes call it.
///
/// errors  C01 a file cannot be written, C09 a value has NaN
inline std::string save(store& weights, std::filesystem::path const& folder, notes more = {},
                        checkpoint_options how = {.keep = 0}) {
  how.in_background = false;
  checkpoints all(weights, folder, how);
  all.save(std::move(more));
  return all.last();
}

}  // namespace meshtensor
