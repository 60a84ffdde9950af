// SPDX-License-Identifier: Apache-2.0
// Any bytes as a safetensors file: refused, or every tensor lies inside of it, none over another; and a file with the
// tensors of known dtypes that is made anew says the same.
#include "meshtensor/io/safetensors.hpp"

#include <algorithm>

#include "fuzz.hpp"
#include "meshtensor/io/safetensors_format.hpp"

namespace mt = meshtensor;

namespace {

mt::io::safetensors_header header_of(std::string_view all) {
  std::byte first[8];
  std::copy_n(reinterpret_cast<std::byte const*>(all.data()), 8, first);
  auto const size = static_cast<std::int64_t>(all.size());
  auto const length = static_cast<std::size_t>(mt::io::header_length(first, size, "f"));
  return mt::io::parse_safetensors(all.substr(8, length), size, "f");
}

void look_at(mt::io::safetensors_header const& h, std::int64_t size) {
  std::int64_t sum = 0, known = 0;
  std::vector<mt::io::new_tensor> tensors;
  for (auto const& [label, t] : h.tensors) {
    fuzz::require(0 <= t.begin && t.begin <= t.end && t.end <= size - h.bytes);
    sum += t.end - t.begin;
    for (auto const& [other, u] : h.tensors)
      fuzz::require(&t == &u || t.end <= u.begin || u.end <= t.begin || t.begin == t.end || u.begin == u.end);
    if (t.stored == nullptr) continue;
    tensors.push_back({label, t.stored, t.extents});
    fuzz::require(tensors.back().bytes() == t.end - t.begin);
    known += t.end - t.begin;
  }
  fuzz::require(sum == size - h.bytes);

  std::string const head = mt::io::format_safetensors(tensors, h.metadata, "f");
  auto const again =
      mt::io::parse_safetensors(std::string_view(head).substr(8), static_cast<std::int64_t>(head.size()) + known, "f");
  fuzz::require(again.metadata == h.metadata && again.tensors.size() == tensors.size());
  for (auto const& [label, t] : h.tensors) {
    if (t.stored == nullptr) continue;
    auto const& u = again.tensors.at(label);
    fuzz::require(u.stored == t.stored && u.extents == t.extents);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const all(reinterpret_cast<char const*>(data), size);
  bool const has_length = size > 8 && data[7] == 0 && data[6] == 0 && data[5] == 0 && data[4] == 0;
  fuzz::refused_or([&] {
    if (has_length) return look_at(header_of(all), static_cast<std::int64_t>(size));
    // As the JSON alone, before a few bytes.
    auto const bytes = static_cast<std::int64_t>(8 + size + size % 3 * 4);
    look_at(mt::io::parse_safetensors(all, bytes, "f"), bytes);
  });
  return 0;
}
