// SPDX-License-Identifier: Apache-2.0
// Walks a program's instructions once for all processors, as `engine` does: loops are unrolled, with their indices in
// the processors' contexts.
#pragma once

#include <span>

#include "meshtensor/job/rank_context.hpp"
#include "meshtensor/pass/list_instructions.hpp"

namespace meshtensor {

/// Calls `one(instruction)` for each that is no control; `around(instruction, work)` does one with all that is inside.
template <class One, class Around>
class recorded_walk {
 public:
  recorded_walk(std::span<instruction const> instructions, std::span<rank_context> ranks, One one, Around around)
      : list_(instructions), ranks_(ranks), one_(one), around_(around) {}

  void whole() {
    for (std::size_t at = 0; at < list_.size();) at = record_at(at);
  }

 private:
  std::size_t record_body(std::size_t at) {
    while (list_[at].kind != instruction_kind::end) at = record_at(at);
    return at;
  }
  std::size_t record_loop(std::size_t at) {
    instruction const& i = list_[at];
    run_context const before = ranks_[0].context;
    auto const trips = static_cast<std::uint64_t>(i.trips);
    std::size_t end = at;
    for (std::int64_t t = 0; t < i.trips; ++t) {
      std::int64_t const index = i.reversed ? i.trips - 1 - t : t;
      for (rank_context& r : ranks_)
        r.context.index = index, r.context.iteration = before.iteration * trips + static_cast<std::uint64_t>(index);
      end = record_body(at + 1);
    }
    for (rank_context& r : ranks_) r.context = before;
    if (i.trips == 0)
      for (int depth = 1; depth != 0;)
        depth += begins(list_[++end].kind) ? 1 : list_[end].kind == instruction_kind::end ? -1 : 0;
    return end + 1;
  }
  std::size_t record_ahead(std::size_t at) {
    instruction const& i = list_[at];
    std::int64_t const before = ranks_[0].context.index;
    std::int64_t const index = i.kind == instruction_kind::begin_first ? (i.reversed ? i.trips - 1 : 0)
                               : i.reversed                            ? before - 1
                                                                       : before + 1;
    if (index >= 0 && index < i.trips) {
      for (rank_context& r : ranks_) r.context.index = index;
      at = record_body(at + 1);
      for (rank_context& r : ranks_) r.context.index = before;
    }
    while (list_[at].kind != instruction_kind::end) ++at;
    return at + 1;
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
      case instruction_kind::begin_call: return record_body(at + 1) + 1;
      default: one_(list_[at]);
    }
    return at + 1;
  }

  std::span<instruction const> list_;
  std::span<rank_context> ranks_;
  One one_;
  Around around_;
};

}  // namespace meshtensor
