// SPDX-License-Identifier: Apache-2.0
// The kernels of every program of the catalogue compile for three generations of GPUs, where there is NVRTC.
// passes: start-up
// sanitize: no
// timeout: 300
#include <dlfcn.h>

#include "meshtensor/device/cuda/device.hpp"
#include "property/program.hpp"
#include "support/host_gpu.hpp"
#include "support/skip.hpp"

using namespace property;

namespace {

/// NVRTC, if this machine has it.
struct runtime_compiler {
  mt::cuda::api::compiler call{};
  bool is_here = false;

  runtime_compiler() {
    void* library = nullptr;
    for (char const* n : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"})
      if (library == nullptr) library = dlopen(n, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    auto const find = [&](auto& f, char const* name) {
      f = reinterpret_cast<std::remove_reference_t<decltype(f)>>(dlsym(library, name));
    };
    find(call.nvrtcCreateProgram, "nvrtcCreateProgram"), find(call.nvrtcCompileProgram, "nvrtcCompileProgram");
    find(call.nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize"), find(call.nvrtcGetProgramLog, "nvrtcGetProgramLog");
    find(call.nvrtcDestroyProgram, "nvrtcDestroyProgram");
    is_here = call.nvrtcCreateProgram != nullptr && call.nvrtcCompileProgram != nullptr;
  }
  /// What it says; empty: nothing.
  std::string said_of(std::string const& text, char const* target) const {
    mt::cuda::api::program p = nullptr;
    call.nvrtcCreateProgram(&p, text.c_str(), "kernels.cu", 0, nullptr, nullptr);
    char const* const options[] = {target, "--std=c++17", "--fmad=false", "-w"};
    std::string log;
    if (call.nvrtcCompileProgram(p, 4, options) != 0) {
      std::size_t bytes = 0;
      call.nvrtcGetProgramLogSize(p, &bytes);
      log.resize(bytes);
      call.nvrtcGetProgramLog(p, log.data());
      if (log.size() <= 1) log = "it does not compile";
    }
    call.nvrtcDestroyProgram(&p);
    return log;
  }
};

}  // namespace

TEST_CASE("kernels compile for GPUs") {
  runtime_compiler const compiler;
  if (!compiler.is_here) return meshtensor_test::skip("NVRTC, libnvrtc.so of CUDA, is not installed");
  meshtensor_test::host_gpu gpu;
  gpu.compiles = false;
  mt::cuda::given_gpu() = &gpu;
  mt::mesh_shape const mesh = mt::mesh_shape{}.add("ax", 2);
  mt::layout_rules const rules = mt::layout_rules{}.shard("batch", {"ax"});
  long compiled = 0;
  for (listed const& program : catalogue()) {
    if (!is_in_sample(static_cast<std::uint64_t>(&program - catalogue().data()))) continue;
    CAPTURE(std::string(program.label));
    gpu.last_text.clear();
    auto const traced = program.trace();
    mt::job const job = mt::job::in_lockstep();
    mt::store values(job);
    try {
      auto const low = mt::lower(*traced, program.entry, mesh, rules, {}, mt::capabilities_of<mt::cuda_device>);
      mt::session<mt::cuda_device> const run(values, low->graph, low->planned, mesh, low->entry);
    } catch (mt::error const& e) {
      CHECK(e.code() == "R84");
      continue;
    }
    std::string const text = mt::cuda::whole_text(gpu.last_text);
    CHECK(compiler.said_of(text, "--gpu-architecture=sm_90") == "");
    if (++compiled % 8 == 1)
      for (char const* const target : {"--gpu-architecture=sm_80", "--gpu-architecture=sm_100"})
        CHECK(compiler.said_of(text, target) == "");
  }
  mt::cuda::given_gpu() = nullptr;
  at_least(20, compiled);
}
