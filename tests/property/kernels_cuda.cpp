// SPDX-License-Identifier: Apache-2.0
// The kernels of every program of the catalogue compile for three generations of GPUs, where there is NVRTC; and their
// PTX is read: no function but CUDA's own stays apart, arrays in registers do not go to memory, some loads take
// neighbours at once, and only programs with f64 compute in it.
// passes: start-up
// sanitize: no
// timeout: 300
#include <dlfcn.h>

#include <sstream>

#include "meshtensor/device/cuda/device.hpp"
#include "property/program.hpp"
#include "support/host_gpu.hpp"
#include "support/skip.hpp"

using namespace property;

namespace {

/// NVRTC, if this machine has it.
struct runtime_compiler {
  mt::cuda::api::compiler call{};
  int (*ptx_size)(mt::cuda::api::program, std::size_t*) = nullptr;
  int (*ptx)(mt::cuda::api::program, char*) = nullptr;
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
    find(ptx_size, "nvrtcGetPTXSize"), find(ptx, "nvrtcGetPTX");
    is_here = call.nvrtcCreateProgram != nullptr && call.nvrtcCompileProgram != nullptr && ptx != nullptr;
  }
  /// What it says; empty: nothing. `code` gets what it made.
  std::string said_of(std::string const& text, char const* target, std::string* code = nullptr) const {
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
    if (log.empty() && code != nullptr) {
      std::size_t bytes = 0;
      ptx_size(p, &bytes);
      code->resize(bytes);
      ptx(p, code->data());
    }
    call.nvrtcDestroyProgram(&p);
    return log;
  }
};

/// What the PTX of a program's kernels has.
struct code_of_kernels {
  long kernels = 0, stores = 0, functions = 0, most_local = 0, f64 = 0, wide_loads = 0;

  explicit code_of_kernels(std::string const& ptx) {
    std::istringstream lines(ptx);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string word;
      words >> word;
      if (word.starts_with('@')) words >> word;
      auto const has = [&](char const* text) { return line.find(text) != std::string::npos; };
      kernels += has(".entry ");
      functions += has(".func ") && !has("__internal_");  // powers and sines of f64 keep a function of CUDA's own
      stores += word.starts_with("st.global");
      wide_loads += word.starts_with("ld.global") && (has(".v2.") || has(".v4."));
      if (word == ".local" && line.find('[') != std::string::npos)
        most_local = std::max(most_local, std::atol(line.c_str() + line.find('[') + 1));
      for (char const* one : {"add", "sub", "mul", "fma", "div", "sqrt"})
        f64 += word.starts_with(one) && word.ends_with(".f64");
    }
  }
};
bool has_f64(mt::module const& m) {
  for (int i = 0; i < m.value_count; ++i)
    if (m.values[i].type == mt::dtype::f64) return true;
  return false;
}

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
  long wide_loads = 0;
  for (listed const& program : catalogue()) {
    if (!is_in_sample(static_cast<std::uint64_t>(&program - catalogue().data()))) continue;
    CAPTURE(std::string(program.label));
    gpu.last_text.clear();
    auto const traced = program.trace();
    mt::job const job = mt::job::in_lockstep();
    mt::store values(job);
    bool may_have_f64 = false;
    try {
      auto const low = mt::lower(*traced, program.entry, mesh, rules, {}, mt::capabilities_of<mt::cuda_device>);
      may_have_f64 = has_f64(low->graph);
      mt::session<mt::cuda_device> const run(values, low->graph, low->planned, mesh, low->entry);
    } catch (mt::error const& e) {
      CHECK(e.code() == "R84");
      continue;
    }
    std::string const text = mt::cuda::whole_text(gpu.last_text);
    std::string code;
    CHECK(compiler.said_of(text, "--gpu-architecture=sm_90", &code) == "");
    code_of_kernels const own(code);
    CHECK(own.kernels > 0);
    CHECK(own.stores >= own.kernels);
    CHECK(own.functions == 0);
    CHECK(own.most_local <= 128);  // bytes: what a sine of great numbers needs, and a few elements
    CHECK((own.f64 == 0 || may_have_f64));
    wide_loads += own.wide_loads;
    if (++compiled % 8 == 1)
      for (char const* const target : {"--gpu-architecture=sm_80", "--gpu-architecture=sm_100"})
        CHECK(compiler.said_of(text, target) == "");
  }
  mt::cuda::given_gpu() = nullptr;
  at_least(20, compiled);
  at_least(4, wide_loads);
}
