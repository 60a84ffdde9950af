// SPDX-License-Identifier: Apache-2.0
// Models of any bytes: a vocabulary, or a sentence; and a vocabulary, however odd, cuts and joins any text.
//
// needs: sentencepiece
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/datasets/text/learn_subwords.hpp"

namespace mt = meshtensor;

namespace {

/// A model whose table by which text is normalized is what the fuzzer gives: few of its own reach one.
std::string with_table(std::string_view table) {
  static std::string const small = [] {
    std::vector<std::string> const text(50, "a bad cab bade a dab");
    return mt::datasets::learn_subwords({text}, {"bpe", 12});
  }();
  std::string pieces;
  mt::detail::each_field(small, [&](std::uint64_t number, std::string_view part) {
    if (number == 1 || number == 2) pieces += mt::detail::message().text(static_cast<int>(number), part).bytes();
    return true;
  });
  return pieces + mt::detail::message().inner(3, mt::detail::message().text(2, table)).bytes();
}

void use(std::string_view model, std::string_view text) {
  try {
    mt::datasets::subwords const s(model, "model");
    for (std::string_view each : {text, std::string_view("a bad \xc3\xa4 \xe4\xb8\xad \xff cab"), std::string_view()}) {
      auto const tokens = s.encode(each);
      if (!std::all_of(tokens.begin(), tokens.end(), [&](std::int32_t t) { return t >= 0 && t < s.size(); }))
        std::abort();
      (void)s.decode(tokens);
    }
  } catch (mt::error const& e) {
    if (e.code() != "R53") std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const bytes(reinterpret_cast<char const*>(data), size);
  use(bytes, bytes.substr(0, 1000));
  use(with_table(bytes), bytes.substr(0, 1000));
  return 0;
}
