// SPDX-License-Identifier: Apache-2.0
// Any bytes as a tar archive, as they are and with checksums made right: files of different names in it, one behind the
// other, and links to them; or a sentence.
#include <cstdio>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "fuzz.hpp"
#include "meshtensor/datasets/image/tar_index.hpp"

namespace mt = meshtensor;

namespace {

void check(std::span<std::uint8_t const> bytes) {
  mt::io::file const archive("archive", std::as_bytes(bytes));
  try {
    std::map<std::int64_t, std::int64_t> files;
    std::set<std::string> names;
    for (mt::datasets::tar_member const& m : mt::datasets::tar_members(archive)) {
      fuzz::require(names.insert(m.name).second);
      if (!m.link.empty()) {
        fuzz::require(m.at == 0 && m.bytes == 0);
        continue;
      }
      fuzz::require(m.at % 512 == 0 && m.bytes >= 0 && m.bytes <= archive.size() - m.at);
      fuzz::require(std::ssize(mt::datasets::read_part(archive, m.at, m.bytes)) == m.bytes);
      fuzz::require(files.try_emplace(m.at, m.bytes).first->second == m.bytes);
    }
    std::int64_t end = 0;
    for (auto const& [at, length] : files) {
      fuzz::require(at >= end + 512);
      end = at + length;
    }
  } catch (mt::error const& e) { fuzz::require(e.code() == "R63"); }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  check({data, size});
  std::vector<std::uint8_t> bytes(data, data + size);
  for (std::size_t at = 0; at + 512 <= size; at += 512) {  // of every block that may be a header
    if (bytes[at] == 0) continue;
    unsigned sum = 8 * ' ';
    for (std::size_t i = 0; i < 512; ++i) sum += i < 148 || i >= 156 ? bytes[at + i] : 0;
    std::snprintf(reinterpret_cast<char*>(&bytes[at + 148]), 8, "%06o", sum);
  }
  check(bytes);
  return 0;
}
