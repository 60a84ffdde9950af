// SPDX-License-Identifier: Apache-2.0
// Describes a kernel as a small value. Equal layers have equal descriptors, because extents, constants and seeds are
// not part of it. A descriptor is a key, a template argument with short symbols, and a program that can be interpreted.
#pragma once

#include "meshtensor/pass/fuse.hpp"

namespace meshtensor {

/// The operation of a step: a function, or one of the operations listed here.
enum class step_kind : std::uint8_t {
  first_function = 0,
  position = static_cast<std::uint8_t>(function::count_),  // the global index along a dim
  uniform,
  normal,
  along_sum,  // along the vector dim: one number for each row
  along_max,
  along_min,
  over_sum,  // over the reduced rows: one vector for each kept row
  over_max,
  over_min,
  total_sum,  // over both
  total_max,
  total_min,
  count_
};
static_assert(static_cast<int>(step_kind::count_) <= 64);

constexpr bool is_function(step_kind k) { return k < step_kind::position; }
constexpr bool is_random(step_kind k) { return k == step_kind::uniform || k == step_kind::normal; }
constexpr bool goes_along(step_kind k) { return k >= step_kind::along_sum && k <= step_kind::along_min; }
constexpr bool goes_over(step_kind k) { return k >= step_kind::over_sum && k <= step_kind::over_min; }
constexpr bool is_total(step_kind k) { return k >= step_kind::total_sum; }
constexpr bool is_reduction(step_kind k) { return k >= step_kind::along_sum; }
constexpr reduction reduction_of(step_kind k) {
  return static_cast<reduction>((static_cast<int>(k) - static_cast<int>(step_kind::along_sum)) % 3 + 1);
}

/// The dims of a kernel's space that a value spans: none, rows, or the vector dim with elements contiguous or strided.
enum class extent_class : std::uint8_t { uniform, row, vector, strided };

/// The source of a step's operand: another step, an operand of the kernel, or a number.
struct source {
  std::uint8_t code;
  static constexpr int operands = 32, numbers = 48;
  constexpr bool is_step() const { return code < operands; }
  constexpr bool is_operand() const { return code >= operands && code < numbers; }
  constexpr bool is_number() const { return code >= numbers; }
  constexpr int index() const { return is_step() ? code : is_operand() ? code - operands : code - numbers; }
  constexpr bool operator==(source const&) const = default;
};

struct kernel_step {
  step_kind kind;
  dtype type;          // of its result
  extent_class level;  // how often it runs: once, for each row, for each element
  int phase;           // reductions along the vector end a phase
  source from[3];

  constexpr std::uint32_t packed() const {
    return static_cast<std::uint32_t>(kind) | static_cast<std::uint32_t>(type) << 6 |
           static_cast<std::uint32_t>(level) << 9 | static_cast<std::uint32_t>(phase) << 11 |
           std::uint32_t{from[0].code} << 14 | std::uint32_t{from[1].code} << 20 | std::uint32_t{from[2].code} << 26;
  }
  static constexpr kernel_step of(std::uint32_t w) {
    return {static_cast<step_kind>(w & 63),
            static_cast<dtype>(w >> 6 & 7),
            static_cast<extent_class>(w >> 9 & 3),
            static_cast<int>(w >> 11 & 7),
            {{static_cast<std::uint8_t>(w >> 14 & 63)},
             {static_cast<std::uint8_t>(w >> 20 & 63)},
             {static_cast<std::uint8_t>(w >> 26)}}};
  }
};

/// The canonical form of a kernel. Its members are plain, so that it can be a template argument.
struct descriptor {
  std::uint8_t step_count, operand_count, number_count, result_count;
  std::uint32_t steps[max_kernel_steps];
  std::uint8_t operands[max_kernel_operands];  // dtype, then extent class
  std::uint8_t numbers[max_kernel_numbers];    // dtype
  std::uint8_t results[max_kernel_results];    // source, then extent class

  constexpr bool operator==(descriptor const&) const = default;

  constexpr kernel_step step(int i) const { return kernel_step::of(steps[i]); }
  constexpr dtype operand_type(int i) const { return static_cast<dtype>(operands[i] & 7); }
  constexpr extent_class operand_class(int i) const { return static_cast<extent_class>(operands[i] >> 3); }
  constexpr source result(int i) const { return {static_cast<std::uint8_t>(results[i] & 63)}; }
  constexpr extent_class result_class(int i) const { return static_cast<extent_class>(results[i] >> 6); }

  constexpr dtype type_of(source s) const {
    return s.is_step()      ? step(s.index()).type
           : s.is_operand() ? operand_type(s.index())
                            : static_cast<dtype>(numbers[s.index()]);
  }
  constexpr extent_class level_of(source s) const {
    if (s.is_number()) return extent_class::uniform;
    if (s.is_operand())
      return operand_class(s.index()) == extent_class::strided ? extent_class::vector : operand_class(s.index());
    kernel_step const made = step(s.index());
    return goes_along(made.kind) ? extent_class::row : made.level;
  }
  constexpr int arity_of(int i) const {
    kernel_step const s = step(i);
    return is_function(s.kind) ? arity(static_cast<function>(s.kind)) : is_reduction(s.kind) ? 1 : 0;
  }
  /// The first phase in which a value is available.
  constexpr int phase_of(source s) const {
    return s.is_step() ? step(s.index()).phase + goes_along(step(s.index()).kind) : 0;
  }
  constexpr int phases() const {
    int most = 0;
    for (int i = 0; i < step_count; ++i)
      if (int const p = phase_of({static_cast<std::uint8_t>(i)}); p > most) most = p;
    return most + 1;
  }
};

}  // namespace meshtensor
