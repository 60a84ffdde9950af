// SPDX-License-Identifier: Apache-2.0
// The MPI transport, in which ranks are MPI processes. It prepares groups, waits and reports failures, and
// comm/mpi/pending_collectives.hpp makes the calls. comm/mpi_algorithm.hpp lists the MPI calls of each collective. This
// library makes reductions in one fixed order, unless the MPI library is asked to make them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "meshtensor/comm/communicator.hpp"
#include "meshtensor/comm/mpi/failure_notice.hpp"
#include "meshtensor/comm/mpi/progress.hpp"
#include "meshtensor/comm/mpi/session.hpp"
#include "meshtensor/comm/mpi/watch.hpp"

namespace meshtensor {

struct mpi_options {
  reductions made = reductions::ordered;
  /// A wait beyond these limits gives a warning, and later aborts the job. Both sentences name the missing ranks.
  wait_limits limits = {};
  /// A thread of the world drives pending collectives in the background, if MPI was initialised with
  /// MPI_THREAD_SERIALIZED or more. The program may then call MPI itself only while no collective is pending. Without
  /// the thread, only `test`, `wait` and `progress` drive them.
  bool in_background = false;
  /// An error in the middle of a step of one rank is thrown on all ranks, as R21, as soon as they wait for each other.
  bool tells = false;
  /// Every other error is thrown in the same way, and the job is not aborted. This is for a library that is embedded in
  /// another program.
  bool throws = false;
};

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
      std::string const why = "it left the job by an exception" + (last_.empty() ? "" : ", after: " + last_);
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
        watch_.leaves_after(last_);
        pending_.requests().catch_up();
        meet(everybody(), handshake::end);
      } catch (error const&) {}  // the world ends anyway
    progress_.end();
    bool const silent = watch_.leave();
    if (has_failed()) {  // messages may stay pending, so their communicators and memory are kept
      pending_.requests().leave();
      static_cast<void>(told_.release());
      return;
    }
    pending_.requests().end_listening();
    if (notices_ != MPI_COMM_NULL && silent) MPI_Comm_free(&notices_);
    for (comm::group_communicators& c : groups_) {
      if (c.first != world_) MPI_Comm_free(&c.first);
      MPI_Comm_free(&c.second);
    }
    MPI_Comm_free(&world_);
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm handle() const { return world_; }
  std::int64_t workspace_bytes(collective_call const& call, int count) const {
    return comm::mpi_algorithm_of(call, count, options_.made).workspace_bytes();
  }
  /// Whether MPI alone reads the operand and writes the result.
  bool only_mpi_touches(collective_call const& call, int count) const {
    return comm::mpi_algorithm_of(call, count, options_.made).only_mpi_touches();
  }

  /// Makes the MPI communicators of a group, collectively over its members. A group of one process needs none. Errors
  /// name the call `first` that the group is made for.
  void prepare(group const& g, collective_call const& first = {}) {
    require_valid(g, rank_, size_);
    if (g.count == 1 || find(g) != nullptr) return;
    if (told_) throw failed_before();
    meet(g, handshake::groups, first);
    auto const held = progress_.lock();
    if (options_.in_background && comm::takes_turns()) progress_.begin_thread();
    comm::group_communicators c{std::vector<int>(g.members, g.members + g.count)};
    bool everybody = g.count == size_;
    for (int j = 0; j < g.count; ++j) everybody = everybody && g.members[j] == j;
    if (everybody) {
      c.first = world_;
    } else {
      MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
      comm::must(MPI_Comm_group(world_, &all), "MPI_Comm_group");
      comm::must(MPI_Group_incl(all, g.count, g.members, &some), "MPI_Group_incl");
      comm::must(MPI_Comm_create_group(world_, some, 0, &c.first), "MPI_Comm_create_group");
      MPI_Group_free(&some);
      MPI_Group_free(&all);
    }
    comm::must(MPI_Comm_set_errhandler(c.first, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    comm::must(MPI_Comm_dup(c.first, &c.second), "MPI_Comm_dup");
    groups_.push_back(std::move(c));
  }

  request start(collective_call const& call, group const& g, void const* in, void* out, void* workspace) {
    require_valid(call, g.count, g.index);
    auto const held = progress_.lock();
    progress_.raise();
    if (told_) throw failed_before();
    comm::mpi_algorithm const form = comm::mpi_algorithm_of(call, g.count, options_.made);
    if (form.first == comm::mpi_function::none) {
      if (g.count == 1) reference(call, 1, &in, 0, out);
      return {};
    }
    if (comm::largest_count(call, g.count, form) > std::numeric_limits<int>::max())
      throw error("R26", {text_of(call), " over ", g.count,
                          " processes counts more than 2^31-1 elements in one call of MPI; shard it further"});
    comm::group_communicators* const over = find(g);
    if (over == nullptr)
      throw error("R23", {text_of(g), " was not prepared; call prepare for every group on all its ranks first"});
    if (workspace == nullptr && form.workspace_bytes() != 0)
      throw error("R20", {text_of(call), " needs a workspace of ", form.workspace_bytes(), " bytes"});
    comm::mpi_pending f;
    f.index = g.index, f.count = g.count, f.members = over->members.data();
    f.sequence = over->next++, f.over = over, f.call = call, f.form = form;
    f.in = in, f.out = static_cast<std::byte*>(out);
    f.counts = static_cast<std::byte*>(workspace);
    f.packed = f.counts + form.counts_bytes;
    f.received = f.packed + form.packed_bytes;
    request const r{pending_.begin(f)};
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
      if (told_) throw failed_before();
      if (pending_.requests().is_behind()) {
        if (!behind) behind.emplace().restart();
        if (behind->look() >= std::chrono::seconds(2)) pending_.requests().catch_up();
      }
      try {
        if (pending_.step(endless && pending_.requests().failed() < 0) || watch_.look(pending_[r.slot])) continue;
        if (watch_.gone() >= 0) lose(watch_.gone(), held);
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
  void tell(std::string_view why) {
    if (!is_told() || has_failed()) return;
    progress_.end();  // one thread at a time calls MPI
    if (notices_ != MPI_COMM_NULL)
      told_ = std::make_unique<comm::failure_notice>(notices_, pending_.requests().phase(), why);
  }
  /// Called when this rank begins or ends work that all ranks do together, such as a step.
  void next_phase() { pending_.requests().next_phase(); }
  /// Stores the last error of this rank. The others are told of it if an exception leaves the world.
  void remember(std::string_view what) { last_ = what; }
  /// Whether this rank has told the others of a failure, or was told. Memory that messages use must then not be freed.
  bool has_failed() const { return told_ != nullptr || pending_.requests().failed() >= 0; }

  /// Stops driving pending collectives. They will not complete, so their memory may be freed.
  void abandon() { progress_.end(); }

  void barrier() { meet(everybody(), handshake::barrier); }

  /// Prints the rank that failed and the reason on stderr, and ends all processes of the job with exit code 1.
  [[noreturn]] void abort(std::string_view message, char const* code = "R21") {
    std::fprintf(stderr, "meshtensor %s: rank %d failed: %.*s\n", code, rank_, static_cast<int>(message.size()),
                 message.data());
    std::fflush(stderr);
    watch_.neighbours().speaks_first();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // some launchers lose what was printed just before
    end_all();
  }
  /// The ranks on this machine.
  comm::mpi_neighbours& neighbours() { return watch_.neighbours(); }
  std::vector<int> ranks_here() {
    std::vector<int> all = neighbours().ranks();
    all.insert(std::lower_bound(all.begin(), all.end(), rank_), rank_);
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
  bool is_told() const { return options_.tells || options_.throws; }
  [[noreturn]] void end_all() {
    progress_.end();  // one thread at a time calls MPI
    MPI_Abort(world_ == MPI_COMM_NULL ? MPI_COMM_WORLD : world_, 1);
    std::abort();
  }
  /// Fails because the process of another rank has ended. This rank or one of its neighbours reports it. errors R21
  [[noreturn]] void lose(int rank, std::unique_lock<std::mutex>& held) {
    std::string const sentence = watch_.neighbours().sentence(rank);
    held.unlock();
    if (options_.throws) {
      tell(std::string(comm::mpi_requests::of_another) + sentence);
      throw error("R21", sentence, rank);
    }
    if (watch_.neighbours().speaks_first()) std::fprintf(stderr, "meshtensor R21: %s\n", sentence.c_str());
    std::fflush(stderr);
    end_all();
  }
  /// Makes the communicators of this world, together with the other ranks.
  void join(MPI_Comm user) {
    if (user == MPI_COMM_NULL)
      throw error("R25",
                  "a job was given MPI_COMM_NULL, which ranks outside of a communicator get: make it on the ranks "
                  "that are in the communicator");
    comm::must(MPI_Comm_rank(user, &rank_), "MPI_Comm_rank");
    comm::must(MPI_Comm_size(user, &size_), "MPI_Comm_size");
    if (session_.is_owned() && user == MPI_COMM_WORLD && !options_.throws) {
      int const left = comm::mpi_session::first_to_exit(false, [&](MPI_Request& all_here) { watch_.arrive(all_here); });
      if (left >= 0 && rank_ != (left == 0 ? 1 : 0)) std::this_thread::sleep_for(std::chrono::milliseconds(500));
      if (left >= 0)
        throw error("R22", {"it makes a job, but rank ", left,
                            " has left the program: all ranks must make the same jobs, in one order"});
    } else {
      MPI_Request all_here = MPI_REQUEST_NULL;
      comm::must(MPI_Ibarrier(user, &all_here), "MPI_Ibarrier");
      watch_.arrive(all_here);
    }
    comm::must(MPI_Comm_dup(user, &world_), "MPI_Comm_dup");
    comm::must(MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    for (int r = 0; r < size_; ++r) everybody_.push_back(r);
    if (size_ == 1) return;
    comm::must(MPI_Comm_dup(world_, &notices_), "MPI_Comm_dup");
    watch_.introduce(notices_, !options_.throws);
    if (is_told()) pending_.requests().listen(notices_);
  }
  /// The purpose of a barrier. It is also the tag of its messages, so that a rank in another barrier than its peers
  /// waits, and the error can name both barriers.
  enum class handshake { groups = 2, barrier, end };
  /// A barrier over a group of n ranks, in log2(n) rounds, rounded up. It uses messages, because a collective could be
  /// matched with one of the program's if a rank does something else.
  ///
  /// source  the dissemination barrier of Hensgen, Finkel, Manber, "Two Algorithms for Barrier Synchronization", 1988
  void meet(group const& g, handshake m, collective_call const& first = {}) {
    constexpr char const* names[] = {"the first collective", "a barrier", comm::mpi_watch::the_end};
    comm::mpi_pending f;
    f.what = names[static_cast<int>(m) - 2], f.members = g.members, f.count = g.count, f.call = first;
    for (int step = 1; step < g.count; step *= 2) {
      request r;
      {
        auto const held = progress_.lock();
        r.slot = pending_.token(f, notices_, static_cast<int>(m), g.members[(g.index + step) % g.count],
                                g.members[(g.index + g.count - step) % g.count]);
      }
      wait(r);
    }
  }
  group everybody() const { return {everybody_.data(), size_, rank_}; }

  error failed_before() const {
    std::string_view const why = told_->text();
    if (why.starts_with(comm::mpi_requests::of_another)) return comm::mpi_requests::failure(rank_, why);
    return error("R21", {"this rank failed before, so its job is over: ", why});
  }
  comm::group_communicators* find(group const& g) {
    for (comm::group_communicators& c : groups_)
      if (std::equal(c.members.begin(), c.members.end(), g.members, g.members + g.count)) return &c;
    return nullptr;
  }

  comm::mpi_session session_;
  mpi_options options_;
  int exceptions_ = std::uncaught_exceptions();
  MPI_Comm world_ = MPI_COMM_NULL, notices_ = MPI_COMM_NULL;
  std::unique_ptr<comm::failure_notice> told_;  // the notice of its own failure that this rank has sent
  std::string last_;
  int rank_ = 0, size_ = 0;
  std::vector<int> everybody_;
  std::deque<comm::group_communicators> groups_;
  comm::mpi_pending_collectives pending_;
  comm::mpi_watch watch_{options_.limits};
  comm::mpi_progress progress_{pending_};
  std::shared_ptr<void> values_;
};

static_assert(communicator<mpi_world>);

}  // namespace meshtensor
