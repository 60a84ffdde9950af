// SPDX-License-Identifier: Apache-2.0
// A line of a profile, which stands for the nodes of one name and one line of the program.
#pragma once

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "meshtensor/emit/table.hpp"
#include "meshtensor/inspect/node_words.hpp"

namespace meshtensor::detail {

/// A line of a profile. It has the nodes of one name and one line of the program, such as those of equal layers.
struct profile_line {
  spoken_node name;
  std::string line, type;                 // of the program, and of the result, or empty if results differ
  std::vector<std::string> scopes;        // all that differ only in numbers
  double time = 0, flops = 0, bytes = 0;  // of one step, with times in nanoseconds
  std::int64_t calls = 0;                 // of all steps
  bool is_collective = false;
  bool is_f32_product = false;    // so that it compares with the best rate of products
  bool is_beyond_caches = false;  // each call reads and writes so much that no cache holds it

  /// The scope with `*` in the place of numbers.
  static std::string without_numbers(std::string const& scope) {
    std::string all;
    for (char c : scope) {
      bool const is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
      if (!is_digit) all += c;
      else if (all.empty() || all.back() != '*') all += '*';
    }
    return all;
  }
  /// For example, `12 x gelu of block_*/mlp, backward`. If the text is too long, the outer scopes are left out first.
  std::string text(std::size_t most) const {
    std::string const layers = scopes.size() > 1 ? std::to_string(scopes.size()) + " x " : "";
    spoken_node shown = name;
    if (scopes.size() > 1) shown.scope = without_numbers(name.scope);
    while (characters_of(layers + shown.text()) > most) {
      std::size_t const inner = shown.scope.find('/', shown.scope.starts_with("…/") ? std::string("…/").size() : 0);
      if (inner == std::string::npos) break;
      shown.scope = "…" + shown.scope.substr(inner);
    }
    return shortened(layers + shown.text(), most);
  }
};

}  // namespace meshtensor::detail
