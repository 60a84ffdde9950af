// SPDX-License-Identifier: Apache-2.0
// The MPI transport, in which ranks are MPI processes. comm/mpi_algorithm.hpp lists the MPI calls of each collective.
// This library makes reductions in one fixed order, unless the MPI library is asked to make them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "meshtensor/comm/communicator.hpp"
#include "meshtensor/comm/mpi/arrive.hpp"
#include "meshtensor/comm/mpi/communicators.hpp"
#include "meshtensor/comm/mpi/failures.hpp"
#include "meshtensor/comm/mpi/handshake.hpp"
#include "meshtensor/comm/mpi/new_collective.hpp"
#include "meshtensor/comm/mpi/options.hpp"
#include "meshtensor/comm/mpi/progress.hpp"
#include "meshtensor/comm/mpi/session.hpp"
#include "meshtensor/comm/mpi/watch.hpp"
#include "meshtensor/comm/reference.hpp"

namespace meshtensor {

/// The processes of an MPI communicator, which the world duplicates. It models `communicator`, for use by one thread.
/// It initialises MPI only if that has not happened yet, and then finalises MPI when the process exits. If an exception
/// leaves the world's scope, the other ranks would wait for ever. Therefore it aborts the job or tells the others.
/// Every MPI call in which ranks wait for each other follows a barrier with a time limit.
///
/// errors  R20 (calls), R22 (waits), R23 (groups), R25 (MPI), R26 (counts of more than 2^31-1 elements)
class mpi_world {
 public:
  /// A collective in flight. Its buffers belong to MPI until it is complete.
  struct request {
    int slot = -1;
  };

  explicit mpi_world(mpi_options options = {}) : mpi_world(MPI_COMM_WORLD, std::move(options)) {}
  explicit mpi_world(MPI_Comm user, mpi_options options = {}) : options_(std::move(options)) {
    try {
      join(user);
    } catch (error const& e) {
      if (options_.throws) throw;
      abort(e.sentence(), e.code().c_str());
    }
  }
  mpi_world(mpi_world const&) = delete;
  mpi_world& operator=(mpi_world const&) = delete;
  ~mpi_world() {
    int ended = 0;
    if (MPI_Finalized(&ended); ended != 0) return;
    bool const by_exception = std::uncaught_exceptions() > exceptions_;
    if (by_exception) {
      std::string const why =
          "it left the job by an exception" + (failures_.last().empty() ? "" : ", after: " + failures_.last());
      if (!options_.throws) {
        if (pending_.requests().failed() >= 0) std::this_thread::sleep_for(std::chrono::seconds(1));  // it says why
        abort(why);
      }
      try {
        tell(why);
      } catch (error const&) {}  // of two exceptions at once, the first one leaves the job
    }
    // A rank that leaves waits for the others. If they wait for it elsewhere, all are told.
    if ((session_.is_owned() || options_.throws) && !has_failed()) try {
        watch_.leaves_after(failures_.last());
        pending_.requests().catch_up();
        meet(over_.everybody(), comm::handshake::end);
      } catch (error const&) {}  // the world ends anyway
    progress_.end();
    bool const silent = watch_.leave();
    if (has_failed()) {  // messages may stay pending, so their communicators and memory are kept
      failures_.leave();
      return;
    }
    pending_.requests().end_listening();
    over_.free(silent);
  }

  int rank() const { return over_.rank(); }
  int size() const { return over_.size(); }
  MPI_Comm handle() const { return over_.world(); }
  std::int64_t workspace_bytes(collective_call const& call, int count) const {
    return comm::mpi_algorithm_of(call, count, options_.made).workspace_bytes();
  }
  /// Whether the operand and the result may be in a device's memory, because MPI alone reads and writes them.
  bool takes_device_memory(collective_call const& call, int count) const {
    return comm::mpi_algorithm_of(call, count, options_.made).only_mpi_touches();
  }

  /// Makes the MPI communicators of a group, collectively over its members. A group of one process needs none. Errors
  /// name the call `first` that the group is made for.
  void prepare(group const& g, collective_call const& first = {}) {
    require_valid(g, rank(), size());
    if (g.count == 1 || over_.find(g) != nullptr) return;
    if (failures_.has_told()) throw failures_.before();
    meet(g, comm::handshake::groups, first);
    auto const held = progress_.lock();
    if (options_.in_background && comm::takes_turns()) progress_.begin_thread();
    over_.make(g);
  }

  request start(collective_call const& call, group const& g, void const* in, void* out, void* workspace) {
    require_valid(call, g.count, g.index);
    auto const held = progress_.lock();
    progress_.raise();
    if (failures_.has_told()) throw failures_.before();
    comm::mpi_algorithm const form = comm::mpi_algorithm_of(call, g.count, options_.made);
    if (form.first == comm::mpi_function::none) {
      if (g.count == 1) reference(call, 1, &in, 0, out);
      return {};
    }
    request const r{pending_.begin(comm::new_collective(call, g, form, over_.find(g), in, out, workspace))};
    progress_.begun();
    return r;
  }

