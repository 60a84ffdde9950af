// SPDX-License-Identifier: Apache-2.0
// Pictures of parts and of moves: golden texts, those of docs/layouts.md, and what holds for any mesh.
// passes: start-up
#include "meshtensor/emit/picture.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "meshtensor/inspect/explain.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/source_path.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct ring_t : mt::dim<"ring"> {} ring;
inline constexpr struct width_t : mt::dim<"width", 6> {} width;
inline constexpr struct half_t : mt::dim<"half"> {} half;

struct double_rows {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.input("x", mt::f32, ring, width) * 2); }
};
struct roll_rows {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", roll(s.input("x", mt::f32, ring, width), ring, 3));
  }
};
struct every_second {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", slice(s.input("x", mt::f32, ring, width), ring, half, 1, 2));
  }
};
inline constexpr struct tap_t : mt::dim<"tap", 3> {} tap;
struct blur_rows {
  constexpr void operator()(mt::scope auto s) const {
    auto const kernel = s.input("kernel", mt::f32, tap);
    s.output("y", conv(s.input("x", mt::f32, ring, width), kernel, to(ring, width),
                       mt::window(ring, ring, tap, {.padding = mt::centred_padding})));
  }
};
struct shift_back {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", shift(s.input("x", mt::f32, ring, width), ring, -2));
  }
};
struct roll_by_step {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", roll(s.input("x", mt::f32, ring, width), ring, s.step()));
  }
};
inline constexpr mt::layer elsewhere = [](mt::scope auto s, auto x) { s.output("y", x * 2); };
struct trade_axes {
  constexpr void operator()(mt::scope auto s) const { elsewhere(s / "elsewhere", s.input("x", mt::f32, ring, width)); }
};

mt::mesh_shape mesh_of(std::int64_t data, std::int64_t model = 0) {
  mt::mesh_shape mesh{};
  mesh.add("data", data);
  if (model != 0) mesh.add("model", model);
  return mesh;
}
mt::layout_rules by_rows() { return mt::layout_rules{}.shard("ring", {"data"}).shard("half", {"data"}); }

template <class Program>
std::string drawn(mt::mesh_shape const& mesh, mt::layout_rules const& rules, std::int64_t rows,
                  std::int64_t shorter = 0) {
  static auto const traced = mt::on_heap([] { return mt::trace<Program>(); });
  std::vector<mt::dim_extent> extents{{"ring", rows}};
  if (shorter != 0) extents.push_back({"half", shorter});
  auto const low = mt::lower(*traced, mt::entry_name<Program>(), mesh, rules, extents);
  return std::regex_replace(mt::pictures(low->graph, low->planned, mesh), std::regex("[a-z_]+\\.cpp:\\d+"),
                            "FILE:LINE");
}
/// The text of one move, which stands behind the tensors.
std::string move_in(std::string const& text) {
  std::size_t const at = text.find("move over");
  return at == text.npos ? "" : text.substr(at);
}
std::size_t longest_line(std::string const& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

}  // namespace

TEST_CASE("the pictures of docs/layouts.md") {
  auto const root = meshtensor_test::source_path(__FILE__).parent_path().parent_path().parent_path().parent_path();
  std::ifstream file(root / "docs" / "layouts.md");
  std::vector<std::string> shown;
  bool in_section = false, in_fence = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) in_section = line == "## Who holds what";
    else if (in_section && line == "```text") in_fence = true, shown.emplace_back();
    else if (in_fence && line == "```") in_fence = false;
    else if (in_fence) shown.back() += std::regex_replace(line, std::regex("[a-z_]+\\.cpp:\\d+"), "FILE:LINE") + "\n";
  }
  auto const grid = mt::layout_rules{}.shard("ring", {"data"}).shard("width", {"model"});
  REQUIRE(shown.size() == 5);
  CHECK(shown[0] == drawn<double_rows>(mesh_of(4), by_rows(), 10));
  CHECK(shown[1] == drawn<double_rows>(mesh_of(2, 3), grid, 10));
  CHECK(shown[2] == move_in(drawn<roll_rows>(mesh_of(4), by_rows(), 10)));
  CHECK(shown[3] == move_in(drawn<every_second>(mesh_of(4), by_rows(), 10, 5)));
  CHECK(shown[4] == move_in(drawn<blur_rows>(mesh_of(4), by_rows(), 10)));
}

