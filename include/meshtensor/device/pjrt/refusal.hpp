// SPDX-License-Identifier: Apache-2.0
// Finds the user's line with the operation that a plugin's compiler refuses.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/graph/locate.hpp"

namespace meshtensor::pjrt {

/// The line of the text that a compiler's message names first, `-:412:6: …` or `source_line=412`, or 0 if there is
/// none.
inline int line_in(std::string_view says) {
  for (std::string_view const before : {std::string_view("-:"), std::string_view("source_line=")})
    for (std::size_t at = 0; (at = says.find(before, at)) != says.npos;) {
      at += before.size();
      int line = 0;
      auto const [end, problem] = std::from_chars(says.data() + at, says.data() + says.size(), line);
      bool const more = end != says.data() + says.size();
      if (problem == std::errc{} && line > 0 && (before.size() > 2 || (more && *end == ':'))) return line;
    }
  return 0;
}

/// Throws a plugin's message about a text again, with the operation for which the line was written. Returns if the
/// message names no line. `nodes` has the node of each line.
///
/// errors  R72
inline void refuse(error const& said, module const& m, std::vector<node_id> const& nodes, std::string const& plugin) {
  std::string const words = said.sentence();
  int const line = line_in(words);
  if (line == 0 || static_cast<std::size_t>(line) > nodes.size()) return;
  node_id const n = nodes[static_cast<std::size_t>(line) - 1];
  if (n == id{no_id}) return;
  diagnostic where{};
  add_operation(where, m, m.nodes[n]);
  locate(where, m, m.nodes[n]);
  std::size_t const begins = std::min(words.find("says: "), words.size());
  std::string_view about = std::string_view(words).substr(begins == words.size() ? 0 : begins + 6);
  about = about.substr(0, about.find('\n'));
  throw error("R72", {"the PJRT plugin '", plugin, "' does not take ", where.view(), ": ", about});
}

}  // namespace meshtensor::pjrt
