// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file that is imported into a store on a mesh: all of it is taken, or it is refused and the store is as
// it was.
#define MESHTENSOR_EARLY 0  // lowered at start: this file compiles soon
#include <sys/mman.h>
#include <unistd.h>

#include <map>

#include "fuzz.hpp"
#include "meshtensor/io/import.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {

// clang-format off
inline constexpr struct rows    : mt::dim<"rows", 4>    {} rows;
inline constexpr struct columns : mt::dim<"columns", 6> {} columns;
inline constexpr struct data    : mt::axis<"data", 2>   {} data;
struct mesh   : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<columns, data>> {};
// clang-format on

struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto const keep = [&](auto x) { s.update(x, x); };
    keep(s.state("a", mt::f32, rows, columns));
    keep(s.state("b", mt::boolean, columns));
    keep(s.state("c", mt::i64));
  }
};

struct target {
  mt::processors job = mt::processors::in_lockstep();
  mt::store weights{job};
  mt::executable<program, mesh, layout> step{weights};
  int const file = ::memfd_create("fuzz", 0);
  std::string const path = "/proc/self/fd/" + std::to_string(file);

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
  fuzz::require(::ftruncate(t.file, static_cast<off_t>(size)) == 0 &&
                ::pwrite(t.file, data_of, size, 0) == static_cast<ssize_t>(size));
  auto const before = t.all();
  bool const taken = fuzz::refused_or([&] {
    mt::import_safetensors(t.weights, t.path, {.names = {{"a", "w", {"columns", "rows"}}}}).require_all();
  });
  bool const other = fuzz::refused_or([&] { mt::import_safetensors(t.weights, t.path, {.begin_missing = true}); });
  auto const after = t.all();
  if (!taken && !other) fuzz::require(after == before);
  for (char const b : after.at("b")) fuzz::require(b == 0 || b == 1);
  return 0;
}
