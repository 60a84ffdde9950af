// SPDX-License-Identifier: Apache-2.0
// Reads the options that every program has. Each stands for a variable of the environment, such as --mesh for
// MESHTENSOR_MESH.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/suggest.hpp"
#include "meshtensor/mesh/read_axes.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// The arguments of a command line that belong to the program itself.
using program_arguments = std::vector<std::string>;

namespace detail {

struct common_option {
  char const* name;
  char const* variable;  // of the environment, or null if the option ends the program
  char const* value;     // as --help shows it: in brackets if it may be left out, empty if the option takes none
  char const* default_value;
  char const* help;
};
inline constexpr common_option common_options[] = {
    {"--mesh", "MESHTENSOR_MESH", " data=2,model=2", nullptr, "gives sizes to mesh axes that the program leaves open"},
    {"--threads", "MESHTENSOR_THREADS", " N", nullptr, "computes with N threads in each process"},
    {"--explain", "MESHTENSOR_EXPLAIN", "[=WHAT]", "plan",
     "prints the plan of each executable; or pictures, instructions, FILE.html"},
    {"--picture", "MESHTENSOR_PICTURE", " FILE.svg", nullptr, "draws which rank holds which elements"},
    {"--profile", "MESHTENSOR_PROFILE", "", "1", "prints where the time of all steps but the first went"},
    {"--trace", "MESHTENSOR_TRACE", " FILE.json", nullptr,
     "writes the timeline of these steps, for Perfetto or chrome://tracing"},
    {"--version", nullptr, "", nullptr, "prints the version of meshtensor"},
    {"--help", nullptr, "", nullptr, "prints this text"},
};

inline std::string text_of_options(std::string const& program, std::string_view usage, bool takes_arguments) {
  std::string text = "usage: " + program + " [options]" + (usage.empty() ? "" : " ") + std::string(usage) + "\n";
  for (common_option const& o : common_options) {
    std::string const left = "  " + std::string(o.name) + o.value;
    text += left + std::string(26 - left.size(), ' ') + o.help + "\n";
  }
  if (takes_arguments) text += "All arguments after -- belong to the program.\n";
  return text;
}

/// Whether MESHTENSOR_EXPLAIN may have this value.
inline bool is_explanation(std::string_view value) {
  return value == "plan" || value == "1" || value == "pictures" || value == "instructions" || value == "html" ||
         value.ends_with(".html");
}
/// Says why an option cannot have this value. The text is empty if it can.
inline std::string refused_value(common_option const& option, std::string const& value) {
  std::string_view const name = option.name;
  if (value.empty()) return std::string(name) + " needs a value, as in " + option.name + option.value;
  if (name == "--mesh") try {
      read_axes(value, name, [](axis_extent) {});
    } catch (error const& e) { return e.sentence(); }
  if (name == "--threads") {
    int n = 0;
    auto const [end, problem] = std::from_chars(value.data(), value.data() + value.size(), n);
    if (problem != std::errc() || end != value.data() + value.size() || n < 1)
      return "--threads has '" + value + "': write a number of threads, 1 or more";
  }
  if (name == "--explain" && !is_explanation(value))
    return "--explain has '" + value + "': write --explain, =pictures, =instructions, or =FILE.html for a page";
  if (name == "--picture" && !value.ends_with(".svg"))
    return "--picture has '" + value + "': a picture is an SVG image, as in --picture layout.svg";
  return "";
}

/// Whether a word that follows an option is its value. Otherwise it is the next option. A negative number is a value,
/// so that the option can say why it does not take it.
inline bool is_value(std::string_view word) {
  return !word.starts_with('-') || (word.size() > 1 && word[1] >= '0' && word[1] <= '9');
}

/// The requests of a command line. If `code` is not -1, the program prints `text` and ends with this exit code.
struct command_line {
  program_arguments own;
  int code = -1;
  std::string text;
};

/// Reads the arguments up to `--`, and sets the variables of the environment that the options stand for. All other
/// arguments go to the program if it takes any. Otherwise they are refused.
template <class = lazy>
command_line read_command_line(int argc, char** argv, std::string_view usage, bool takes_arguments) {
  command_line result;
  std::string const path = argc > 0 ? argv[0] : "program", program = path.substr(path.rfind('/') + 1);
  auto const refused = [&](std::string const& why) {
    return command_line{{}, 2, program + ": " + why + "; " + program + " --help lists the options\n"};
  };
  program_arguments known;
  for (common_option const& o : common_options) known.push_back(o.name);
  for (int i = 1; i < argc; ++i) {
    std::string const argument = argv[i], name = argument.substr(0, argument.find('='));
    if (argument == "--" && takes_arguments) {
      result.own.insert(result.own.end(), argv + i + 1, argv + argc);
      break;
    }
    if (argument == "--help") return {{}, 0, text_of_options(program, usage, takes_arguments)};
    if (argument == "--version") return {{}, 0, "meshtensor " MESHTENSOR_VERSION "\n"};
    auto const option = std::find(known.begin(), known.end(), name) - known.begin();
    common_option const* const o = option == std::ssize(known) ? nullptr : &common_options[option];
    if (o == nullptr || o->variable == nullptr) {
      if (!takes_arguments) return refused("it has no option '" + argument + "'" + did_you_mean(name, known));
      result.own.push_back(argument);
      continue;
    }
    bool const has_value = name.size() < argument.size();
    if (has_value && *o->value == 0) return refused(name + " takes no value");
    std::string const value = has_value                               ? argument.substr(name.size() + 1)
                              : o->default_value != nullptr           ? o->default_value
                              : i + 1 < argc && is_value(argv[i + 1]) ? argv[++i]
                                                                      : "";
    if (std::string const why = refused_value(*o, value); !why.empty()) return refused(why);
    setenv(o->variable, value.c_str(), 1);
  }
  return result;
}
#if MESHTENSOR_COMPILED
extern template command_line read_command_line<lazy>(int, char**, std::string_view, bool);
#endif

}  // namespace detail
}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
