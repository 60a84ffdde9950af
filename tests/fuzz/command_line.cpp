// SPDX-License-Identifier: Apache-2.0
// The Transformer example's command line, of any words: options, or an ending with its words.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "../../examples/transformer/command_line.cpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::vector<std::string> words{"transformer"};
  bool between = true;
  for (std::size_t i = 0; i < size; ++i) {
    char const c = static_cast<char>(data[i]);
    if (c == '\0' || c == '\n') {
      between = true;
    } else {
      if (between) words.emplace_back();
      words.back() += c, between = false;
    }
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  transformer::options o;
  auto const ending = transformer::read_command_line(static_cast<int>(words.size()), arguments.data(), o);
  if (ending) {
    if (ending->words.empty()) std::abort();
    return 0;
  }
  bool good = o.length >= 1 && o.layers >= 1 && o.d_model >= 1 && o.evaluations >= 1 && o.steps >= 0;
  good = good && o.dropout >= 0 && o.dropout < 1 && o.temperature >= 0 && std::isfinite(o.learning_rate);
  for (auto const& [axis, extent] : o.mesh) good = good && (axis == "data" || axis == "model") && extent >= 1;
  if (!good) std::abort();
  return 0;
}
