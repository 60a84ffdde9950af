// SPDX-License-Identifier: Apache-2.0
// Declares the functions of NCCL that are called, and finds them at run time, so that a program can be built without
// NCCL.
#pragma once

#include <cstddef>

#include "meshtensor/device/cuda/api.hpp"
#include "meshtensor/device/cuda/library.hpp"

namespace meshtensor::cuda {

namespace api {

struct nccl_id {
  char bytes[128];
};
struct communicator_object;
using communicator = communicator_object*;

inline constexpr int nccl_u8 = 1, nccl_i32 = 2, nccl_i64 = 4, nccl_f32 = 7, nccl_f64 = 8, nccl_bf16 = 9;
inline constexpr int nccl_sum = 0, nccl_max = 2, nccl_min = 3;
inline constexpr int nccl_in_progress = 7;  // the result of a call on a communicator that does not block

/// The settings of a communicator as version 2.14 declared them first. Later versions accept this struct and use
/// defaults for newer settings.
struct nccl_config {
  std::size_t size = sizeof(nccl_config);
  unsigned magic = 0xcafebeef, version = 21400;
  int blocking = 0;
};

/// Collectives among GPUs, libnccl.so.2 of version 2.14 or later. They return 0 for success.
struct nccl {
  int (*ncclGetUniqueId)(nccl_id*);
  int (*ncclCommInitRankConfig)(communicator*, int, nccl_id, int, nccl_config*);
  int (*ncclCommGetAsyncError)(communicator, int*);
  int (*ncclCommFinalize)(communicator);
  int (*ncclCommAbort)(communicator);
  int (*ncclCommDestroy)(communicator);
  int (*ncclAllReduce)(void const*, void*, std::size_t, int, int, communicator, stream);
  int (*ncclReduceScatter)(void const*, void*, std::size_t, int, int, communicator, stream);
  int (*ncclAllGather)(void const*, void*, std::size_t, int, communicator, stream);
  int (*ncclSend)(void const*, std::size_t, int, int, communicator, stream);
  int (*ncclRecv)(void*, std::size_t, int, int, communicator, stream);
  int (*ncclGroupStart)();
  int (*ncclGroupEnd)();
  char const* (*ncclGetErrorString)(int);
};

}  // namespace api

/// The functions that a test uses instead of NCCL.
inline api::nccl const*& given_nccl() {
  static api::nccl const* given = nullptr;
  return given;
}
/// errors R80 NCCL is not installed
inline api::nccl const& nccl_in_use() {
  if (given_nccl() != nullptr) return *given_nccl();
  static api::nccl const found = [] {
    api::nccl n{};
    detail::library const l("NCCL", {"libnccl.so.2"},
                            "install NCCL, and set MESHTENSOR_CUDA to its folder, or unset MESHTENSOR_CUDA_NCCL");
    l.find(n.ncclGetUniqueId, "ncclGetUniqueId");
    l.find(n.ncclCommInitRankConfig, "ncclCommInitRankConfig");
    l.find(n.ncclCommGetAsyncError, "ncclCommGetAsyncError");
    l.find(n.ncclCommFinalize, "ncclCommFinalize");
    l.find(n.ncclCommAbort, "ncclCommAbort");
    l.find(n.ncclCommDestroy, "ncclCommDestroy");
    l.find(n.ncclAllReduce, "ncclAllReduce");
    l.find(n.ncclReduceScatter, "ncclReduceScatter");
    l.find(n.ncclAllGather, "ncclAllGather");
    l.find(n.ncclSend, "ncclSend");
    l.find(n.ncclRecv, "ncclRecv");
    l.find(n.ncclGroupStart, "ncclGroupStart");
    l.find(n.ncclGroupEnd, "ncclGroupEnd");
    l.find(n.ncclGetErrorString, "ncclGetErrorString");
    return n;
  }();
  return found;
}

}  // namespace meshtensor::cuda
