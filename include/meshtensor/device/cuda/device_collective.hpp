// SPDX-License-Identifier: Apache-2.0
// Runs collectives among the ranks of a mesh that share one GPU, as copies and as sums in the same order as all
// transports.
#pragma once

#include "meshtensor/comm/moved_subbox.hpp"
#include "meshtensor/comm/strided_slice.hpp"
#include "meshtensor/device/cuda/box_copier.hpp"

namespace meshtensor::cuda {

/// The largest number of ranks whose blocks one kernel reads and writes.
inline constexpr int most_members = max_pointers / 2;

namespace detail {

/// Writes `Op::of(x0, x1)` over all members: in their order, or pairwise for a small all_reduce.
inline std::string fold_text(int count, bool in_steps, char const* op) {
  auto const of = [&](std::string const& a, std::string const& b) { return joined({op, "::of(", a, ", ", b, ")"}); };
  auto const x = [](int k) { return "x" + std::to_string(k); };
  if (!in_steps) {
    std::string t = x(0);
    for (int k = 1; k < count; ++k) t = of(t, x(k));
    return t;
  }
  reduction_steps const steps(count);
  std::vector<std::string> level;
  for (int k = 0; k < steps.doubling; ++k) level.push_back(k < steps.rest ? of(x(k), x(steps.doubling + k)) : x(k));
  while (level.size() > 1) {
    std::vector<std::string> next;
    for (std::size_t k = 0; k < level.size(); k += 2) next.push_back(of(level[k], level[k + 1]));
    level = std::move(next);
  }
  return level[0];
}

/// Makes a kernel that reads one block of each member from p[0 …] and writes `results` blocks to p[32 …].
inline prepared_kernel fold_kernel(preparation& p, collective_call const& call, int count, int results) {
  char const* const ops[] = {"", "sums", "maxima", "minima"};
  std::string const type = type_text(call.type);
  // n[0] is the number of elements. A block has runs of n[1] elements. The first run is at n[2], and their distance is
  // n[3].
  std::string t = "if (i >= a.n[0]) return;\nconst i64 from = a.n[2] + i / a.n[1] * a.n[3] + i % a.n[1];\n";
  for (int k = 0; k < count; ++k)
    add(t, {"const sum<", type, "> x", k, " = (sum<", type, ">)get(((const ", type, "*)a.p[", k, "])[from]);\n"});
  bool const in_steps = call.kind == collective::all_reduce && goes_in_steps(call);
  add(t, {"const ", type, " y = put<", type, ">(to<", type, ">(",
          fold_text(count, in_steps, ops[static_cast<int>(call.op)]), "));\n"});
  for (int k = 0; k < results; ++k) add(t, {"((", type, "*)a.p[", most_members + k, "])[i] = y;\n"});
  return p.over_elements(t, 1);
}

}  // namespace detail

/// One collective of a program.
class device_collective {
 public:
  /// errors R84 it has more members than a kernel can read
  device_collective(preparation& p, box_copier const& copier, collective_call const& call, int members)
      : copier_(&copier), block_(p.block()) {
    if (members > most_members)
      throw error("R84", {"the collective ", located(call), " has ", members, " members on one GPU, but at most ",
                          most_members, " can share one: take a smaller mesh"});
    if (reduces(call.kind))
      fold_ = detail::fold_kernel(p, call, members, call.kind == collective::all_reduce ? members : 1);
    if (call.kind == collective::move) {
      constexpr char const* units[] = {"unsigned char", "unsigned short", "", "u32", "", "", "", "u64"};
      char const* const unit = units[bytes_of(call.type) - 1];
      fill_ = p.over_elements(joined({"if (i < a.n[0]) ((", unit, "*)a.p[0])[i] = (", unit, ")a.n[1];\n"}), 1);
    }
  }

  /// Records the collective for one group. `calls`, `in` and `out` have the calls and blocks of its members.
  void record(recording& to_do, std::vector<collective_call const*> const& calls, std::vector<address> const& in,
              std::vector<address> const& out) const {
    auto const count = static_cast<int>(calls.size());
    for (int k = 0; k < count; ++k) require_valid(*calls[static_cast<std::size_t>(k)], count, k);
    give(to_do, *calls[0], in, out);
  }

