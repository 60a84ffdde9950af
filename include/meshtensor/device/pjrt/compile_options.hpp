// SPDX-License-Identifier: Apache-2.0
// The options with which XLA compiles a program for the devices of its replicas.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/base/protobuf.hpp"

namespace meshtensor::pjrt {

/// Flags of XLA for one compilation.
using xla_flags = std::vector<std::pair<std::string, std::string>>;
/// The flags for a platform. Without its flag, the maximum on a CPU does not propagate a NaN. On a GPU, f32 products
/// that XLA compiles to kernels of its own take a minute to compile, and run no faster than those of cuBLAS.
inline xla_flags flags_of(std::string const& platform) {
  if (platform == "cpu") return {{"xla_cpu_enable_fast_min_max", "False"}};
  if (platform == "cuda") return {{"xla_gpu_enable_triton_gemm", "False"}};
  return {};
}

/// XLA's CompileOptionsProto, with one replica for each of these devices.
inline std::string compile_options(std::vector<int> const& devices, xla_flags const& flags = {}) {
  auto const count = static_cast<std::int64_t>(devices.size());
  std::string ids;
  for (auto id : devices) {
    auto rest = static_cast<unsigned>(id);
    for (; rest > 0x7f; rest >>= 7) ids += static_cast<char>(rest | 0x80);
    ids += static_cast<char>(rest);
  }
  using meshtensor::detail::message;
  message const computation = message().text(1, ids);
  message const assignment = message().integer(1, count).integer(2, 1).inner(3, computation);
  message const build = message().integer(4, count).integer(5, 1).inner(9, assignment);
  message all = message().inner(3, build);
  for (auto const& [name, value] : flags) all.inner(7, message().text(1, name).inner(2, message().text(1, value)));
  return all.bytes();
}

}  // namespace meshtensor::pjrt
