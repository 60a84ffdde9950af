// SPDX-License-Identifier: Apache-2.0
// The part of a report about dims whose parts differ, and about the costs of the largest part.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/emit/report/amounts.hpp"
#include "meshtensor/emit/report/written_dim.hpp"
#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/pass/cost.hpp"
#include "meshtensor/pass/plan_memory.hpp"

namespace meshtensor::detail {

class uneven_dims_of_report : speller {
 public:
  uneven_dims_of_report(module const& m, binding const& numbers, mesh_shape const& mesh)
      : speller(m), numbers_(numbers), mesh_(mesh) {}

  /// The dims whose parts differ, with the costs of the largest part. Each dim is listed once for each list of axes.
  std::string text() const {
    std::string r;
    std::vector<cut_dim> told;
    for (int v = 0; v < m_.value_count; ++v)
      for (int i = 0; i < m_.values[v].dims.count; ++i) {
        value const& x = m_.values[v];
        int const d = x.dims.at[i];
        if (numbers_.is_even(x, i) || numbers_.block_of[d].whole != 0 || numbers_.halo_of[d].whole != 0) continue;
        cut_dim const c = cut_of(x, i);
        if (std::ranges::find(told, c) != told.end()) continue;
        told.push_back(c);
        std::string over;
        for (int a : c.axes) over += (over.empty() ? "" : ", ") + axis(a) + " = " + std::to_string(numbers_.axis[a]);
        auto const largest = static_cast<double>(numbers_.local(x, i));
        double const mean = static_cast<double>(numbers_.extent[d]) / static_cast<double>(numbers_.parts(x, i));
        r += "note     '" + dim(c.dim) + "' (" + std::to_string(numbers_.extent[d]) + ") over " + over +
             " is laid out as " + parts_text(x, i) + "\n         the largest part is " +
             std::to_string(numbers_.local(x, i)) + ", the mean " + ratio(mean) + ": " + ratio(largest / mean) +
             " times";
        auto const more = [&](double all) { return saturated_count(all * (largest - mean) / largest + 0.5); };
        auto const [flops, stored] = work_and_bytes(c);
        std::string costs;
        if (more(flops) > 0) costs = "computes " + quantity(more(flops), "flop");
        if (more(stored) > 0) costs += (costs.empty() ? "stores " : " and stores ") + bytes_text(more(stored));
        r += costs.empty() ? "; nothing is computed or stored along it\n"
                           : "; its rank " + costs + " more than the mean\n";
      }
    return r;
  }

 private:
  /// A dim that the program names, and the axes that shard it.
  struct cut_dim {
    dim_id dim;
    std::vector<int> axes;  // the major one first

    bool operator==(cut_dim const&) const = default;
  };
  /// The cut of the dim at a position of a value. Elements of a part have the cut of the dim whose parts they are.
  cut_dim cut_of(value const& v, int position) const {
    int const d = v.dims.at[position];
    int const at = numbers_.block_of[d].whole == 0 ? position : v.dims.find(numbers_.block_of[d].blocks - 1);
    cut_dim c{written_dim(m_, d), {}};
    for (int o = 0, a = 0; at >= 0 && (a = v.layout.axis_at(at, o)) >= 0; ++o)
      if (numbers_.axis[a] > 1) c.axes.push_back(a);
    return c;
  }
  bool has(value const& v, cut_dim const& c) const {
    for (int i = 0; i < v.dims.count; ++i)
      if (cut_of(v, i) == c) return true;
    return false;
  }
  /// `16 | 15`
  std::string parts_text(value const& v, int position) const {
    constexpr std::size_t most = 12;
    std::vector<interval> parts;
    for (std::int64_t rank = 0; rank < mesh_.size(); ++rank)
      parts.push_back(numbers_.part(v, position, [&](int a) { return mesh_.coordinate(rank, a); }));
    std::ranges::sort(parts, {}, [](interval const& p) { return std::pair(p.begin, -p.count); });
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    std::string text;
    for (std::size_t k = 0; k < std::min(parts.size(), most); ++k)
      text += (k == 0 ? "" : " | ") + std::to_string(parts[k].count);
    return parts.size() <= most ? text : text + " | ...";
  }
  /// The work and memory of a rank with the largest part, for tensors with this cut: the operations of a step, and the
  /// bytes of parameters and state.
  std::pair<double, double> work_and_bytes(cut_dim const& c) const {
    double flops = 0, bytes = 0;
    run_counts const runs = run_counts_of(m_, numbers_);
    for (int i = 0; i < m_.node_count; ++i) {
      node const& n = m_.nodes[i];
      bool concerned = false;
      for (int k = 0; k < n.operands.count && !concerned; ++k) concerned = has(m_.operand_value(n, k), c);
      for (int k = 0; k < n.results.count && !concerned; ++k) concerned = has(m_.values[m_.result(n, k)], c);
      if (concerned) flops += static_cast<double>(runs.of[n.region]) * static_cast<double>(flops_of(m_, numbers_, n));
    }
    for (int i = 0; i < m_.variable_count; ++i) {
      value like{};
      like.type = m_.variables[i].type, like.dims = m_.variables[i].dims, like.layout = m_.variables[i].layout;
      if (has(like, c)) bytes += static_cast<double>(numbers_.local_bytes(like));
    }
    return {flops, bytes};
  }

  binding const& numbers_;
  mesh_shape const& mesh_;
};

}  // namespace meshtensor::detail
