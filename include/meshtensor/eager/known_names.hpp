// SPDX-License-Identifier: Apache-2.0
// Refuses names that a program in an eager scope does not have. The compiler cannot do it, because the scope traces the
// program at run time.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/suggest.hpp"
#include "meshtensor/eager/eager_state.hpp"
#include "meshtensor/run/feed.hpp"

namespace meshtensor::detail {

inline void require_known(char const* code, char const* before, std::string const& word, char const* after,
                          std::vector<std::string> const& known) {
  if (std::ranges::find(known, word) != known.end()) return;
  throw error(code, {before, word, after, did_you_mean(word, known)});
}
inline std::vector<std::string> variables_of(module const& m) {
  std::vector<std::string> all;
  for (int i = 0; i < m.variable_count; ++i) all.push_back(path_text(m, m.variables[i].path));
  return all;
}

/// errors  R07 a program has no number of this name
template <name Label>
void require_known(module const& m, set_number<Label> const&) {
  std::vector<std::string> known{"seed"};
  for (int i = 0; i < m.number_count; ++i)
    if (m.numbers[i].kind == number_row::named) known.push_back(m.names[m.numbers[i].first].text());
  require_known("R07", "the program has no number '", Label.text(), "'", known);
}
inline void require_input(module const& m, std::string const& label) {
  std::vector<std::string> known;
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == primitive::input) known.push_back(m.names[name_of(m.nodes[i])].text());
  require_known("R02", "the program has no input '", label, "'", known);
}
/// errors  R02 a program has no input of this name
template <name Label, class T>
void require_known(module const& m, fed_elements<Label, T> const&) {
  require_input(m, Label.text());
}
template <name Label, class T, class Dims>
void require_known(module const& m, fed_array<Label, T, Dims> const&) {
  require_input(m, Label.text());
}
/// Other arguments have no names of a program.
template <class T>
void require_known(module const&, T const&) {}

/// Requires that each assigned value belongs to a variable of `program`, of the scope's own nodes, of an earlier
/// program or of the store. It discards a value that does not, so that the scope can go on.
///
/// errors  R13 there is such a value
inline void require_variables(eager_state& state, module const& program, module const& own) {
  std::vector<std::string> const known = variables_of(program), others = variables_of(own);
  for (std::string const& path : std::set<std::string>(state.unread)) {
    if (state.knows(path) || std::ranges::find(others, path) != others.end()) continue;
    if (std::ranges::find(known, path) != known.end()) continue;
    state.unread.erase(path), state.variables.erase(path);
    require_known("R13", "a value was assigned to '", path, "', but the program has no such variable", known);
  }
}

}  // namespace meshtensor::detail
