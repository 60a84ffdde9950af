// SPDX-License-Identifier: Apache-2.0
// Any bytes as the index of a checkpoint, as they are and with the right checksum: refused, or the blocks of each value
// are the whole of it, each in a file of its own.
#include <set>

#include "fuzz.hpp"
#include "meshtensor/io/checkpoint/index_reader.hpp"

namespace mt = meshtensor;

namespace {

void look_at(std::string_view text) {
  mt::io::checkpoint_index const index = mt::io::parse_index(text, "i");
  for (auto const& [label, v] : index.values) {
    fuzz::require(v.stored != nullptr && v.stored->type && v.dims.size() <= mt::max_dims_of_one);
    std::int64_t whole = v.stored->bytes, blocks = 0;
    for (mt::io::saved_dim const& d : v.dims) fuzz::require(!__builtin_mul_overflow(whole, d.dim.extent, &whole));
    std::set<int> files;
    for (std::size_t k = 0; k < v.files.size(); ++k) {
      mt::io::saved_block const b = v.block(k);
      for (std::size_t i = 0; i < v.dims.size(); ++i)
        fuzz::require(b.extent[i] > 0 && b.origin[i] >= 0 && b.extent[i] <= v.dims[i].dim.extent - b.origin[i]);
      blocks += v.bytes_of(b);
      fuzz::require(v.files[k] >= 0 && static_cast<std::size_t>(v.files[k]) < index.files.size());
      fuzz::require(files.insert(v.files[k]).second);
    }
    fuzz::require(blocks == whole);
  }
  std::string const again = text_of(index);
  fuzz::require(text_of(mt::io::parse_index(again, "i")) == again);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const text(reinterpret_cast<char const*>(data), size);
  if (text.ends_with("\"\n}\n")) fuzz::refused_or([&] { look_at(text); });
  // What precedes the checksum, sealed.
  std::string body(text.substr(0, text.rfind(",\n\"checksum\"")));
  body += ",\n\"checksum\": \"";
  body += mt::io::text_of(mt::io::checksum_of(body)) + "\"\n}\n";
  fuzz::refused_or([&] { look_at(body); });
  return 0;
}
