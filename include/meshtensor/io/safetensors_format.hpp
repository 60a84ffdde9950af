// SPDX-License-Identifier: Apache-2.0
// Makes the header of a new safetensors file. The header safetensors.hpp reads it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/json_text.hpp"
#include "meshtensor/base/utf8.hpp"
#include "meshtensor/io/storage.hpp"

namespace meshtensor::io {

/// A tensor to be written, and its position in the file.
struct new_tensor {
  std::string label;
  storage const* stored;
  std::vector<std::int64_t> extents;
  std::string beside = {};  // of a slice: the name of the first one, behind which it stands …
  std::int64_t slice = 0;   // … in this order

  std::string const& place() const { return beside.empty() ? label : beside; }
  std::int64_t bytes() const {
    std::int64_t n = stored->bytes;
    for (std::int64_t const e : extents) n *= e;
    return n;
  }
};

/// Sorts tensors so that all are aligned, and returns the header of a file with the tensors in this order. `path` is
/// the file's name in error sentences.
///
/// errors  C13 a name that such a file cannot have
inline std::string format_safetensors(std::vector<new_tensor>& tensors,
                                      std::map<std::string, std::string> const& metadata, std::string const& path) {
  std::sort(tensors.begin(), tensors.end(), [](new_tensor const& a, new_tensor const& b) {
    if (a.stored->bytes != b.stored->bytes) return a.stored->bytes > b.stored->bytes;
    return a.place() != b.place() ? a.place() < b.place() : a.slice < b.slice;
  });
  std::string text = "{\"__metadata__\":{";
  for (char const* comma = ""; auto const& [key, value] : metadata) {
    if (!is_utf8(key) || !is_utf8(value)) throw error("C13", {"'", path, "' cannot be written: metadata is not UTF-8"});
    text += comma + json_text(key) + ":" + json_text(value), comma = ",";
  }
  text += "}";
  std::int64_t at = 0;
  for (new_tensor const& t : tensors) {
    if (!is_utf8(t.label) || t.label == "__metadata__")
      throw error("C13", {"'", path, "' cannot be written: a tensor cannot be called ", json_text(t.label)});
    text += "," + json_text(t.label) + ":{\"dtype\":\"" + t.stored->label + "\",\"shape\":[";
    for (char const* comma = ""; std::int64_t const n : t.extents) {
      text += comma;
      text += std::to_string(n), comma = ",";
    }
    text += "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(at + t.bytes()) + "]}";
    at += t.bytes();
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string head;
  for (int i = 0; i < 8; ++i) head += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return head + text;
}

}  // namespace meshtensor::io
