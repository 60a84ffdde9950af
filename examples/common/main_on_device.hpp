// SPDX-License-Identifier: Apache-2.0
// The main function of an example whose only option is `--device NAME`.
#pragma once

#include <meshtensor/job/main.hpp>

#include "built_devices.hpp"

namespace examples {

/// Runs `f(job, words, std::type_identity<Device>())`, which returns the exit code; `words` are those beside the
/// option, at least and at most so many.
template <class First = meshtensor::default_device, class F>
int main_on_device(int argc, char** argv, char const* usage, std::size_t least, std::size_t most, F const& f) {
  return meshtensor::run_main(argc, argv, [&](meshtensor::job const& job) {
    device_words words;
    if (auto const ending = read_device_words(argc, argv, usage, least, most, words)) {
      if (ending->code == 0) meshtensor::print(job, "{}", ending->words);
      else meshtensor::progress(job, "{}", ending->words);
      return ending->code;
    }
    if (words.device == "list") return meshtensor::print(job, "{}", list_of_devices(built_names<First>())), 0;
    return on_device<First>(words.device, [&](auto device) { return f(job, words.others, device); });
  });
}
template <class First = meshtensor::default_device, class F>
int main_on_device(int argc, char** argv, F const& f) {
  return main_on_device<First>(argc, argv, "[--device NAME]", 0, 0,
                               [&](meshtensor::job const& job, auto const&, auto device) { return f(job, device); });
}

}  // namespace examples
