// SPDX-License-Identifier: Apache-2.0
// Runs collectives among the GPUs of several processes by NCCL, in each GPU's stream, so that one graph captures them
// together with the kernels before and after them.
#pragma once

#include <exception>
#include <map>
#include <set>

#include "meshtensor/comm/key_values.hpp"
#include "meshtensor/comm/strided_slice.hpp"
#include "meshtensor/device/cuda/nccl.hpp"
#include "meshtensor/device/cuda/recording.hpp"

namespace meshtensor::cuda {

/// The processes among which NCCL communicates, or null if NCCL is not asked for.
inline comm::key_values*& ranks_of_nccl() {
  static comm::key_values* ranks = nullptr;
  return ranks;
}

/// The communicators of a program. All members of a group decide alike whether NCCL takes a collective, because the
/// decision follows from facts that all of them know. It takes all_reduces, and it takes reduce_scatters, all_gathers
/// and all_to_alls of equal and contiguous parts. Maxima and minima of floats are left out, because NCCL may lose their
/// NaNs. NCCL chooses the order of sums.
class nccl_communicators {
 public:
  explicit nccl_communicators(gpu& g) : gpu_(g), ranks_(ranks_of_nccl()) {}
  nccl_communicators(nccl_communicators const&) = delete;
  nccl_communicators& operator=(nccl_communicators const&) = delete;
  ~nccl_communicators() {
    bool const fails = std::uncaught_exceptions() > 0 || (ranks_ != nullptr && ranks_->has_failed());
    for (auto const& [members, c] : groups_)  // in the same order on all ranks
      if (open_communicators().contains(c)) end(c, fails);
    if (open_communicators().empty()) gpu_.watch() = {};
  }

  bool takes(collective_call const& call, int count) const {
    if (ranks_ == nullptr || count == 1 || is_empty(call, count)) return false;
    bool const is_added = call.op == reduction::sum || !is_float(call.type);
    bool const is_reduced = is_added && call.type != dtype::u8 && call.type != dtype::boolean;
    switch (call.kind) {
      case collective::all_reduce: return is_reduced;
      case collective::reduce_scatter:
        return is_reduced && has_even_parts(call, count) && comm::taken(call, count, 0, 0).contiguous();
      case collective::all_gather: return has_even_parts(call, count) && comm::placed(call, count, 0, 0).contiguous();
      case collective::all_to_all:
        return has_even_parts(call, count) && comm::taken(call, count, 0, 0).contiguous() &&
               comm::placed(call, count, 0, 0).contiguous();
      default: return false;
    }
  }
  /// Makes the communicators of these groups, each of them once. All ranks of the job call it, each with its own
  /// groups, in the order of the program.
  void join(std::vector<std::vector<int>> const& groups) {
    if (ranks_ == nullptr) return;
    gpu_.enter_here();
    int const number = ranks_->next_number();  // because values of earlier programs stay under their keys
    ranks_->during([&] {
      for (std::vector<int> const& members : groups) {
        if (groups_.contains(members)) continue;
        std::string ranks;
        for (int m : members) ranks += " " + std::to_string(m);
        std::string const key = "NCCL's identifier in program " + std::to_string(number) + " of group" + ranks;
        auto const index = static_cast<int>(std::ranges::find(members, ranks_->rank()) - members.begin());
        api::nccl_id id{};
        if (index == 0) {
          check(nccl_in_use().ncclGetUniqueId(&id), "ncclGetUniqueId");
          ranks_->put(key, std::string_view(id.bytes, sizeof id.bytes));
        } else {
          std::string const value = ranks_->wait_for(key);
          std::memcpy(id.bytes, value.data(), std::min(value.size(), sizeof id.bytes));
        }
        api::communicator made = nullptr;
        api::nccl_config config;
        int state = nccl_in_use().ncclCommInitRankConfig(&made, static_cast<int>(members.size()), id, index, &config);
        if (made != nullptr) open_communicators().insert(made);
        groups_.emplace(members, made);
        while_ranks_come(gpu_, *ranks_, "NCCL's communicator of ranks" + ranks, [&] {
          if (state == api::nccl_in_progress) state = state_of(made);
          return is_settled(state, "ncclCommInitRankConfig");
        });
      }
    });
    any_ = ranks_->common_bits(groups_.empty()) == 0;  // if parts differ, some ranks may have no group
    if (open_communicators().empty()) return;
    gpu_.watch() = [&g = gpu_, &ranks = *ranks_](function_ref<bool()> is_done) {
      if (open_communicators().empty()) return;  // the stream does not wait for other ranks
      while_ranks_come(g, ranks, "the collectives of NCCL in the GPU's stream", [&] {
        for (api::communicator c : open_communicators()) is_settled(state_of(c), "a collective");
        return is_done();
      });
    };
  }

  /// Whether any rank of this program has a communicator. All ranks get the same answer.
  bool any() const { return any_; }
  /// Returns the bits that every rank gives. All ranks must call it. errors R21, R22
  unsigned common_bits(unsigned bits) const { return ranks_->common_bits(bits); }

