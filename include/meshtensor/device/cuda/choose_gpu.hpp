// SPDX-License-Identifier: Apache-2.0
// Chooses the GPU of a process: the one that MESHTENSOR_CUDA_GPU names, the one of the rank's number on its machine, or
// the first.
#pragma once

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "meshtensor/device/cuda/loaded_gpu.hpp"
#include "meshtensor/device/device_of_rank.hpp"

namespace meshtensor::cuda {

/// The GPU that MESHTENSOR_CUDA_GPU names, whoever else takes it; nothing, if it is not set. errors R80 it is no number
inline std::optional<int> named_gpu() {
  char const* const text = std::getenv("MESHTENSOR_CUDA_GPU");
  if (text == nullptr || *text == '\0') return {};
  std::string_view const all(text);
  int number = 0;
  auto const [end, wrong] = std::from_chars(all.begin(), all.end(), number);
  if (wrong != std::errc() || end != all.end() || number < 0)
    throw error("R80", {"MESHTENSOR_CUDA_GPU is '", text, "': it is the number of a GPU, from 0 on"});
  return number;
}

/// The number of a rank's GPU among the `count` that it sees. `here`: the ranks of its machine.
///
/// errors  R77 more ranks than GPUs, unless each is told which one it takes
inline int gpu_of_rank(std::vector<int> const& here, int rank, int count) {
  if (auto const named = named_gpu()) return *named;
  return static_cast<int>(device_of_rank(here, rank, static_cast<std::size_t>(count), "mt::cuda_device has",
                                         "start one rank for each GPU, or let MESHTENSOR_CUDA_GPU say for each rank "
                                         "which one it takes: 0 for all that share one, or that each see one of "
                                         "their own"));
}

/// The number of this process's GPU, and whether it is in use.
struct gpu_choice {
  int number = 0;
  bool is_in_use = false;

  /// Takes the GPU of a rank. errors R80 this process uses another one already
  void choose(int wanted, int rank) {
    if (is_in_use && wanted != number)
      throw error("R80", {"rank ", rank, " is to run on GPU ", wanted, ", but its process has used GPU ", number,
                          " already: make the job of all ranks before anything runs on mt::cuda_device, or set "
                          "MESHTENSOR_CUDA_GPU for each rank"});
    number = wanted;
  }
};
/// errors R80
inline gpu_choice& chosen_gpu() {
  static gpu_choice choice{named_gpu().value_or(0)};
  return choice;
}
/// A test's own GPU.
inline gpu*& given_gpu() {
  static gpu* given = nullptr;
  return given;
}

/// Takes the GPU of this rank. A machine without a driver says so when the GPU is used.
inline void choose_gpu(std::vector<int> const& here, int rank) {
  if (given_gpu() != nullptr) return;
  if (auto const count = visible_nvidia_gpus()) chosen_gpu().choose(gpu_of_rank(here, rank, *count), rank);
}
/// The GPU of this process, the same for all programs. errors R80, R81
inline gpu& gpu_in_use() {
  if (given_gpu() != nullptr) return *given_gpu();
  // It is never closed: values of a store may outlive everything else.
  static loaded_gpu& mine = *new loaded_gpu(chosen_gpu().number);
  chosen_gpu().is_in_use = true;
  return mine;
}

}  // namespace meshtensor::cuda
