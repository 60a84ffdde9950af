// SPDX-License-Identifier: Apache-2.0
// Translates the descriptor of a kernel into a program of blocks. It assigns a place to each value, and orders the
// instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "meshtensor/device/cpu/fused.hpp"
#include "meshtensor/device/cpu/fused/block_pairs.hpp"
#include "meshtensor/device/cpu/translation/block_places.hpp"
#include "meshtensor/device/cpu/translation/step_operands.hpp"
#include "meshtensor/device/cpu/translation/stream_layout.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

template <class = lazy>
class block_translator : public block_places {
  using kind = block_program::kind;
  using place = block_program::place;
  using instruction = block_program::instruction;
  using instructions = block_program::instructions;
  using phase = block_program::phase;

 public:
  /// If `may_repeat`, an operand that has one row for all rows is loaded once for a task, and repeated until a block is
  /// full. A block must then have room for a whole row.
  block_translator(fused_kernel const& kernel, bool may_repeat)
      : k_(&kernel), d_(&kernel.key()), operands_(kernel), may_repeat_(may_repeat) {
    program.places.assign(1, place{});
    program.phases.resize(static_cast<std::size_t>(d_->phases()));
    for (int i = 0; i < d_->number_count; ++i) uniform_of({static_cast<std::uint8_t>(source::numbers + i)});
    for (int p = 0; p < d_->phases(); ++p) {
      for (int i = 0; i < 64; ++i)
        if (loaded_[i]) release(vector_[i]), vector_[i] = 0, loaded_[i] = false;  // blocks end with their phase
      for (int i = 0; i < d_->step_count; ++i)
        if (kernel_step const s = d_->step(i); s.phase == p) step(i, s);
      free_blocks_of_phase();
    }
    for (int i = 0; i < d_->result_count; ++i) store_result(i);
    pair_up(program, [this](instruction const& i) { return static_cast<function>(d_->step(i.step).kind); });
    choose_block();
  }
  /// Whether an operand is loaded once for a task.
  bool repeats_rows() const { return repeats_rows_; }

 private:
  phase& in(int p) { return program.phases[static_cast<std::size_t>(p)]; }
  static int slot(source s) { return s.code; }

