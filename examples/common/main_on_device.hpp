// SPDX-License-Identifier: Apache-2.0
// The main function of an example whose only option of its own is `--device NAME`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <meshtensor/job/main.hpp>

#include "built_devices.hpp"

namespace examples {

/// An example without options but `--device`.
struct no_options {
  std::string operator()(std::vector<std::string>&) const { return ""; }
};

/// Runs `f(job, words, std::type_identity<Device>())`, which returns the exit code. `words` has the `least` to `most`
/// words beside the options. --help shows `usage` in one line, and `about` below it. `take_own` removes further options
/// from the words, and returns a sentence about a mistake, or an empty text.
template <class First = meshtensor::default_device, class F, class TakeOwn = no_options>
int main_on_device(int argc, char** argv, std::string const& usage, std::string const& about, std::size_t least,
                   std::size_t most, F const& f, TakeOwn const& take_own = {}) {
  auto const program = [&](meshtensor::job const& job, meshtensor::program_arguments const& arguments) {
    device_words words;
    std::vector<std::string> rest(arguments.begin(), arguments.end());
    std::string mistake = take_own(rest);
    if (mistake.empty()) mistake = read_device_words(rest, least, most, words);
    if (!mistake.empty()) {
      meshtensor::progress(job, "{0}: {1}; {0} --help shows how to call it\n",
                           std::filesystem::path(argv[0]).filename().string(), mistake);
      return 2;
    }
    if (words.device == "list") return meshtensor::print(job, "{}", list_of_devices(built_names<First>())), 0;
    return on_device<First>(words.device, [&](auto device) { return f(job, words.others, device); });
  };
  return meshtensor::run_main(argc, argv, program,
                              usage + (usage.empty() ? "" : " ") + "[--device NAME]\n" + about +
                                  "NAME is cpu, reference, cuda, pjrt, or pjrt:PATH with a plugin; list prints what "
                                  "is here.");
}
template <class First = meshtensor::default_device, class F>
int main_on_device(int argc, char** argv, F const& f) {
  return main_on_device<First>(argc, argv, "", "", 0, 0,
                               [&](meshtensor::job const& job, auto const&, auto device) { return f(job, device); });
}

}  // namespace examples
