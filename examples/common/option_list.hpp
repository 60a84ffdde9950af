// SPDX-License-Identifier: Apache-2.0
// Declares and reads the options of a command line, for all examples with options.
#pragma once

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device_name.hpp"
#include "ending.hpp"
#include "machine_rates.hpp"

namespace examples {

/// Reads `data=2,model=2` into an empty mesh. If the text is empty, the mesh stays empty.
inline void read_mesh(std::string_view text, std::map<std::string, std::int64_t>& mesh,
                      std::vector<std::string> const& axes = {"data", "model"}) {
  std::string like;
  for (std::string const& axis : axes) like += (like.empty() ? "" : ",") + axis + "=2";
  CLI::ValidationError const refused("--mesh", "'" + std::string(text) + "' is not like " + like);
  while (!text.empty()) {
    std::string_view const part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    auto const equals = part.find('=');
    if (equals == part.npos) throw refused;
    std::string const axis(part.substr(0, equals));
    std::string_view const number = part.substr(equals + 1);
    std::int64_t n = 0;
    auto const [end, problem] = std::from_chars(number.begin(), number.end(), n);
    if (std::find(axes.begin(), axes.end(), axis) == axes.end() || problem != std::errc{} || end != number.end() ||
        n < 1 || n > 1 << 20 || !mesh.emplace(axis, n).second)
      throw refused;
  }
}

/// Accepts numbers in a range and refuses others in a sentence. --help does not show the range.
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

/// Adds options to a group. --help shows their defaults, except empty ones.
struct option_list {
  CLI::App& app;
  std::string group = "Options";

  template <class T>
  CLI::Option* operator()(char const* name, T& into, char const* what, char const* help,
                          CLI::Validator const& check = {}) {
    auto* const option = app.add_option(name, into, help)->type_name(what)->check(check)->group(group);
    return into != T{} ? option->capture_default_str() : option;
  }
  CLI::Option* choice(char const* name, std::string& into, std::vector<std::string> const& of, char const* help) {
    return app.add_option(name, into, help)->check(CLI::IsMember(of))->capture_default_str()->group(group);
  }
  CLI::Option* flag(char const* name, bool& into, char const* help) {
    return app.add_flag(name, into, help)->group(group);
  }
  /// Adds `--device`, whose name examples::on_device takes.
  CLI::Option* device(std::string& into) {
    return app
        .add_option("--device", into,
                    "What runs the steps: cpu, reference, cuda, pjrt, or pjrt:PATH with a plugin; list prints what is "
                    "here (cpu)")
        ->type_name("DEVICE")
        ->check(CLI::Validator([](std::string& text) { return refused_device_name(text); }, ""))
        ->group(group);
  }
  /// Adds `--explain`, which sets `into` to "plan". `--explain=instructions` and `--explain=html` set it to that value.
  CLI::Option* explain(std::string& into) {
    return app
        .add_flag(
            "--explain{plan}", into,
            "Print what each rank stores, exchanges and computes, or (=instructions) the list of what it does in a "
            "step, or (=html) a page for a browser with all of it, then stop")
        ->check(CLI::IsMember({"plan", "instructions", "html"}))
        ->group(group);
  }
  /// Adds `--rates`, for the page of `--explain=html`. given_rates reads them.
  CLI::Option* rates(std::string& into) {
    return app
        .add_option("--rates", into,
                    "Rates of a rank in a second, for the times on the page of --explain=html, as in "
                    "flops=2e14,memory=2e12,network=25e9,latency=5e-6 (measured here)")
        ->type_name("NAME=R,..")
        ->check(CLI::Validator(
            [](std::string& text) {
              machine_rates unused;
              return read_rates(text, unused)
                         ? std::string()
                         : "'" + text + "' is not like flops=2e14,memory=2e12,network=25e9,latency=5e-6";
            },
            ""))
        ->group(group);
  }
};

/// Parses a command line, then calls `check`, which may throw a CLI::ValidationError. Returns an ending after --help,
/// --version or a mistake.
template <class Check>
std::optional<ending> parse(CLI::App& app, int argc, char** argv, Check const& check) {
  app.set_version_flag("--version", version());
  try {
    app.parse(argc, argv);
    check();
    return {};
  } catch (CLI::CallForVersion const& e) {
    return ending{0, std::string(e.what()) + "\n"};
  } catch (CLI::ParseError const& e) {
    if (e.get_exit_code() == 0) return ending{0, app.help()};
    return ending{2, app.get_name() + ": " + e.what() + "; " + app.get_name() + " --help lists the options\n"};
  }
}

}  // namespace examples