  std::uint8_t uniform_of(source s) {
    std::uint8_t& u = uniform_[slot(s)];
    if (u != 0) return u;
    dtype const t = d_->type_of(s);
    u = fresh_block(t);
    if (s.is_number())
      program.once.push_back(
          {kind::load, t, u, 0, 0, 0, static_cast<std::uint8_t>(255), static_cast<std::uint8_t>(s.index()), nullptr});
    else program.once.push_back({kind::load, t, u, 0, 0, 0, static_cast<std::uint8_t>(s.index()), 0, nullptr});
    return u;
  }
  std::uint8_t row_of(source s) {
    if (d_->level_of(s) == extent_class::uniform) return uniform_of(s);
    std::uint8_t& r = row_[slot(s)];
    if (r != 0) return r;
    dtype const t = d_->type_of(s);  // an operand, because steps have their places already
    r = fresh_block(t);
    in(0).rows.insert(in(0).rows.begin(),
                      {kind::load_rows, t, r, 0, 0, 0, static_cast<std::uint8_t>(s.index()), 0, nullptr});
    return r;
  }
  std::uint8_t vector_of(source s, int p) {
    extent_class const level = d_->level_of(s);
    if (level == extent_class::uniform) return uniform_of(s);
    std::uint8_t& v = vector_[slot(s)];
    if (v != 0) return v;
    dtype const t = d_->type_of(s);
    if (level == extent_class::row) {
      std::uint8_t const r = row_of(s);
      v = fresh_block(t);
      in(p).rows.push_back({kind::expand, t, v, r, 0, 0, 0, 0, nullptr});
      return v;
    }
    auto const stream = static_cast<std::uint8_t>(s.index());  // an operand, too
    if (is_direct(*k_, stream, t, d_->operand_class(s.index()))) {
      v = add_place({place::operand, stream, static_cast<std::uint8_t>(register_bytes(t)), true, 0});
      return v;
    }
    if (may_repeat_ && is_one_row(*k_, stream, d_->operand_class(s.index()))) {
      v = fresh_block(t);
      repeats_rows_ = true;
      program.once.push_back({kind::repeat_row, t, v, 0, 0, 0, stream, 0, nullptr});
      return v;
    }
    v = new_block(t);
    loaded_[slot(s)] = true;
    in(p).blocks.push_back({kind::load, t, v, 0, 0, 0, stream, 0, nullptr});
    return v;
  }
  void step(int i, kernel_step const& s) {
    if (operands_.is_plain_cast(i)) return;
    bool const once = s.level == extent_class::uniform, by_row = s.level == extent_class::row;
    source const self{static_cast<std::uint8_t>(i)};
    auto const number = static_cast<std::uint8_t>(i);
    auto const stream = static_cast<std::uint8_t>(first_step_stream + i);
    instructions& list_now = once ? program.once : by_row ? in(s.phase).rows : in(s.phase).blocks;
    auto given = [&](int a) {
      source const x = operands_.from(s, a);
      return once ? uniform_of(x) : by_row ? row_of(x) : vector_of(x, s.phase);
    };
    if (is_reduction(s.kind)) {
      if (goes_over(s.kind)) {
        std::uint8_t const x = given(0);
        list_now.push_back(
            {kind::add_over, s.type, 0, x, 0, 0, by_row ? std::uint8_t{1} : std::uint8_t{0}, number, nullptr});
      } else {
        std::uint8_t const x = vector_of(operands_.from(s, 0), s.phase);
        std::uint8_t const lanes = new_permanent(bytes_of_lanes), sums = new_block(dtype::i64);
        std::uint8_t const upper =
            add_place({place::levels, static_cast<std::uint8_t>(program.along.size()), 0, false, 0});
        in(s.phase).blocks.push_back({kind::add_row, s.type, sums, x, lanes, upper, 0, number, nullptr});
        if (goes_along(s.kind)) {
          row_[i] = new_block(s.type);
          in(s.phase).ends.push_back({kind::end_along, s.type, row_[i], sums, lanes, upper, 0, number, nullptr});
        } else {
          in(s.phase).ends.push_back({kind::end_total, s.type, 0, sums, lanes, upper, 0, number, nullptr});
        }
        program.along.push_back({static_cast<std::uint8_t>(s.phase), lanes, number});
      }
      return free_dead(i, s);
    }
    std::uint8_t operands[3] = {};
    for (int a = 0; a < d_->arity_of(i); ++a) operands[a] = given(a);
    bool const is_only_stored =
        !once && !by_row && s.type == dtype::bf16 && operands_.last_use(self) < 0;  // the store rounds
    if (is_only_stored && s.kind == static_cast<step_kind>(function::cast) &&
        has_same_register(d_->type_of(s.from[0]), s.type)) {
      store_block_result(self, operands[0], list_now);
      return free_dead(i, s);
    }
    // The lists may have grown. For example, an instruction that expands a row precedes its users in the list of rows.
    std::uint8_t const out = once     ? (uniform_[i] = fresh_block(s.type))
                             : by_row ? (row_[i] = fresh_block(s.type))
                                      : output(i, s);
    instruction made{kind::compute, s.type, out, operands[0], operands[1], operands[2], stream, number, nullptr};
    bool settles = false;
    if (s.kind == step_kind::position) {
      made.does = by_row ? kind::position_rows : kind::position;
    } else if (is_random(s.kind)) {
      made.does = by_row ? kind::random_rows : kind::random;
    } else {
      auto const f = static_cast<function>(s.kind);
      dtype const of_operand = d_->type_of(s.from[f == function::select ? 1 : 0]);
      made.f = f == function::cast ? cast_block(of_operand, s.type) : block_of(f, of_operand);
      settles = must_settle(f, s.type) && !is_only_stored;
      if (settles && f == function::cast && has_same_register(of_operand, s.type))
        made.f = settle_block(s.type), settles = false;
    }
    list_now.push_back(made);
    if (settles) list_now.push_back({kind::compute, s.type, out, out, 0, 0, 0, number, settle_block(s.type)});
    if (!once && !by_row) store_block_result(self, out, list_now);
    free_dead(i, s);
  }

