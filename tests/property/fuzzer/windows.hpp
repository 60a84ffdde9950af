// SPDX-License-Identifier: Apache-2.0
// Draws convolutions and pools over dims whose extents windows give: forwards, backwards, and by the kernel.
#pragma once

#include "meshtensor/op/conv.hpp"
#include "meshtensor/op/pool.hpp"
#include "property/fuzzer/operations.hpp"

namespace property {

class fuzzer_windows : public fuzzer_operations {
 protected:
  fuzzer_windows(std::uint64_t seed, purpose p) : fuzzer_operations(seed, p) {
    for (moving& w : windows_) w = movements[c_.below(static_cast<int>(std::size(movements)))];
  }

  /// The dims of kernels: of those of two windows, and of two others.
  mt::shape kernel_dims() {
    mt::shape s = some_dims(c_.below(2));
    for (int k = 0; k < 2; ++k)
      if (k == 0 || c_.one_in(2)) s.add(g.dim(kernel_labels[k], mt::extent_rule(windows_[k].size)));
    return shuffled(s);
  }

  /// A pool of x: the sums of windows, the greatest elements, or the way back from sums.
  void pooled(known const& any_value) {
    known const x = covered(any_value);
    if (dims(x).count == 0) return;
    auto const rows = windows_of(x, [&](moving const& w) {
      return g.dim(("window of " + std::to_string(w.size)).c_str(), mt::extent_rule(w.size));
    });
    mt::pool_attributes const a{g.b.add_windows(rows.all), static_cast<int>(rows.all.size())};
    if (rows.back) return know(mt::pool(g.b, mt::pool_step::spread, {x.value}, a), x.bits + 3, x.fraction);
    if (c_.one_in(2)) return know(mt::pool(g.b, mt::pool_step::sum, {x.value}, a), x.bits + 6, x.fraction);
    mt::value_id const places = mt::pool(g.b, mt::pool_step::position, {x.value}, a);
    know(mt::pool(g.b, mt::pool_step::pick, {x.value, places}, a), x.bits, x.fraction);
  }

  /// A product of x with a value that has a kernel's dims, in any direction.
  void convolved(known const& any_value) {
    known const x = covered(any_value);
    if (dims(x).count == 0) return;
    auto const rows = windows_of(x, [&](moving const& w) {
      return g.dim(kernel_labels[w.size == windows_[0].size ? 0 : 1], mt::extent_rule(w.size));
    });
    mt::conv_attributes const a{g.b.add_windows(rows.all), static_cast<int>(rows.all.size())};
    auto const which = rows.back ? mt::conv_direction::backward : mt::conv_direction::forward;
    mt::shape in{}, out{}, kernel{};
    for (mt::window_row const& w : rows.all) in.add(w.input), out.add(w.output), kernel.add(w.kernel);
    mt::shape const own = rows.back ? out : in, other = rows.back ? in : out;
    if (mt::without(dims(x), kernel).count != dims(x).count) return;
    known y = any_with([&](known const& k) {
      return dims(k).includes(kernel) && mt::without(mt::without(dims(k), in), out).count == dims(k).count &&
             mt::united(dims(x), dims(k)).count <= 5;
    });
    if (y.value == mt::no_id) {
      mt::value_id const u = mt::random(g.b, mt::distribution::uniform, f64, kernel);
      y = {mt::elementwise(g.b, mt::function::floor, mt::scale(g.b, u, 5)), 3, 0};
    }
    mt::shape const rest = mt::without(mt::united(dims(x), dims(y)), mt::united(own, kernel));
    mt::shape to = other;
    for (int i = 0; i < rest.count; ++i)
      if (!other.has(rest.at[i]) && c_.one_in(2)) to.add(rest.at[i]);
    int const bits = x.bits + y.bits + 4 * (rest.count - to.count + other.count) + 4;
    if (bits + x.fraction + y.fraction > 36 || !fits(to)) return;
    mt::value_id const z = mt::conv(g.b, x.value, y.value, which, a, shuffled(to));
    int const by_kernel = bits + x.bits + 4 * mt::united(dims(x), to).count;
    if (!rows.back && c_.one_in(4) && by_kernel + 2 * x.fraction + y.fraction <= 36)  // as the kernel's gradient
      know(mt::conv(g.b, x.value, z, mt::conv_direction::kernel, a, shuffled(kernel)), by_kernel,
           2 * x.fraction + y.fraction);
    know(z, bits, x.fraction + y.fraction);
  }

