// SPDX-License-Identifier: Apache-2.0
// Moves elements on the GPU by strided copies of boxes. Slices, pads, shifts, concats and transposes consist of such
// copies.
#pragma once

#include "meshtensor/device/cuda/recording.hpp"
#include "meshtensor/device/cuda/text/index.hpp"
#include "meshtensor/op/concat.hpp"
#include "meshtensor/op/constant.hpp"
#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/pad.hpp"
#include "meshtensor/op/shift.hpp"
#include "meshtensor/op/slice.hpp"
#include "meshtensor/op/stack.hpp"

namespace meshtensor::cuda {

/// Copies boxes of elements of 1, 2, 4, 8 or 16 bytes. Extents and strides are arguments of the launch.
class box_copier {
 public:
  explicit box_copier(preparation& p) : block_(p.block()) {
    constexpr char const* units[] = {"unsigned char", "unsigned short", "u32", "u64", "pack<u64, 2>"};
    for (std::size_t k = 0; k < 5; ++k)
      number_[k] =
          p.over_elements(joined({"if (i >= a.n[0]) return;\ntypedef ", units[k],
                                  " unit;\nu64 r = (u64)i;\ni64 to = 0, from = 0;\nfor (int d = (int)a.n[1]; "
                                  "d-- > 0;) {\nconst u64 q = a.n[0] < 0x7fffffffll ? (u64)((u32)r / (u32)a.n[2 + "
                                  "d]) : r / (u64)a.n[2 + d];\nconst i64 at = (i64)(r - q * (u64)a.n[2 + d]);\nto "
                                  "+= at * a.n[12 + d]; from += at * a.n[22 + d]; r = "
                                  "q;\n}\n((unit*)a.p[1])[to] = ((const unit*)a.p[0])[from];\n"}),
                          1)
              .number;
  }

  /// Copies a box with these extents. Strides are in elements of `bytes` bytes.
  void copy(recording& to_do, address to, std::int64_t const* to_stride, address from, std::int64_t const* from_stride,
            std::int64_t const* extent, int dims, std::int64_t bytes) const {
    std::int64_t n[10] = {}, t[10] = {}, f[10] = {}, all = 1;
    int count = 0;
    for (int d = 0; d < dims; ++d) {
      all *= extent[d];
      if (extent[d] == 1) continue;
      if (count > 0 && t[count - 1] == to_stride[d] * extent[d] && f[count - 1] == from_stride[d] * extent[d])
        n[count - 1] *= extent[d], t[count - 1] = to_stride[d], f[count - 1] = from_stride[d];
      else n[count] = extent[d], t[count] = to_stride[d], f[count++] = from_stride[d];
    }
    if (all == 0) return;
    if (count == 0) return to_do.copy(to, from, bytes);
    bool const runs = t[count - 1] == 1 && f[count - 1] == 1;
    if (runs && count == 1) return to_do.copy(to, from, n[0] * bytes);
    // Copies wider units, if runs, strides and addresses are multiples of them.
    auto const address_bits = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
    while (runs && bytes < 16 && n[count - 1] % 2 == 0 && address_bits % static_cast<std::uintptr_t>(2 * bytes) == 0) {
      bool even = true;
      for (int d = 0; d + 1 < count; ++d) even = even && t[d] % 2 == 0 && f[d] % 2 == 0;
      if (!even) break;
      bytes *= 2, n[count - 1] /= 2, all /= 2;
      for (int d = 0; d + 1 < count; ++d) t[d] /= 2, f[d] /= 2;
    }
    launch_arguments a;
    std::memset(&a, 0, sizeof a);
    a.p[0] = from, a.p[1] = to, a.n[0] = all, a.n[1] = count;
    for (int d = 0; d < count; ++d) a.n[2 + d] = n[d], a.n[12 + d] = t[d], a.n[22 + d] = f[d];
    std::size_t size = 0;
    while ((std::int64_t{1} << size) < bytes) ++size;
    to_do.launch({number_[size], {(all + block_ - 1) / block_, block_}}, a);
  }
  /// Copies by the names of dims, as `detail::copy_by_name` does.
  void by_name(recording& to_do, view const& x, std::int64_t x_first, view const& y, std::int64_t y_first, id from,
               id to, std::int64_t const* extent) const {
    std::int64_t strides[max_dims_of_one];
    for (int i = 0; i < y.count; ++i) {
      int const p = x.find(y.dim[i] == to ? from : id{y.dim[i]});
      strides[i] = p < 0 ? 0 : x.stride[p];
    }
    auto const bytes = static_cast<std::int64_t>(bytes_of(y.type));
    copy(to_do, y.as<std::byte>() + y_first * bytes, y.stride, x.as<std::byte>() + x_first * bytes, strides, extent,
         y.count, bytes);
  }

 private:
  std::size_t number_[5] = {};
  int block_;
};

/// Fills dense memory with the number in a row of the module's table.
class number_filler {
 public:
  number_filler(preparation& p, dtype type) : block_(p.block()) {
    number_ = p.over_elements(joined({"if (i < a.n[0]) ((", type_text(type), "*)a.p[0])[i] = put<", type_text(type),
                                      ">(number<", type_text(type), ">(a, a.n[1]));\n"}),
                              1)
                  .number;
  }
  void fill(recording& to_do, view const& y, id row, address state) const {
    launch_arguments a;
    std::memset(&a, 0, sizeof a);
    a.p[0] = y.as<std::byte>(), a.n[0] = y.size(), a.n[1] = row, a.state = state;
    to_do.launch({number_, {(y.size() + block_ - 1) / block_, block_}}, a);
  }

