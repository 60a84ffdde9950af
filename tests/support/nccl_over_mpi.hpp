// SPDX-License-Identifier: Apache-2.0
// Stands in for NCCL: its functions, over messages of MPI, done when the stand-in for a GPU comes to them. It ends the
// job if the members of a communicator do not call the same functions with the same counts in the same order.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

#include "meshtensor/comm/fold.hpp"
#include "meshtensor/device/cuda/nccl.hpp"
#include "support/host_gpu.hpp"

namespace meshtensor_test::nccl {

namespace api = meshtensor::cuda::api;

/// What it was asked for.
inline std::map<std::string, long> calls;
inline long communicators = 0;  // that are made and not destroyed

inline MPI_Comm& talk() {
  static MPI_Comm own = MPI_COMM_NULL;
  if (own == MPI_COMM_NULL) MPI_Comm_dup(MPI_COMM_WORLD, &own);
  return own;
}
[[noreturn]] inline void end(char const* why) {
  std::fprintf(stderr, "the stand-in for NCCL: %s\n", why);
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 5);
  std::abort();
}

/// A communicator: ranks of MPI by index; `number` is its tag, the same on all members.
struct members {
  std::vector<int> ranks;
  int index = 0, number = 0;
  int joined = 0, state = api::nccl_in_progress;  // while it is made, or ended
  bool is_finalized = false;
  MPI_Request named = MPI_REQUEST_NULL;
  host_gpu* gpu = nullptr;
  long done = 0;

  void send(int to, void const* at, std::size_t bytes) const {
    MPI_Send(at, static_cast<int>(bytes), MPI_BYTE, ranks[static_cast<std::size_t>(to)], number, talk());
  }
  void receive(int from, void* at, std::size_t bytes) const {
    MPI_Status s;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Irecv(at, static_cast<int>(bytes), MPI_BYTE, ranks[static_cast<std::size_t>(from)], number, talk(), &r);
    auto const is_there = [&] {
      int flag = 0;
      MPI_Test(&r, &flag, &s);
      return flag != 0;
    };
    try {  // a GPU would wait on while the host watches it
      if (gpu->watch()) gpu->watch()(is_there);
      else
        while (!is_there()) {}
    } catch (...) {
      MPI_Cancel(&r), MPI_Request_free(&r);
      throw;
    }
    int got = 0;
    MPI_Get_count(&s, MPI_BYTE, &got);
    if (static_cast<std::size_t>(got) != bytes) end("a message has another length than was waited for");
  }
  /// All members are in the same call, the first one sees.
  void agree(long capture, long function, long count, long type, long op) {
    std::array<long, 6> const mine{done++, function, count, type, op, capture};
    if (index != 0) return send(0, mine.data(), sizeof mine);
    for (int j = 1; j < static_cast<int>(ranks.size()); ++j) {
      std::array<long, 6> theirs{};
      receive(j, theirs.data(), sizeof theirs);
      if (theirs[5] != mine[5]) end("one member captures a call, and another does not, or in another graph");
      if (theirs != mine) end("the members of a communicator call different functions");
    }
  }
};
inline members& of(api::communicator c) { return *reinterpret_cast<members*>(c); }
inline host_gpu& gpu_of(api::stream s) { return *reinterpret_cast<host_gpu*>(s); }
/// The stream of a call on a communicator that is made.
inline host_gpu& used(api::communicator c, api::stream s) {
  if (of(c).state != 0) end("a communicator is used before it is made");
  return *(of(c).gpu = &gpu_of(s));
}
/// The number of the capture that a call is part of, 0: of none. NCCL asks that it is the same one on all members.
inline long capture_of(api::stream s) { return gpu_of(s).is_recording() ? gpu_of(s).recordings : 0; }
inline std::size_t bytes_of_type(int type) {
  return type == api::nccl_u8 ? 1 : type == api::nccl_bf16 ? 2 : type == api::nccl_i32 || type == api::nccl_f32 ? 4 : 8;
}
inline meshtensor::dtype dtype_of(int type) {
  using enum meshtensor::dtype;
  return type == api::nccl_u8     ? u8
         : type == api::nccl_bf16 ? bf16
         : type == api::nccl_i32  ? i32
         : type == api::nccl_i64  ? i64
         : type == api::nccl_f32  ? f32
                                  : f64;
}
inline meshtensor::reduction op_of(int op) {
  using enum meshtensor::reduction;
  return op == api::nccl_sum ? sum : op == api::nccl_max ? max : min;
}

