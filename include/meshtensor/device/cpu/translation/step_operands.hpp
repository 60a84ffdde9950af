// SPDX-License-Identifier: Apache-2.0
// Finds what the steps of a kernel read: which casts they skip, and which step reads a value last.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "meshtensor/device/cpu/fused.hpp"
#include "meshtensor/device/cpu/fused/lane_pack/convert.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

/// Whether two dtypes have the same numbers in registers.
inline bool has_same_register(dtype from, dtype to) {
  auto const kind = [](dtype t) { return t == dtype::bf16 ? dtype::f32 : t; };
  return kind(from) == kind(to);
}

class step_operands {
 public:
  explicit step_operands(fused_kernel const& kernel) : k_(&kernel), d_(&kernel.key()) {
    find_plain_casts();
    find_last_uses();
  }

  /// Whether a step is a cast that changes nothing in a register, so that readers read its operand instead.
  bool is_plain_cast(int step) const { return plain_[step]; }
  /// A step's operand, with plain casts skipped.
  source from(kernel_step const& s, int a) const {
    source x = s.from[a];
    while (x.is_step() && plain_[x.index()]) x = d_->step(x.index()).from[0];
    return x;
  }
  /// The last step, in order of execution, that reads a source as a block, or -1 if there is none.
  int last_use(source s) const { return last_use_[s.code]; }
  /// Whether a later phase reads a source, which is then kept for the whole row.
  bool crosses(source s) const { return crosses_[s.code]; }

 private:
  /// Finds casts that change nothing in a register, such as bf16 to f32, so that readers of such a cast read its
  /// operand instead. A cast that is a result of the kernel stays a step, because it is stored as its own type.
  void find_plain_casts() {
    for (int i = 0; i < d_->step_count; ++i) {
      kernel_step const s = d_->step(i);
      source const self{static_cast<std::uint8_t>(i)};
      if (s.kind != static_cast<step_kind>(function::cast) || s.level != extent_class::vector) continue;
      plain_[i] = has_same_register(d_->type_of(s.from[0]), s.type) && !must_settle(function::cast, s.type) &&
                  d_->level_of(s.from[0]) == extent_class::vector;
      for (int r = 0; r < d_->result_count; ++r) plain_[i] = plain_[i] && !(d_->result(r) == self);
    }
    for (int k = 0; k < d_->operand_count; ++k) keep_early_read({static_cast<std::uint8_t>(source::operands + k)});
  }
  /// A result may have the memory of an operand that no step reads later (kernel_reading::overwrites). If readers of
  /// plain casts would read it later, the casts stay steps, which read the operand in time.
  void keep_early_read(source operand) {
    auto const when = [&](int i) { return d_->step(i).phase * 1024 + i; };
    int last = -1, overwritten = std::numeric_limits<int>::max();
    for (int i = 0; i < d_->step_count; ++i)
      for (int a = 0; !plain_[i] && a < d_->arity_of(i); ++a)
        if (from(d_->step(i), a) == operand) last = std::max(last, when(i));
    for (int r = 0; r < d_->result_count; ++r)
      if ((k_->reading.overwrites[r] >> operand.index() & 1) != 0)
        overwritten = std::min(overwritten, when(d_->result(r).index()));
    for (int i = 0; last > overwritten && i < d_->step_count; ++i)
      plain_[i] = plain_[i] && !(d_->step(i).from[0] == operand);
  }
  // Finds the last step, in order of execution, that reads a source as a block. A source that a later phase reads is
  // kept for the whole row.
  void find_last_uses() {
    for (int i = 0; i < 64; ++i) last_use_[i] = -1, crosses_[i] = false;
    auto note = [&](source s, int phase_now, int order) {
      if (s.is_step() && d_->phase_of(s) < phase_now && d_->level_of(s) == extent_class::vector)
        crosses_[s.code] = true;
      last_use_[s.code] = std::max(last_use_[s.code], order);
    };
    for (int i = 0; i < d_->step_count; ++i)
      for (int a = 0; !plain_[i] && a < d_->arity_of(i); ++a) note(from(d_->step(i), a), d_->step(i).phase, i);
  }

  fused_kernel const* k_;
  descriptor const* d_;
  int last_use_[64] = {};
  bool crosses_[64] = {}, plain_[64] = {};
};

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
