// SPDX-License-Identifier: Apache-2.0
// Unpacks gzip files with zlib. It needs the component zlib.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"

namespace meshtensor::datasets {

/// The unpacked bytes. If the file has several members, because gzip was run several times, their bytes follow each
/// other. `file` is the name in error sentences.
///
/// errors  R52 they are not gzip's format, or end too soon
inline std::vector<std::uint8_t> unpacked(std::span<std::uint8_t const> packed, std::string const& file) {
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();  // 16: gzip's header only
  struct last_call {
    z_stream& of;
    ~last_call() { inflateEnd(&of); }
  } const at_the_end{stream};

  std::vector<std::uint8_t> bytes, room(1 << 16);
  for (std::size_t at = 0;;) {
    std::size_t const most = std::min<std::size_t>(packed.size() - at, 1 << 20);  // zlib counts in 32 bits
    stream.next_in = const_cast<Bytef*>(packed.data() + at), stream.avail_in = static_cast<uInt>(most);
    stream.next_out = room.data(), stream.avail_out = static_cast<uInt>(room.size());
    int const state = inflate(&stream, Z_NO_FLUSH);
    at += most - stream.avail_in;
    bytes.insert(bytes.end(), room.begin(), room.end() - stream.avail_out);
    if (state == Z_STREAM_END) {
      if (at == packed.size()) return bytes;
      inflateReset(&stream);
    } else if (state == Z_BUF_ERROR) {
      throw error("R52", {"'", file, "' ends in the middle of what gzip has packed: copy it again"});
    } else if (state != Z_OK) {
      throw error("R52", {"'", file, "' cannot be unpacked, ", stream.msg == nullptr ? "out of memory" : stream.msg,
                          ": was it packed by gzip?"});
    }
  }
}

}  // namespace meshtensor::datasets
