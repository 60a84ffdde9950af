// SPDX-License-Identifier: Apache-2.0
// A `__global__` template over a lowered program: each kernel of the two-layer training step, made from the graph
// itself.
//
// As a program it compares what the same functions give on the host, and on a GPU where there is one, with the
// interpreter, bit for bit. device_code.py compiles it and reads the device code.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "element.hpp"
#include "meshtensor/array/interpret.hpp"
#include "meshtensor/pass/bind.hpp"
#include "two_layers.hpp"

namespace mt = meshtensor;
using two_layers::train_step;

namespace {

struct device {
  static constexpr mt::device_capabilities capabilities{true};
};
using program = mt::lowered<train_step, train_step, two_layers::mesh, two_layers::whole, device>;

}  // namespace

template <class Program, int Node>
__global__ void run(probe::arguments a) {
  probe::kernel<Program, Node>::store(a, std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x);
}

namespace {

/// Runs a kernel for elements 0 … count - 1 of its results: here, and there.
struct runner {
  void (*on_host)(probe::arguments const&, std::int64_t count);
  void (*on_device)(probe::arguments const&, std::int64_t count);
};
template <class Program, int Node>
constexpr runner runner_of() {
  return {[](probe::arguments const& a, std::int64_t count) {
            for (std::int64_t i = 0; i < count; ++i) probe::kernel<Program, Node>::store(a, i);
          },
          [](probe::arguments const& a, std::int64_t count) {
            run<Program, Node><<<static_cast<unsigned>((count + 127) / 128), 128>>>(a);
          }};
}
template <class Program, int... K>
std::map<int, runner> all_runners(std::integer_sequence<int, K...>) {
  constexpr auto kernels = mt::list_kernels<sizeof...(K)>(Program::graph);
  return {{kernels.at[K], runner_of<Program, kernels.at[K]>()}...};
}

bool succeeded(cudaError_t e) {
  if (e != cudaSuccess) std::printf("CUDA: %s\n", cudaGetErrorString(e));
  return e == cudaSuccess;
}

/// Asks the runner of every kernel for what the interpreter has just computed.
class comparison : public mt::interpreter {
 public:
  int kernels = 0, different = 0;
  bool has_device;

  comparison(mt::binding const& numbers, bool device_too)
      : interpreter(program::graph, numbers),
        has_device(device_too),
        numbers_(numbers),
        runners_(all_runners<program>(std::make_integer_sequence<int, mt::count_kernels(program::graph)>{})) {}

 private:
  void has_run(mt::node const& n, mt::run_context const& context) override {
    if (n.kind != mt::primitive::kernel) return;
    ++kernels;
    auto const reading = mt::read_kernel(program::graph, n);
    mt::shape const space = mt::kernel_attributes::of(n).space;
    probe::arguments a{};
    for (int k = 0; k < reading.key.number_count; ++k) a.numbers[k] = context.numbers[reading.numbers[k]].real;
    for (int d = 0; d < space.count; ++d) a.extent[d] = numbers_.extent[space.at[d]];
    runner const& r = runners_.at(static_cast<int>(&n - program::graph.nodes));
    compare(
        n, a, "the host", [&](probe::arguments const& b, std::int64_t count) { return r.on_host(b, count), true; },
        [](std::size_t bytes) { return std::malloc(bytes); }, [](void* p) { std::free(p); });
    if (!has_device) return;
    compare(
        n, a, "the device",
        [&](probe::arguments const& b, std::int64_t count) {
          r.on_device(b, count);
          return succeeded(cudaGetLastError()) && succeeded(cudaDeviceSynchronize());
        },
        [](std::size_t bytes) {
          void* p = nullptr;
          return succeeded(cudaMallocManaged(&p, bytes)) ? p : nullptr;
        },
        [](void* p) { cudaFree(p); });
  }

  template <class Run, class Allocate, class Release>
  void compare(mt::node const& n, probe::arguments a, char const* where, Run const& run, Allocate const& allocate,
               Release const& release) {
    std::vector<void*> memory;
    auto const room = [&](mt::block const& b) {
      memory.push_back(allocate(static_cast<std::size_t>(b.bytes())));
      return memory.back();
    };
    std::int64_t count = 0;
    for (int i = 0; i < n.operands.count; ++i) {
      mt::block const& b = at(program::graph.operand(n, i));
      a.operands[i] = std::memcpy(room(b), b.data(), static_cast<std::size_t>(b.bytes()));
    }
    for (int i = 0; i < n.results.count; ++i) {
      mt::block const& b = at(program::graph.result(n, i));
      a.results[i] = std::memset(room(b), 0xff, static_cast<std::size_t>(b.bytes()));
      count = std::max(count, b.size());
    }
    bool same = run(a, count);
    for (int i = 0; i < n.results.count; ++i) {
      mt::block const& b = at(program::graph.result(n, i));
      same = same && std::memcmp(a.results[i], b.data(), static_cast<std::size_t>(b.bytes())) == 0;
    }
    for (void* p : memory) release(p);
    if (same) return;
    ++different;
    std::printf("kernel %d differs on %s\n", static_cast<int>(&n - program::graph.nodes), where);
  }

  mt::binding const& numbers_;
  std::map<int, runner> runners_;
};

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
  mt::mesh_shape one = two_layers::mesh::shape;
  one.bind(two_layers::data(1)).bind(two_layers::model(1));
  mt::dim_extent const extents[] = {two_layers::batch(8)};
  mt::binding const numbers = mt::bind(program::graph, one, extents);
  mt::raise(numbers.report);

  comparison run(numbers, devices > 0);
  mt::blocks inputs, variables;
  for (int i = 0; i < program::graph.node_count; ++i) {
    mt::node const& n = program::graph.nodes[i];
    if (n.kind != mt::primitive::input) continue;
    mt::value const& v = program::graph.result_value(n);
    mt::block b(v.type, v.dims, numbers);
    for (std::int64_t k = 0; k < b.size(); ++k)
      b.set(k, mt::is_float(v.type) ? static_cast<double>(k % 17) / 8 - 1 : static_cast<double>(k * 5 % 6));
    inputs[program::graph.names[n.attribute[0]].text()] = b;
  }
  int const entry = mt::find_entry(program::graph, mt::entry_name<train_step>());
  for (std::uint64_t step = 0; step < 3; ++step) {
    mt::settings s;
    s.step = step;
    double const loss = run.run(entry, inputs, variables, s).at("loss").number_at(0);
    std::printf("step %d: loss %.6f, %d kernels, %d different\n", static_cast<int>(step), loss, run.kernels,
                run.different);
  }
  std::printf("compared on the host%s\n", devices > 0 ? " and on a device" : "; there is no device");
  return run.different != 0 || run.kernels == 0;
}