/// Brings every member's block to all, in their order.
inline std::vector<std::byte> gathered(members const& m, void const* in, std::size_t bytes) {
  std::size_t const n = m.ranks.size();
  std::vector<std::byte> all(n * bytes);
  if (m.index != 0) {
    m.send(0, in, bytes);
    m.receive(0, all.data(), all.size());
    return all;
  }
  std::memcpy(all.data(), in, bytes);
  for (std::size_t j = 1; j < n; ++j) m.receive(static_cast<int>(j), all.data() + j * bytes, bytes);
  for (std::size_t j = 1; j < n; ++j) m.send(static_cast<int>(j), all.data(), all.size());
  return all;
}
inline void reduce(members const& m, void const* in, void* out, std::size_t first, std::size_t count, std::size_t whole,
                   int type, int op) {
  std::size_t const size = bytes_of_type(type);
  std::vector<std::byte> const all = gathered(m, in, whole * size);
  meshtensor::comm::fold(
      op_of(op), dtype_of(type), out, static_cast<std::int64_t>(count), static_cast<int>(m.ranks.size()),
      [&](int j) -> void const* { return all.data() + (static_cast<std::size_t>(j) * whole + first) * size; });
}

struct part {
  void const* from;
  void* to;
  std::size_t bytes;
  int peer;
};
/// The sends and receives of a group that is open.
struct open_group {
  bool is_open = false;
  members* over = nullptr;
  host_gpu* gpu = nullptr;
  std::vector<part> sends, receives;
};
inline open_group& group() {
  static open_group one;
  return one;
}

