// SPDX-License-Identifier: Apache-2.0
// The checksum against the examples of RFC 3720, appendix B.4.
#include "meshtensor/base/crc32c.hpp"

#include <doctest/doctest.h>

#include <string>

namespace mt = meshtensor;

TEST_CASE("known answers") {
  static_assert(mt::crc32c("123456789") == 0xe3069283u);
  static_assert(mt::crc32c("") == 0);
  std::string rising, falling;
  for (char c = 0; c < 32; ++c) rising += c, falling += static_cast<char>(31 - c);
  CHECK(mt::crc32c(std::string(32, '\0')) == 0x8a9136aau);
  CHECK(mt::crc32c(std::string(32, '\xff')) == 0x62a8ab43u);
  CHECK(mt::crc32c(rising) == 0x46dd794eu);
  CHECK(mt::crc32c(falling) == 0x113fdb5cu);
}
