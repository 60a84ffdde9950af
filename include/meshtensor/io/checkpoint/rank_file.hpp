// SPDX-License-Identifier: Apache-2.0
// Writes one rank's file of a checkpoint: its blocks and their checksums.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/io/checkpoint/block_check.hpp"
#include "meshtensor/io/checkpoint/index.hpp"
#include "meshtensor/io/safetensors_format.hpp"

namespace meshtensor::io {

/// A dense block of a value in memory.
struct block_in_memory {
  std::string label;
  storage const* stored;
  std::vector<std::int64_t> extents;
  std::span<std::byte const> bytes;
};

/// Writes a file, and returns its entry in the index.
///
/// errors  C01 it cannot be written; C09 a block has NaN, unless that is allowed
inline saved_file write_rank_file(std::string const& path, std::vector<block_in_memory> const& blocks, bool nan) {
  std::vector<new_tensor> tensors;
  std::map<std::string, std::span<std::byte const>> bytes;
  std::map<std::string, std::string> metadata;
  for (block_in_memory const& b : blocks) {
    std::int64_t const at = nan ? -1 : first_nan(*b.stored->type, b.bytes);
    if (at >= 0)
      throw error("C09", {"'", path, "' is not written: '", b.label, "' has NaN, first as element ", at,
                          " of this rank's block; the checkpoints before are kept"});
    tensors.push_back({b.label, b.stored, b.extents});
    bytes.emplace(b.label, b.bytes);
    metadata.emplace("xxh3:" + b.label, checksums_of(b.bytes));
  }
  std::string const head = format_safetensors(tensors, metadata, path);
  saved_file written{static_cast<std::int64_t>(head.size()), checksum_of(head)};
  new_file f(path);
  f.write(head);
  for (new_tensor const& t : tensors) {
    f.write(bytes.at(t.label));
    written.bytes += t.bytes();
  }
  f.commit();
  return written;
}

}  // namespace meshtensor::io
