// SPDX-License-Identifier: Apache-2.0
// Chooses the GPU of a process: the GPU that MESHTENSOR_CUDA_GPU names, otherwise the GPU with the rank's number on its
// machine, or the first one.
#pragma once

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "meshtensor/device/cuda/loaded_gpu.hpp"
#include "meshtensor/device/device_of_rank.hpp"

namespace meshtensor::cuda {

/// The GPU that MESHTENSOR_CUDA_GPU names, even if other processes use it, or nothing if the variable is not set.
///
/// errors  R80 it is no number
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

/// The number of a rank's GPU among the `count` GPUs that it sees. `here` lists the ranks of its machine.
///
/// errors  R77 there are more ranks than GPUs, and MESHTENSOR_CUDA_GPU is not set
inline int gpu_of_rank(std::vector<int> const& here, int rank, int count) {
  if (auto const named = named_gpu()) return *named;
  return static_cast<int>(device_of_rank(here, rank, static_cast<std::size_t>(count), "mt::cuda_device has",
                                         "start one rank for each GPU, or let MESHTENSOR_CUDA_GPU say for each rank "
                                         "which one it takes: 0 for all that share one, or that each see one of "
                                         "their own"));
}

/// The number of this process's GPU, and whether it is already in use.
struct gpu_choice {
  int number = 0;
  bool is_in_use = false;

  /// Chooses the GPU of a rank. errors R80 this process already uses another GPU
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
/// The GPU that a test uses instead of a real one.
inline gpu*& given_gpu() {
  static gpu* given = nullptr;
  return given;
}

/// Chooses the GPU of this rank. If the machine has no driver, the error comes when the GPU is first used.
inline void choose_gpu(std::vector<int> const& here, int rank) {
  if (given_gpu() != nullptr) return;
  if (auto const count = visible_nvidia_gpus()) chosen_gpu().choose(gpu_of_rank(here, rank, *count), rank);
}
/// The GPU of this process, which all programs share. errors R80, R81
inline gpu& gpu_in_use() {
  if (given_gpu() != nullptr) return *given_gpu();
  // The GPU is never closed, because values of a store may outlive everything else.
  static loaded_gpu& mine = *new loaded_gpu(chosen_gpu().number);
  chosen_gpu().is_in_use = true;
  return mine;
}

}  // namespace meshtensor::cuda