inline int unique_id(api::nccl_id* id) {
  static int made = 0;
  int words[2] = {0, ++made};
  MPI_Comm_rank(MPI_COMM_WORLD, &words[0]);
  std::memset(id->bytes, 7, sizeof id->bytes);
  std::memcpy(id->bytes, words, sizeof words);
  return 0;
}
/// The first member learns who the others are, and tells them.
inline void go_on(members& m) {
  if (m.state != api::nccl_in_progress) return;
  int flag = 0;
  if (m.index != 0) {
    MPI_Test(&m.named, &flag, MPI_STATUS_IGNORE);
    if (flag != 0) m.state = 0;
    return;
  }
  auto const others = static_cast<int>(m.ranks.size()) - 1;
  while (m.joined < others) {
    MPI_Iprobe(MPI_ANY_SOURCE, m.number, talk(), &flag, MPI_STATUS_IGNORE);
    if (flag == 0) return;
    int theirs[2];
    MPI_Recv(theirs, 2, MPI_INT, MPI_ANY_SOURCE, m.number, talk(), MPI_STATUS_IGNORE);
    m.ranks.at(static_cast<std::size_t>(theirs[0])) = theirs[1], ++m.joined;
  }
  for (int k = 1; k <= others; ++k)
    MPI_Send(m.ranks.data(), others + 1, MPI_INT, m.ranks[static_cast<std::size_t>(k)], m.number, talk());
  m.state = 0;
}
inline int init(api::communicator* made, int count, api::nccl_id id, int index, api::nccl_config* how) {
  ++calls["init"], ++communicators;
  if (how->size != sizeof *how || how->magic != 0xcafebeef || how->blocking != 0) end("a configuration is no such");
  int words[2];
  std::memcpy(words, id.bytes, sizeof words);
  for (std::size_t i = sizeof words; i < sizeof id.bytes; ++i)
    if (id.bytes[i] != 7) end("an identifier did not come whole");
  auto* const m = new members;
  m->index = index, m->number = 100 + words[0] * 1000 + words[1];
  int self = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  m->ranks.assign(static_cast<std::size_t>(count), self);
  int const told[2] = {index, self};
  if (index != 0) {
    MPI_Send(told, 2, MPI_INT, words[0], m->number, talk());
    MPI_Irecv(m->ranks.data(), count, MPI_INT, words[0], m->number, talk(), &m->named);
  }
  *made = reinterpret_cast<api::communicator>(m);
  return api::nccl_in_progress;
}
inline int state_of(api::communicator c, int* state) {
  go_on(of(c));
  *state = of(c).state;
  return 0;
}
/// Its members meet once more.
inline int finalize(api::communicator c) {
  ++calls["finalize"];
  members& m = of(c);
  if (m.state != 0 || m.is_finalized) end("a communicator is finalized that is not made, or twice");
  m.is_finalized = true;
  if (m.ranks.size() == 1) return 0;
  m.joined = 0, m.state = api::nccl_in_progress;
  int const told[2] = {m.index, m.ranks[static_cast<std::size_t>(m.index)]};
  if (m.index != 0) {
    MPI_Send(told, 2, MPI_INT, m.ranks[0], m.number, talk());
    MPI_Irecv(m.ranks.data(), static_cast<int>(m.ranks.size()), MPI_INT, m.ranks[0], m.number, talk(), &m.named);
  }
  return api::nccl_in_progress;
}
/// Its memory stays: what is under way in a stream may still read it.
inline int abort(api::communicator c) {
  ++calls["abort"], --communicators;
  if (of(c).named != MPI_REQUEST_NULL) MPI_Cancel(&of(c).named), MPI_Request_free(&of(c).named);
  return 0;
}
inline int destroy(api::communicator c) {
  if (of(c).state != 0 || !of(c).is_finalized) end("a communicator is destroyed that not all have finalized");
  --communicators;
  delete &of(c);
  return 0;
}
inline int all_reduce(void const* in, void* out, std::size_t n, int type, int op, api::communicator c, api::stream s) {
  ++calls["all_reduce"];
  used(c, s).do_later([=, &m = of(c), capture = capture_of(s)] {
    m.agree(capture, 1, static_cast<long>(n), type, op);
    reduce(m, in, out, 0, n, n, type, op);
  });
  return 0;
}
inline int reduce_scatter(void const* in, void* out, std::size_t n, int type, int op, api::communicator c,
                          api::stream s) {
  ++calls["reduce_scatter"];
  used(c, s).do_later([=, &m = of(c), capture = capture_of(s)] {
    m.agree(capture, 2, static_cast<long>(n), type, op);
    reduce(m, in, out, static_cast<std::size_t>(m.index) * n, n, n * m.ranks.size(), type, op);
  });
  return 0;
}
inline int all_gather(void const* in, void* out, std::size_t n, int type, api::communicator c, api::stream s) {
  ++calls["all_gather"];
  used(c, s).do_later([=, &m = of(c), capture = capture_of(s)] {
    m.agree(capture, 3, static_cast<long>(n), type, 0);
    std::vector<std::byte> const all = gathered(m, in, n * bytes_of_type(type));
    std::memcpy(out, all.data(), all.size());
  });
  return 0;
}
inline int send(void const* in, std::size_t n, int type, int peer, api::communicator c, api::stream s) {
  if (!group().is_open) end("a send outside of a group would wait for ever");
  group().over = &of(c), group().gpu = &used(c, s);
  group().sends.push_back({in, nullptr, n * bytes_of_type(type), peer});
  return 0;
}
inline int receive(void* out, std::size_t n, int type, int peer, api::communicator c, api::stream s) {
  if (!group().is_open) end("a receive outside of a group would wait for ever");
  group().over = &of(c), group().gpu = &used(c, s);
  group().receives.push_back({nullptr, out, n * bytes_of_type(type), peer});
  return 0;
}
inline int group_start() {
  group() = {};
  group().is_open = true;
  return 0;
}
inline int group_end() {
  ++calls["group"];
  open_group const g = group();
  group() = {};
  if (g.sends.size() != g.receives.size()) return 3;  // a call in it has failed
  g.gpu->do_later([g, capture = g.gpu->is_recording() ? g.gpu->recordings : 0] {
    members& m = *g.over;
    m.agree(capture, 4, static_cast<long>(g.sends.size()), 0, 0);
    std::vector<MPI_Request> all;
    for (part const& p : g.receives)
      MPI_Irecv(p.to, static_cast<int>(p.bytes), MPI_BYTE, m.ranks.at(static_cast<std::size_t>(p.peer)), m.number,
                talk(), &all.emplace_back());
    for (part const& p : g.sends)
      MPI_Isend(p.from, static_cast<int>(p.bytes), MPI_BYTE, m.ranks.at(static_cast<std::size_t>(p.peer)), m.number,
                talk(), &all.emplace_back());
    MPI_Waitall(static_cast<int>(all.size()), all.data(), MPI_STATUSES_IGNORE);
  });
  return 0;
}
inline char const* text_of(int) { return "the stand-in has failed"; }

inline api::nccl const functions{unique_id,      init,       state_of, finalize, abort,       destroy,   all_reduce,
                                 reduce_scatter, all_gather, send,     receive,  group_start, group_end, text_of};

}  // namespace meshtensor_test::nccl