  /// The destination of a block: a result's memory, a row that outlives the phase, or a free block.
  std::uint8_t output(int i, kernel_step const& s) {
    source const self{static_cast<std::uint8_t>(i)};
    for (int r = 0; r < d_->result_count; ++r) {
      int const stream = first_result_stream + r;
      if (d_->result(r) == self && is_direct(*k_, stream, s.type, d_->result_class(r)) && !must_settle_block(s)) {
        vector_[i] = add_place({place::result, static_cast<std::uint8_t>(stream),
                                static_cast<std::uint8_t>(register_bytes(s.type)), true, 0});
        written_[r] = true;
        return vector_[i];
      }
    }
    if (operands_.crosses(self)) {
      vector_[i] = add_place({place::scratch, static_cast<std::uint8_t>(program.scratch_rows++),
                              static_cast<std::uint8_t>(register_bytes(s.type)), true, 0});
    } else {
      vector_[i] = new_block(s.type);
      in_phase_.push_back(static_cast<std::uint8_t>(i));
    }
    return vector_[i];
  }
  static bool must_settle_block(kernel_step const& s) { return settle_block(s.type) != nullptr; }
  /// Frees the blocks whose last reader has run.
  void free_dead(int i, kernel_step const& s) {
    for (int a = 0; a < d_->arity_of(i); ++a) {
      source const x = operands_.from(s, a);
      if (!x.is_step() || operands_.last_use(x) != i || operands_.crosses(x) || d_->level_of(x) != extent_class::vector)
        continue;
      for (std::size_t k = 0; k < in_phase_.size(); ++k)
        if (in_phase_[k] == slot(x)) {
          release(vector_[slot(x)]);
          in_phase_.erase(in_phase_.begin() + static_cast<std::ptrdiff_t>(k));
          break;
        }
    }
  }
  void free_blocks_of_phase() {
    for (std::uint8_t i : in_phase_) release(vector_[i]);
    in_phase_.clear();
  }

  void store_block_result(source self, std::uint8_t from, instructions& list_now) {
    for (int r = 0; r < d_->result_count; ++r) {
      if (!(d_->result(r) == self) || written_[r]) continue;
      written_[r] = true;
      list_now.push_back({kind::store, d_->type_of(self), 0, from, 0, 0,
                          static_cast<std::uint8_t>(first_result_stream + r), 0, nullptr});
    }
  }
  /// Stores results that are not vector steps, namely rows, operands and numbers.
  void store_result(int r) {
    source const s = d_->result(r);
    if (written_[r]) return;
    if (s.is_step() && (goes_over(d_->step(s.index()).kind) || is_total(d_->step(s.index()).kind))) return;
    int const p = d_->phases() - 1;
    dtype const t = d_->type_of(s);
    auto const stream = static_cast<std::uint8_t>(first_result_stream + r);
    extent_class const c = d_->result_class(r);
    if (c == extent_class::uniform) in(p).ends.push_back({kind::store_once, t, 0, row_of(s), 0, 0, stream, 0, nullptr});
    else if (c == extent_class::row)
      in(p).ends.push_back({kind::store_rows, t, 0, row_of(s), 0, 0, stream, 0, nullptr});
    else {
      std::uint8_t const v = vector_of(s, p);
      in(p).blocks.push_back({kind::store, t, 0, v, 0, 0, stream, 0, nullptr});
    }
  }

  fused_kernel const* k_;
  descriptor const* d_;
  step_operands operands_;
  std::vector<std::uint8_t> in_phase_;
  std::uint8_t uniform_[64] = {}, row_[64] = {}, vector_[64] = {};  // places of sources by level, or 0 if there is none
  bool loaded_[64] = {}, written_[max_kernel_results] = {};
  bool may_repeat_, repeats_rows_ = false;
};

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
