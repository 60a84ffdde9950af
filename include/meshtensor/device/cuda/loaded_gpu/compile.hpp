// SPDX-License-Identifier: Apache-2.0
// Compiles the text of kernels by NVRTC for one generation of GPUs.
#pragma once

#include <string>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/device/cuda/api.hpp"

namespace meshtensor::cuda::detail {

/// errors R83
inline std::string compiled(api::compiler const& compiler, int capability, std::string const& text) {
  api::program p = nullptr;
  compiler.nvrtcCreateProgram(&p, text.c_str(), "meshtensor.cu", 0, nullptr, nullptr);
  std::string const target = "--gpu-architecture=sm_" + std::to_string(capability);
  char const* const options[] = {target.c_str(), "--std=c++17", "--fmad=false", "-w"};
  int const wrong = compiler.nvrtcCompileProgram(p, 4, options);
  if (wrong != 0) {
    std::size_t bytes = 0;
    compiler.nvrtcGetProgramLogSize(p, &bytes);
    std::string log(bytes, ' ');
    compiler.nvrtcGetProgramLog(p, log.data());
    compiler.nvrtcDestroyProgram(&p);
    throw error("R83", {"NVRTC does not compile the kernels for ", target, ": ", log.substr(0, 2000)});
  }
  std::size_t bytes = 0;
  compiler.nvrtcGetCUBINSize(p, &bytes);
  std::string image(bytes, '\0');
  compiler.nvrtcGetCUBIN(p, image.data());
  compiler.nvrtcDestroyProgram(&p);
  return image;
}

}  // namespace meshtensor::cuda::detail
