// SPDX-License-Identifier: Apache-2.0
// Describes attention of one batch and head: its sizes and options, and its rows in memory.
#pragma once

#include <cstdint>

#include "meshtensor/base/config.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// The sizes and options of one batch and head.
struct attention_sizes {
  std::int64_t length, memory;    // numbers of queries and of keys
  std::int64_t head, value_head;  // elements of a query or key, and of a value
  std::int64_t ahead;             // position of the first query minus position of the first key
  bool causal;                    // no query sees a later key
  bool masked;                    // a mask hides some of the keys
  bool each;                      // every query has its own mask
  double scale;                   // factor of the scores
};

/// Strided rows in memory, of any element type.
struct attention_rows {
  void* data;
  std::int64_t row, column;  // strides in elements
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
