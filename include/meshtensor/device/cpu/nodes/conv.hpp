// SPDX-License-Identifier: Apache-2.0
// conv: finds images, groups and channels among the dims, and runs the convolution by libraries or our own loops.
#pragma once

#include <optional>

#include "meshtensor/device/cpu/convolution.hpp"
#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/op/conv.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

template <class Any = lazy>
class conv_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return false; }
  /// Returns null for integers, and if the padding does not follow from the extents. It also returns null if only one
  /// tensor has some dim, or if the dims of one kind cannot be merged into one dim in memory.
  static std::unique_ptr<node_kernel> prepare(node_setup const& s) {
    auto const problem = problem_of(s);
    return problem ? std::make_unique<conv_kernel>(convolution_plan(*problem, s.threads)) : nullptr;
  }
  explicit conv_kernel(convolution_plan plan) : plan_(std::move(plan)) {}
  std::int64_t workspace_bytes() const override { return static_cast<std::int64_t>(plan_.workspace_bytes()); }
  void run(evaluation const& e, std::byte* workspace, thread_team& team) override {
    plan_.template execute<Any>(e.operands[0].data, e.operands[1].data, e.results[0].data, workspace, &team,
                                e.context.unchanged);
  }

 private:
  template <class>
  friend class conv_epilogue;
  /// Several dims of one kind as one dim: its extent, and its stride in each tensor by role.
  struct merged {
    std::int64_t extent = 1, stride[3] = {};
  };

  static std::optional<convolution_problem> problem_of(node_setup const& s) {
    bool known = is_float(s.result.type);
    auto const p = conv_rule::problem::of(s.m, s.n, s.operands, s.result, [&](number_id row) {
      auto const low = number_of(s, row);
      known = known && low.has_value();
      return low.value_or(0);
    });
    if (!known) return {};
    using role = conv_rule::role;
    constexpr unsigned in = 1u << role::inputs, out = 1u << role::outputs, kernel = 1u << role::kernels;
    merged images, groups, input_channels, output_channels;
    std::uint16_t seen[3 * max_dims_of_one];
    int count = 0;
    for (role r : {role::inputs, role::outputs, role::kernels})
      for (int i = 0; i < p.tensors[r]->count; ++i) {
        int const d = p.tensors[r]->dim[i];
        if (p.is_windowed(r, i) || std::find(seen, seen + count, d) != seen + count) continue;
        seen[count++] = static_cast<std::uint16_t>(d);
        unsigned tensors = 0;
        for (role t : {role::inputs, role::outputs, role::kernels})
          if (int const at = p.tensors[t]->find(d); at >= 0 && !p.is_windowed(t, at)) tensors |= 1u << t;
        merged* const kind = tensors == (in | out)            ? &images
                             : tensors == (in | out | kernel) ? &groups
                             : tensors == (in | kernel)       ? &input_channels
                             : tensors == (out | kernel)      ? &output_channels
                                                              : nullptr;
        if (kind == nullptr || !merge(*kind, p, d, tensors)) return {};
      }
    convolution_problem c;
    c.direction = static_cast<convolution_direction>(p.direction);
    c.type = s.result.type, c.dims = p.count;
    c.images = images.extent, c.groups = groups.extent;
    c.input_channels = input_channels.extent, c.output_channels = output_channels.extent;
    convolution_strides* const strides[] = {&c.input, &c.output, &c.kernel};
    for (role r : {role::inputs, role::outputs, role::kernels}) {
      convolution_strides& x = *strides[r];
      x.image = images.stride[r], x.group = groups.stride[r];
      x.input_channel = input_channels.stride[r], x.output_channel = output_channels.stride[r];
      for (int k = 0; k < p.count; ++k) x.spatial[k] = p.windows[k].stride[r];
    }
    for (int k = 0; k < p.count; ++k) {
      auto const& w = p.windows[k];
      // Both tensors may be parts of whole ones, whose indices are i + origin. Therefore the padding differs from that
      // of the whole.
      std::int64_t const low = w.window.low + w.origin[role::inputs] - w.window.stride * w.origin[role::outputs];
      c.dim[k] = {w.extent[role::inputs], w.extent[role::outputs], w.extent[role::kernels],
                  w.window.stride,        w.window.dilation,       low};
    }
    return c;
  }

  /// Adds a dim to those of its kind if they then form one dim in each tensor that has them.
  static bool merge(merged& kind, conv_rule::problem const& p, int dim, unsigned tensors) {
    merged all = kind;
    bool inner = true, outer = true;  // the new dim is inside of the previous ones, or outside
    for (int r = 0; r < 3; ++r) {
      if ((tensors >> r & 1u) == 0) continue;
      view const& v = *p.tensors[r];
      int const at = v.find(dim);
      inner = inner && kind.stride[r] == v.extent[at] * v.stride[at];
      outer = outer && v.stride[at] == kind.extent * kind.stride[r];
      all.extent = kind.extent * v.extent[at];
    }
    if (kind.extent != 1 && !inner && !outer) return false;
    for (int r = 0; r < 3; ++r)
      if ((tensors >> r & 1u) != 0 && (kind.extent == 1 || inner))
        all.stride[r] = p.tensors[r]->stride[p.tensors[r]->find(dim)];
    kind = all;
    return true;
  }

  /// Evaluates a row of the table of numbers, if it depends on extents alone.
  static std::optional<number_value> number_of(node_setup const& s, number_id row) {
    number_row const& n = s.m.numbers[row];
    if (n.kind == number_row::literal) return n.value;
    if (n.kind == number_row::extent) {
      for (view const* v : {&s.operands[0], &s.operands[1], &s.result})
        for (int i = 0; i < v->count; ++i)
          if (whole_dim(s.m, static_cast<dim_id>(v->dim[i])) == n.first) return number_value(v->total[i]);
      return {};
    }
    if (n.kind != number_row::expression) return {};
    auto const x = number_of(s, static_cast<number_id>(n.first));
    auto const y =
        n.second == id{no_id} ? std::optional(number_value(0)) : number_of(s, static_cast<number_id>(n.second));
    if (!x || !y) return {};
    return apply_to_numbers(n.f, *x, *y);
  }

  convolution_plan plan_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
