// SPDX-License-Identifier: Apache-2.0
// Serves values by key to all ranks, from a thread of rank 0, while all ranks are in one call.
#pragma once

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "meshtensor/comm/mpi.hpp"
#include "meshtensor/comm/mpi/pace.hpp"

namespace meshtensor::comm {

/// Holds all values, and knows which ranks have come to the end of a call.
class mpi_value_server {
 public:
  /// The first letter of a message. After `put` come the length of the key, a space, the key and the value. After
  /// `find` comes the key. `end` says that the rank has come to the end of the call, with the reason if it has failed.
  /// `over` asks whether all ranks have come to the end.
  enum class request_kind : char { put = 'p', find = 'f', end = 'e', over = 'o' };
  static constexpr int request_tag = 1, reply_tag = 2;

  explicit mpi_value_server(mpi_world& world) : world_(world) {}
  mpi_value_server(mpi_value_server const&) = delete;
  mpi_value_server& operator=(mpi_value_server const&) = delete;
  ~mpi_value_server() { end(); }

  /// A call begins.
  void begin(MPI_Comm talk) {
    failure_.clear(), through_.assign(static_cast<std::size_t>(world_.size()), false), has_left_ = through_, left_ = 1;
    talk_ = talk, is_open_ = true;
    if (world_.size() > 1) thread_ = std::thread([this] { serve(); });
  }
  /// Whether all other ranks know that the call is over. The caller holds the world's lock.
  bool is_left_by_all() const { return left_ == world_.size(); }
  /// Ends the call. False if messages are left over.
  bool end() {
    is_open_ = false;
    if (thread_.joinable()) thread_.join();
    return is_whole_;
  }

  /// The reply to a request: `v` and a value, `n` if there is no such value, or `f` and the failure of a rank. The
  /// caller holds the world's lock.
  std::string reply_to(std::string_view said, int from) {
    auto const what = static_cast<request_kind>(said[0]);
    said.remove_prefix(1);
    if (what == request_kind::end) {
      through_[static_cast<std::size_t>(from)] = true;
      if (!said.empty() && failure_.empty())
        failure_ = std::to_string(from) + " rank " + std::to_string(from) + " failed: " + std::string(said);
      return "v";
    }
    if (what == request_kind::over) {
      std::string const missing = names_of_missing();
      if (!missing.empty()) return "vn" + missing;
      if (from != 0) has_left_[static_cast<std::size_t>(from)] = true, ++left_;
      return "vy" + failure_;
    }
    if (!failure_.empty()) return "f" + failure_;
    if (what == request_kind::find) {
      auto const found = all_.find(said);
      return found == all_.end() ? "n" : "v" + found->second;
    }
    std::size_t key = 0;
    auto const [end, problem] = std::from_chars(said.data(), said.data() + said.size(), key);
    said.remove_prefix(static_cast<std::size_t>(end - said.data()) + 1);
    all_.insert_or_assign(std::string(said.substr(0, key)), std::string(said.substr(key)));
    return "v";
  }

 private:
  std::string names_of_missing() const {
    std::vector<int> all;
    for (int r = 0; r < world_.size(); ++r)
      if (!through_[static_cast<std::size_t>(r)]) all.push_back(r);
    return all.empty() ? "" : text_of_ranks(all);
  }
  void serve() {
    std::deque<message> sent;
    auto const send_reply = [&](std::string const& said, int to) {
      message& m = sent.emplace_back();
      m.text = reply_to(said, to);
      must(MPI_Isend(m.text.data(), static_cast<int>(m.text.size()), MPI_CHAR, to, reply_tag, talk_, &m.request),
           "MPI_Isend");
    };
    auto const is_quiet = [&] {  // whether no rank has asked
      auto const held = world_.lock();
      sent.erase(std::remove_if(sent.begin(), sent.end(), [](message& m) { return m.has_gone(); }), sent.end());
      int there = 0, bytes = 0;
      MPI_Status status;
      must(MPI_Iprobe(MPI_ANY_SOURCE, request_tag, talk_, &there, &status), "MPI_Iprobe");
      if (there == 0) return true;
      int const from = status.MPI_SOURCE;
      must(MPI_Get_count(&status, MPI_CHAR, &bytes), "MPI_Get_count");
      std::string said(static_cast<std::size_t>(bytes), ' ');
      must(MPI_Recv(said.data(), bytes, MPI_CHAR, from, request_tag, talk_, MPI_STATUS_IGNORE), "MPI_Recv");
      if (has_left_[static_cast<std::size_t>(from)]) early_.emplace_back(from, std::move(said));
      else send_reply(said, from);
      return false;
    };
    try {
      for (auto& [from, said] : std::exchange(early_, {})) {
        auto const held = world_.lock();
        send_reply(said, from);
      }
      for (pace between; is_open_;)
        if (is_quiet()) between.pause();
        else between = {};
      using clock = std::chrono::steady_clock;
      auto const deadline = clock::now() + std::chrono::seconds(2);  // a rank that is gone receives nothing
      for (; !sent.empty() && clock::now() < deadline; std::this_thread::yield()) {
        auto const held = world_.lock();
        if (sent.front().has_gone()) sent.pop_front();
      }
    } catch (error const&) { is_whole_ = false; }
    if (sent.empty()) return;
    is_whole_ = false;
    stays(sent);
  }
  struct message {
    std::string text;
    MPI_Request request = MPI_REQUEST_NULL;
    bool has_gone() {
      int gone = 0;
      must(MPI_Test(&request, &gone, MPI_STATUS_IGNORE), "MPI_Test");
      return gone != 0;
    }
  };

  mpi_world& world_;
  MPI_Comm talk_ = MPI_COMM_NULL;
  std::atomic<bool> is_open_ = false, is_whole_ = true;
  std::thread thread_;
  std::map<std::string, std::string, std::less<>> all_;
  std::vector<bool> through_, has_left_;  // by rank: it has come to the end, and it knows that all have
  int left_ = 0;
  std::deque<std::pair<int, std::string>> early_;  // requests of ranks that are already in the next call
  std::string failure_;                            // of a rank: `2 rank 2 failed: …`
};

}  // namespace meshtensor::comm
