// SPDX-License-Identifier: Apache-2.0
// Wraps oneDNN, whose header no other file includes: its engine, and primitives that run without allocating. Versions
// 2.6 and 3.x describe a primitive differently, and the functions in this file hide the difference.
#pragma once

#include "meshtensor/base/config.hpp"

#if MESHTENSOR_WITH_ONEDNN

#  include <oneapi/dnnl/dnnl.hpp>

#  include <cstddef>
#  include <initializer_list>
#  include <limits>
#  include <string>
#  include <string_view>
#  include <utility>

#  include "meshtensor/base/diagnostic.hpp"
#  include "meshtensor/base/dtype.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace onednn {

inline dnnl::engine const& engine() {
  static dnnl::engine const one(dnnl::engine::kind::cpu, 0);
  return one;
}

/// The library's type for f32 and bf16. It is undefined for the others, because the primitives for training do not
/// support them.
inline dnnl::memory::data_type type_of(dtype t) {
  using type = dnnl::memory::data_type;
  return t == dtype::f32 ? type::f32 : t == dtype::bf16 ? type::bf16 : type::undef;
}

/// Whether the library uses registers of 512 bits here.
inline bool has_avx512() {
  constexpr unsigned bits = dnnl_cpu_isa_avx512_core;
  static bool const all = (static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & bits) == bits;
  return all;
}

/// Describes a matrix product. Throws dnnl::error if the library does not support it.
inline dnnl::matmul::primitive_desc describe_matmul(dnnl::memory::desc const& a, dnnl::memory::desc const& b,
                                                    dnnl::memory::desc const& c,
                                                    dnnl::primitive_attr const& attributes) {
#  if DNNL_VERSION_MAJOR >= 3
  return dnnl::matmul::primitive_desc(engine(), a, b, c, attributes);
#  else
  return dnnl::matmul::primitive_desc(dnnl::matmul::desc(a, b, c), attributes, engine());
#  endif
}

/// The numbers of a convolution besides the extents of its tensors. Dilations count from 0.
struct convolution_window {
  dnnl::memory::dims strides, dilations, low, high;
};

/// Describe a convolution and its gradients by the data and by the weights, each by the tensors' memory. They throw
/// dnnl::error if the library does not support it.
inline dnnl::convolution_forward::primitive_desc describe_forward(dnnl::memory::desc const& x,
                                                                  dnnl::memory::desc const& k,
                                                                  dnnl::memory::desc const& y,
                                                                  convolution_window const& w,
                                                                  dnnl::primitive_attr const& attributes) {
  constexpr auto kind = dnnl::prop_kind::forward_training;
  constexpr auto algorithm = dnnl::algorithm::convolution_direct;
#  if DNNL_VERSION_MAJOR >= 3
  return {engine(), kind, algorithm, x, k, y, w.strides, w.dilations, w.low, w.high, attributes};
#  else
  return {{kind, algorithm, x, k, y, w.strides, w.dilations, w.low, w.high}, attributes, engine()};
#  endif
}
template <class Backward>
typename Backward::primitive_desc describe_backward(dnnl::memory::desc const& x, dnnl::memory::desc const& k,
                                                    dnnl::memory::desc const& y, convolution_window const& w,
                                                    dnnl::primitive_attr const& attributes,
                                                    dnnl::convolution_forward::primitive_desc const& forward) {
  constexpr auto algorithm = dnnl::algorithm::convolution_direct;
#  if DNNL_VERSION_MAJOR >= 3
  return {engine(), algorithm, x, k, y, w.strides, w.dilations, w.low, w.high, forward, attributes};
#  else
  return {{algorithm, x, k, y, w.strides, w.dilations, w.low, w.high}, attributes, engine(), forward};
#  endif
}

/// Appends a relu that keeps NaN, as ours does. The library's own relu turns NaN into zero, unless numbers below zero
/// have a slope. Therefore the slope is the least positive number, which `without_subnormals` treats as zero.
inline void append_relu(dnnl::post_ops& to) {
  constexpr float slope = std::numeric_limits<float>::denorm_min();
#  if DNNL_VERSION_MAJOR >= 3
  to.append_eltwise(dnnl::algorithm::eltwise_relu, slope, 0);
#  else
  to.append_eltwise(1, dnnl::algorithm::eltwise_relu, slope, 0);
#  endif
}

/// Whether the library would use its reference loops, which are slower than ours.
template <class Description>
bool is_reference(Description const& description) {
  return std::string_view(description.impl_info_str()).find("ref") != std::string_view::npos;
}

/// Whether the library would use its BLAS-like gemm.
template <class Description>
bool is_gemm(Description const& description) {
  return std::string_view(description.impl_info_str()).find("gemm:") != std::string_view::npos;
}

/// A primitive with a slot for each argument. It runs with the number of OpenMP threads that was set when it was made.
/// Only one thread may call it at a time.
class primitive {
 public:
  static constexpr int max_arguments = 8;

  primitive() = default;

  /// `arguments` are pairs of an argument's number (DNNL_ARG_…) and its description. The scratchpad is added
  /// automatically.
  template <class Primitive, class Description>
  static primitive make(Description const& description,
                        std::initializer_list<std::pair<int, dnnl::memory::desc>> arguments) {
    primitive result;
    result.primitive_ = Primitive(description);
    result.stream_ = dnnl::stream(engine());
    result.name_ = description.impl_info_str();
    for (auto const& [number, memory] : arguments) result.add(number, memory);
    result.workspace_bytes_ = description.scratchpad_desc().get_size();
    if (result.workspace_bytes_ != 0) result.add(DNNL_ARG_SCRATCHPAD, description.scratchpad_desc());
    return result;
  }

  /// The size of the scratchpad, if the attributes leave it to the caller.
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  /// The library's name for its implementation, for example "gemm:jit".
  std::string const& name() const { return name_; }

  /// Runs on these blocks, which are in the order of the arguments. The library writes only to the results.
  ///
  /// errors  R31 the library failed
  void execute(std::initializer_list<void const*> blocks, void* workspace) {
    int at = 0;
    for (void const* block : blocks) point(at++, const_cast<void*>(block));
    if (workspace_bytes_ != 0) point(at++, workspace);
    check(dnnl_primitive_execute(primitive_.get(), stream_.get(), at, arguments_));
    check(dnnl_stream_wait(stream_.get()));
  }

 private:
  void add(int number, dnnl::memory::desc const& description) {
    memories_[count_] = dnnl::memory(description, engine(), DNNL_MEMORY_NONE);
    arguments_[count_] = {number, memories_[count_].get()};
    ++count_;
  }
  void point(int at, void* block) { check(dnnl_memory_set_data_handle(arguments_[at].memory, block)); }
  void check(dnnl_status_t status) const {
    if (status != dnnl_success)
      throw error("R31", {"oneDNN's ", name_, " failed with status ", static_cast<int>(status),
                          ": run with DNNL_VERBOSE=1 to see the call"});
  }

  dnnl::primitive primitive_;
  dnnl::stream stream_;
  dnnl::memory memories_[max_arguments];
  dnnl_exec_arg_t arguments_[max_arguments] = {};
  int count_ = 0;
  std::size_t workspace_bytes_ = 0;
  std::string name_;
};

}  // namespace onednn
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

#endif
