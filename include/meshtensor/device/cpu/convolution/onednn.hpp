// SPDX-License-Identifier: Apache-2.0
// Computes convolutions by oneDNN, with images divided among the threads. Tensors whose strides make the library slow
// are copied to the format that it prefers. A kernel's gradient is computed in pieces of most_products positions,
// because the library may add all products of a piece one after the other.
#pragma once

#include "meshtensor/device/cpu/onednn.hpp"

#if MESHTENSOR_WITH_ONEDNN

#  include <algorithm>
#  include <cstddef>
#  include <cstdint>
#  include <optional>
#  include <string>
#  include <vector>

#  include "meshtensor/base/kept_copies.hpp"
#  include "meshtensor/device/cpu/convolution/onednn/choice.hpp"
#  include "meshtensor/device/cpu/convolution/onednn/memory.hpp"
#  include "meshtensor/device/cpu/convolution/onednn/part.hpp"
#  include "meshtensor/device/cpu/convolution/onednn/parts.hpp"
#  include "meshtensor/device/cpu/convolution/onednn/split_positions.hpp"
#  include "meshtensor/device/cpu/convolution/problem.hpp"
#  include "meshtensor/device/cpu/convolution/reorder.hpp"
#  include "meshtensor/device/cpu/library_threads.hpp"
#  include "meshtensor/device/cpu/sum_of_blocks.hpp"
#  include "meshtensor/device/cpu/threads.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

class convolution_by_onednn {
 public:
  /// Returns nothing if our own loops are as fast, or if the library does not support the problem, which must be
  /// ordered. With an epilogue, it also returns nothing if the library would copy the result or use another
  /// implementation.
  static std::optional<convolution_by_onednn> make(convolution_problem const& p, int threads,
                                                   convolution_epilogue const& epilogue = {}) {
    if (!onednn::takes(p, threads)) return {};
    if (epilogue.any() && (p.type != dtype::f32 || p.groups != 1)) return {};
    libraries_on_one_thread const quiet;
    bool strided = false, wide = p.kernel_positions() > 1;
    for (int i = 0; i < p.dims; ++i) strided = strided || p.dim[i].stride > 1;
    // For channels last, the library's gradient of a kernel with strides is so slow that copying the activations pays.
    bool const copies = p.direction == convolution_direction::weights && p.type == dtype::f32 && strided && wide;
    for (bool preferred : {copies, !copies}) try {
        if (preferred && epilogue.any()) break;
        return convolution_by_onednn(p, threads, preferred, epilogue);
      } catch (dnnl::error const&) {  // not supported in this format, of this type or on this CPU
      } catch (onednn::slow const&) {}
    return {};
  }

  std::size_t workspace_bytes() const { return bytes_; }
  /// The library's name of its implementation, followed by "reordered" if activations are copied.
  std::string const& name() const { return parts_.name(); }

  void execute(void const* a, void const* b, void* result, void* workspace, thread_team* team,
               unchanged_blocks const* unchanged = nullptr, void const* factor = nullptr,
               void const* offset = nullptr) {
    run_.factor = factor, run_.offset = offset;
    std::byte* const room = static_cast<std::byte*>(workspace);
    if (!weights()) run_.kernel = kernel_ ? reordered_kernel(b, room + kernel_at_, unchanged, team) : b;
    auto const some = [&](std::int64_t first, std::int64_t end) {
      libraries_on_one_thread const quiet;
      for (std::int64_t i = first; i < end; ++i) run_worker(i, a, b, result, room);
    };
    auto const count = static_cast<std::int64_t>(workers_.size());
    if (team == nullptr) some(0, count);
    else team->parallel_for(count, 1, some);
    if (!weights()) return;
    if (count > 1) add_workers(room, team);
    if (kernel_) kernel_->run(room + kernel_at_, result, team);
  }