 private:
  std::size_t number_ = 0;
  int block_;
};

namespace detail {

inline node_work sequence_of(preparation& p, view const& y, char const* value) {
  std::string const type = type_text(y.type);
  prepared_kernel const k = p.over_elements(joined({"if (i < a.n[0]) ((", type, "*)a.p[", max_kernel_operands,
                                                    "])[i] = put<", type, ">(to<", type, ">(", value, "));\n"}),
                                            y.size());
  return [k](recording& to_do, evaluation const& e, address state, address) {
    launch_arguments a = arguments_of(e, state);
    a.n[0] = e.results[0].size();
    a.n[1] = e.results[0].count == 0 ? 0 : e.results[0].origin[0];
    to_do.launch(k, a);
  };
}

}  // namespace detail

/// The work of a node that only moves elements, or none if the node is another one.
inline node_work movement_of(preparation& p, box_copier const& copier, node const& n, view const* results) {
  constexpr auto none = id{no_id};
  switch (n.kind) {
    case primitive::constant: {
      number_filler const filler(p, results[0].type);
      return [filler](recording& to_do, evaluation const& e, address state, address) {
        filler.fill(to_do, e.results[0], constant_attributes::of(e.n).number, state);
      };
    }
    case primitive::iota: return detail::sequence_of(p, results[0], "a.n[1] + i");
    case primitive::iteration: return detail::sequence_of(p, results[0], "a.index");
    case primitive::broadcast:
    case primitive::transpose:
      return [&copier](recording& to_do, evaluation const& e, address, address) {
        copier.by_name(to_do, e.operands[0], 0, e.results[0], 0, none, none, e.results[0].extent);
      };
    case primitive::slice:
      return [&copier](recording& to_do, evaluation const& e, address, address) {
        strided_window const a = strided_window::of(e.n);
        positions const at = window_positions(e);
        view x = e.operands[0];
        int const along = x.find(a.from);
        std::int64_t const first = at.first * x.stride[along];
        x.stride[along] *= at.step;
        copier.by_name(to_do, x, first, e.results[0], 0, a.from, a.to, e.results[0].extent);
      };
    case primitive::pad: {
      number_filler const filler(p, results[0].type);
      return [&copier, filler](recording& to_do, evaluation const& e, address state, address) {
        pad_attributes const a = pad_attributes::of(e.n);
        positions const at = pad_rule::positions_in(e);
        view y = e.results[0];
        filler.fill(to_do, y, a.around, state);
        int const along = y.find(a.to);
        std::int64_t const first = at.first * y.stride[along];
        y.stride[along] *= at.step;
        for (int i = 0; i < y.count; ++i)  // the extents of the operand
          if (int const from = e.operands[0].find(i == along ? id{a.from} : id{y.dim[i]}); from >= 0)
            y.extent[i] = e.operands[0].extent[from];
        copier.by_name(to_do, e.operands[0], 0, y, first, a.from, a.to, y.extent);
      };
    }
    case primitive::concat:
      return [&copier](recording& to_do, evaluation const& e, address, address) {
        concat_attributes const a = concat_attributes::of(e.n);
        view const &x = e.operands[0], &z = e.results[0];
        int const along = z.find(a.to);
        view part = z;
        part.extent[along] = x.extent[x.find(a.first)];
        copier.by_name(to_do, x, 0, part, 0, a.first, a.to, part.extent);
        std::int64_t const first = part.extent[along] * z.stride[along];
        part.extent[along] = e.operands[1].extent[e.operands[1].find(a.second)];
        copier.by_name(to_do, e.operands[1], 0, part, first, a.second, a.to, part.extent);
      };
    case primitive::stack:
      return [&copier](recording& to_do, evaluation const& e, address, address) {
        view row = e.results[0];
        int const along = row.find(stack_attributes::of(e.n).dim);
        row.extent[along] = 1;
        for (int k = 0; k < e.n.operands.count; ++k)
          copier.by_name(to_do, e.operands[k], 0, row, k * row.stride[along], none, none, row.extent);
      };
    case primitive::shift: {
      number_filler const filler(p, results[0].type);
      return [&copier, filler](recording& to_do, evaluation const& e, address state, address) {
        view const &x = e.operands[0], &y = e.results[0];
        shift_attributes const a = shift_attributes::of(e.n);
        auto const how = static_cast<shift_kind>(e.n.function);
        int const along = y.find(a.dim);
        positions const at{whole_number(e.context.numbers[a.first])};
        interval const all{0, y.extent[along]};
        if (count_shifted(how, at, all.count, all, all) != all.count) filler.fill(to_do, y, a.around, state);
        each_run(how, at, all.count, all, all, [&](shifted_run const& r) {
          view from = x, to = y;
          from.stride[along] *= r.from_step, to.extent[along] = r.count;
          copier.by_name(to_do, from, r.from * x.stride[along], to, r.to * y.stride[along], none, none, to.extent);
        });
      };
    }
    default: return {};
  }
}

}  // namespace meshtensor::cuda
