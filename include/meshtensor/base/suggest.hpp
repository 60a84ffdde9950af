// SPDX-License-Identifier: Apache-2.0
// Finds the known name nearest to an unknown one: "did you mean".
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// The edit distance of two words: letters added, removed, replaced or swapped with their neighbour. Only the first 127
/// letters count.
constexpr int edit_distance(std::string_view a, std::string_view b) {
  constexpr std::size_t most = 127;
  a = a.substr(0, most), b = b.substr(0, most);
  int before[most + 1] = {}, last[most + 1] = {}, row[most + 1] = {};
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    for (std::size_t j = 0; j <= b.size(); ++j) before[j] = last[j], last[j] = row[j];
  }
  return last[b.size()];
}

/// The greatest distance at which a known name is suggested for `word`.
constexpr int nearness(std::string_view word) { return 1 + static_cast<int>(word.size()) / 4; }

/// The end of a path that has as many components as `word`: `encoder/weight` of `model/encoder/weight`.
constexpr std::string_view end_like(std::string_view path, std::string_view word) {
  std::size_t from = path.size();
  for (auto n = 1 + std::ranges::count(word, '/'); n > 0 && from != std::string_view::npos && from != 0; --n)
    from = path.rfind('/', from - 1);
  return from == std::string_view::npos || from == 0 ? path : path.substr(from + 1);
}

/// The known name that `word` probably stands for, or an empty one. If no path as a whole is near, one whose last
/// components are near is taken, because users leave out the scopes in front.
inline std::string nearest(std::string_view word, std::vector<std::string> const& known) {
  if (word.empty()) return "";
  std::string best;
  int least = nearness(word) + 1;
  for (std::string const& k : known)
    if (int const d = edit_distance(word, k); d < least) best = k, least = d;
  for (std::string const& k : known)
    if (int const d = edit_distance(word, end_like(k, word)); d < least) best = k, least = d;
  return best;
}

/// `; did you mean 'query'?`, or an empty text.
inline std::string did_you_mean(std::string_view word, std::vector<std::string> const& known) {
  std::string const meant = nearest(word, known);
  return meant.empty() ? "" : "; did you mean '" + meant + "'?";
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
