// SPDX-License-Identifier: Apache-2.0
// Computes convolutions by oneDNN, with images divided among the threads. Tensors whose strides make the library slow
// are copied to the format that it prefers. A kernel's gradient is computed in pieces of most_products positions,
// because the library may add all products of a piece one after the other.
#pragma once

#include "meshtensor/device/cpu/onednn.hpp"

#if MESHTENSOR_WITH_ONEDNN

#  include <cstddef>
#  include <optional>
#  include <string>
#  include <vector>

#  include "meshtensor/base/kept_copies.hpp"
#  include "meshtensor/device/cpu/convolution/problem.hpp"
#  include "meshtensor/device/cpu/convolution/reorder.hpp"
#  include "meshtensor/device/cpu/library_threads.hpp"
#  include "meshtensor/device/cpu/simd.hpp"
#  include "meshtensor/device/cpu/sum_of_blocks.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// While this object lives, the calling thread treats subnormal floats as zeros, both as operands and as results.
class without_subnormals {
 public:
  explicit without_subnormals(bool on) : on_(on) {
#  if defined(__SSE2__)
    constexpr unsigned flush_results = 0x8000, operands_are_zero = 0x0040;
    if (on_) before_ = _mm_getcsr(), _mm_setcsr(before_ | flush_results | operands_are_zero);
#  endif
  }
  ~without_subnormals() {
#  if defined(__SSE2__)
    if (on_) _mm_setcsr(before_);
#  endif
  }
  without_subnormals(without_subnormals const&) = delete;
  without_subnormals& operator=(without_subnormals const&) = delete;

 private:
  bool on_;
  unsigned before_ = 0;
};