  void record(recording& to_do, collective_call const& call, group const& with, address in, address out) const {
    api::communicator const over = groups_.at({with.members, with.members + with.count});
    auto const elements = static_cast<std::size_t>(elements_of(call)), count = static_cast<std::size_t>(with.count);
    int const type = type_of(call.type), op = op_of(call.op);
    auto const add = [&](char const* name, auto const& start) {
      to_do.call([start, over, name, ranks = ranks_, since = aborts_before_](gpu& g) {
        if (aborts() != since)
          throw error("R21",
                      "NCCL's communicators were aborted when a rank had failed or did not come: start the job "
                      "again");
        settle(g, *ranks, start(g), over, name);
      });
    };
    switch (call.kind) {
      case collective::all_reduce:
        return add("ncclAllReduce",
                   [=](gpu& g) { return nccl_in_use().ncclAllReduce(in, out, elements, type, op, over, g.stream()); });
      case collective::reduce_scatter:
        return add("ncclReduceScatter", [=](gpu& g) {
          return nccl_in_use().ncclReduceScatter(in, out, elements / count, type, op, over, g.stream());
        });
      case collective::all_gather:
        return add("ncclAllGather",
                   [=](gpu& g) { return nccl_in_use().ncclAllGather(in, out, elements, type, over, g.stream()); });
      default: break;
    }
    std::size_t const each = elements / count, bytes = each * bytes_of(call.type);
    add("ncclGroupEnd", [=](gpu& g) {
      api::nccl const& n = nccl_in_use();
      check(n.ncclGroupStart(), "ncclGroupStart");
      int wrong = 0;
      auto const goes_on = [&wrong](int state) {
        wrong = state == api::nccl_in_progress ? 0 : state;
        return wrong == 0;
      };
      for (std::size_t j = 0; j < count; ++j) {
        auto const peer = static_cast<int>(j);
        if (!goes_on(n.ncclSend(in + j * bytes, each, type, peer, over, g.stream()))) break;
        if (!goes_on(n.ncclRecv(out + j * bytes, each, type, peer, over, g.stream()))) break;
      }
      int const ended = n.ncclGroupEnd();  // even after a failure, else the group would take later calls, even aborts
      check(wrong, "ncclSend or ncclRecv");
      return ended;
    });
  }

 private:
  /// The communicators of all programs that are neither destroyed nor aborted.
  static std::set<api::communicator>& open_communicators() {
    static std::set<api::communicator> all;
    return all;
  }
  /// How often all of them were aborted.
  static int& aborts() {
    static int times = 0;
    return times;
  }
  /// Waits for the other members as long as ranks wait for each other, and destroys a communicator. If a member fails
  /// or does not come, the communicator is aborted. It is finalized first, because destroying it without that would
  /// wait without a limit.
  void end(api::communicator c, bool fails) noexcept {
    if (!fails) try {
        gpu_.enter_here();
        int state = nccl_in_use().ncclCommFinalize(c);
        while_ranks_come(gpu_, *ranks_, "all members of a communicator of NCCL to end it", [&] {
          if (state == api::nccl_in_progress) state = state_of(c);
          return is_settled(state, "ncclCommFinalize");
        });
        open_communicators().erase(c);
        nccl_in_use().ncclCommDestroy(c);
        return;
      } catch (...) {}  // all communicators are aborted
    if (open_communicators().erase(c) != 0) nccl_in_use().ncclCommAbort(c);
  }
  static void check(int wrong, char const* call) {
    if (wrong != 0) throw error("R81", {"NCCL says in ", call, ": ", nccl_in_use().ncclGetErrorString(wrong)});
  }
  static int state_of(api::communicator c) {
    int state = 0;
    check(nccl_in_use().ncclCommGetAsyncError(c, &state), "ncclCommGetAsyncError");
    return state;
  }
  static bool is_settled(int state, char const* call) {
    if (state == api::nccl_in_progress) return false;
    check(state, call);
    return true;
  }
  /// Waits until a non-blocking call on a communicator is done. After that, the stream may be used.
  static void settle(gpu& g, comm::key_values& ranks, int state, api::communicator over, char const* call) {
    if (is_settled(state, call)) return;
    while_ranks_come(g, ranks, call, [&] { return is_settled(state_of(over), call); });
  }
  /// Polls `is_so` until it is true. If that fails, it aborts all communicators, and with them the work that waits in
  /// streams, because a rank that has failed would never come. It frees graphs first, because an abort waits for graphs
  /// with NCCL's kernels.
  template <class IsSo>
  static void while_ranks_come(gpu& g, comm::key_values& ranks, std::string_view what, IsSo const& is_so) {
    try {
      ranks.poll(what, is_so);
    } catch (...) {
      g.free_captured_steps();
      ++aborts();
      for (api::communicator c : open_communicators()) nccl_in_use().ncclCommAbort(c);
      open_communicators().clear();
      throw;
    }
  }
  static int type_of(dtype t) {
    switch (t) {
      case dtype::f64: return api::nccl_f64;
      case dtype::f32: return api::nccl_f32;
      case dtype::bf16: return api::nccl_bf16;
      case dtype::i32: return api::nccl_i32;
      case dtype::i64: return api::nccl_i64;
      default: return api::nccl_u8;
    }
  }
  static int op_of(reduction op) {
    return op == reduction::sum ? api::nccl_sum : op == reduction::max ? api::nccl_max : api::nccl_min;
  }

  gpu& gpu_;
  comm::key_values* ranks_;
  int aborts_before_ = aborts();
  std::map<std::vector<int>, api::communicator> groups_;
  bool any_ = false;
};

}  // namespace meshtensor::cuda
