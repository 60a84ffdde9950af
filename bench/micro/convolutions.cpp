// SPDX-License-Identifier: Apache-2.0
// ResNet-50's convolutions and their gradients, images of 224x224: our time with everything that it includes, beside
// oneDNN's convolution alone with all tensors in the formats that it prefers. Runs of all are taken in turn.
//
//   build/quickstart/bench/micro/convolutions [f32|bf16|f64] [images] [threads] [substring of a name]
//
// A row has oneDNN's GFLOP/s (for f64: of f32) and, for channels last and for channels first, the ratio of its time to
// ours. The last rows weight all by how often the network has them.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <meshtensor/base/memory.hpp>
#include <meshtensor/device/cpu/convolution.hpp>

namespace mt = meshtensor;
namespace cpu = mt::cpu;
using cpu::convolution_direction;

namespace {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct layer {
  std::int64_t input_channels, output_channels, size, kernel, stride;
  int times;
};
constexpr layer layers[] = {
    {3, 64, 224, 7, 2, 1},     {64, 64, 56, 1, 1, 1},    {64, 64, 56, 3, 1, 3},    {64, 256, 56, 1, 1, 4},
    {256, 64, 56, 1, 1, 2},    {256, 128, 56, 1, 1, 1},  {128, 128, 56, 3, 2, 1},  {128, 512, 28, 1, 1, 4},
    {256, 512, 56, 1, 2, 1},   {512, 128, 28, 1, 1, 3},  {128, 128, 28, 3, 1, 3},  {512, 256, 28, 1, 1, 1},
    {256, 256, 28, 3, 2, 1},   {256, 1024, 14, 1, 1, 6}, {512, 1024, 28, 1, 2, 1}, {1024, 256, 14, 1, 1, 5},
    {256, 256, 14, 3, 1, 5},   {1024, 512, 14, 1, 1, 1}, {512, 512, 14, 3, 2, 1},  {512, 2048, 7, 1, 1, 3},
    {1024, 2048, 14, 1, 2, 1}, {2048, 512, 7, 1, 1, 2},  {512, 512, 7, 3, 1, 2}};

cpu::convolution_problem problem_of(layer const& l, convolution_direction direction, mt::dtype type,
                                    std::int64_t images, bool channels_last) {
  cpu::convolution_problem p;
  p.direction = direction, p.type = type, p.images = images, p.dims = 2;
  p.input_channels = l.input_channels, p.output_channels = l.output_channels;
  std::int64_t const low = l.kernel / 2, output = (l.size + 2 * low - l.kernel) / l.stride + 1;
  std::int64_t const ci = l.input_channels, co = l.output_channels, k = l.kernel;
  p.dim[0] = p.dim[1] = {l.size, output, k, l.stride, 1, low};
  if (channels_last) {
    p.input = {l.size * l.size * ci, 0, 1, 0, {l.size * ci, ci}};
    p.output = {output * output * co, 0, 0, 1, {output * co, co}};
    p.kernel = {0, 0, co, 1, {k * ci * co, ci * co}};
  } else {
    p.input = {l.size * l.size * ci, 0, l.size * l.size, 0, {l.size, 1}};
    p.output = {output * output * co, 0, 0, output * output, {output, 1}};
    p.kernel = {0, 0, k * k, ci * k * k, {k, 1}};
  }
  return p;
}

mt::arena filled(std::int64_t elements, mt::dtype type) {
  mt::arena block(static_cast<std::size_t>(elements) * mt::bytes_of(type) + 64);
  mt::with_element(type, [&]<class E>() {
    for (std::int64_t i = 0; i < elements; ++i)
      if constexpr (std::is_same_v<E, mt::bf16_t>) block.at<E>(0)[i] = mt::bf16_t(static_cast<float>(i % 7) - 3);
      else block.at<E>(0)[i] = static_cast<E>(i % 7 < 3);
  });
  return block;
}

struct ours {
  ours(cpu::convolution_problem const& p, int threads)
      : plan(p, threads),
        input(filled(p.input_elements(), p.type)),
        output(filled(p.output_elements(), p.type)),
        kernel(filled(p.kernel_elements(), p.type)),
        scratch(plan.workspace_bytes() + 64),
        direction(p.direction) {}
  void operator()(cpu::thread_team& team) {
    mt::arena const& a = direction == convolution_direction::data ? output : input;
    mt::arena const& b = direction == convolution_direction::weights ? output : kernel;
    mt::arena& result = direction == convolution_direction::forward ? output
                        : direction == convolution_direction::data  ? input
                                                                    : kernel;
    plan.execute(a.data(), b.data(), result.data(), scratch.data(), &team);
  }
  cpu::convolution_plan plan;
  mt::arena input, output, kernel, scratch;
  convolution_direction direction;
};

#if MESHTENSOR_WITH_ONEDNN

/// oneDNN with `format_tag::any` for all, on its own threads.
struct best_of_onednn {
  explicit best_of_onednn(cpu::convolution_problem const& p) {
    using dims = dnnl::memory::dims;
    auto const type = p.type == mt::dtype::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
    auto const any = [&](dims const& extents) {
      return dnnl::memory::desc(extents, type, dnnl::memory::format_tag::any);
    };
    auto const& d = p.dim[0];
    auto const x = any({p.images, p.input_channels, d.input, d.input});
    auto const y = any({p.images, p.output_channels, d.output, d.output});
    auto const k = any({p.output_channels, p.input_channels, d.kernel, d.kernel});
    cpu::onednn::convolution_window const window{{d.stride, d.stride}, {0, 0}, {d.low, d.low}, {d.low, d.low}};
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    auto const forward = cpu::onednn::describe_forward(x, k, y, window, attributes);
    switch (p.direction) {
      case convolution_direction::forward:
        take<dnnl::convolution_forward>(forward, DNNL_ARG_SRC, forward.src_desc(), DNNL_ARG_WEIGHTS,
                                        forward.weights_desc(), DNNL_ARG_DST, forward.dst_desc());
        break;
      case convolution_direction::data: {
        auto const g =
            cpu::onednn::describe_backward<dnnl::convolution_backward_data>(x, k, y, window, attributes, forward);
        take<dnnl::convolution_backward_data>(g, DNNL_ARG_DIFF_SRC, g.diff_src_desc(), DNNL_ARG_WEIGHTS,
                                              g.weights_desc(), DNNL_ARG_DIFF_DST, g.diff_dst_desc());
        break;
      }
      default: {
        auto const g =
            cpu::onednn::describe_backward<dnnl::convolution_backward_weights>(x, k, y, window, attributes, forward);
        take<dnnl::convolution_backward_weights>(g, DNNL_ARG_SRC, g.src_desc(), DNNL_ARG_DIFF_WEIGHTS,
                                                 g.diff_weights_desc(), DNNL_ARG_DIFF_DST, g.diff_dst_desc());
      }
    }
  }
  void operator()() { primitive.execute({blocks[0].data(), blocks[1].data(), blocks[2].data()}, blocks[3].data()); }