class convolution_by_onednn {
 public:
  /// Returns nothing if our own loops are as fast, or if the library does not support the problem, which must be
  /// ordered. With an epilogue, it also returns nothing if the library would copy the result or use another
  /// implementation.
  static std::optional<convolution_by_onednn> make(convolution_problem const& p, int threads,
                                                   convolution_epilogue const& epilogue = {}) {
    if (!takes(p, threads)) return {};
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
      } catch (slow const&) {}
    return {};
  }

  std::size_t workspace_bytes() const { return bytes_; }
  /// The library's name of its implementation, followed by "reordered" if activations are copied.
  std::string const& name() const { return name_; }

  void execute(void const* a, void const* b, void* result, void* workspace, thread_team* team,
               unchanged_blocks const* unchanged = nullptr, void const* factor = nullptr,
               void const* offset = nullptr) {
    factor_ = factor, offset_ = offset;
    std::byte* const room = static_cast<std::byte*>(workspace);
    if (!weights()) own_kernel_ = kernel_ ? reordered_kernel(b, room + kernel_at_, unchanged, team) : b;
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
  struct slow {};

  static bool takes(convolution_problem const& p, int threads) {
    constexpr std::int64_t sooner_than_a_call = 1 << 18;  // multiplications
    if (onednn::type_of(p.type) == dnnl::memory::data_type::undef || p.dims == 0 || p.products() < sooner_than_a_call)
      return false;
    // Threads without images would be idle. Our loops cut the work more finely.
    std::int64_t const most = (p.images + threads - 1) / threads;
    if (p.images * 10 < most * threads * 8) return false;
    bool const merges =
        p.groups == 1 || ((p.input_channels == 1 || p.input.group == p.input_channels * p.input.input_channel) &&
                          (p.output_channels == 1 || p.output.group == p.output_channels * p.output.output_channel));
    bool fits = merges;
    for (int i = 0; i < p.dims; ++i) {
      convolution_dim const& d = p.dim[i];
      std::int64_t const beyond = d.dilation * (d.kernel - 1), high = high_padding(d);
      fits = fits && d.low >= 0 && d.low <= beyond && high > -d.stride && high <= beyond;
    }
    // If each kernel element has few positions, adding and copying the threads' sums takes long in comparison with
    // computing them. Our loops are fast if channels are contiguous and the dtype is f32.
    bool const contiguous = p.input.input_channel == 1 && p.output.output_channel == 1 && p.type == dtype::f32;
    std::int64_t const few = contiguous ? 256 * (threads + 1) : 64 * (threads - 1);
    if (p.direction == convolution_direction::weights) fits = fits && p.images * p.output_positions() >= few;
    return fits;
  }
  static std::int64_t high_padding(convolution_dim const& d) {
    return (d.output - 1) * d.stride + d.dilation * (d.kernel - 1) + 1 - d.low - d.input;
  }

  convolution_by_onednn(convolution_problem const& p, int threads, bool preferred, convolution_epilogue const& epilogue)
      : direction_(p.direction), epilogue_(epilogue) {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    std::int64_t const count = std::min<std::int64_t>(threads, p.images);
    dnnl::memory::desc const given = given_kernel(p);
    for (std::int64_t i = 0; i < count; ++i) {
      convolution_problem own = p;
      std::int64_t const first = p.images * i / count;
      own.images = p.images * (i + 1) / count - first;
      workers_.push_back({parts_.size(), 0});
      auto const add = [&](convolution_problem const& piece, std::int64_t input, std::int64_t output) {
        add_part(piece, first * p.input.image + input, first * p.output.image + output, given, attributes, preferred);
      };
      if (weights()) split_positions(own, add);
      else add(own, 0, 0);
      workers_.back().end = parts_.size();
      if (std::size_t const pieces = workers_.back().end - workers_.back().first; pieces > 1)
        slots_ = std::max<std::int64_t>(slots_, 1 + levels_of_sum(static_cast<std::int64_t>(pieces)));
    }
    for (worker const& w : workers_) place(w);
    if (library_kernel_ == given && !(weights() && parts_.size() > 1)) return;
    kernel_at_ = take(library_kernel_.get_size());
    for (std::int64_t i = 1; weights() && i < count * slots_; ++i) take(library_kernel_.get_size());
    kernel_ = weights() ? parallel_reorder(library_kernel_, given, threads)
                        : parallel_reorder(given, library_kernel_, threads);
  }

  bool weights() const { return direction_ == convolution_direction::weights; }
  /// The kernel in the library's format, which is kept from an earlier run or else written to `there`.
  void const* reordered_kernel(void const* b, std::byte* there, unchanged_blocks const* unchanged, thread_team* team) {
    auto const fill = [&](std::byte* to) { kernel_->run(b, to, team); };
    if (std::byte const* const kept = kept_.find(b, library_kernel_.get_size(), unchanged, fill)) return kept;
    fill(there);
    return there;
  }
  std::size_t take(std::size_t bytes) {
    std::size_t const at = bytes_;
    bytes_ += (bytes + 63) / 64 * 64;
    return at;
  }

  // ---- memory ----

  using dims = dnnl::memory::dims;

  /// An activation as [n, g·c, spatial…]. If there is one channel and one input position, the stride of the channel is
  /// 1, as in a dense tensor.
  static dnnl::memory::desc given_activation(convolution_problem const& p, bool input) {
    convolution_strides const& s = input ? p.input : p.output;
    std::int64_t const of_group = input ? p.input_channels : p.output_channels, channels = p.groups * of_group;
    dims extents{p.images, channels};
    dims strides{s.image, of_group == 1 && p.groups > 1 ? s.group : input ? s.input_channel : s.output_channel};
    if (channels == 1) strides[1] = p.input_positions() == 1 ? 1 : strides[1];
    for (int i = 0; i < p.dims; ++i)
      extents.push_back(input ? p.dim[i].input : p.dim[i].output), strides.push_back(s.spatial[i]);
    return {extents, onednn::type_of(p.type), strides};
  }
  /// The kernel as [g, k, c, spatial…]. The dim g is there only if there are several groups.
  static dnnl::memory::desc given_kernel(convolution_problem const& p) {
    dims extents, strides;
    if (p.groups > 1) extents = {p.groups}, strides = {p.kernel.group};
    extents.insert(extents.end(), {p.output_channels, p.input_channels});
    strides.insert(strides.end(), {p.kernel.output_channel, p.kernel.input_channel});
    for (int i = 0; i < p.dims; ++i) extents.push_back(p.dim[i].kernel), strides.push_back(p.kernel.spatial[i]);
    return {extents, onednn::type_of(p.type), strides};
  }
  static dnnl::memory::desc any_format(dnnl::memory::desc const& given, dnnl::memory::data_type type) {
#  if DNNL_VERSION_MAJOR >= 3
    return {given.get_dims(), type, dnnl::memory::format_tag::any};
#  else
    return {given.dims(), type, dnnl::memory::format_tag::any};
#  endif
  }

  // ---- parts ----

  /// Some images, or some rows of one image, that one thread computes.
  struct part {
    onednn::primitive convolution, reorder_input, reorder_output;
    bool copies_input = false, copies_output = false;
    std::size_t input_bytes = 0, output_bytes = 0;              // sizes of the copies
    std::size_t input_at = 0, output_at = 0, workspace_at = 0;  // offsets in the workspace
    std::int64_t first_input = 0, first_output = 0;             // in bytes

    /// `sums` is the block to which a kernel's gradient is written.
    void run(convolution_by_onednn const& all, void const* a, void const* b, void* result, void* sums,
             std::byte* room) {
      bool const data = all.direction_ == convolution_direction::data, weights = all.weights();
      void const* input = static_cast<std::byte const*>(data ? result : a) + first_input;
      void const* output = static_cast<std::byte const*>(data ? a : weights ? b : result) + first_output;
      void const *given_input = input, *given_output = output;
      std::byte* const workspace = room + workspace_at;
      if (copies_input) input = room + input_at;
      if (copies_output) output = room + output_at;
      if (copies_input && !data) reorder_input.execute({given_input, input}, workspace);
      if (copies_output && (data || weights)) reorder_output.execute({given_output, output}, workspace);
      void const* const kernel = weights ? sums : all.own_kernel_;
      convolution_epilogue const& then = all.epilogue_;
      without_subnormals const exact(then.relu);
      if (then.factor && then.offset) convolution.execute({input, kernel, output, all.factor_, all.offset_}, workspace);
      else if (then.factor || then.offset)
        convolution.execute({input, kernel, output, then.factor ? all.factor_ : all.offset_}, workspace);
      else convolution.execute({input, kernel, output}, workspace);
      if (copies_input && data) reorder_input.execute({input, given_input}, workspace);
      if (copies_output && !data && !weights) reorder_output.execute({output, given_output}, workspace);
    }
  };

  /// Calls f(piece, offset of its input, offset of its output) for pieces of at most most_products positions. A piece
  /// consists of some images, or of some rows of one image. It has at least one row, even if the row has more
  /// positions.
  template <class F>
  static void split_positions(convolution_problem const& p, F const& f) {
    convolution_dim const& d = p.dim[0];
    std::int64_t const positions = p.output_positions(), row = positions / d.output;
    std::int64_t const rows = std::max<std::int64_t>(1, most_products / row);
    std::int64_t const images = std::max<std::int64_t>(1, most_products / positions);
    for (std::int64_t i = 0; i < p.images; i += images)
      for (std::int64_t at = 0; at < d.output; at += rows) {
        convolution_problem piece = p;
        convolution_dim& own = piece.dim[0];
        piece.images = std::min(images, p.images - i);
        own.output = std::min(rows, d.output - at);
        std::int64_t const begin = std::max<std::int64_t>(0, d.stride * at - d.low);
        std::int64_t const end = d.stride * (at + own.output - 1) + d.dilation * (d.kernel - 1) - d.low + 1;
        own.low = d.low - d.stride * at + begin;
        own.input = std::min(end, d.input) - begin;
        if (own.input < 1) throw slow();
        f(piece, i * p.input.image + begin * p.input.spatial[0], i * p.output.image + at * p.output.spatial[0]);
      }
  }

  /// `input_offset` and `output_offset` are the offsets of the part's first elements.
  void add_part(convolution_problem const& p, std::int64_t input_offset, std::int64_t output_offset,
                dnnl::memory::desc const& kernel, dnnl::primitive_attr const& attributes, bool preferred) {
    dnnl::memory::desc const input = given_activation(p, true), output = given_activation(p, false);
    auto const type = onednn::type_of(p.type);
    onednn::convolution_window window;
    for (int i = 0; i < p.dims; ++i) {
      convolution_dim const& d = p.dim[i];
      window.strides.push_back(d.stride), window.dilations.push_back(d.dilation - 1);
      window.low.push_back(d.low), window.high.push_back(std::max<std::int64_t>(0, high_padding(d)));
    }
    auto const x = preferred ? any_format(input, type) : input, y = preferred ? any_format(output, type) : output;
    auto const any_kernel = parts_.empty() ? any_format(kernel, type) : forward_kernel_;
    auto const forward = onednn::describe_forward(x, any_kernel, y, window, attributes);
    forward_kernel_ = forward.weights_desc();
    if (epilogue_.any())
      return add_joined(p, input_offset, output_offset,
                        onednn::describe_forward(x, any_kernel, y, window, with_epilogue(p)), forward.impl_info_str());
    part one;
    auto const add = [&]<class Primitive>(auto const& described, int to_input, dnnl::memory::desc const& own_input,
                                          int to_kernel, dnnl::memory::desc const& own_kernel, int to_output,
                                          dnnl::memory::desc const& own_output) {
      bool const pointwise = p.kernel_positions() == 1;
      if (onednn::is_reference(described) || (onednn::is_gemm(described) && !pointwise)) throw slow();
      one.convolution = onednn::primitive::make<Primitive>(
          described, {{to_input, own_input}, {to_kernel, own_kernel}, {to_output, own_output}});
      one.copies_input = own_input != input, one.copies_output = own_output != output;
      bool const data = p.direction == convolution_direction::data,
                 forwards = p.direction == convolution_direction::forward;
      if (one.copies_input)
        one.reorder_input = data ? onednn::reorder(own_input, input) : onednn::reorder(input, own_input);
      if (one.copies_output)
        one.reorder_output = forwards ? onednn::reorder(own_output, output) : onednn::reorder(output, own_output);
      one.input_bytes = one.copies_input ? own_input.get_size() : 0;
      one.output_bytes = one.copies_output ? own_output.get_size() : 0;
      if (!parts_.empty() && own_kernel != library_kernel_) throw slow();
      library_kernel_ = own_kernel;
    };
    switch (p.direction) {
      case convolution_direction::forward:
        add.template operator()<dnnl::convolution_forward>(forward, DNNL_ARG_SRC, forward.src_desc(), DNNL_ARG_WEIGHTS,
                                                           forward.weights_desc(), DNNL_ARG_DST, forward.dst_desc());
        break;
      case convolution_direction::data: {
        auto const k = parts_.empty() ? any_format(kernel, type) : library_kernel_;
        auto const d = onednn::describe_backward_data(x, k, y, window, attributes, forward);
        add.template operator()<dnnl::convolution_backward_data>(d, DNNL_ARG_DIFF_SRC, d.diff_src_desc(),
                                                                 DNNL_ARG_WEIGHTS, d.weights_desc(), DNNL_ARG_DIFF_DST,
                                                                 d.diff_dst_desc());
        break;
      }
      case convolution_direction::weights: {
        auto const k = parts_.empty() ? any_format(kernel, dnnl::memory::data_type::f32) : library_kernel_;
        auto const d = onednn::describe_backward_weights(x, k, y, window, attributes, forward);
        add.template operator()<dnnl::convolution_backward_weights>(d, DNNL_ARG_SRC, d.src_desc(),
                                                                    DNNL_ARG_DIFF_WEIGHTS, d.diff_weights_desc(),
                                                                    DNNL_ARG_DIFF_DST, d.diff_dst_desc());
      }
    }
    auto const bytes = static_cast<std::int64_t>(bytes_of(p.type));
    one.first_input = input_offset * bytes, one.first_output = output_offset * bytes;
    if (parts_.empty()) name_ = one.convolution.name() + (one.copies_input || one.copies_output ? ", reordered" : "");
    parts_.push_back(std::move(one));
  }

  /// Adds a part with the epilogue. This throws `slow` unless the library uses the same blocked implementation as
  /// without the epilogue.
  void add_joined(convolution_problem const& p, std::int64_t input_offset, std::int64_t output_offset,
                  dnnl::convolution_forward::primitive_desc const& described, std::string const& without) {
    constexpr std::string_view blocked = "brgconv";
    if (described.impl_info_str() != without || !without.starts_with(blocked)) throw slow();
    if (!parts_.empty() && described.weights_desc() != library_kernel_) throw slow();
    library_kernel_ = described.weights_desc();
    auto const channels = channels_of(p);
    int const of_offset = DNNL_ARG_ATTR_MULTIPLE_POST_OP(epilogue_.factor ? 1 : 0) | DNNL_ARG_SRC_1;
    constexpr int of_factor = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1;
    part one;
    using made = dnnl::convolution_forward;
    std::pair<int, dnnl::memory::desc> const x{DNNL_ARG_SRC, described.src_desc()},
        k{DNNL_ARG_WEIGHTS, described.weights_desc()}, y{DNNL_ARG_DST, described.dst_desc()},
        factor{of_factor, channels}, offset{of_offset, channels};
    one.convolution = epilogue_.factor && epilogue_.offset
                          ? onednn::primitive::make<made>(described, {x, k, y, factor, offset})
                      : epilogue_.factor ? onednn::primitive::make<made>(described, {x, k, y, factor})
                      : epilogue_.offset ? onednn::primitive::make<made>(described, {x, k, y, offset})
                                         : onednn::primitive::make<made>(described, {x, k, y});
    auto const bytes = static_cast<std::int64_t>(bytes_of(p.type));
    one.first_input = input_offset * bytes, one.first_output = output_offset * bytes;
    if (parts_.empty()) name_ = one.convolution.name() + ", with an epilogue";
    parts_.push_back(std::move(one));
  }
  static dnnl::memory::desc channels_of(convolution_problem const& p) {
    dims extents{1, p.output_channels}, strides{p.output_channels, 1};
    for (int i = 0; i < p.dims; ++i) extents.push_back(1), strides.push_back(1);
    return {extents, onednn::type_of(p.type), strides};
  }
  dnnl::primitive_attr with_epilogue(convolution_problem const& p) const {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    dnnl::post_ops then;
    if (epilogue_.factor) then.append_binary(dnnl::algorithm::binary_mul, channels_of(p));
    if (epilogue_.offset) then.append_binary(dnnl::algorithm::binary_add, channels_of(p));
    if (epilogue_.sum) then.append_sum();
    if (epilogue_.relu) onednn::append_relu(then);
    attributes.set_post_ops(then);
    return attributes;
  }

  /// The parts that one thread runs one after the other.
  struct worker {
    std::size_t first, end;
  };
  void place(worker const& w) {
    std::size_t input = 0, output = 0, own = 0;
    for (std::size_t i = w.first; i < w.end; ++i) {
      part const& one = parts_[i];
      input = std::max(input, one.input_bytes), output = std::max(output, one.output_bytes);
      own = std::max({own, one.convolution.workspace_bytes(), one.reorder_input.workspace_bytes(),
                      one.reorder_output.workspace_bytes()});
    }
    std::size_t const input_at = take(input), output_at = take(output), own_at = take(own);
    for (std::size_t i = w.first; i < w.end; ++i)
      parts_[i].input_at = input_at, parts_[i].output_at = output_at, parts_[i].workspace_at = own_at;
  }

  // ---- sums of the parts ----

  std::size_t stride_of_sums() const { return (library_kernel_.get_size() + 63) / 64 * 64; }
  std::int64_t numbers_in_sums() const { return static_cast<std::int64_t>(library_kernel_.get_size() / sizeof(float)); }
  /// The sums of a thread. Behind them are their upper levels, and then the sums of one part.
  float* sums_of(std::int64_t thread, std::byte* room) const {
    return reinterpret_cast<float*>(room + kernel_at_ + static_cast<std::size_t>(thread * slots_) * stride_of_sums());
  }

  void run_worker(std::int64_t thread, void const* a, void const* b, void* result, std::byte* room) {
    worker const w = workers_[static_cast<std::size_t>(thread)];
    if (w.end - w.first == 1)
      return parts_[w.first].run(*this, a, b, result, kernel_ ? sums_of(thread, room) : result, room);
    auto const step = static_cast<std::int64_t>(stride_of_sums() / sizeof(float));
    float *const sums = sums_of(thread, room), *const next = sums + (slots_ - 1) * step;
    level_sums<float> levels(sums, sums + step, step, numbers_in_sums());
    for (std::size_t i = w.first; i < w.end; ++i) {
      bool const adds = levels.next();
      parts_[i].run(*this, a, b, result, adds ? next : sums, room);
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

  convolution_direction direction_;
  convolution_epilogue epilogue_;
  void const *own_kernel_ = nullptr, *factor_ = nullptr, *offset_ = nullptr;  // of the current run
  std::vector<part> parts_;
  std::vector<worker> workers_;
  std::int64_t slots_ = 1;  // blocks of sums that each thread has
  dnnl::memory::desc library_kernel_, forward_kernel_;
  std::optional<parallel_reorder> kernel_;
  copies_of_reader kept_;  // of kernels
  std::size_t kernel_at_ = 0, bytes_ = 0;
  std::string name_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

#endif
