// SPDX-License-Identifier: Apache-2.0
// Prepares a convolution, forward or a gradient, once. Then it runs on the threads of a team without our allocating
// memory:
//
//     convolution_problem p;                                // convolution/problem.hpp: extents, strides, padding
//     p.direction = convolution_direction::forward;
//     convolution_plan plan(p, team.size());                // chooses an implementation
//     arena scratch(plan.workspace_bytes());
//     plan.execute(input, kernel, output, scratch.data(), &team);
//
// The direction decides which tensors are operands and which tensor is the result:
//
//     forward   execute(input,  kernel, output)
//     data      execute(output, kernel, input)    // of gradients: dy, k -> dx
//     weights   execute(input,  output, kernel)   // x, dy -> dk
#pragma once

#include <cstddef>
#include <string>
#include <variant>

#include "meshtensor/base/kept_copies.hpp"
#include "meshtensor/device/cpu/convolution/as_product.hpp"
#include "meshtensor/device/cpu/convolution/depthwise.hpp"
#include "meshtensor/device/cpu/convolution/loops.hpp"
#include "meshtensor/device/cpu/convolution/onednn.hpp"
#include "meshtensor/device/cpu/matmul.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// convolution_problem describes extents and strides. A run writes all elements of the result and nothing else. A sum
/// without terms is 0.
///
/// errors  R30 see check(convolution_problem)
class convolution_plan {
 public:
  /// `threads` is the size of the team that is passed to execute. `epilogue` asks a library to apply these operations
  /// in the same pass. If the library would be slower with them, `joins()` is false.
  explicit convolution_plan(convolution_problem const& problem, int threads = 1,
                            [[maybe_unused]] convolution_epilogue const& epilogue = {}) {
    check(problem);
    if (problem.result_elements() == 0) return;
    convolution_problem const p = ordered(problem);
#if MESHTENSOR_WITH_ONEDNN
    if (epilogue.any())
      if (auto library = convolution_by_onednn::make(p, threads, epilogue)) {
        way_ = std::move(*library), joins_ = true;
        return;
      }
#endif
    // With registers of 512 bits our loops are faster than a BLAS that does not use them, and as fast as one that does.
    constexpr bool has_wide_registers = vec<double>::width == 8;
    if (auto const product = has_wide_registers && p.type == dtype::f64 ? std::nullopt : product_of(p)) {
      way_.emplace<matmul_plan>(*product, threads);
      return;
    }
    bool const depthwise = depthwise_loops::takes(p);
#if MESHTENSOR_WITH_ONEDNN
    // If no cache holds the activations, our loops compute these gradients faster than the library.
    constexpr std::int64_t cached = 1 << 21;  // elements
    bool const ours = depthwise && p.direction != convolution_direction::forward && p.input_elements() > cached;
    if (!ours)
      if (auto library = convolution_by_onednn::make(p, threads)) {
        way_ = std::move(*library);
        return;
      }
#endif
    if (depthwise) way_.emplace<depthwise_loops>(p, threads);
    else way_ = convolution_loops(p, threads);
  }

  /// The bytes of workspace that execute needs. The workspace must start at a multiple of 64 bytes.
  std::size_t workspace_bytes() const {
    return with_way([](auto const& way) { return way.workspace_bytes(); }, std::size_t{0});
  }
  /// The name of the implementation: "product …", "onednn …", "depthwise loops", "loops" or "nothing".
  std::string implementation() const {
    if (auto const* product = std::get_if<matmul_plan>(&way_)) return "product " + product->implementation();
#if MESHTENSOR_WITH_ONEDNN
    if (auto const* library = std::get_if<convolution_by_onednn>(&way_)) return "onednn " + library->name();
#endif
    if (std::holds_alternative<depthwise_loops>(way_)) return "depthwise loops";
    return std::holds_alternative<convolution_loops>(way_) ? "loops" : "nothing";
  }

  /// Whether `execute` applies the epilogue, too.
  bool joins() const { return joins_; }

  /// Runs the convolution. Only one thread may call this at a time, and the threads of `team` share the work. If the
  /// kernel is in one of the blocks `unchanged`, it is copied to the library's format once instead of in each run.
  template <class = lazy>
  void execute(void const* a, void const* b, void* result, void* workspace, thread_team* team = nullptr,
               [[maybe_unused]] unchanged_blocks const* unchanged = nullptr) {
    std::visit(
        [&]<class Way>(Way& way) {
          if constexpr (requires { way.execute(a, b, result, workspace, team, unchanged); })
            way.execute(a, b, result, workspace, team, unchanged);
          else if constexpr (!std::is_same_v<Way, std::monostate>) way.execute(a, b, result, workspace, team);
        },
        way_);
  }
#if MESHTENSOR_WITH_ONEDNN
  /// Runs the convolution with the epilogue that it joins. `factor` and `offset` are null if the epilogue lacks them.
  void execute(void const* a, void const* b, void* result, void* workspace, thread_team* team,
               unchanged_blocks const* unchanged, void const* factor, void const* offset) {
    std::get<convolution_by_onednn>(way_).execute(a, b, result, workspace, team, unchanged, factor, offset);
  }
#endif

 private:
  bool joins_ = false;
  template <class F, class T>
  T with_way(F const& f, T otherwise) const {
    return std::visit(
        [&]<class Way>(Way const& way) {
          if constexpr (std::is_same_v<Way, std::monostate>) return otherwise;
          else return f(way);
        },
        way_);
  }

#if MESHTENSOR_WITH_ONEDNN
  std::variant<std::monostate, convolution_loops, depthwise_loops, matmul_plan, convolution_by_onednn> way_;
#else
  std::variant<std::monostate, convolution_loops, depthwise_loops, matmul_plan> way_;
#endif
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