  template <class Primitive, class Description>
  void take(Description const& described, int x, dnnl::memory::desc const& of_x, int k, dnnl::memory::desc const& of_k,
            int y, dnnl::memory::desc const& of_y) {
    primitive = cpu::onednn::primitive::make<Primitive>(described, {{x, of_x}, {k, of_k}, {y, of_y}});
    for (auto const& one : {of_x, of_k, of_y})
      blocks.push_back(filled(static_cast<std::int64_t>(one.get_size()) / 4, mt::dtype::f32));
    blocks.emplace_back(primitive.workspace_bytes() + 64);
  }
  cpu::onednn::primitive primitive;
  std::vector<mt::arena> blocks;
};

#endif

}  // namespace

int main(int argc, char** argv) {
#if MESHTENSOR_WITH_ONEDNN
  auto const argument = [&](int i, char const* otherwise) { return std::string(i < argc ? argv[i] : otherwise); };
  std::string const named = argument(1, "f32"), filter = argument(4, "");
  auto const type = named == "bf16" ? mt::dtype::bf16 : named == "f64" ? mt::dtype::f64 : mt::dtype::f32;
  std::int64_t const images = std::atoi(argument(2, "8").c_str());
  int const threads = argc > 3 ? std::atoi(argv[3]) : cpu::thread_budget();
  cpu::thread_team team(threads);
  if (void* const set = dlsym(RTLD_DEFAULT, "omp_set_num_threads")) reinterpret_cast<void (*)(int)>(set)(threads);
  std::printf("%s, %lld images, %d threads\n%-34s %8s %6s %6s\n", named.c_str(), static_cast<long long>(images),
              threads, "", "GFLOP/s", "last", "first");
  double total[3][3] = {};  // by direction: oneDNN, channels last, channels first
  constexpr char const* directions[] = {"forward", "data", "weights"};
  for (auto const& l : layers)
    for (int direction = 0; direction < 3; ++direction) {
      if (l.input_channels == 3 && direction == 1) continue;  // nobody needs the gradient of an image
      char name[64];
      std::snprintf(name, sizeof name, "%lld-%lld %lldx%lld/%lld @%lld %s", static_cast<long long>(l.input_channels),
                    static_cast<long long>(l.output_channels), static_cast<long long>(l.kernel),
                    static_cast<long long>(l.kernel), static_cast<long long>(l.stride), static_cast<long long>(l.size),
                    directions[direction]);
      if (std::string(name).find(filter) == std::string::npos) continue;
      auto const way = static_cast<convolution_direction>(direction);
      auto const last = problem_of(l, way, type, images, true);
      ours one(last, threads), other(problem_of(l, way, type, images, false), threads);
      best_of_onednn library(last);
      double best[3] = {1e9, 1e9, 1e9};
      for (int round = 0; round < 6; ++round)
        for (int which = 0; which < 3; ++which) {
          double const start = seconds();
          if (which == 0) library();
          else (which == 1 ? one : other)(team);
          best[which] = std::min(best[which], seconds() - start);
          if (which == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));  // OpenMP's threads spin
        }
      for (int which = 0; which < 3; ++which) total[direction][which] += best[which] * l.times;
      std::printf("%-34s %8.1f %6.2f %6.2f  %s; %s\n", name, 2e-9 * static_cast<double>(last.products()) / best[0],
                  best[0] / best[1], best[0] / best[2], one.plan.implementation().c_str(),
                  other.plan.implementation().c_str());
      std::fflush(stdout);
    }
  for (int direction = 0; direction < 3; ++direction)
    std::printf("%-34s %8.1f %6.2f %6.2f  ms and ratios\n", directions[direction], 1e3 * total[direction][0],
                total[direction][0] / total[direction][1], total[direction][0] / total[direction][2]);
#else
  std::printf("%s needs oneDNN%s\n", argv[0], argc > 1 ? ", whatever its arguments" : "");
#endif
}
