// SPDX-License-Identifier: Apache-2.0
// Reads the header of a safetensors file. The file begins with eight bytes that give the length of the JSON text behind
// them. This text has the names and positions of the tensors. Their elements follow, dense and row-major, without gaps.
// The format is that of github.com/huggingface/safetensors.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/io/file.hpp"
#include "meshtensor/io/json.hpp"
#include "meshtensor/io/storage.hpp"

namespace meshtensor::io {

/// a * b, or nothing if it does not fit in 63 bits. Neither factor may be negative.
constexpr std::optional<std::int64_t> product(std::optional<std::int64_t> a, std::int64_t b) {
  if (!a || (b != 0 && *a > std::numeric_limits<std::int64_t>::max() / b)) return {};
  return *a * b;
}

struct file_tensor {
  std::string dtype;                // as the file names it
  storage const* stored = nullptr;  // null if the dtype is not known here, so that the size of an element is unknown
  std::vector<std::int64_t> extents;
  std::int64_t begin = 0, end = 0;  // byte range, counted from the end of the header
};
struct safetensors_header {
  std::int64_t bytes = 0;  // size of the header, behind which the elements begin
  std::map<std::string, file_tensor> tensors;
  std::map<std::string, std::string> metadata;
};

namespace detail {

inline void read_tensor(json_reader& r, file_tensor& t) {
  int members = 0;
  r.object([&](std::string const& member) {
    ++members;
    if (member == "dtype") {
      t.dtype = r.string();
      t.stored = storage_of(t.dtype);
    } else if (member == "shape") {
      r.array([&] { t.extents.push_back(r.extent()); });
    } else if (member == "data_offsets") {
      int k = 0;
      r.array([&] { (k++ == 0 ? t.begin : t.end) = r.extent(); });
      if (k != 2) r.refuse("data_offsets are two numbers");
    } else {
      r.refuse("a tensor has dtype, shape and data_offsets, not " + json_text(member));
    }
  });
  if (members != 3) r.refuse("a tensor has dtype, shape and data_offsets");
  std::optional<std::int64_t> bytes = t.stored == nullptr ? 1 : t.stored->bytes;
  for (std::int64_t const n : t.extents) bytes = product(bytes, n);
  if (!bytes || t.begin > t.end || (t.stored != nullptr && t.end - t.begin != *bytes))
    r.refuse("the shape is not that of the bytes from " + std::to_string(t.begin) + " to " + std::to_string(t.end));
}

/// Whether tensors follow each other without gaps and fill `bytes`.
inline bool fill(std::map<std::string, file_tensor> const& tensors, std::int64_t bytes) {
  std::vector<file_tensor const*> order;
  for (auto const& [label, t] : tensors) order.push_back(&t);
  std::sort(order.begin(), order.end(),
            [](auto const* a, auto const* b) { return a->begin != b->begin ? a->begin < b->begin : a->end < b->end; });
  std::int64_t at = 0;
  for (file_tensor const* t : order) {
    if (t->begin != at) return false;
    at = t->end;
  }
  return at == bytes;
}

}  // namespace detail

/// Longer headers are refused before memory is allocated for them, as in the original library.
inline constexpr std::int64_t longest_header = 100'000'000;

/// Parses the header of a file of `file_bytes`. `text` is the JSON, and `path` is the file's name in error sentences.
/// Tensors of dtypes that are not known here are accepted, because a program may want only other tensors of the file.
///
/// errors  C03 it is not a header, or not of a file of this size
inline safetensors_header parse_safetensors(std::string_view text, std::int64_t file_bytes, std::string const& path) {
  std::string const what = "'" + path + "' is not a safetensors file";
  json_reader r(text, "C03", what, 8);
  if (!text.starts_with('{')) r.refuse("'{' was expected");
  safetensors_header h;
  h.bytes = static_cast<std::int64_t>(text.size()) + 8;
  r.object([&](std::string const& label) {
    if (label != "__metadata__") detail::read_tensor(r, h.tensors[label]);
    else if (!r.null()) r.object([&](std::string const& key) { h.metadata.emplace(key, r.string()); });
  });
  r.end();
  if (!detail::fill(h.tensors, file_bytes - h.bytes))
    throw error("C03", {what, ": its tensors leave gaps, overlap or do not end with the file, which has ", file_bytes,
                        " bytes"});
  return h;
}

/// The length of the JSON, from the first eight bytes of a file. errors C03 the file is too short for it, or it exceeds
/// the limit
inline std::int64_t header_length(std::span<std::byte const, 8> first, std::int64_t file_bytes,
                                  std::string const& path) {
  std::uint64_t length = 0;
  for (int i = 8; i-- > 0;) length = length << 8 | std::to_integer<std::uint64_t>(first[static_cast<std::size_t>(i)]);
  if (length > static_cast<std::uint64_t>(std::min(longest_header, file_bytes - 8)))
    throw error("C03",
                {"'", path, "' is not a safetensors file: its header would have ", std::to_string(length),
                 " bytes, but the file has ", file_bytes,
                 length > static_cast<std::uint64_t>(longest_header) ? " and a header at most 100 million" : ""});
  return static_cast<std::int64_t>(length);
}

/// The bytes of a file before its first element. errors C02, C03
inline std::string header_bytes(file const& f) {
  std::byte first[8] = {};
  if (f.size() < 8) throw error("C03", {"'", f.path(), "' is not a safetensors file: it has ", f.size(), " bytes"});
  f.read(0, first);
  std::string all(static_cast<std::size_t>(header_length(first, f.size(), f.path())) + 8, '\0');
  f.read(0, std::as_writable_bytes(std::span(all)));
  return all;
}
inline safetensors_header read_safetensors(file const& f) {
  return parse_safetensors(std::string_view(header_bytes(f)).substr(8), f.size(), f.path());
}

}  // namespace meshtensor::io
