// SPDX-License-Identifier: Apache-2.0
// Prepares the parts of a convolution by oneDNN, which all read the kernel in one format of the library.
#pragma once

#include "meshtensor/device/cpu/onednn.hpp"

#if MESHTENSOR_WITH_ONEDNN

#  include <algorithm>
#  include <cstddef>
#  include <cstdint>
#  include <string>
#  include <string_view>
#  include <utility>
#  include <vector>

#  include "meshtensor/device/cpu/convolution/onednn/choice.hpp"
#  include "meshtensor/device/cpu/convolution/onednn/memory.hpp"
#  include "meshtensor/device/cpu/convolution/onednn/part.hpp"
#  include "meshtensor/device/cpu/convolution/problem.hpp"
#  include "meshtensor/device/cpu/convolution/reorder.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace onednn {

class convolution_parts {
 public:
  explicit convolution_parts(convolution_epilogue const& epilogue) : epilogue_(epilogue) {}

  std::size_t size() const { return parts_.size(); }
  convolution_part& operator[](std::size_t i) { return parts_[i]; }
  /// The format in which all parts read or write the kernel.
  dnnl::memory::desc const& kernel() const { return library_kernel_; }
  /// The library's name of its implementation, followed by "reordered" if activations are copied.
  std::string const& name() const { return name_; }

  /// `input_offset` and `output_offset` are the offsets of the part's first elements.
  void add(convolution_problem const& p, std::int64_t input_offset, std::int64_t output_offset,
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
    convolution_part one;
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
        auto const d = onednn::describe_backward<dnnl::convolution_backward_data>(x, k, y, window, attributes, forward);
        add.template operator()<dnnl::convolution_backward_data>(d, DNNL_ARG_DIFF_SRC, d.diff_src_desc(),
                                                                 DNNL_ARG_WEIGHTS, d.weights_desc(), DNNL_ARG_DIFF_DST,
                                                                 d.diff_dst_desc());
        break;
      }
      case convolution_direction::weights: {
        auto const k = parts_.empty() ? any_format(kernel, dnnl::memory::data_type::f32) : library_kernel_;
        auto const d =
            onednn::describe_backward<dnnl::convolution_backward_weights>(x, k, y, window, attributes, forward);
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

 private:
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
    convolution_part one;
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

  convolution_epilogue epilogue_;
  std::vector<convolution_part> parts_;
  dnnl::memory::desc library_kernel_, forward_kernel_;
  std::string name_;
};

}  // namespace onednn
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

#endif
