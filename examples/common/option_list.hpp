// SPDX-License-Identifier: Apache-2.0
// Options that the command lines of the examples share.
#pragma once

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace examples {

/// `data=2,model=2`
inline bool read_mesh(std::string_view text, std::map<std::string, std::int64_t>& mesh) {
  while (!text.empty()) {
    std::string_view const part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    auto const equals = part.find('=');
    if (equals == part.npos) return false;
    std::string_view const axis = part.substr(0, equals), number = part.substr(equals + 1);
    std::int64_t n = 0;
    auto const [end, problem] = std::from_chars(number.begin(), number.end(), n);
    if ((axis != "data" && axis != "model") || problem != std::errc{} || end != number.end() || n < 1 || n > 1 << 20 ||
        !mesh.emplace(axis, n).second)
      return false;
  }
  return true;
}

/// Accepts numbers in a range and refuses others in a sentence; adds nothing to the list of options.
inline CLI::Validator between(double least, double greatest) {
  auto const finding = [=](std::string& text) {
    double n = 0;
    auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
    bool const good = problem == std::errc{} && end == text.data() + text.size() && n >= least && n <= greatest;
    return good ? std::string()
                : "'" + text + "' is not a number from " + CLI::detail::to_string(least) + " to " +
                      CLI::detail::to_string(greatest);
  };
  return CLI::Validator(finding, "");
}

/// Adds the options of a group; shows defaults, except empty ones.
struct option_list {
  CLI::App& app;
  std::string group = "Options";

  template <class T>
  void operator()(char const* flag, T& into, char const* what, char const* help, CLI::Validator const& check = {}) {
    auto* const option = app.add_option(flag, into, help)->type_name(what)->check(check)->group(group);
    if (into != T{}) option->capture_default_str();
  }
};

}  // namespace examples
