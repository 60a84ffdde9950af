// SPDX-License-Identifier: Apache-2.0
// Writes checkpoints while steps run. It copies the values, lets a thread write them, and completes the checkpoint when
// all ranks have written their files.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "meshtensor/io/checkpoint/loading.hpp"
#include "meshtensor/io/checkpoint/saving.hpp"
#include "meshtensor/io/checkpoints.hpp"

namespace meshtensor {

namespace io {

class checkpoint_writer final : public checkpoint_saver {
 public:
  checkpoint_writer(store& weights, std::string folder, checkpoint_options const& how)
      : weights_(weights),
        folder_(std::move(folder)),
        how_(how),
        keep_(how.keep.value_or(3)),
        saved_step_(weights.step()),
        seen_(seen_now()),
        all_(job_of()),
        greatest_(job_of()),
        numbers_(job_of()) {
    if (how.every < 0 || keep_ < 0)
      throw error("C12", {"checkpoints are saved every ", how.every, " steps and ", keep_,
                          " are kept: neither can be negative"});
  }
  checkpoint_writer(checkpoint_writer const&) = delete;
  checkpoint_writer& operator=(checkpoint_writer const&) = delete;
  ~checkpoint_writer() override {
    if (phase_ == phase::idle || std::uncaught_exceptions() > exceptions_ || job_of().has_failed()) return;
    try {
      advance(true);
    } catch (std::exception const& e) { warn(job_of(), std::string("C01: the last checkpoint is lost: ") + e.what()); }
  }

  std::optional<loaded> resume(load_options const& how) override {
    finish();
    load_options meant = how;
    if (how_.only)
      meant.only = [only = how_.only, also = how.only](std::string const& label) {
        return only(label) && (!also || also(label));
      };
    auto found = load_newest(weights_, folder_, meant);
    saved_step_ = weights_.step(), seen_ = seen_now();
    return found;
  }

  bool after_step() override {
    advance(false);
    position const before = std::exchange(seen_, seen_now());
    return is_due(before) && weights_.step() != saved_step_;
  }
  void save(notes more) override {
    finish();
    warn_of_left();
    begin(std::move(more));
    if (!how_.in_background) finish();
  }
  void finish() override { advance(true); }

  std::string const& last() const override { return last_; }
  std::int64_t failed() const override { return failed_; }

 private:
  enum class phase { idle, writing, committing };
  /// The step of the store, and the source of its last load.
  struct position {
    std::uint64_t step;
    value_source const* from;
  };

  job_runner& job_of() const { return weights_.runner(); }
  position seen_now() const { return {weights_.step(), weights_.source().get()}; }

  /// Whether the store has reached a multiple of `every`. Several steps may have run since `before`, and the multiple
  /// may be any of them. However, if the store was loaded since then, the number of these steps is unknown, so only the
  /// last one counts.
  bool is_due(position const& before) const {
    if (how_.every == 0) return false;
    auto const every = static_cast<std::uint64_t>(how_.every);
    if (seen_.from != before.from || seen_.step <= before.step) return seen_.step % every == 0;
    return seen_.step / every != before.step / every;
  }

  /// Copies the blocks that this process writes, and starts to write them.
  void begin(notes more) {
    saved_step_ = weights_.step();
    checkpoint_name made;
    all_([&] { now_ = saving(weights_, std::move(more), how_.only); });
    bool const begun = attempt([&] {
      all_([&] {
        if (!job_of().is_root()) return;
        made = make_next(folder_, now_.step());
        mark_.emplace(folder_ + "/" + made.text());
      });
    });
    if (!begun) return;
    now_.set_place(folder_, {static_cast<std::uint64_t>(greatest_(static_cast<double>(made.number))), now_.step()});
    phase_ = phase::writing;
    settle([&] {
      now_.take(weights_, process_of(job_of()));
      if (how_.in_background) now_.copy_to(copy_);
      work_ = start([this] { now_.write(how_.nan); });
    });
  }
  template <class F>
  std::future<void> start(F const& f) const {
    return std::async(how_.in_background ? std::launch::async : std::launch::deferred, f);
  }

  /// Proceeds to the next phase if the threads of all processes have finished the current phase.
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
      else phase_ = phase::idle, last_ = now_.path(), mark_.reset();
    }
  }
  /// Collects the sizes and checksums of the files of all ranks, and starts to write the index.
  void commit() {
    if (job_of().size() > 1) {
      saved_file const mine = now_.written();
      auto const bytes = numbers_(static_cast<std::uint64_t>(mine.bytes)), headers = numbers_(mine.header);
      now_.set_written(bytes, headers);
    }
    phase_ = phase::committing;
    settle([&] {
      if (job_of().is_root()) work_ = start([this] { now_.commit(keep_); });
    });
  }
  /// Runs `f` on all processes. An error on one process ends the save on all, and removes the checkpoint's files.
  /// Returns false after an error that `may_fail` allows.
  template <class F>
  bool settle(F const& f) {
    return attempt([&] {
      try {
        all_(f);
      } catch (...) {
        if (work_.valid()) work_.wait();
        phase_ = phase::idle;
        if (job_of().is_root()) remove_checkpoint(now_.path()), mark_.reset();
        throw;
      }
    });
  }
  /// Runs `f`, which fails on all processes or on none. After an error that `may_fail` allows, it warns and returns
  /// false.
  template <class F>
  bool attempt(F const& f) {
    try {
      f();
      return true;
    } catch (error const& e) {
      if (!how_.may_fail || !is_of_writing(e.code())) throw;
      ++failed_;
      warn(job_of(), "C01: the checkpoint of step " + std::to_string(saved_step_) +
                         " is not saved, and the program goes on: " + e.sentence());
      return false;
    }
  }
  static bool is_of_writing(std::string_view code) {
    return code == "C01" || code == "C02" || code == "C13" || code == "C17";
  }
  void warn_of_left() {
    auto const* const from = dynamic_cast<saved_values const*>(weights_.source().get());
    if (from == nullptr || from == warned_ || !from->are_known() || from->left().empty()) return;
    warned_ = from;
    warn(job_of(), "C10: " + from->about_left() + ": the checkpoints from now on will not have it");
  }

  store& weights_;
  std::string folder_;
  checkpoint_options how_;
  int keep_;
  std::uint64_t saved_step_;
  position seen_;  // at the last call of `after_step`
  all_or_throw all_;
  agreement greatest_;
  numbers_of_all numbers_;
  int exceptions_ = std::uncaught_exceptions();
  saved_values const* warned_ = nullptr;

  phase phase_ = phase::idle;
  saving now_;
  std::optional<mark_of_writer> mark_;  // of the root, while it writes
  std::string last_;
  std::int64_t failed_ = 0;
  arena copy_;
  std::future<void> work_;  // last, so that it is destroyed, and waited for, before the members that it uses
};

template <class>
std::unique_ptr<checkpoint_saver> saver_of(store& weights, std::string folder, checkpoint_options const& how) {
  return std::make_unique<checkpoint_writer>(weights, std::move(folder), how);
}

}  // namespace io

template <class>
std::string save(store& weights, std::filesystem::path const& folder, notes more, checkpoint_options how) {
  how.in_background = false;
  if (!how.keep) how.keep = 0;
  checkpoints all(weights, folder, how);
  all.save(std::move(more));
  return all.last();
}

}  // namespace meshtensor