 private:
  convolution_by_onednn(convolution_problem const& p, int threads, bool preferred, convolution_epilogue const& epilogue)
      : run_{p.direction, epilogue}, parts_(epilogue) {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    std::int64_t const count = std::min<std::int64_t>(threads, p.images);
    dnnl::memory::desc const given = onednn::given_kernel(p);
    for (std::int64_t i = 0; i < count; ++i) {
      convolution_problem own = p;
      std::int64_t const first = p.images * i / count;
      own.images = p.images * (i + 1) / count - first;
      workers_.push_back({parts_.size(), 0});
      auto const add = [&](convolution_problem const& piece, std::int64_t input, std::int64_t output) {
        parts_.add(piece, first * p.input.image + input, first * p.output.image + output, given, attributes, preferred);
      };
      if (weights()) onednn::split_positions(own, add);
      else add(own, 0, 0);
      workers_.back().end = parts_.size();
      if (std::size_t const pieces = workers_.back().end - workers_.back().first; pieces > 1)
        slots_ = std::max<std::int64_t>(slots_, 1 + levels_of_sum(static_cast<std::int64_t>(pieces)));
    }
    for (worker const& w : workers_) place(w);
    if (parts_.kernel() == given && !(weights() && parts_.size() > 1)) return;
    kernel_at_ = take(parts_.kernel().get_size());
    for (std::int64_t i = 1; weights() && i < count * slots_; ++i) take(parts_.kernel().get_size());
    kernel_ = weights() ? parallel_reorder(parts_.kernel(), given, threads)
                        : parallel_reorder(given, parts_.kernel(), threads);
  }

  bool weights() const { return run_.weights(); }
  /// The kernel in the library's format, which is kept from an earlier run or else written to `there`.
  void const* reordered_kernel(void const* b, std::byte* there, unchanged_blocks const* unchanged, thread_team* team) {
    auto const fill = [&](std::byte* to) { kernel_->run(b, to, team); };
    if (std::byte const* const kept = kept_.find(b, parts_.kernel().get_size(), unchanged, fill)) return kept;
    fill(there);
    return there;
  }
  std::size_t take(std::size_t bytes) {
    std::size_t const at = bytes_;
    bytes_ += (bytes + 63) / 64 * 64;
    return at;
  }

  /// The parts that one thread runs one after the other.
  struct worker {
    std::size_t first, end;
  };
  void place(worker const& w) {
    std::size_t input = 0, output = 0, own = 0;
    for (std::size_t i = w.first; i < w.end; ++i) {
      onednn::convolution_part const& one = parts_[i];
      input = std::max(input, one.input_bytes), output = std::max(output, one.output_bytes);
      own = std::max({own, one.convolution.workspace_bytes(), one.reorder_input.workspace_bytes(),
                      one.reorder_output.workspace_bytes()});
    }
    std::size_t const input_at = take(input), output_at = take(output), own_at = take(own);
    for (std::size_t i = w.first; i < w.end; ++i)
      parts_[i].input_at = input_at, parts_[i].output_at = output_at, parts_[i].workspace_at = own_at;
  }

  // ---- sums of the parts ----

  std::size_t stride_of_sums() const { return (parts_.kernel().get_size() + 63) / 64 * 64; }
  std::int64_t numbers_in_sums() const { return static_cast<std::int64_t>(parts_.kernel().get_size() / sizeof(float)); }
  /// The sums of a thread. Behind them are their upper levels, and then the sums of one part.
  float* sums_of(std::int64_t thread, std::byte* room) const {
    return reinterpret_cast<float*>(room + kernel_at_ + static_cast<std::size_t>(thread * slots_) * stride_of_sums());
  }

  void run_worker(std::int64_t thread, void const* a, void const* b, void* result, std::byte* room) {
    worker const w = workers_[static_cast<std::size_t>(thread)];
    if (w.end - w.first == 1)
      return parts_[w.first].run(run_, a, b, result, kernel_ ? sums_of(thread, room) : result, room);
    auto const step = static_cast<std::int64_t>(stride_of_sums() / sizeof(float));
    float *const sums = sums_of(thread, room), *const next = sums + (slots_ - 1) * step;
    level_sums<float> levels(sums, sums + step, step, numbers_in_sums());
    for (std::size_t i = w.first; i < w.end; ++i) {
      bool const adds = levels.next();
      parts_[i].run(run_, a, b, result, adds ? next : sums, room);
      if (adds) merge_numbers<float>(sums, next, numbers_in_sums());
    }
    levels.end();
  }

  /// Adds the sums of all threads to those of the first one, in the order of the threads.
  void add_workers(std::byte* room, thread_team* team) const {
    std::int64_t const total = numbers_in_sums();
    auto const add = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = 1; i < std::ssize(workers_); ++i)
        merge_numbers<float>(sums_of(0, room) + begin, sums_of(i, room) + begin, end - begin);
    };
    if (team == nullptr) add(0, total);
    else team->parallel_for(total, 1 << 14, add);
  }

  onednn::convolution_run run_;
  onednn::convolution_parts parts_;
  std::vector<worker> workers_;
  std::int64_t slots_ = 1;  // blocks of sums that each thread has
  std::optional<parallel_reorder> kernel_;
  copies_of_reader kept_;  // of kernels
  std::size_t kernel_at_ = 0, bytes_ = 0;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

#endif
