// SPDX-License-Identifier: Apache-2.0
// Describes calls, groups and lists of ranks in errors and reports.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "meshtensor/comm/collective/call.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// `all_reduce sum f32[4, 8]`
inline std::string text_of(collective_call const& call) {
  std::string text = text_of(call.kind);
  if (reduces(call.kind)) text += std::string(" ") + text_of(call.op);
  text += std::string(" ") + text_of(call.type) + "[";
  for (int d = 0; d < call.dims; ++d) text += (d != 0 ? ", " : "") + std::to_string(call.extent[d]);
  return text + "]";
}

/// `all_reduce sum f32[4, 8] (train.cpp:31)`
inline std::string located(collective_call const& call) {
  if (call.file == nullptr) return text_of(call);
  return text_of(call) + " (" + call.file + (call.line == 0 ? "" : ":" + std::to_string(call.line)) + ")";
}

/// `ranks {0, 2}`
inline std::string text_of(group const& g) {
  std::string ranks;
  for (int j = 0; j < g.count; ++j) ranks += (j == 0 ? "" : ", ") + std::to_string(g.members[j]);
  return "ranks {" + ranks + "}";
}

/// `rank 3`, `ranks 0 to 5, 8`. A long list is cut after its first ranges, and ends with the number of further ranks.
inline std::string text_of_ranks(std::vector<int> const& ascending) {
  constexpr int most = 4;  // runs
  std::string text = ascending.size() == 1 ? "rank " : "ranks ";
  std::size_t i = 0;
  for (int runs = 0; i < ascending.size() && runs < most; ++runs) {
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    text += (runs == 0 ? "" : ", ") + std::to_string(ascending[i]);
    if (last > i) text += (last == i + 1 ? ", " : " to ") + std::to_string(ascending[last]);
    i = last + 1;
  }
  return i == ascending.size() ? text : text + " and " + std::to_string(ascending.size() - i) + " more";
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
