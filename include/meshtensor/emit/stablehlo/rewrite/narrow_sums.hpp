// SPDX-License-Identifier: Apache-2.0
// Rewrites sums in f64 for devices that only emulate f64. Few elements at a time are summed in f32, and the partial
// sums in f64.
#pragma once

#include "meshtensor/emit/stablehlo/rewrite/rewriter.hpp"

namespace meshtensor::hlo {

/// The sums in f64 of widened f32 or bf16 values, or of products of two of them. If a mean is far from zero, a sum in
/// f32 loses digits, for example in the difference of a mean of squares and the square of a mean. Therefore an element
/// k is subtracted before, and its part is added in f64: sum of x = sum of (x - k) + n k. The element is the median of
/// three elements, because digits are also lost if k is further from the mean than most elements.
class narrow_sums : rewriter {
 public:
  explicit narrow_sums(rewrites& to) : rewriter(to) {}

  void find() {
    for (int i = 0; i < m_.node_count; ++i) {
      node const& n = m_.nodes[i];
      if (!is_sum(n) || m_.result_value(n).type != dtype::f64) continue;
      value_id const v = m_.operand(n, 0);
      if (is_widened(v)) {
        deviations const x = deviations_of(v, n);
        make(op::add, x.sum, of_first(x));
      } else if (applies(maker(m_, v), function::multiply)) {
        value_id const a = m_.operand(maker(m_, v), 0), b = m_.operand(maker(m_, v), 1);
        if (!is_widened(a) || !is_widened(b)) continue;
        // sum of x y = sum of (x - k)(y - l) + k sum of (y - l) + l (sum of (x - k) + n k)
        deviations const x = deviations_of(a, n), y = deviations_of(b, n);
        int const rest = make(op::add, x.sum, of_first(x));
        int const own = sum(make(op::multiply, x.values, y.values), n);
        int const shifted = make(op::multiply, x.first, y.sum), both = make(op::add, own, shifted);
        make(op::add, both, make(op::multiply, y.first, rest));
      } else {
        continue;
      }
      value_id const made = m_.result(n);
      to_.of[made].at_node = making(made);
    }
  }

 private:
  /// The differences of a tensor from one of its elements along some dims, this element, and their sum in f64.
  struct deviations {
    value_id of;
    region_id region;
    shape dims, kept;
    int values, first, sum;
  };

  bool is_widened(value_id v) const {
    value_id const from = cast_from(m_, v);
    return from != id{no_id} && (m_.values[from].type == dtype::f32 || m_.values[from].type == dtype::bf16);
  }
  int of_first(deviations const& x) { return make(op::times_terms, x.first, x.values, x.kept, dtype::f64); }
  int sum(int x, node const& n) { return make(op::sum_in_parts, x, x, m_.result_value(n).dims, dtype::f64); }

  /// All sums of an operand in one region share its deviations, so that their roundings cancel.
  deviations deviations_of(value_id widened, node const& n) {
    value_id const v = cast_from(m_, widened), all = m_.operand(n, 0);
    shape const &of = dims(all), &kept = m_.result_value(n).dims;
    for (deviations const& known : known_)
      if (known.of == v && known.region == n.region && known.dims == of && known.kept == kept) return known;
    int x = convert(v, dtype::f32);
    if (!(dims(x) == of)) x = make(op::lay_out, x, all, of, dtype::f32);
    int const first = make(op::median_of_some, x, x, kept, dtype::f32), values = make(op::subtract, x, first);
    int const total = sum(values, n);
    return known_.emplace_back(v, n.region, of, kept, values, convert(first, dtype::f64), total);
  }

  std::vector<deviations> known_;
};

}  // namespace meshtensor::hlo
