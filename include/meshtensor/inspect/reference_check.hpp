// SPDX-License-Identifier: Apache-2.0
// Compares the values of the ranks of a mesh with those of a step on whole tensors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/graph/locate.hpp"
#include "meshtensor/inspect/origin_of_rounding.hpp"
#include "meshtensor/inspect/reference_check/assembled.hpp"
#include "meshtensor/inspect/reference_check/recording_interpreter.hpp"
#include "meshtensor/job/job.hpp"
#include "meshtensor/job/rank_context.hpp"

namespace meshtensor::detail {

/// The tolerance of a comparison, as a share of the tensor's largest element, as a share of the terms that were added
/// up to make it, and as a distance. Subnormal numbers have fewer digits than others. Therefore the distance is the
/// smallest normal number, which bf16 has in common with f32.
struct tolerance {
  double share, of_terms, distance;
  static tolerance of(dtype t) {
    if (!is_float(t)) return {0, 0, 0};
    if (t == dtype::f64) return {1e-8, 1e-12, std::numeric_limits<double>::min()};
    constexpr double smallest = std::numeric_limits<float>::min();
    return t == dtype::f32 ? tolerance{1e-3, 1e-5, smallest} : tolerance{0.1, 0.02, smallest};
  }
};

/// Compares the ranks' values with the recorded ones, and reports the first difference.
class reference_check {
 public:
  /// Compares steps of the module `m`, bound to `numbers`.
  reference_check(module const& whole, module const& m, binding const& numbers,
                  std::map<moment, whole_value> const& values)
      : whole_(whole), values_(values), awaited_(awaited_values(m, numbers)) {}

  int compared = 0, undecided = 0;
  std::string difference;

  /// This is called after a node of the module `m` has run on all ranks of its mesh.
  void look(module const& m, mesh_shape const& mesh, node const& n, std::span<rank_context const> all) {
    if (n.kind == primitive::argument) return;
    for (int i = 0; i < n.results.count && difference.empty(); ++i) {
      value_id const v = m.result(n, i);
      if (m.values[v].origin == 0 || awaited_[v]) continue;  // a value in flight is compared after its wait
      auto const found = values_.find({static_cast<value_id>(m.values[v].origin - 1), all[0].context.iteration});
      if (found == values_.end()) continue;
      ++compared;
      is_decided_ = true;
      for (rank_context const& p : all)
        if (is_first_copy(m.values[v].layout, mesh, p.rank())) compare(m, mesh, n, v, all, p.rank(), *found);
      undecided += is_decided_ ? 0 : 1;
    }
  }

 private:
  static double distance(double a, double b) { return std::abs(a - b); }
  static double distance(std::int64_t a, std::int64_t b) {
    auto const x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    return static_cast<double>(a < b ? y - x : x - y);
  }
  static std::string digits_of(double x) { return fmt::format("{:.9g}", x); }
  static std::string digits_of(std::int64_t x) { return std::to_string(x); }

  void compare(module const& m, mesh_shape const& mesh, node const& n, value_id v, std::span<rank_context const> all,
               int first, std::pair<moment const, whole_value> const& wanted) {
    if (!difference.empty()) return;
    if (is_float(m.values[v].type)) compare_as<double>(m, mesh, n, v, all, first, wanted);
    else compare_as<std::int64_t>(m, mesh, n, v, all, first, wanted);
  }
  template <class N>
  void compare_as(module const& m, mesh_shape const& mesh, node const& n, value_id v, std::span<rank_context const> all,
                  int first, std::pair<moment const, whole_value> const& wanted) {
    value const& part = m.values[v];
    block const& right = wanted.second.elements;
    std::vector<N> const here = assembled<N>(part.layout, mesh, v, all, first, right.window());
    auto const reference = [&](std::int64_t i) {
      return with_element(right.type(), [&]<class E>() { return element_as<N>(right.as<E>()[i]); });
    };
    rounding_history const& roundings = wanted.second.roundings;
    tolerance const t = tolerance::of(roundings.as(part.type));
    double const bound = std::max(t.distance, t.share * largest(right) + t.of_terms * wanted.second.terms);
    std::int64_t wrong = 0, worst = -1;
    double most = 0;
    for (std::int64_t i = 0; i < right.size(); ++i) {
      N const a = here[static_cast<std::size_t>(i)], b = reference(i);
      double const off = distance(a, b);
      if (a == b || (a != a && b != b) || off <= bound) continue;
      ++wrong;
      double const apart = std::isfinite(off) ? off : std::numeric_limits<double>::infinity();
      if (apart > most || worst < 0) most = apart, worst = i;
    }
    if (wrong == 0) return;
    if (!roundings.is_decided) {
      is_decided_ = false;
      return;
    }
    auto const [origin, iteration] = wanted.first;
    value const& program = whole_.values[origin];
    node const& made_by = whole_.nodes[program.node];
    std::string index;
    std::int64_t rest = worst;
    for (int d = 0; d < right.window().count; rest %= right.window().stride[d], ++d)
      index += fmt::format("{}{}={}", d == 0 ? "" : ", ", whole_.dim_name(program.dims.at[d]).text(),
                           rest / right.window().stride[d]);
    diagnostic place{}, type{};
    add_line(place, whole_, made_by.site);
    add_type(type, m, part.type, part.dims, part.layout);
    std::string const path = path_text(whole_, made_by.path);
    difference = fmt::format(
        "{}{}{}{} gives {}{}: {} on the mesh, {} in the reference; {} of {} elements differ{}{}",
        n.kind == primitive::wait ? std::string(text_of(awaited(m, n).kind)) + " of "
        : is_collective(n.kind)   ? std::string(text_of(n.kind)) + " of "
                                  : "",
        what(made_by), path.empty() ? "" : " in " + path, place.view(), type.view(),
        index.empty() ? "" : ", at " + index, digits_of(here[static_cast<std::size_t>(worst)]),
        digits_of(reference(worst)), wrong, right.size(),
        is_in_loop(made_by) ? fmt::format(", in iteration {}", iteration) : "",
        n.kind == primitive::kernel ? fmt::format(" (made by a kernel of {} operations)", operations(m, n)) : "");
  }

  std::string what(node const& n) const {
    name const* const own = own_name_of(whole_, n);
    return own == nullptr ? text_of(n) : own->text();
  }
  bool is_in_loop(node const& n) const {
    for (region_id r = n.region; r != no_id; r = whole_.regions[r].parent)
      if (whole_.regions[r].kind == region_kind::body) return true;
    return false;
  }
  static int operations(module const& m, node const& kernel) {
    int count = 0;
    for (int i = 0; i < m.node_count; ++i)
      count += m.nodes[i].region == m.region_of(kernel, 0) && m.nodes[i].kind != primitive::argument;
    return count;
  }

  meshtensor::module const& whole_;
  std::map<moment, whole_value> const& values_;
  std::vector<bool> awaited_;
  bool is_decided_ = true;  // false if the compared value differs, but only after an undecided comparison
};

}  // namespace meshtensor::detail
