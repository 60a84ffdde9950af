// SPDX-License-Identifier: Apache-2.0
// Opens the files that hold values when they are first read, and keeps them open.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meshtensor/io/checkpoint/block_check.hpp"
#include "meshtensor/io/checkpoint/index.hpp"
#include "meshtensor/io/safetensors.hpp"

namespace meshtensor::io {

/// A value, and the name of the tensor that holds a block of it in each of its files.
struct named_value {
  saved_value value;
  std::string tensor;
  /// The names of the tensors, if each block is a tensor of its own, which lacks the first dim.
  std::vector<std::string> slices = {};
};

/// The path of a file, and its entry in the index if it has one.
struct file_location {
  std::string path;
  std::optional<saved_file> known;
};

/// The files that hold values. They are opened by their indices.
///
/// errors  C02 a file cannot be read; C03 it lacks something that it must have; C05 it is not the file that was saved
class saved_files {
 public:
  struct opened_file {
    file bytes;
    safetensors_header header;
  };

  saved_files(std::vector<file_location> where, file_opener by_path)
      : where_(std::move(where)), by_path_(std::move(by_path)), open_(where_.size()) {}

  std::size_t count() const { return where_.size(); }
  /// Whether these are the files of a checkpoint, with known sizes and checksums.
  bool are_known() const { return !where_.empty() && where_[0].known; }
  void close() {
    for (auto& f : open_) f.reset();
  }
  /// A file whose header has been read. Its size and its header are checked if the index gives them.
  opened_file const& open(std::size_t f) {
    if (!open_[f]) {
      file_location const& w = where_[f];
      file opening = by_path_(w.path);
      if (w.known && opening.size() != w.known->bytes)
        throw error("C05", {"'", w.path, "' is damaged: it has ", opening.size(), " bytes, not the ", w.known->bytes,
                            " that were written"});
      std::string const head = header_bytes(opening);
      if (w.known && checksum_of(head) != w.known->header)
        throw error("C05", {"'", w.path, "' is damaged: its header, the bytes 0 to ", head.size(),
                            ", is not the one that was written"});
      safetensors_header header = parse_safetensors(std::string_view(head).substr(8), opening.size(), w.path);
      open_[f] = std::make_unique<opened_file>(opened_file{std::move(opening), std::move(header)});
    }
    return *open_[f];
  }
  /// The position of a block. errors C03 it is missing
  block_in_file find(named_value const& v, std::size_t block) {
    auto const number = static_cast<std::size_t>(v.value.files[block]);
    opened_file const& f = open(number);
    std::string const& label = v.slices.empty() ? v.tensor : v.slices[block];
    auto const found = f.header.tensors.find(label);
    saved_block const b = v.value.block(block);
    std::int64_t const bytes = v.value.bytes_of(b);
    if (found == f.header.tensors.end() || found->second.stored != v.value.stored ||
        !std::equal(found->second.extents.begin(), found->second.extents.end(), b.extent + (v.slices.empty() ? 0 : 1),
                    b.extent + v.value.dims.size()))
      throw error("C03", {"'", f.bytes.path(), "' has no tensor '", label, "' of this dtype and shape"});
    block_in_file place{f.bytes, f.header.bytes + found->second.begin, bytes, *v.value.stored->type, {}};
    if (!where_[number].known) return place;
    auto const checksums = f.header.metadata.find("xxh3:" + v.tensor);
    if (checksums == f.header.metadata.end() ||
        static_cast<std::int64_t>(checksums->second.size()) != 16 * pieces_of(bytes))
      throw error("C03", {"'", f.bytes.path(), "' has no checksums of '", v.tensor, "'"});
    place.checksums = checksums->second;
    return place;
  }

 private:
  std::vector<file_location> where_;
  file_opener by_path_;
  std::vector<std::unique_ptr<opened_file>> open_;
};

}  // namespace meshtensor::io
