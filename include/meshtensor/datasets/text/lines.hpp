// SPDX-License-Identifier: Apache-2.0
// Reads a text as lines, one sentence each.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/base/utf8.hpp"
#include "meshtensor/datasets/packed.hpp"
#include "meshtensor/datasets/text/text.hpp"

namespace meshtensor::datasets {

/// The lines of a UTF-8 text without their ends, which are `\n` or `\r\n`. The last line may lack an end. A byte order
/// mark is dropped. `file` is the name in error sentences.
///
/// errors  R51 it is not UTF-8
inline std::vector<std::string> lines_of(std::string_view text, std::string const& file) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::size_t const end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (std::size_t const fault = first_not_utf8(line); fault != line.npos)
      throw error("R51", {"line ", lines.size() + 1, " of '", file, "' is not UTF-8 from its byte ", fault + 1,
                          " on: convert the file, as iconv -f ISO-8859-1 -t UTF-8 does if it is Latin-1"});
    lines.emplace_back(line);
  }
  return lines;
}

/// The lines of a UTF-8 file, which may be packed by gzip if its name ends in .gz.
///
/// errors  R40 it cannot be read, or is empty; R51 it is not UTF-8; R52 it cannot be unpacked, or this program was
/// built without zlib
inline std::vector<std::string> read_lines(std::filesystem::path const& file) {
  std::vector<std::uint8_t> const bytes = unpacked_by_name(read_bytes(file), file);
  auto lines = lines_of({reinterpret_cast<char const*>(bytes.data()), bytes.size()}, file.string());
  if (lines.empty()) throw error("R40", {"the text '", file.string(), "' is empty: there is nothing to learn from"});
  return lines;
}

}  // namespace meshtensor::datasets
