// SPDX-License-Identifier: Apache-2.0
// Unfolds operand 0 of a convolution along the positions and elements of its windows, so that the convolution
// becomes an einsum.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "meshtensor/device/cuda/nodes/conv/windows.hpp"
#include "meshtensor/device/cuda/recording.hpp"
#include "meshtensor/device/cuda/text/window.hpp"
#include "meshtensor/op/conv.hpp"

namespace meshtensor::cuda::detail {

/// Operand 0 with two dims for each dim over which a window moves: the window's position and its element.
class unfolding {
 public:
  unfolding(module const& m, node const& n, view const* operands, view const& y)
      : m_(m), n_(n), x_(operands[0]), p_(windows_of(m, n, operands, y)) {
    lay_out(operands[1], y);
  }

  /// Whether the operand can be unfolded: no two windows share a dim, and the result is at most 2 GiB.
  bool is_possible() const { return fits_ && made_.bytes() <= most_bytes; }
  /// Whether operand 0 is multiplied itself, because each window has one element, at adjacent positions.
  bool is_in_place() const { return in_place_; }
  view const& made() const { return made_; }

  /// Makes a kernel that reads p[0] and writes p[1]. `aligned` is the alignment of the operand's address, in bytes.
  prepared_kernel prepare(preparation& p, int aligned) const {
    std::vector<std::int64_t> extents(made_.extent, made_.extent + made_.count);
    std::int64_t unit = static_cast<std::int64_t>(bytes_of(x_.type)), wide = 1;
    int const last = made_.count - 1, in_x = last < 0 ? -1 : x_.find(made_.dim[last]);
    // Neighbours are copied together, if they are neighbours in both tensors.
    auto const has_neighbours = [&] {
      if (in_x < 0 || p_.is_windowed(p_.roles[0], in_x) || x_.stride[in_x] != 1) return false;
      if (extents[static_cast<std::size_t>(last)] % 2 != 0 || aligned % (2 * unit) != 0) return false;
      for (int i = 0; i < x_.count; ++i)
        if (i != in_x && x_.stride[i] % (2 * wide) != 0) return false;
      return true;
    };
    while (unit < 16 && has_neighbours()) unit *= 2, wide *= 2, extents[static_cast<std::size_t>(last)] /= 2;
    std::string offset;
    for (int i = 0; i < x_.count; ++i)
      if (!p_.is_windowed(p_.roles[0], i))
        add_offset(offset, index(x_.dim[i]), i == in_x && wide > 1 ? 1 : x_.stride[i] / wide);
    std::string t = paddings_text(m_, conv_attributes::of(n_).first, p_.count) + "bool meets = true;\n";
    for (int k = 0; k < p_.count; ++k) {
      window_row const& row = m_.windows[conv_attributes::of(n_).first + k];
      bool const back = p_.direction == conv_direction::backward;
      t += meeting_text(k, seen_by_operand(p_, k), index(back ? row.input : row.output), index(row.kernel));
      add_offset(offset, "x" + std::to_string(k), p_.windows[k].stride[p_.roles[0]] / wide);
    }
    std::int64_t const count = made_.size() / wide;
    std::string const type = unit == 16  ? "pack<u64, 2>"
                             : unit == 8 ? "u64"
                             : unit == 4 ? "u32"
                             : unit == 2 ? "unsigned short"
                                         : "unsigned char";
    return p.over_elements(joined({"if (i >= ", count, "ll) return;\n", indices_text("i", "u", extents), t, type,
                                   " r = {};\nif (meets) r = ((const ", type, "*)a.p[0])[0", offset, "];\n((", type,
                                   "*)a.p[1])[i] = r;\n"}),
                           count);
  }

 private:
  static constexpr std::int64_t most_bytes = std::int64_t{2} << 30;

  std::string index(int dim) const { return "u" + std::to_string(made_.find(dim)); }
  void add_dim(int dim, std::int64_t extent, std::int64_t stride) {
    if (made_.find(dim) >= 0 || made_.count == max_dims_of_one) {
      fits_ = false;
      return;
    }
    int const i = made_.count++;
    made_.dim[i] = static_cast<std::uint16_t>(dim), made_.extent[i] = made_.total[i] = extent, made_.origin[i] = 0;
    made_.stride[i] = stride;
  }
  void lay_out(view const& other, view const& y) {
    bool const back = p_.direction == conv_direction::backward;
    made_.type = x_.type, made_.count = 0;
    in_place_ = true;
    conv_attributes const a = conv_attributes::of(n_);
    for (int i = 0; i < x_.count; ++i)
      if (!p_.is_windowed(p_.roles[0], i)) add_dim(x_.dim[i], x_.extent[i], x_.stride[i]);
    for (int k = 0; k < p_.count; ++k) {
      window_row const& row = m_.windows[a.first + k];
      conv_rule::window_in_memory const& w = p_.windows[k];
      number_row const& low = m_.numbers[row.low];
      in_place_ = in_place_ && w.window.size == 1 && w.window.stride == 1 && low.kind == number_row::literal &&
                  low.value == 0 && w.origin[conv_rule::inputs] == w.origin[conv_rule::outputs] &&
                  w.extent[conv_rule::inputs] == w.extent[conv_rule::outputs];
      add_dim(back ? row.input : row.output, w.extent[back ? conv_rule::inputs : conv_rule::outputs],
              w.stride[p_.roles[0]]);
      add_dim(row.kernel, w.window.size, 1);
    }
    for (int i = 0; i < x_.count; ++i)
      for (int k = 0; k < i; ++k) fits_ = fits_ && x_.dim[i] != x_.dim[k];
    if (!fits_ || in_place_) return;
    // Batch dims come first, and the dims of operand 0's contiguous elements last. Each group has the order of the
    // tensor with which it is multiplied.
    view const unordered = made_;
    int inner_dim = -1;
    for (int i = 0; i < x_.count; ++i)
      if (x_.stride[i] == 1 && !p_.is_windowed(p_.roles[0], i)) inner_dim = x_.dim[i];
    auto const group = [&](int d) { return y.find(d) < 0 ? 2 : other.find(d) < 0 ? 1 : 0; };
    int const last = inner_dim < 0 || group(inner_dim) == 0 ? 2 : group(inner_dim);
    made_.count = 0;
    for (int const g : {0, 3 - last, last}) {
      view const& order = g == 2 ? other : y;
      for (int i = 0; i < order.count; ++i)
        if (int const at = unordered.find(order.dim[i]); at >= 0 && group(order.dim[i]) == g)
          add_dim(order.dim[i], unordered.extent[at], 0);
    }
    fits_ = fits_ && made_.count == unordered.count;  // false if a summed dim is in no other tensor
    made_.densify();
  }

  meshtensor::module const& m_;
  node const& n_;
  view const& x_;
  conv_rule::problem p_;
  view made_{};
  bool fits_ = true, in_place_ = false;
};

}  // namespace meshtensor::cuda::detail
