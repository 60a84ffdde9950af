// SPDX-License-Identifier: Apache-2.0
// Any bytes as the two files of a checkpoint, whose checksums are made right: loaded, or refused and the store is as it
// was. The first two bytes say where the index ends.
// passes: start-up
#include <map>

#include "fuzz.hpp"
#include "meshtensor/io/checkpoint.hpp"
#include "meshtensor/io/checkpoint/loading.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct rows : mt::dim<"rows", 4> {} rows;
inline constexpr struct columns : mt::dim<"columns", 6> {} columns;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<columns, data>> {};

struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto const keep = [&](auto x) { s.update(x, x); };
    keep(s.state("a", mt::f32, rows, columns));
    keep(s.state("b", mt::bf16, columns));
    keep(s.state("c", mt::i64));
  }
};

struct target {
  mt::job job = mt::job::in_lockstep();
  mt::store weights{job};
  mt::executable<program, mesh, layout, mt::reference_device> step{weights, data(3)};

  std::map<std::string, std::string> all() {
    std::map<std::string, std::string> bytes;
    for (auto& [label, s] : weights.values()) {
      bytes[label].resize(static_cast<std::size_t>(s.bytes()));
      weights.copy_out(label, bytes[label].data());
    }
    bytes["step"] = std::to_string(weights.step());
    return bytes;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  static target t;
  std::string_view const all(reinterpret_cast<char const*>(bytes), size);
  if (size < 2) return 0;
  auto const split = std::min<std::size_t>(size - 2, bytes[0] + 256u * bytes[1]);
  std::string_view const file = all.substr(2 + split);
  auto const bytes_of = [](std::string_view s) { return std::as_bytes(std::span(s)); };
  std::string text(all.substr(2, split));
  text.resize(text.rfind(",\n\"checksum\"") == text.npos ? text.size() : text.rfind(",\n\"checksum\""));
  auto const seal = [&] {
    text += ",\n\"checksum\": \"";
    text += mt::io::text_of(mt::io::checksum_of(text)) + "\"\n}\n";
  };
  seal();
  fuzz::refused_or([&] {
    mt::io::checkpoint_index index = mt::io::parse_index(text, "i");
    index.files.resize(1);
    index.files[0] = {static_cast<std::int64_t>(file.size()),
                      mt::io::checksum_of(mt::io::header_bytes(mt::io::file("f", bytes_of(file))))};
    text = text_of(index);
  });
  auto const open = [&](std::string const& path) {
    return mt::io::file(path, bytes_of(path.ends_with(mt::io::index_name) ? text : file));
  };
  auto const before = t.all();
  mt::all_or_throw all_alike(t.weights.runner());
  bool const taken = fuzz::refused_or([&] {
    auto const opened = mt::io::open_checkpoint("c", mt::io::process_of(t.weights.runner()), {}, open);
    mt::io::take_checkpoint(t.weights, "c", opened, all_alike);
  });
  if (!taken) fuzz::require(t.all() == before);
  return 0;
}