TEST_CASE("a rank that holds nothing, and ranks that hold the same") {
  CHECK(drawn<double_rows>(mesh_of(4), by_rows(), 3) == R"(x, y [ring/data, width]
  ring (3) over data = 4
                0   1   2   3
  held by rank  | 0 | 1 | 2 |
  rank 3 holds no element
)");
  CHECK(drawn<double_rows>(mesh_of(2, 4), by_rows(), 5) == R"(x, y [ring/data, width]
  ring (5) over data = 2
                0           3       5
  held by rank  |    0-3    |  4-7  |
)");
  CHECK(drawn<double_rows>(mesh_of(2, 3), mt::layout_rules{}.shard("ring", {"data", "model"}), 10) ==
        R"(x, y [ring/data/model, width]
  ring (10) over data = 2, model = 3
                0       2       4   5       7       9   10
  held by rank  |   0   |   1   | 2 |   3   |   4   | 5 |
)");
}

TEST_CASE("covers: a rank that holds nothing, several groups") {
  CHECK(move_in(drawn<blur_rows>(mesh_of(4), by_rows(), 3)) == R"(move over data, FILE:LINE
  [ring/data, width] -> [ring/halo/data, width]
  ring (3) over data = 4; what windows reach from each rank, and who holds it
                0     1     2     3
  held by rank  |  0  |  1  |  2  |
  rank 0        | own |  1  |
  rank 1        |  0  | own |  2  |
  rank 2              |  1  | own |
  rank 3 holds no element
)");
  std::string const text = move_in(drawn<blur_rows>(mesh_of(2, 2), by_rows(), 10));
  CHECK(text.find("rank 2  ") != text.npos);
  CHECK(text.find("and likewise in 1 other group of 2 ranks") != text.npos);
}

TEST_CASE("moves: elements that come from nowhere, run-time numbers, groups, axes that trade places") {
  CHECK(move_in(drawn<shift_back>(mesh_of(4), by_rows(), 10)) == R"(move over data, FILE:LINE
  [ring/data, width] -> [ring/data, width]
  ring (10) over data = 4
                0           3           6       8       10
  held by rank  |     0     |     1     |   2   |   3   |
  becomes ring (10) over data = 4
                0     1       3     4       6       8       10
  held by rank  |      0      |      1      |   2   |   3   |
  from rank     | own |   1   | own |   2   |   3   |   -   |
  elements      |  2  |  3-4  |  5  |  6-7  |  8-9  |   -   |
)");
  CHECK(move_in(drawn<roll_by_step>(mesh_of(4), by_rows(), 10)) == R"(move over data, FILE:LINE
  [ring/data, width] -> [ring/data, width]
  by a number that is set at run time: each element may change hands
)");
  CHECK(move_in(drawn<roll_rows>(mesh_of(2, 2), by_rows(), 10))
            .ends_with("  and likewise in 1 other group of 2 ranks\n"));
  auto const traded = mt::layout_rules{}
                          .shard("ring", {"data"})
                          .shard("width", {"model"})
                          .shard("ring", {"model"}, "elsewhere")
                          .shard("width", {"data"}, "elsewhere");
  CHECK(move_in(drawn<trade_axes>(mesh_of(2, 2), traded, 5)) == R"(move over data, model, FILE:LINE elsewhere
  [ring/data, width/model] -> [ring/model, width/data]
  rank 1 from 2: ring 3-4, width 0-2
  rank 2 from 1: ring 0-2, width 3-5
)");
}

TEST_CASE("large meshes are cut short") {
  auto const rules = mt::layout_rules{}.shard("ring", {"data"}).shard("width", {"model"});
  for (std::int64_t rows : {3, 64, 1000, 1000003, 1000000007})
    for (auto const& mesh : {mesh_of(64), mesh_of(3, 8), mesh_of(64, 8), mesh_of(512, 2)}) {
      mt::layout_rules fitting = by_rows();
      if (mesh.count > 1) fitting = rules;
      for (std::string const& text : {drawn<roll_rows>(mesh, fitting, rows), drawn<shift_back>(mesh, fitting, rows),
                                      drawn<every_second>(mesh, by_rows(), 2 * rows, rows)}) {
        CAPTURE(text);
        CHECK(longest_line(text) <= mt::detail::picture_columns);
        CHECK(std::ranges::count(text, '\n') < 100);
        CHECK(text.find("held by rank") != text.npos);
      }
    }
}

TEST_CASE("nothing is drawn of what is whole on every rank") {
  CHECK(drawn<double_rows>(mesh_of(4), {}, 10).empty());
  CHECK(drawn<roll_rows>(mesh_of(1), by_rows(), 10).empty());
}

TEST_CASE("an executable and a draft") {
  struct data_axis : mt::axis<"data"> {};
  static constexpr data_axis data{};
  struct mesh : mt::mesh<data> {};
  struct layout : mt::layout<mt::shard<ring, data>> {};
  using step_t = mt::executable<double_rows, mesh, layout>;
  mt::draft<step_t> const planned(data(4), ring(10));
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  step_t const step(weights, data(4), ring(10));
  CHECK(mt::pictures(step) == mt::pictures(planned));
  CHECK(mt::pictures(step).find("ring (10) over data = 4") != std::string::npos);
}
