// SPDX-License-Identifier: Apache-2.0
// Key-value store over MPI: rank 0 holds the values (comm/mpi/value_server.hpp), and the others send it requests.
#pragma once

#include <atomic>
#include <charconv>
#include <chrono>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meshtensor/comm/key_values.hpp"
#include "meshtensor/comm/mpi/value_server.hpp"
#include "meshtensor/comm/mpi/wait_until.hpp"

namespace meshtensor::comm {

/// Each request is a message to rank 0, which replies at once. Therefore a rank that waits for a value asks again. At
/// most one thread of a process calls MPI at a time, and it holds the world's lock.
class mpi_key_values final : public key_values {
 public:
  /// The values of a world. The first call makes them, collectively.
  ///
  /// errors  R78 MPI takes calls from one thread only
  static mpi_key_values& of(mpi_world& world) {
    auto& kept = world.values();
    if (!kept) kept = std::make_shared<mpi_key_values>(world);
    return *static_cast<mpi_key_values*>(kept.get());
  }
  explicit mpi_key_values(mpi_world& world) : world_(world) {
    if (!takes_turns())
      throw error("R78",
                  "values are exchanged from threads of their own, but MPI was initialised for calls from one thread: "
                  "ask MPI_Init_thread for MPI_THREAD_SERIALIZED");
    world_.barrier();  // this wait has a limit, the next one has none
    auto const held = world_.lock();
    must(MPI_Comm_dup(world_.handle(), &talk_), "MPI_Comm_dup");
    must(MPI_Comm_set_errhandler(talk_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  mpi_key_values(mpi_key_values const&) = delete;
  mpi_key_values& operator=(mpi_key_values const&) = delete;
  ~mpi_key_values() override {
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended == 0 && is_whole_ && !world_.has_failed()) MPI_Comm_free(&talk_);
    else stays(sent_);
  }

  int rank() const override { return world_.rank(); }
  int size() const override { return world_.size(); }
  std::vector<int> ranks_here() const override { return world_.ranks_here(); }
  bool has_failed() const override { return world_.has_failed(); }

  void put(std::string_view key, std::string_view value) override {
    std::string content(key.data(), key.size());
    ask(request_kind::put, std::to_string(key.size()) + " " + content.append(value));
  }
  std::optional<std::string> find(std::string_view key) override { return ask(request_kind::find, std::string(key)); }
  std::optional<std::string> get(std::string_view key, std::chrono::milliseconds wait) override {
    pace between;
    for (waiting_time waited = begun();; between.pause()) {
      if (auto value = find(key)) return value;
      if (waited.look() >= wait) return {};
    }
  }
  std::string wait_for(std::string const& key) override {
    std::optional<std::string> value;
    wait_until(world_, key, "", [&] { return (value = find(key)).has_value(); });
    return *value;
  }

  void poll(std::string_view what, function_ref<bool()> is_so) override {
    wait_until<short_pace>(world_, what, "", [&] {
      if (is_so()) return true;
      world_.hear();
      return false;
    });
  }

  unsigned common_bits(unsigned bits) override {
    require_whole();                              // else it would take the bits of another step
    auto both = std::make_unique<unsigned[]>(2);  // leaks if the wait fails, because MPI may still write it
    MPI_Request request = MPI_REQUEST_NULL;
    both[0] = bits;
    {
      auto const held = world_.lock();
      must(MPI_Iallreduce(&both[0], &both[1], 1, MPI_UNSIGNED, MPI_BAND, talk_, &request), "MPI_Iallreduce");
    }
    try {
      poll("all ranks to begin a step", [&] {
        auto const held = world_.lock();
        int is_done = 0;
        must(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
        return is_done != 0;
      });
    } catch (...) {
      is_whole_ = false;
      static_cast<void>(both.release());
      throw;
    }
    return both[1];
  }

  void during(function_ref<void()> call) override {
    require_whole();
    begin();
    std::exception_ptr own;
    std::string why;
    try {
      call();
    } catch (std::exception const& e) { own = std::current_exception(), why = e.what(); } catch (...) {
      own = std::current_exception(), why = unknown_exception;
    }
    try {
      end(why);
    } catch (error const&) {
      is_whole_ = false;
      end_server();
      if (!own) throw;
    }
    if (own && !was_told_) std::rethrow_exception(own);
    if (!failure_.empty()) throw error("R21", failure_, failed_);
  }

 private:
  using request_kind = mpi_value_server::request_kind;

  void require_whole() const {
    if (!is_whole_)
      throw error("R21", "this rank has waited in vain for the others before, and exchanges nothing more");
  }
  void begin() {
    failure_.clear(), failed_ = -1, was_told_ = false;
    is_open_ = true;
    if (rank() == 0) server_.begin(talk_);
  }
  /// Reports that this rank has come to the end of the call, and waits for the others.
  void end(std::string const& why) {
    ask(request_kind::end, why);
    std::string missing;
    wait_until(world_, "all ranks to come to the end of a call", missing, [&] {
      std::string const state = *ask(request_kind::over, "");
      if (state[0] != 'y') return missing = state.substr(1), false;
      take_failure(std::string_view(state).substr(1));
      return true;
    });
    if (rank() == 0)
      wait_until(world_, "all ranks to leave a call", missing, [&] {
        auto const held = world_.lock();
        return server_.is_left_by_all();
      });
    end_server();
  }
  void end_server() {
    is_open_ = false;
    if (!server_.end()) is_whole_ = false;
  }

  /// The reply of rank 0. It is empty if there is no such value.
  std::optional<std::string> ask(request_kind what, std::string const& content) {
    if (!is_open_)
      throw error("R78",
                  "values are exchanged between processes only while a client is made, a program is compiled, "
                  "and its first step runs");
    std::string said = static_cast<char>(what) + content;
    if (rank() == 0) {
      auto const held = world_.lock();
      said = server_.reply_to(said, 0);
    } else {
      said = asked(std::move(said));
    }
    if (said[0] == 'n') return {};
    if (said[0] == 'v') return said.substr(1);
    std::lock_guard const one(asking_);
    was_told_ = true;
    take_failure(std::string_view(said).substr(1));
    throw error("R21", failure_, failed_);
  }
  std::string asked(std::string said) {
    std::lock_guard const one(asking_);
    if (!is_whole_) throw error("R21", "this rank has waited in vain for rank 0 before, and asks nothing more");
    MPI_Request request = MPI_REQUEST_NULL;
    std::string& kept = sent_.emplace_back(std::move(said));  // it stays there if the wait fails
    is_whole_ = false;                                        // until it has the reply
    {
      auto const held = world_.lock();
      must(MPI_Isend(kept.data(), static_cast<int>(kept.size()), MPI_CHAR, 0, mpi_value_server::request_tag, talk_,
                     &request),
           "MPI_Isend");
    }
    std::string text;
    wait_until(world_, "rank 0 to answer", "", [&] {
      auto const held = world_.lock();
      int there = 0, bytes = 0;
      MPI_Status status;
      must(MPI_Iprobe(0, mpi_value_server::reply_tag, talk_, &there, &status), "MPI_Iprobe");
      if (there == 0) return false;
      must(MPI_Get_count(&status, MPI_CHAR, &bytes), "MPI_Get_count");
      text.resize(static_cast<std::size_t>(bytes));
      must(MPI_Recv(text.data(), bytes, MPI_CHAR, 0, mpi_value_server::reply_tag, talk_, MPI_STATUS_IGNORE),
           "MPI_Recv");
      return true;
    });
    {
      auto const held = world_.lock();  // rank 0 has received the request
      must(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    }
    sent_.pop_back(), is_whole_ = true;
    return text;
  }

  /// Stores a failure such as `2 rank 2 failed: …`.
  void take_failure(std::string_view text) {
    if (text.empty()) return;
    auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), failed_);
    failure_ = text.substr(static_cast<std::size_t>(end - text.data()) + 1);
  }

  mpi_world& world_;
  MPI_Comm talk_ = MPI_COMM_NULL;
  std::atomic<bool> is_open_ = false;  // within `during`
  std::atomic<bool> is_whole_ = true;  // false if a message may be left over from a wait that failed
  std::mutex asking_;                  // one request of this process at a time
  std::deque<std::string> sent_;
  std::atomic<bool> was_told_ = false;  // a reply said that another rank has failed
  std::string failure_;
  int failed_ = -1;
  mpi_value_server server_{world_};  // of rank 0
};

}  // namespace meshtensor::comm
