// SPDX-License-Identifier: Apache-2.0
// Any bytes as JSON: refused, or read; what was a text is the same when it is quoted and read again.
#include "meshtensor/io/json.hpp"

#include "fuzz.hpp"
#include "meshtensor/io/checkpoint/notes_text.hpp"

namespace mt = meshtensor;

namespace {

void read_value(mt::io::json_reader& r, int depth) {
  char const next = r.peek();
  if (depth == 0) r.refuse("too deep");
  if (next == '{') return r.object([&](std::string const&) { read_value(r, depth - 1); });
  if (next == '[') return r.array([&] { read_value(r, depth - 1); });
  if (next != '"') return r.is_whole_number() ? static_cast<void>(r.integer()) : static_cast<void>(r.real());
  std::string const text = r.string(), again = mt::json_text(text), what = "it";
  fuzz::require(mt::is_utf8(text));
  mt::io::json_reader same(again, "C04", what);
  fuzz::require(same.string() == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const text(reinterpret_cast<char const*>(data), size);
  std::string const what = "it";
  bool const is_json = fuzz::refused_or([&] {
    mt::io::json_reader r(text, "C04", what);
    read_value(r, 20);
    r.end();
  });
  if (!is_json) return 0;
  fuzz::refused_or([&] {
    mt::io::json_reader r(text, "C04", what);
    mt::notes const all = mt::io::read_notes(r);
    std::string const again = mt::io::text_of(all);
    mt::io::json_reader same(again, "C04", what);
    fuzz::require(mt::io::text_of(mt::io::read_notes(same)) == again);  // by text, for NaN is not itself
  });
  return 0;
}
