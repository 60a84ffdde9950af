// SPDX-License-Identifier: Apache-2.0
// The matrix products of a plan, and what they take alone: what the arithmetic of a step itself costs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <meshtensor/pass/cost.hpp>

namespace bench {
namespace mt = meshtensor;

/// Equal products of a step: c[batch, m, n] = a[batch, m, k] b[batch, k, n].
struct product {
  std::int64_t batch, m, n, k;
  double times;  // a step
  dnnl::matmul how{};
  std::unordered_map<int, dnnl::memory> arguments{};
};

inline dnnl::engine const& processor() {
  static dnnl::engine const one(dnnl::engine::kind::cpu, 0);
  return one;
}

/// The fastest form that oneDNN has for each: operands and result in the formats that it likes best.
inline std::vector<product> products_of(mt::module const& m, mt::binding const& numbers, std::string const& type) {
  if (type == "f64") return {};  // oneDNN has none
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>, double> found;
  mt::run_counts const runs = mt::run_counts_of(m, numbers);
  for (int i = 0; i < m.node_count; ++i) {
    mt::node const& node = m.nodes[i];
    if (node.kind != mt::primitive::einsum || node.operands.count != 2) continue;
    mt::value const &a = m.operand_value(node, 0), &b = m.operand_value(node, 1), &c = m.result_value(node);
    std::int64_t size[4] = {1, 1, 1, 1};  // batch, m, n, k
    auto const local = [&](mt::value const& v, int at) { return numbers.local(v, at); };
    for (int d = 0; d < a.dims.count; ++d) {
      int const dim = a.dims.at[d];
      size[b.dims.has(dim) ? (c.dims.has(dim) ? 0 : 3) : 1] *= local(a, d);
    }
    for (int d = 0; d < b.dims.count; ++d)
      if (!a.dims.has(b.dims.at[d])) size[2] *= local(b, d);
    found[{size[0], size[1], size[2], size[3]}] += static_cast<double>(runs.of[node.region]);
  }
  std::vector<product> all;
  for (auto const& [size, times] : found) try {
      auto const [batch, rows, columns, depth] = size;
      product p{batch, rows, columns, depth, times};
      using desc = dnnl::memory::desc;
      auto const any = dnnl::memory::format_tag::any;
      using data_type = dnnl::memory::data_type;
      auto const element = type == "bf16" ? data_type::bf16 : data_type::f32;
      bool const flat = batch == 1;
      auto const dims = [&](std::int64_t x, std::int64_t y) {
        return flat ? dnnl::memory::dims{x, y} : dnnl::memory::dims{batch, x, y};
      };
      desc const a(dims(rows, depth), element, any), b(dims(depth, columns), element, any),
          c(dims(rows, columns), element, any);
#if DNNL_VERSION_MAJOR >= 3
      dnnl::matmul::primitive_desc const chosen(processor(), a, b, c);
#else
      dnnl::matmul::primitive_desc const chosen(dnnl::matmul::desc(a, b, c), processor());
#endif
      p.how = dnnl::matmul(chosen);
      auto const filled = [](desc const& d) {
        dnnl::memory memory(d, processor());
        std::fill_n(static_cast<char*>(memory.get_data_handle()), d.get_size(),
                    '\x3f');  // near 0.75 as float, and as bf16
        return memory;
      };
      p.arguments = {{DNNL_ARG_SRC, filled(chosen.src_desc())},
                     {DNNL_ARG_WEIGHTS, filled(chosen.weights_desc())},
                     {DNNL_ARG_DST, filled(chosen.dst_desc())}};
      all.push_back(std::move(p));
    } catch (dnnl::error const&) {
      return {};  // nothing to be measured against: this processor has no instructions for the type
    }
  return all;
}

/// What all of them take, one after another: for each the best of three runs.
inline double seconds_alone(std::vector<product> const& all) {
  static dnnl::stream stream(processor());
  double sum = 0;
  for (product const& p : all) {
    double best = 1e30;
    for (int k = 0; k < 3; ++k) {
      auto const begin = std::chrono::steady_clock::now();
      p.how.execute(stream, p.arguments);
      stream.wait();
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    sum += best * p.times;
  }
  return sum;
}

}  // namespace bench
