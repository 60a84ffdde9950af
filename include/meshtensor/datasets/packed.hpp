// SPDX-License-Identifier: Apache-2.0
// Reads plain files and gzip files. A file is unpacked if its name ends in `.gz`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/io/file.hpp"

#if MESHTENSOR_WITH_ZLIB
#  include "meshtensor/datasets/gzip.hpp"
#endif

namespace meshtensor::datasets {

/// The bytes of a file, unpacked if its name ends in .gz.
///
/// errors  R52 they cannot be unpacked, or this program was built without zlib
inline std::vector<std::uint8_t> unpacked_by_name(std::vector<std::uint8_t> bytes, std::filesystem::path const& file) {
  if (file.extension() != ".gz") return bytes;
#if MESHTENSOR_WITH_ZLIB
  return unpacked(bytes, file.string());
#else
  throw error("R52", {"'", file.string(), "' is packed by gzip, but this program was built without zlib: unpack it, ",
                      "or link meshtensor::zlib (without CMake: -DMESHTENSOR_WITH_ZLIB=1 and -lz)"});
#endif
}

/// Reads `bytes` bytes of a file from `offset` on. errors C02
inline std::vector<std::uint8_t> read_part(io::file const& file, std::int64_t offset, std::int64_t bytes) {
  std::vector<std::uint8_t> r(static_cast<std::size_t>(bytes));
  file.read(offset, std::as_writable_bytes(std::span(r)));
  return r;
}

/// Reads a whole file and unpacks it if its name ends in .gz.
///
/// errors  C02 it cannot be read; R52 it cannot be unpacked
inline std::vector<std::uint8_t> read_unpacked(std::filesystem::path const& path) {
  io::file const file(path.string());
  return unpacked_by_name(read_part(file, 0, file.size()), path);
}

}  // namespace meshtensor::datasets
