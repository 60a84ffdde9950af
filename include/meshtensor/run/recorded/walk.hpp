// SPDX-License-Identifier: Apache-2.0
// Walks a program's instructions once for all ranks, in the same order as `engine`. It unrolls loops, with their
// indices in the ranks' contexts. However, it leaves loops that may end early to the caller.
#pragma once

#include <span>

#include "meshtensor/pass/list_instructions/instruction.hpp"
#include "meshtensor/run/engine/step_actions.hpp"

namespace meshtensor {

/// Calls `one(instruction)` for each instruction that is no control flow. `around(instruction, work)` wraps an
/// instruction with its body. `early(at)` handles the loop that begins at position `at` of the list and may end early.
template <class One, class Around, class Early>
class recorded_walk {
 public:
  recorded_walk(std::span<instruction const> instructions, std::span<rank_context> ranks, One one, Around around,
                Early before_end)
      : list_(instructions), ranks_(ranks), one_(one), around_(around), early_(before_end) {}

  void whole() {
    for (std::size_t at = 0; at < list_.size();) at = record_at(at);
  }
  /// Walks once through the body that begins at a position of the list. Returns the position of its end.
  std::size_t body(std::size_t at) {
    while (list_[at].kind != instruction_kind::end) at = record_at(at);
    return at;
  }

 private:
  std::size_t record_loop(std::size_t at) {
    instruction const& i = list_[at];
    if (i.from != id{no_id}) early_(at);
    else each_iteration(ranks_, i.trips, i.reversed, no_id, [&] { body(at + 1); });
    return behind(list_, at);
  }
  std::size_t record_ahead(std::size_t at) {
    instruction const& i = list_[at];
    one_ahead(ranks_, i.kind == instruction_kind::begin_first, i.trips, i.reversed, [&] { body(at + 1); });
    return behind(list_, at);
  }
  std::size_t record_at(std::size_t at) {
    std::size_t next = at;
    around_(list_[at], [&] { next = record_one(at); });
    return next;
  }
  std::size_t record_one(std::size_t at) {
    switch (list_[at].kind) {
      case instruction_kind::begin_loop: return record_loop(at);
      case instruction_kind::begin_first:
      case instruction_kind::begin_next: return record_ahead(at);
      case instruction_kind::begin_call: return body(at + 1) + 1;
      default: one_(list_[at]);
    }
    return at + 1;
  }

  std::span<instruction const> list_;
  std::span<rank_context> ranks_;
  One one_;
  Around around_;
  Early early_;
};

}  // namespace meshtensor
