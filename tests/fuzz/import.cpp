// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file that is imported into a store on a mesh: all of it is taken, or it is refused and the store is as
// it was.
// passes: start-up
#include <map>

#include "fuzz.hpp"
#include "meshtensor/io/import.hpp"
#include "meshtensor/io/importing.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct rows : mt::dim<"rows", 4> {} rows;
inline constexpr struct columns : mt::dim<"columns", 6> {} columns;
inline constexpr struct data : mt::axis<"data", 2> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<columns, data>> {};

struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto const keep = [&](auto x) { s.update(x, x); };
    keep(s.state("a", mt::f32, rows, columns));
    keep(s.state("b", mt::boolean, columns));
    keep(s.state("c", mt::i64));
  }
};

struct target {
  mt::job job = mt::job::in_lockstep();
  mt::store weights{job};
  mt::executable<program, mesh, layout, mt::reference_device> step{weights};

  std::map<std::string, std::string> all() {
    std::map<std::string, std::string> bytes;
    for (auto& [label, s] : weights.values()) {
      bytes[label].resize(static_cast<std::size_t>(s.bytes()));
      weights.copy_out(label, bytes[label].data());
    }
    return bytes;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data_of, std::size_t size) {
  static target t;
  auto const open = [&](std::string const& path) {
    return mt::io::file(path, std::as_bytes(std::span(data_of, size)));
  };
  auto const before = t.all();
  bool const taken = fuzz::refused_or(
      [&] { mt::io::import_by(open, t.weights, "f", {.names = {{"a", "w", {"columns", "rows"}}}}).require_all(); });
  bool const other = fuzz::refused_or([&] { mt::io::import_by(open, t.weights, "f", {.begin_missing = true}); });
  auto const after = t.all();
  if (!taken && !other) fuzz::require(after == before);
  for (char const b : after.at("b")) fuzz::require(b == 0 || b == 1);
  return 0;
}
