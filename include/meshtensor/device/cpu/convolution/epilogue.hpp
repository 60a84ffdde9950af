// SPDX-License-Identifier: Apache-2.0
// Runs the composite `conv_epilogue` in one pass of the library if possible, and otherwise as a convolution and a loop.
#pragma once

#include <memory>

#include "meshtensor/device/cpu/load.hpp"
#include "meshtensor/device/cpu/nodes/conv.hpp"
#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/fuse/epilogue.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

template <class Any = lazy>
class conv_epilogue final : public node_kernel {
 public:
  /// `loops` computes a convolution that the device has no kernel for.
  conv_epilogue(module const& m, node const& n, view const* operands, view const& result, int threads, node_loops loops)
      : form_(epilogue_form_of(m, n)), loops_(loops), dense_(result) {
    dense_.densify();
    view const *const x = operands, *at = operands + 2;
    convolution_epilogue wanted{form_.factor, form_.offset, form_.sum, form_.relu};
    bool reads = true;
    for (int i = 0; i < form_.factor + form_.offset; ++i, ++at) reads = reads && at->stride[0] == 1;
    wanted = reads ? wanted : convolution_epilogue{};
    if (auto const problem = conv_kernel<Any>::problem_of({m, m.nodes[form_.product], x, result, threads})) {
      plan_ = convolution_plan(*problem, threads, wanted), planned_ = true;
      // The loop after the convolution reads the tensor to add, which may be in the result's memory. Therefore the
      // convolution writes to the workspace.
      if (form_.sum && !plan_.joins())
        plan_ =
            convolution_plan(*conv_kernel<Any>::problem_of({m, m.nodes[form_.product], x, dense_, threads}), threads);
    }
  }

  std::int64_t workspace_bytes() const override { return plan_bytes() + (is_beside() ? dense_.bytes() : 0); }

  void run(evaluation const& e, std::byte* workspace, thread_team& team) override {
    view const& z = e.results[0];
    view const *const x = e.operands, *at = e.operands + 2;
    view const* const factor = form_.factor ? at++ : nullptr;
    view const* const offset = form_.offset ? at++ : nullptr;
    view const* const sum = form_.sum ? at : nullptr;
#if MESHTENSOR_WITH_ONEDNN
    if (plan_.joins()) {
      if (sum != nullptr && sum->data != z.data) finish(z, *sum, nullptr, nullptr, nullptr, false, team);
      return plan_.execute(x[0].data, x[1].data, z.data, workspace, &team, e.context.unchanged,
                           factor == nullptr ? nullptr : factor->data, offset == nullptr ? nullptr : offset->data);
    }
#endif
    view y = z;
    if (is_beside()) y = dense_, y.data = workspace + plan_bytes();
    if (planned_) plan_.template execute<Any>(x[0].data, x[1].data, y.data, workspace, &team, e.context.unchanged);
    else loops_({e.m, e.m.nodes[form_.product], x, &y, e.context});
    finish(z, y, factor, offset, sum, form_.relu, team);
  }

 private:
  static convolution_problem nothing() {
    convolution_problem p;
    p.images = 0;
    return p;
  }
  bool is_beside() const { return form_.sum && !plan_.joins(); }
  std::int64_t plan_bytes() const { return (static_cast<std::int64_t>(plan_.workspace_bytes()) + 63) / 64 * 64; }

  /// Computes z = y · factor + offset + sum, and then relu.
  static void finish(view const& z, view const& y, view const* factor, view const* offset, view const* sum, bool relu,
                     thread_team& team) {
    int const last = z.count - 1;
    std::int64_t const width = z.extent[last], rows = width == 0 ? 0 : z.size() / width;
    constexpr std::int64_t worth_a_thread = 1 << 14;  // elements
    team.parallel_for(rows, std::max<std::int64_t>(1, worth_a_thread / std::max<std::int64_t>(1, width)),
                      [&](std::int64_t first, std::int64_t end) {
                        for (std::int64_t row = first; row < end; ++row) {
                          row_of to = row_at(z, row), from = row_at(y, row), added{};
                          if (sum != nullptr) added = row_at(*sum, row);
                          row_of const f = of_channels(factor), o = of_channels(offset);
                          finish_row(to, from, f, o, added, relu, width);
                        }
                      });
  }

  struct row_of {
    float* at = nullptr;
    std::int64_t stride = 0;
  };
  static row_of row_at(view const& v, std::int64_t row) {
    std::int64_t at = 0;
    for (int i = v.count - 1; i-- > 0; row /= v.extent[i]) at += row % v.extent[i] * v.stride[i];
    return {v.as<float>() + at, v.stride[v.count - 1]};
  }
  static row_of of_channels(view const* v) { return v == nullptr ? row_of{} : row_of{v->as<float>(), v->stride[0]}; }

  static void finish_row(row_of z, row_of y, row_of f, row_of o, row_of r, bool relu, std::int64_t width) {
    using reg = vec<float>;
    std::int64_t i = 0;
    auto const fits = [](row_of const& v) { return v.at == nullptr || v.stride == 1; };
    if (fits(z) && fits(y) && fits(f) && fits(o) && fits(r))
      for (; i + reg::width <= width; i += reg::width) {
        reg v = load<float>(static_cast<float const*>(y.at + i));
        if (f.at != nullptr) v = v * load<float>(static_cast<float const*>(f.at + i));
        if (o.at != nullptr) v = v + load<float>(static_cast<float const*>(o.at + i));
        if (r.at != nullptr) v = v + load<float>(static_cast<float const*>(r.at + i));
        if (relu) v = select(v <= reg(0.0F), reg(0.0F), v);
        store(v, z.at + i);
      }
    for (; i < width; ++i) {
      float v = y.at[i * y.stride];
      if (f.at != nullptr) v = v * f.at[i * f.stride];
      if (o.at != nullptr) v = v + o.at[i * o.stride];
      if (r.at != nullptr) v = v + r.at[i * r.stride];
      z.at[i * z.stride] = relu && v <= 0 ? 0 : v;
    }
  }

  epilogue_form form_;
  node_loops loops_;
  view dense_;
  convolution_plan plan_{nothing()};
  bool planned_ = false;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