 private:
  void give(recording& to_do, collective_call const& call, std::vector<address> const& in,
            std::vector<address> const& out) const {
    auto const count = static_cast<int>(in.size());
    if (call.kind == collective::all_reduce) return fold(to_do, comm::whole(bytes_of(call)), call, in, out);
    for (int m = 0; m < count; ++m) {
      address const to = out[static_cast<std::size_t>(m)];
      switch (call.kind) {
        case collective::reduce:
          if (m != call.root) break;
          [[fallthrough]];
        case collective::reduce_scatter: fold(to_do, comm::taken(call, count, m, m), call, in, {to}); break;
        case collective::all_gather:
        case collective::all_to_all:
          for (int j = 0; j < count; ++j)
            copy(to_do, to, comm::placed(call, count, j, m), in[static_cast<std::size_t>(j)],
                 comm::taken(call, count, j, m));
          break;
        case collective::broadcast: to_do.copy(to, in[static_cast<std::size_t>(call.root)], bytes_of(call)); break;
        case collective::move: move(to_do, call, m, in, to); break;
        default: break;
      }
    }
  }
  void fold(recording& to_do, comm::strided_slice const& from, collective_call const& call,
            std::vector<address> const& in, std::vector<address> const& out) const {
    auto const size = static_cast<std::int64_t>(bytes_of(call.type));
    if (from.bytes == 0) return;
    launch_arguments a;
    std::memset(&a, 0, sizeof a);
    for (std::size_t k = 0; k < in.size(); ++k) a.p[k] = in[k];
    for (std::size_t k = 0; k < out.size(); ++k) a.p[most_members + k] = out[k];
    a.n[0] = from.bytes / size, a.n[1] = from.run / size, a.n[2] = from.offset / size, a.n[3] = from.stride / size;
    to_do.launch({fold_.number, {(a.n[0] + block_ - 1) / block_, block_}}, a);
  }
  /// Both runs are products of the trailing extents of one slice, so one of them divides the other.
  void copy(recording& to_do, address to, comm::strided_slice const& t, address from,
            comm::strided_slice const& f) const {
    if (t.bytes == 0) return;
    std::int64_t const step = std::min(t.run, f.run), more = std::max(t.run, f.run) / step;
    std::int64_t const extent[] = {t.bytes / (step * more), more, step};
    std::int64_t const to_stride[] = {t.run == step ? more * t.stride : t.stride, t.run == step ? t.stride : step, 1};
    std::int64_t const from_stride[] = {f.run == step ? more * f.stride : f.stride, f.run == step ? f.stride : step, 1};
    copier_->copy(to_do, to + t.offset, to_stride, from + f.offset, from_stride, extent, 3, 1);
  }
  void move(recording& to_do, collective_call const& call, int m, std::vector<address> const& in, address to) const {
    movement const& moves = *call.moves;
    auto const size = static_cast<std::int64_t>(bytes_of(call.type));
    box const& mine = moves.to[static_cast<std::size_t>(m)];
    if (!comm::is_covered(moves, call.at, m)) {
      launch_arguments a;
      std::memset(&a, 0, sizeof a);
      a.p[0] = to, a.n[0] = mine.elements(moves.dims);
      std::memcpy(&a.n[1], call.around, static_cast<std::size_t>(size));
      to_do.launch({fill_.number, {(a.n[0] + block_ - 1) / block_, block_}}, a);
    }
    for (int j = 0; j < static_cast<int>(in.size()); ++j)
      comm::each_subbox(moves, call.at, j, m, [&](comm::moved_subbox const& p) {
        box const& theirs = moves.from[static_cast<std::size_t>(j)];
        std::int64_t to_stride[max_dims_of_one], from_stride[max_dims_of_one], at = 0, source = 0;
        for (std::int64_t d = moves.dims, t = 1, f = 1; d-- > 0;) {
          to_stride[d] = t, from_stride[d] = f;
          at += p.to[d] * t, source += p.from[d] * f;
          t *= mine.extent[d], f *= theirs.extent[d];
        }
        if (moves.along >= 0) to_stride[moves.along] *= p.to_step, from_stride[moves.along] *= p.from_step;
        copier_->copy(to_do, to + at * size, to_stride, in[static_cast<std::size_t>(j)] + source * size, from_stride,
                      p.extent, moves.dims, size);
      });
  }

  box_copier const* copier_;
  int block_;
  prepared_kernel fold_, fill_;
};

}  // namespace meshtensor::cuda
