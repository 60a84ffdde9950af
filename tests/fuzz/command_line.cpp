// SPDX-License-Identifier: Apache-2.0
// The command lines of two examples, the Transformer and the translator, of any words: options, or an ending with its
// words. One reader reads them all, for declaring the options takes longer than reading a few words.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "../../examples/transformer/command_line.cpp"
#include "../../examples/translate/command_line.cpp"

namespace {

bool is_on_mesh(std::map<std::string, std::int64_t> const& mesh) {
  bool good = true;
  for (auto const& [axis, extent] : mesh) good = good && (axis == "data" || axis == "model") && extent >= 1;
  return good;
}
bool is_good(transformer::options const& o) {
  return o.length >= 1 && o.layers >= 1 && o.d_model >= 1 && o.evaluations >= 1 && o.steps >= 0 && o.dropout >= 0 &&
         o.dropout < 1 && o.temperature >= 0 && std::isfinite(o.learning_rate) && is_on_mesh(o.mesh);
}
bool is_good(translation::options const& o) {
  return o.pieces >= 1 && o.longest >= 1 && o.batch_tokens >= 1 && o.buckets >= 1 && o.length_multiple >= 1 &&
         o.microbatches >= 1 && o.every >= 1 && o.beam >= 1 && o.limit >= 1 && o.sentences >= 1 && o.top_k >= 1 &&
         o.dropout >= 0 && o.dropout < 1 && o.smoothing >= 0 && o.smoothing < 1 && o.temperature > 0 && o.top_p > 0 &&
         std::isfinite(o.learning_rate) && std::isfinite(o.clip_norm) && std::isfinite(o.length_penalty) &&
         is_on_mesh(o.mesh) && (!o.data.empty() || !o.trains());
}

/// Gives options that the program can take, or an ending that says why not.
template <class CommandLine>
void check(std::vector<char*> arguments) {
  static CommandLine reader;
  auto const ending = reader.read(static_cast<int>(arguments.size()) - 1, arguments.data());
  if (ending ? ending->words.empty() : !is_good(reader.o)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::vector<std::string> words{"program"};
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
  check<transformer::command_line>(arguments);
  check<translation::command_line>(arguments);
  return 0;
}
