// SPDX-License-Identifier: Apache-2.0
// Runs programs on NVIDIA GPUs. Kernels are made at start-up from a program's fused blocks, and a step is recorded once
// and replayed.
#pragma once

#include "meshtensor/comm/process_group.hpp"
#include "meshtensor/device/cpu/fill_part.hpp"
#include "meshtensor/device/cuda/choose_gpu.hpp"
#include "meshtensor/device/cuda/program_kernels.hpp"
#include "meshtensor/pass/device_capabilities.hpp"

namespace meshtensor {

namespace detail {
inline bool is_asked(char const* variable) {
  char const* const text = std::getenv(variable);
  return text != nullptr && std::string_view(text) == "1";
}
}  // namespace detail

/// A device for `executable<Program, Mesh, Layout, mt::cuda_device>`. One GPU runs all ranks of the mesh. In a job of
/// several processes, it runs the rank of this process. A program can be built without CUDA and its compiler, but to
/// run it, the driver, NVRTC and cuBLASLt must be installed. Values of the store stay on the GPU.
///
/// errors  R80 there is no GPU, or a library is missing; R81 CUDA reports an error; R82 not enough memory on the GPU;
///         R83 a kernel does not compile; R84 the program has an operation that does not run here; R77 a machine has
///         more ranks than GPUs; R79 MPI takes no memory of GPUs
struct cuda_device {
  static constexpr device_capabilities capabilities{true, cuda::is_attention, epilogues::of_products};
  using recorded_program = cuda::program_kernels;

  static cuda::gpu& machine() { return cuda::gpu_in_use(); }
  /// Uses one GPU in each process of a group.
  static void join(process_group& processes) {
    if (hands_memory_to_transport() && !processes.takes_device_memory())
      throw error("R79",
                  {"MESHTENSOR_CUDA_AWARE_MPI asks that MPI gets memory of the GPU, but ", processes.library_name(),
                   " does not say that it takes any: unset it, or take an MPI library that was built with CUDA"});
    cuda::choose_gpu(processes.ranks_here(), processes.rank());
    if (hands_memory_to_transport())  // because the MPI library uses the GPU of the calling thread
      processes.enter_thread_by([&gpu = machine()] { gpu.enter_here(); });
    bool const by_nccl = detail::is_asked("MESHTENSOR_CUDA_NCCL");
    if (by_nccl) cuda::nccl_in_use();
    cuda::ranks_of_nccl() = by_nccl ? &processes.values() : nullptr;
  }
  /// Whether MPI gets addresses of the GPU's memory. They are addresses of blocks that only MPI touches.
  static bool hands_memory_to_transport() { return detail::is_asked("MESHTENSOR_CUDA_AWARE_MPI"); }
  /// Fills a dense part of a variable with its initial value. The host's processors compute it, because their values
  /// have the same bits for every device.
  static void fill(view const& where, initial_value const& first) { cpu::fill_part(where, first); }
};

/// A `cuda_device` that runs attention as products and other kernels, with scores in memory, for comparisons.
struct cuda_device_without_attention : cuda_device {
  static constexpr device_capabilities capabilities{true, claims_nothing, epilogues::of_products};
};

}  // namespace meshtensor
