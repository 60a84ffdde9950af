// SPDX-License-Identifier: Apache-2.0
// Compiles kernels for GPUs by NVRTC, where that is installed, and reads the code that it makes: the instructions of
// each kernel (PTX), and what its assembler says of registers and memory.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "meshtensor/device/cuda/api.hpp"

namespace meshtensor_test {

/// The code of one kernel.
struct gpu_kernel {
  std::string text;  // its own CUDA text
  long stores = 0, arithmetic_in_f64 = 0, divisions = 0, local_bytes = 0;
  int widest_load = 0, widest_store = 0;  // bytes that one instruction moves between registers and memory
  long stack_bytes = 0, spilt_bytes = 0;  // of a thread
};
struct gpu_code {
  std::string said;  // by the compiler, if it refuses
  std::map<std::string, gpu_kernel> kernels;
  std::vector<std::string> functions;  // that are called, but for those that CUDA brings along
};

/// A kernel in a text: its name, and where it begins and ends. What else the text has stands before or between kernels.
struct kernel_text {
  std::string name;
  std::size_t from, end;
};
inline std::vector<kernel_text> kernels_in(std::string const& text) {
  std::string const head = "extern \"C\" __global__ ";
  std::vector<kernel_text> all;
  for (std::size_t at = text.find(head); at != std::string::npos;) {
    std::size_t const next = text.find(head, at + 1), arguments = text.find("(const __grid_constant__", at),
                      name = text.rfind(' ', arguments) + 1;
    std::size_t const others = text.find("}\n\n", at);  // an empty line before what is no kernel
    std::size_t const end = std::min({next, others == std::string::npos ? others : others + 2, text.size()});
    all.push_back({text.substr(name, arguments - name), at, end});
    at = next;
  }
  return all;
}

namespace detail {

/// The bytes that `ld.global.nc.v4.f32` or the like moves.
inline int bytes_moved(std::string const& instruction) {
  int lanes = 1, bits = 0;
  std::istringstream parts(instruction);
  for (std::string part; std::getline(parts, part, '.');) {
    if (part == "v2" || part == "v4" || part == "v8") lanes = part[1] - '0';
    if (part.size() > 1 && std::string("fusb").find(part[0]) != std::string::npos &&
        part.find_first_not_of("0123456789", 1) == std::string::npos)
      bits = std::atoi(part.c_str() + 1);
  }
  return lanes * bits / 8;
}

inline void read_ptx(std::string const& ptx, gpu_code& code) {
  gpu_kernel* now = nullptr;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    if (std::size_t const entry = line.find(".entry "); entry != std::string::npos) {
      std::string const name = line.substr(entry + 7);
      now = &code.kernels[name.substr(0, name.find('('))];
      continue;
    }
    if (line.find(".func ") != std::string::npos) {
      now = nullptr;
      if (line.find("__internal_") == std::string::npos) code.functions.push_back(line);
    }
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word.starts_with('@')) words >> word;
    if (now == nullptr || word.empty()) continue;
    if (word == ".local" && line.find('[') != std::string::npos)
      now->local_bytes += std::atol(line.c_str() + line.find('[') + 1);
    if (word.starts_with("st.global"))
      ++now->stores, now->widest_store = std::max(now->widest_store, bytes_moved(word));
    if (word.starts_with("red.global") || word.starts_with("atom.global")) ++now->stores;
    if (word.starts_with("ld.global")) now->widest_load = std::max(now->widest_load, bytes_moved(word));
    for (char const* one : {"add", "sub", "mul", "fma", "div", "sqrt", "rcp"})
      now->arithmetic_in_f64 += word.starts_with(one) && word.ends_with(".f64");
    for (char const* one : {"div", "rem"})
      for (char const* type : {".s32", ".u32", ".s64", ".u64"}) now->divisions += word == std::string(one) + type;
  }
}

/// What `ptxas -v` says: a line with a kernel's name, later one with its memory.
inline void read_assembler(std::string const& said, gpu_code& code) {
  gpu_kernel* now = nullptr;
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    if (std::size_t const at = line.find("Function properties for "); at != std::string::npos) {
      std::string const name = line.substr(at + 24);
      auto const found = code.kernels.find(name);
      now = found == code.kernels.end() ? nullptr : &found->second;
    } else if (std::size_t const stack = line.find(" bytes stack frame, ");
               stack != std::string::npos && now != nullptr) {
      now->stack_bytes = std::atol(line.c_str() + line.find_first_of("0123456789"));
      now->spilt_bytes = std::atol(line.c_str() + stack + 20);
    }
  }
}

}  // namespace detail

class gpu_compiler {
 public:
  gpu_compiler() {
    char const* const given = std::getenv("MESHTENSOR_NVRTC");
    void* library = given == nullptr ? nullptr : dlopen(given, RTLD_NOW | RTLD_LOCAL);
    for (char const* n : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"})
      if (library == nullptr) library = dlopen(n, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    auto const find = [&](auto& f, char const* name) {
      f = reinterpret_cast<std::remove_reference_t<decltype(f)>>(dlsym(library, name));
      return f != nullptr;
    };
    is_here_ = find(call_.nvrtcCreateProgram, "nvrtcCreateProgram") &&
               find(call_.nvrtcCompileProgram, "nvrtcCompileProgram") &&
               find(call_.nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize") &&
               find(call_.nvrtcGetProgramLog, "nvrtcGetProgramLog") &&
               find(call_.nvrtcDestroyProgram, "nvrtcDestroyProgram") && find(ptx_size_, "nvrtcGetPTXSize") &&
               find(ptx_, "nvrtcGetPTX");
  }
  bool is_here() const { return is_here_; }

  /// Compiles a text as the device does. `target`: as `sm_90`.
  gpu_code compile(std::string const& text, std::string const& target) const {
    gpu_code code;
    meshtensor::cuda::api::program p = nullptr;
    call_.nvrtcCreateProgram(&p, text.c_str(), "kernels.cu", 0, nullptr, nullptr);
    std::string const architecture = "--gpu-architecture=" + target;
    char const* const options[] = {architecture.c_str(), "--std=c++17", "--fmad=false", "-w", "--ptxas-options=-v"};
    int const wrong = call_.nvrtcCompileProgram(p, 5, options);
    std::string log, ptx;
    std::size_t bytes = 0;
    call_.nvrtcGetProgramLogSize(p, &bytes);
    log.resize(bytes);
    call_.nvrtcGetProgramLog(p, log.data());
    if (wrong == 0) {
      ptx_size_(p, &bytes);
      ptx.resize(bytes);
      ptx_(p, ptx.data());
    }
    call_.nvrtcDestroyProgram(&p);
    if (wrong != 0) {
      code.said = log.size() > 1 ? log : "it does not compile";
      return code;
    }
    detail::read_ptx(ptx, code), detail::read_assembler(log, code);
    for (kernel_text const& k : kernels_in(text))
      if (auto const found = code.kernels.find(k.name); found != code.kernels.end())
        found->second.text = text.substr(k.from, k.end - k.from);
    return code;
  }

 private:
  meshtensor::cuda::api::compiler call_{};
  int (*ptx_size_)(meshtensor::cuda::api::program, std::size_t*) = nullptr;
  int (*ptx_)(meshtensor::cuda::api::program, char*) = nullptr;
  bool is_here_ = false;
};

}  // namespace meshtensor_test