 private:
  struct moving {
    int size, stride, dilation, low, high;
  };
  /// Each has a place in a dim of one element; they overlap, touch or leave gaps, and some reach padding alone.
  static constexpr moving movements[] = {{3, 1, 1, 1, 1}, {3, 2, 1, 1, 1},  {2, 2, 1, 0, 1}, {3, 1, 2, 2, 2},
                                         {2, 3, 1, 1, 2}, {1, 2, 1, 0, 0},  {2, 1, 1, 1, 1}, {3, 1, 1, 4, 0},
                                         {3, 1, 1, 0, 4}, {2, 1, 1, -1, 3}, {5, 4, 1, 2, 2}, {2, 2, 4, 3, 2}};
  static constexpr char const* covered_dims[] = {"a", "b"};
  static constexpr char const* given_dims[] = {"h", "k"};
  static constexpr char const* kernel_labels[] = {"w", "v"};

  struct rows_of_one {
    std::vector<mt::window_row> all;
    bool back = false;
  };
  /// The value, or one with a dim that a window gives, for the way back.
  known covered(known const& any_value) {
    if (!c_.one_in(3)) return any_value;
    known x = any_with([&](known const& k) { return has(k, given_dims[0]) || has(k, given_dims[1]); });
    if (x.value != mt::no_id && c_.one_in(2)) return x;
    int const k = c_.below(2);
    x = any_with([&](known const& y) { return dims(y).count < 3 && !has(y, covered_dims[k]); });
    if (x.value == mt::no_id) return any_value;
    x.value = mt::broadcast(g.b, x.value, shuffled(mt::united(dims(x), mt::shape{}.add(output(k)))));
    return x;
  }
  /// The windows along a and b, as x has them; back, if x has their outputs; or one that leads from a dim to itself.
  template <class Kernel>
  rows_of_one windows_of(known const& x, Kernel const& kernel) {
    rows_of_one rows;
    for (int k = 0, count = c_.one_in(5) ? 0 : 2; k < count; ++k) {
      bool const forth = has(x, covered_dims[k]) && !has(x, given_dims[k]),
                 back = has(x, given_dims[k]) && !has(x, covered_dims[k]);
      if ((!forth && !back) || c_.one_in(6) || (!rows.all.empty() && rows.back != back)) continue;
      if (!rows.all.empty() && windows_[0].size == windows_[1].size) continue;  // they would share a kernel's dim
      rows.back = back;
      rows.all.push_back(row(dim(covered_dims[k]), output(k), windows_[k], kernel));
    }
    if (!rows.all.empty()) return rows;
    moving const& w = windows_[c_.below(2)];
    int const beyond = w.dilation * (w.size - 1), low = c_.below(beyond + 1);
    mt::dim_id const ring = one_of(dims(x));
    rows.all.push_back(row(ring, ring, {w.size, 1, w.dilation, low, beyond - low}, kernel));
    return rows;
  }
  mt::dim_id output(int k) {
    moving const& w = windows_[k];
    mt::window_places const places{w.low + w.high - w.dilation * (w.size - 1) - 1, w.stride};
    return g.dim(given_dims[k],
                 {mt::extent_rule::windowed, places.packed(), mt::name::of(covered_dims[k]), mt::name{}});
  }
  template <class Kernel>
  mt::window_row row(mt::dim_id from, mt::dim_id to, moving const& w, Kernel const& kernel) {
    return {from,
            to,
            kernel(w),
            static_cast<mt::id>(w.stride),
            static_cast<mt::id>(w.dilation),
            g.b.literal(w.low),
            g.b.literal(w.high)};
  }

  moving windows_[2];
};

}  // namespace property