  /// Drives pending collectives as far as possible, unless a thread does.
  void progress() {
    if (progress_.has_thread()) return;
    while (pending_.requests().are_open() && pending_.step(false));
  }

  /// Throws the failure that another rank has reported. errors R21
  void hear() {
    auto const held = progress_.lock();
    progress_.raise();
    if (!progress_.has_thread()) pending_.step(false);
    auto const& q = pending_.requests();
    if (q.failed() >= 0) throw q.failure(q.failed(), q.notice());
  }

  bool test(request& r) {
    auto const held = progress_.lock();
    progress_.raise();
    do pending_.release(r.slot);
    while (r.slot != -1 && pending_.step(false));
    return r.slot == -1;
  }

  /// errors  R21 another rank has failed, and this one has come to that phase or has waited two seconds more; R22
  void wait(request& r) {
    auto held = progress_.lock();
    progress_.raise();
    bool const endless = watch_.is_endless();
    watch_.begin();
    std::optional<waiting_time> behind;
    for (pending_.release(r.slot); r.slot != -1; pending_.release(r.slot)) {
      if (failures_.has_told()) throw failures_.before();
      if (pending_.requests().is_behind()) {
        if (!behind) behind.emplace().restart();
        if (behind->look() >= std::chrono::seconds(2)) pending_.requests().catch_up();
      }
      try {
        if (pending_.step(endless && pending_.requests().failed() < 0) || watch_.look(pending_[r.slot])) continue;
        if (watch_.gone() >= 0) failures_.lose(watch_.gone(), held);
      } catch (error const&) {  // another rank has timed out, and so does this one if it has waited as long
        if (watch_.gone() >= 0 || !watch_.has_asked() ||
            !pending_.requests().notice().starts_with(comm::mpi_watch::begins_with))
          throw;
      }
      std::string const late = watch_.sentence(pending_[r.slot]);
      held.unlock();
      if (!options_.throws) abort(late, "R22");
      tell(late);
      throw error("R22", late, watch_.missing());
    }
    watch_.end();
  }
  /// Tells all other ranks why this one stops taking part, if errors are thrown on all ranks.
  void tell(std::string_view why) { failures_.tell(why); }
  /// Called when this rank begins or ends work that all ranks do together, such as a step.
  void next_phase() { pending_.requests().next_phase(); }
  /// Stores the last error of this rank. The others are told of it if an exception leaves the world.
  void remember(std::string_view what) { failures_.remember(what); }
  /// Whether this rank has told the others of a failure, or was told. Memory that messages use must then not be freed.
  bool has_failed() const { return failures_.has_failed(); }

  /// Stops driving pending collectives. They will not complete, so their memory may be freed.
  void abandon() { progress_.end(); }

  void barrier() { meet(over_.everybody(), comm::handshake::barrier); }

  /// Prints the rank that failed and the reason on stderr, and ends all processes of the job with exit code 1.
  [[noreturn]] void abort(std::string_view message, char const* code = "R21") { failures_.abort(message, code); }
  /// The ranks on this machine.
  comm::mpi_neighbours& neighbours() { return watch_.neighbours(); }
  std::vector<int> ranks_here() {
    std::vector<int> all = neighbours().ranks();
    all.insert(std::lower_bound(all.begin(), all.end(), rank()), rank());
    return all;
  }
  wait_limits const& limits() const { return options_.limits; }
  /// Sets a function that the world's thread calls before it calls MPI.
  void enter_thread_by(std::function<void()> enter) { progress_.enter_by(std::move(enter)); }
  /// The lock that a thread holds while it calls MPI beside the world's own thread.
  std::unique_lock<std::mutex> lock() { return progress_.lock(); }
  /// The values that the ranks exchange by key, once comm/mpi/key_values.hpp has made them.
  std::shared_ptr<void>& values() { return values_; }

  /// Calls program(*this). An exception aborts the job with its message.
  template <class Program>
  void run(Program&& program) {
    try {
      program(*this);
    } catch (std::exception const& e) { abort(e.what()); } catch (...) {
      abort(unknown_exception);
    }
  }

 private:
  /// Makes the communicators of this world, together with the other ranks.
  void join(MPI_Comm user) {
    over_.take(user);
    comm::arrive(user, over_.rank(), session_, watch_, options_.throws);
    over_.duplicate(user);
    if (size() == 1) return;
    watch_.introduce(over_.notices(), !options_.throws);
    if (failures_.is_told()) pending_.requests().listen(over_.notices());
  }
  void meet(group const& g, comm::handshake m, collective_call const& first = {}) {
    comm::meet(pending_, progress_, over_.notices(), g, m, first, [&](int slot) {
      request r{slot};
      wait(r);
    });
  }

  comm::mpi_session session_;
  mpi_options options_;
  int exceptions_ = std::uncaught_exceptions();
  comm::mpi_communicators over_;
  comm::mpi_pending_collectives pending_;
  comm::mpi_watch watch_{options_.limits};
  comm::mpi_progress progress_{pending_};
  comm::mpi_failures failures_{options_, over_, pending_, watch_, progress_};
  std::shared_ptr<void> values_;
};

static_assert(communicator<mpi_world>);

}  // namespace meshtensor
