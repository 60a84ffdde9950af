// SPDX-License-Identifier: Apache-2.0
// Runs collectives among the GPUs of several processes by NCCL, in each GPU's stream, so that they are captured in one
// graph with the kernels before and behind them.
#pragma once

#include <map>

#include "meshtensor/comm/key_values.hpp"
#include "meshtensor/comm/strided_slice.hpp"
#include "meshtensor/device/cuda/nccl.hpp"
#include "meshtensor/device/cuda/recording.hpp"

namespace meshtensor::cuda {

/// The processes among which NCCL exchanges, if it is asked for; else null.
inline comm::key_values*& ranks_of_nccl() {
  static comm::key_values* ranks = nullptr;
  return ranks;
}

/// The communicators of a program. Which collectives it takes depends on what all members of a group know: reductions
/// in which NaNs have no say, and exchanges of equal parts that lie one behind the other. Sums are added in the order
/// that NCCL chooses.
class nccl_communicators {
 public:
  explicit nccl_communicators(gpu& g) : gpu_(g), ranks_(ranks_of_nccl()) {}
  nccl_communicators(nccl_communicators const&) = delete;
  nccl_communicators& operator=(nccl_communicators const&) = delete;
  ~nccl_communicators() {
    for (auto const& [members, c] : groups_) nccl_in_use().ncclCommDestroy(c);
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
  /// Makes the communicators of these groups, each once. All ranks of the job call it, with their own groups, in the
  /// order of the program.
  void join(std::vector<std::vector<int>> const& groups) {
    if (ranks_ == nullptr) return;
    gpu_.enter_here();
    int const number = ranks_->next_number();  // values stay under their keys: none of an earlier program is taken
    ranks_->during([&] {
      for (std::vector<int> const& members : groups) {
        if (groups_.contains(members)) continue;
        std::string key = "NCCL's identifier in program " + std::to_string(number) + " of group";
        for (int m : members) key += " " + std::to_string(m);
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
        check(nccl_in_use().ncclCommInitRank(&made, static_cast<int>(members.size()), id, index), "ncclCommInitRank");
        groups_.emplace(members, made);
      }
    });
  }

  void record(recording& to_do, collective_call const& call, group const& with, address in, address out) const {
    api::communicator const over = groups_.at({with.members, with.members + with.count});
    auto const elements = static_cast<std::size_t>(elements_of(call)), count = static_cast<std::size_t>(with.count);
    int const type = type_of(call.type), op = op_of(call.op);
    switch (call.kind) {
      case collective::all_reduce:
        return to_do.call([=](gpu& g) {
          check(nccl_in_use().ncclAllReduce(in, out, elements, type, op, over, g.stream()), "ncclAllReduce");
        });
      case collective::reduce_scatter:
        return to_do.call([=](gpu& g) {
          check(nccl_in_use().ncclReduceScatter(in, out, elements / count, type, op, over, g.stream()),
                "ncclReduceScatter");
        });
      case collective::all_gather:
        return to_do.call([=](gpu& g) {
          check(nccl_in_use().ncclAllGather(in, out, elements, type, over, g.stream()), "ncclAllGather");
        });
      default: break;
    }
    std::size_t const each = elements / count, bytes = each * bytes_of(call.type);
    to_do.call([=](gpu& g) {
      api::nccl const& n = nccl_in_use();
      check(n.ncclGroupStart(), "ncclGroupStart");
      for (std::size_t j = 0; j < count; ++j) {
        auto const peer = static_cast<int>(j);
        check(n.ncclSend(in + j * bytes, each, type, peer, over, g.stream()), "ncclSend");
        check(n.ncclRecv(out + j * bytes, each, type, peer, over, g.stream()), "ncclRecv");
      }
      check(n.ncclGroupEnd(), "ncclGroupEnd");
    });
  }

 private:
  static void check(int wrong, char const* call) {
    if (wrong != 0) throw error("R81", {"NCCL says in ", call, ": ", nccl_in_use().ncclGetErrorString(wrong)});
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
  std::map<std::vector<int>, api::communicator> groups_;
};

}  // namespace meshtensor::cuda
