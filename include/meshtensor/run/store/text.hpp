// SPDX-License-Identifier: Apache-2.0
// Prints the values of a store and the counts that a program's steps change.
#pragma once

#include <string>

#include "meshtensor/run/counts.hpp"
#include "meshtensor/run/store.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// The counts that the steps of an entry change, one a line, for example `transformer::train_step = 1200`.
inline std::string text_of_counts(store const& s, std::string const& program, module const& m, int entry) {
  std::string lines = program + " = " + std::to_string(s.steps_of(program)) + "\n";
  counted_paths const counted(m, entry);
  for (std::string const& path : counted.labels()) lines += path + " = " + std::to_string(s.updates_of(path)) + "\n";
  return lines;
}

/// One value a line: its name, dtype, dims and layout, its bytes, and the bytes of one rank's part.
inline std::string text_of(store const& s) {
  std::string t;
  for (auto const& [label, value] : s.values()) {
    t += label + ": " + value.text() + ", " + std::to_string(value.bytes()) + " bytes";
    if (value.local_bytes() != value.bytes()) t += ", " + std::to_string(value.local_bytes()) + " on each rank";
    t += "\n";
  }
  return t;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
