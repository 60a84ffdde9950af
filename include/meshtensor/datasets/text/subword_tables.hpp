// SPDX-License-Identifier: Apache-2.0
// Checks the normalization tables of a sentencepiece model. The library trusts them, so a damaged table would make it
// read anywhere in memory.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "meshtensor/base/protobuf.hpp"

namespace meshtensor::datasets::detail {

/// A trie over bytes in the layout of Darts-clone. The transition from unit i by byte c is an exclusive or: it leads to
/// unit i ^ offset ^ c, if that unit has the label c.
///
/// Source: Yata, Darts-clone; Aoe, An efficient digital search algorithm by using a double-array structure, 1989.
class double_array {
 public:
  explicit double_array(std::string_view bytes) : bytes_(bytes), size_(bytes.size() / 4) {}

  /// Whether every walk stays inside the table, ends, and meets at most `most_values` values, all of them below
  /// `limit`.
  bool sound(std::size_t limit, int most_values) const {
    if (size_ == 0 || size_ > std::size_t{1} << 31) return false;
    std::vector<int> values(size_, unseen);  // the most values on a walk from each unit
    struct place {
      std::uint32_t unit, byte;
    };
    std::vector<place> walk{{0, 0}};
    values[0] = on_walk;
    while (!walk.empty()) {
      auto& [i, byte] = walk.back();
      std::uint32_t const base = i ^ offset(i);
      if (byte == 0 && ((base | 0xffu) >= size_ || (has_value(i) && value(base) >= limit))) return false;
      while (byte < 256 && (label(base ^ byte) != byte || values[base ^ byte] >= 0)) ++byte;
      if (byte < 256) {
        std::uint32_t const next = base ^ byte;
        if (values[next] == on_walk) return false;
        values[next] = on_walk, walk.push_back({next, 0});
        continue;
      }
      int most = 0;
      for (std::uint32_t c = 0; c < 256; ++c)
        if (label(base ^ c) == c && values[base ^ c] > most) most = values[base ^ c];
      values[i] = most + (has_value(i) ? 1 : 0);
      if (values[i] > most_values) return false;
      walk.pop_back();
    }
    return true;
  }

 private:
  static constexpr int unseen = -2, on_walk = -1;
  std::uint32_t unit(std::uint32_t i) const {
    auto const byte = [&](std::size_t k) { return std::uint32_t{static_cast<unsigned char>(bytes_[i * 4ul + k])}; };
    return byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
  }
  std::uint32_t label(std::uint32_t i) const { return unit(i) & 0x800000ffu; }  // a value's label is no byte
  std::uint32_t value(std::uint32_t i) const { return unit(i) & 0x7fffffffu; }
  std::uint32_t offset(std::uint32_t i) const { return unit(i) >> 10 << ((unit(i) & 0x200u) >> 6); }
  bool has_value(std::uint32_t i) const { return (unit(i) & 0x100u) != 0; }

  std::string_view bytes_;
  std::size_t size_;
};

/// Whether a table of replacements is sound. It consists of the trie's size, the trie, and the zero-terminated texts to
/// which the trie's values point.
inline bool sound_table(std::string_view table) {
  if (table.empty()) return true;  // no replacements
  if (table.size() <= 4 || table.back() != '\0') return false;
  std::size_t size = 0;
  for (std::size_t i = 4; i-- > 0;) size = size << 8 | static_cast<unsigned char>(table[i]);
  if (size >= table.size() - 4) return false;
  constexpr int most = 32;  // sentencepiece's limit on the replacements at one place
  return double_array(table.substr(4, size)).sound(table.size() - 4 - size, most);
}

/// Whether the tables of a model are sound. In sentencepiece_model.proto, they are field 2 of the fields 3 and 5.
inline bool sound_model(std::string_view model) {
  return meshtensor::detail::each_field(model, [](std::uint64_t field, std::string_view part) {
    if (field != 3 && field != 5) return true;
    return meshtensor::detail::each_field(
        part, [](std::uint64_t inner, std::string_view table) { return inner != 2 || sound_table(table); });
  });
}

}  // namespace meshtensor::datasets::detail
