// SPDX-License-Identifier: Apache-2.0
// Texts of any bytes: lines, UTF-8 or a sentence that names the fault; what gzip has packed, or has not.
//
// needs: zlib
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "meshtensor/datasets/gzip.hpp"
#include "meshtensor/datasets/text/lines.hpp"

namespace mt = meshtensor;

namespace {

void require_that(bool holds) {
  if (!holds) std::abort();
}

/// Lines put together are the text, but for the ends of lines.
void check_lines(std::string_view text) {
  try {
    std::string again;
    for (std::string const& line : mt::datasets::lines_of(text, "text")) {
      require_that(line.find('\n') == line.npos && mt::first_not_utf8(line) == line.npos);
      again += line + '\n';
    }
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    std::string wanted;
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] != '\r' || (i + 1 < text.size() && text[i + 1] != '\n')) wanted += text[i];
    if (!text.empty() && !text.ends_with('\n')) wanted += '\n';
    require_that(again == wanted);
  } catch (mt::error const& e) { require_that(e.code() == "R51" && mt::first_not_utf8(text) != text.npos); }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  check_lines({reinterpret_cast<char const*>(data), size});
  try {
    auto const bytes = mt::datasets::unpacked({data, size}, "text.gz");
    check_lines({reinterpret_cast<char const*>(bytes.data()), bytes.size()});
  } catch (mt::error const& e) { require_that(e.code() == "R52"); }
  return 0;
}
