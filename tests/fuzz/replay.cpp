// SPDX-License-Identifier: Apache-2.0
// Gives a fuzzed function every file of the folders that are named, once: what was found stays found, with any
// compiler.
#include <cstdio>

#include "support/folder.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

int main(int argc, char** argv) {
  int inputs = 0;
  for (int i = 1; i < argc; ++i)
    for (auto const& f : std::filesystem::directory_iterator(argv[i])) {
      std::string const bytes = meshtensor_test::content(f.path());
      LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size());
      ++inputs;
    }
  std::printf("%d inputs\n", inputs);
  return inputs == 0;
}
