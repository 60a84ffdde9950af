// SPDX-License-Identifier: Apache-2.0
// What a plugin's compiler refuses is named by the operation and the user's line.
// passes: start-up
// sanitize: no
// part: pjrt
#include <doctest/doctest.h>

#include "meshtensor/device/pjrt/device.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/folder.hpp"
#include "support/pjrt.hpp"

namespace mt = meshtensor;
namespace pjrt = mt::pjrt;
using meshtensor_test::sentence;

namespace {

inline constexpr struct row : mt::dim<"row", 4> {} row;
inline constexpr struct col : mt::dim<"col", 3> {} col;
inline constexpr struct turns : mt::dim<"turns", 5> {} turns;

constexpr int first_line = __LINE__;
struct small {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, row, col);
    auto y = tanh(einsum(x, s.parameter("w", col), mt::to(row)));
    auto z = repeat(s / "turns", turns, y, [](mt::scope auto, auto h) { return cos(h); });
    s.output("z", sum(z));
  }
};

}  // namespace

TEST_CASE("the first line that a message names") {
  CHECK(pjrt::line_in("says: -:412:6: error: 'stablehlo.add' op requires") == 412);
  CHECK(pjrt::line_in("metadata={source_file=\"-\" source_line=17 source_end_line=3}") == 17);
  CHECK(pjrt::line_in("a-:b -:x -:-3: -:12 no column, then -:9:1:") == 9);
  CHECK(pjrt::line_in("Out of memory while trying to allocate 596.06GiB") == 0);
  CHECK(pjrt::line_in("") == 0);
  CHECK(pjrt::line_in("-:") == 0);
}

TEST_CASE("a refused operation is named with the line that asked for it, within loops, too") {
  std::string const plugin = meshtensor_test::pjrt_plugin();
  if (plugin.empty()) return;
  auto const traced = mt::on_heap([] { return mt::trace<small>(); });
  auto const l = mt::lower(*traced, mt::entry_name<small>(), {}, {}, {});
  auto const whole = mt::stablehlo(l->graph, l->entry, l->planned.numbers, {});
  auto& client = pjrt::device_client::of_file(plugin);
  auto const refused = [&](std::string const& operation) {
    std::string text = whole.text;
    std::size_t const at = text.find("\"stablehlo." + operation + "\"");
    REQUIRE(at != text.npos);
    text.insert(at + 11, "un");  // no such operation
    return sentence([&] {
      try {
        pjrt::loaded_program(client, text, 1, {}, {});
      } catch (mt::error const& e) {
        pjrt::refuse(e, l->graph, whole.nodes, plugin);
        throw;
      }
    });
  };
  auto const line = [](int after) { return ", pjrt_refusal.cpp:" + std::to_string(first_line + after) + "): "; };
  std::string const head = "meshtensor R72: the PJRT plugin '" + plugin + "' does not take ";
  for (auto const& [operation, name, after] :
       {std::tuple("dot_general", "einsum", 4), {"tanh", "tanh", 4}, {"cosine", "cos", 5}}) {
    std::string const said = refused(operation);
    CAPTURE(said);
    CHECK(said.starts_with(head + name + " (node %"));
    CHECK(said.find(line(after)) != said.npos);
    CHECK(said.find("unregistered operation 'stablehlo.un" + std::string(operation)) != said.npos);
    CHECK(said.find('\n') == said.npos);
  }
  std::string const loop = refused("while");
  CHECK(loop.find("does not take repeat (node %") != loop.npos);
  CHECK(loop.find(line(5)) != loop.npos);
}
