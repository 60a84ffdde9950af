// SPDX-License-Identifier: Apache-2.0
// The index of a checkpoint has its values, their blocks, and the sizes and checksums of its files. It is a JSON file
// that ends with its own checksum. The header index_reader.hpp reads it.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/io/checkpoint/notes_text.hpp"
#include "meshtensor/io/checksum.hpp"
#include "meshtensor/io/saved_value.hpp"
#include "meshtensor/run/counts.hpp"

namespace meshtensor::io {

/// One file of a checkpoint. Its header has the checksums of its blocks.
struct saved_file {
  std::int64_t bytes = 0;
  checksum header = 0;
};

struct checkpoint_index {
  std::uint64_t step = 0, seed = 0;
  std::optional<program_counts> counts;  // nothing in version 1: all counts are `step`
  notes more;
  std::vector<saved_file> files;
  std::map<std::string, saved_value> values;
  std::string mass;  // the name of the weights by which replicas count, even if `only` left them out. Empty if none

  /// The oldest version of the format that can have this. Version 3 has replicas, and version 4 says what they share.
  std::uint64_t version() const {
    std::uint64_t oldest = counts ? 2 : 1;
    for (auto const& [label, v] : values) {
      if (v.replica_dim >= 0) oldest = std::max<std::uint64_t>(oldest, 3);
      if (v.shared != shared_by_replicas::nothing) return 4;
    }
    return oldest;
  }
};

/// For example `rank-0002-of-0004.safetensors`.
inline std::string file_name(std::size_t number, std::size_t count) {
  auto const four = [](std::size_t n) {
    std::string const digits = std::to_string(n);
    return std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
  };
  return "rank-" + four(number) + "-of-" + four(count) + ".safetensors";
}

namespace detail {

inline constexpr std::string_view format_of_index = "meshtensor checkpoint";
inline constexpr std::uint64_t version_of_index = 4;
inline constexpr std::string_view before_checksum = ",\n\"checksum\": \"", after_checksum = "\"\n}\n";

inline std::string text_of(counts_by_name const& counts) {
  std::string text = "{";
  for (char const* comma = ""; auto const& [label, n] : counts)
    text += comma + json_text(label) + ": " + std::to_string(n), comma = ", ";
  return text + "}";
}

inline std::string text_of(saved_value const& v) {
  std::string text = std::string("{\"dtype\": \"") + v.stored->label + "\", \"dims\": [";
  for (char const* comma = ""; saved_dim const& d : v.dims) {
    text += std::string(comma) + "{\"name\": " + json_text(d.dim.label.text()) +
            ", \"extent\": " + std::to_string(d.dim.extent) + ", \"over\": " + json_text(d.over) + ", \"parts\": [";
    for (char const* inner = ""; std::int64_t const n : d.parts) text += inner + std::to_string(n), inner = ", ";
    text += "]}", comma = ", ";
  }
  text += "], ";
  if (v.replica_dim >= 0)
    text += "\"replicas\": " + json_text(v.dims[static_cast<std::size_t>(v.replica_dim)].dim.label.text()) +
            ", \"merge\": " + json_text(meshtensor::text_of(v.merge)) + ", ";
  if (v.shared != shared_by_replicas::nothing)
    text += "\"shared\": " + json_text(names_of_shared[static_cast<int>(v.shared)]) + ", ";
  text += "\"files\": [";
  for (char const* comma = ""; int const f : v.files) text += comma + std::to_string(f), comma = ", ";
  return text + "]}";
}

}  // namespace detail

inline std::string text_of(checkpoint_index const& index) {
  std::string counts;
  if (index.counts)
    counts = ",\n\"steps\": " + detail::text_of(index.counts->steps) +
             ",\n\"updates\": " + detail::text_of(index.counts->updates);
  std::string text = "{\n\"format\": " + json_text(detail::format_of_index) +
                     ",\n\"version\": " + std::to_string(index.version()) +
                     ",\n\"step\": " + std::to_string(index.step) + ",\n\"seed\": " + std::to_string(index.seed) +
                     counts + ",\n\"notes\": " + text_of(index.more) + ",\n\"files\": [";
  for (char const* comma = "\n"; saved_file const& f : index.files) {
    text += comma + ("{\"bytes\": " + std::to_string(f.bytes)) + ", \"header\": \"" + text_of(f.header) + "\"}";
    comma = ",\n";
  }
  text += "],\n";
  if (!index.mass.empty()) text += "\"mass\": " + json_text(index.mass) + ",\n";
  text += "\"values\": {";
  for (char const* comma = "\n"; auto const& [label, v] : index.values)
    text += comma + json_text(label) + ": " + detail::text_of(v), comma = ",\n";
  text += std::string("}") + std::string(detail::before_checksum);
  return text + text_of(checksum_of(text)) + std::string(detail::after_checksum);
}

}  // namespace meshtensor::io
