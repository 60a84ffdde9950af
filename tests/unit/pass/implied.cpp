// SPDX-License-Identifier: Apache-2.0
// Which rule of a layout holds for a value: that of the innermost scope on its path, else the one that holds
// everywhere.
#include "meshtensor/pass/bind/implied.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "meshtensor/array/interpret.hpp"
#include "meshtensor/pass/lower.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct rows : mt::dim<"rows", 12> {} rows;
inline constexpr struct other : mt::dim<"other", 12> {} other;
inline constexpr struct data : mt::axis<"data", 2> {} data;
inline constexpr struct model : mt::axis<"model", 2> {} model;
struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<rows, data>, mt::shard<other, model>, mt::in<"outer", mt::shard<rows, model>>,
                           mt::in<"outer", mt::replicate<other>>, mt::in<"inner", mt::replicate<rows>>> {};

inline constexpr mt::layer leaf = [](mt::scope auto s, auto x) {
  return x + sum(s.parameter("p", rows)) + sum(s.parameter("o", other));
};
inline constexpr mt::layer in_inner = [](mt::scope auto s, auto x) {
  return leaf(s / "deeper", leaf(s / "inner", leaf(s, x)));
};
inline constexpr mt::layer in_outer = [](mt::scope auto s, auto x) { return leaf(s / "outer", x); };

struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32);
    auto a = leaf(s / "root", x);
    auto b = in_inner(s / "outer", a);
    s.output("all", in_outer(s / "inner", b));
  }
};

/// Of each parameter the axis of its one dim.
std::map<std::string, std::string> axes() {
  auto const traced = mt::on_heap([] { return mt::trace<program>(); });
  auto const m = mt::on_heap([&] { return mt::partition(*traced, mesh::shape, layout::rules); });
  REQUIRE(m->report.view() == "");
  std::map<std::string, std::string> found;
  for (int v = 0; v < m->variable_count; ++v) {
    int const axis = m->variables[v].layout.axis_at(0, 0);
    found[mt::path_text(*m, m->variables[v].path)] = axis < 0 ? "" : m->names[m->axes[axis].label].text();
  }
  return found;
}

}  // namespace

TEST_CASE("the innermost scope that names a dim decides, for that dim alone") {
  auto const lies = axes();
  CHECK(lies.at("root/p") == "data");
  CHECK(lies.at("root/o") == "model");
  CHECK(lies.at("outer/p") == "model");
  CHECK(lies.at("outer/o") == "");
  CHECK(lies.at("outer/inner/p") == "");
  CHECK(lies.at("outer/inner/o") == "");        // inner does not name it
  CHECK(lies.at("outer/deeper/p") == "model");  // at any depth
  CHECK(lies.at("inner/outer/p") == "model");
  CHECK(lies.at("inner/outer/o") == "");
}
