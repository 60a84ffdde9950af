// SPDX-License-Identifier: Apache-2.0
// Drawings of a layout: README's picture, and cells that fill their frames and name the ranks that hold them.
// passes: start-up
#include "meshtensor/emit/drawing.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "meshtensor/inspect/explain.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/source_path.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct batch : mt::dim<"batch", 32> {} batch;
inline constexpr struct in : mt::dim<"in", 8> {} in;
inline constexpr struct hidden : mt::dim<"hidden", 64> {} hidden;
inline constexpr struct out : mt::dim<"out", 8> {} out;
inline constexpr struct data : mt::axis<"data", 2> {} data;
inline constexpr struct model : mt::axis<"model", 2> {} model;

struct train_step {  // as in README
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto h = gelu(mt::nn::linear(s / "up", x, in, hidden));
    auto y = mt::nn::linear(s / "down", h, hidden, out);
    auto loss = mt::nn::mean_squared_error(y, s.input("target", mt::f32, batch, out));
    mt::adam{.learning_rate = 0.01}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<hidden, model>> {};

inline constexpr struct ring_t : mt::dim<"ring"> {} ring;
inline constexpr struct width_t : mt::dim<"width", 6> {} width;
inline constexpr struct depth_t : mt::dim<"depth", 4> {} depth;

struct double_ring {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.input("x", mt::f32, ring) * 2); }
};
struct double_box {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.input("x", mt::f32, ring, width, depth) * 2); }
};

mt::mesh_shape mesh_of(std::initializer_list<mt::axis_extent> axes) {
  mt::mesh_shape mesh{};
  for (mt::axis_extent const& a : axes) mesh.add(a.label, a.extent);
  return mesh;
}
template <class Program>
std::string drawn(mt::mesh_shape const& mesh, mt::layout_rules const& rules, std::int64_t extent) {
  static auto const traced = mt::on_heap([] { return mt::trace<Program>(); });
  std::vector<mt::dim_extent> const extents{{"ring", extent}};
  auto const low = mt::lower(*traced, mt::entry_name<Program>(), mesh, rules, extents);
  return mt::drawing(low->graph, low->planned, mesh);
}

struct cell {
  int x, width;
  std::string ranks;
};
/// The cells of the first figure with frames of this height: each is followed by its label, if it has one.
std::vector<cell> cells_of(std::string const& image, int height) {
  std::vector<cell> all;
  std::regex const frame("class=\"frame\" x=\"(\\d+)\" y=\"\\d+\" width=\"(\\d+)\" height=\"" + std::to_string(height) +
                         "\"/>\n(?:<rect [^\n]*#ffffffcc\"/>\n)?(?:<text class=\"label centred\"[^>]*>([^<]*)<)?");
  std::string const first = image.substr(0, image.find("</g>"));
  for (std::sregex_iterator i(first.begin(), first.end(), frame), end; i != end; ++i)
    all.push_back({std::stoi((*i)[1]), std::stoi((*i)[2]), (*i)[3]});
  return all;
}

}  // namespace

TEST_CASE("the picture of README") {
  mt::draft<mt::executable<train_step, mesh, layout>> const step;
  std::string const image = std::regex_replace(mt::drawing(step), std::regex("[a-z_]+\\.cpp:\\d+"), "first.cpp");
  auto const file = meshtensor_test::source_path(__FILE__).parent_path() / "../../../docs/pictures/layout.svg";
  if (std::getenv("MESHTENSOR_WRITE_PICTURES") != nullptr) std::ofstream(file) << image;
  std::stringstream kept;
  kept << std::ifstream(file).rdbuf();
  CHECK(image == kept.str());
}

TEST_CASE("the cells of a sharded dim stand in proportion, and have the ranks that hold them") {
  auto const rules = mt::layout_rules{}.shard("ring", {"data"});
  std::string const image = drawn<double_ring>(mesh_of({{"data", 4}}), rules, 10);
  auto const cells = cells_of(image, 26);
  REQUIRE(cells.size() == 5);  // 3 | 3 | 2 | 2 and the frame around them
  cell const& whole = cells.back();
  int const begins[] = {0, 3, 6, 8, 10};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(cells[i].ranks == std::to_string(i));
    CHECK(cells[i].x == whole.x + begins[i] * whole.width / 10);
    CHECK(cells[i].x + cells[i].width == whole.x + begins[i + 1] * whole.width / 10);
  }
  CHECK(image.find("ring (10)") != image.npos);
  CHECK(image.find("<pattern") == image.npos);  // no element is held twice
}

TEST_CASE("ranks that hold the same elements share a cell") {
  auto const rules = mt::layout_rules{}.shard("ring", {"model"});
  auto const cells = cells_of(drawn<double_ring>(mesh_of({{"data", 3}, {"model", 2}}), rules, 8), 26);
  REQUIRE(cells.size() == 3);
  CHECK(cells[0].ranks == "0,2,4");
  CHECK(cells[1].ranks == "1,3,5");
  auto const whole = cells_of(drawn<double_ring>(mesh_of({{"data", 3}, {"model", 2}}), {}, 8), 26);
  REQUIRE(whole.size() == 2);
  CHECK(whole[0].ranks == "0-5");
  CHECK(whole[0].width == whole[1].width);
}

TEST_CASE("a rank without elements has no cell") {
  auto const cells =
      cells_of(drawn<double_ring>(mesh_of({{"data", 4}}), mt::layout_rules{}.shard("ring", {"data"}), 2), 26);
  REQUIRE(cells.size() == 3);
  CHECK(cells[0].ranks == "0");
  CHECK(cells[1].ranks == "1");
}

TEST_CASE("three sharded dims are told in words") {
  auto const rules = mt::layout_rules{}.shard("ring", {"a"}).shard("width", {"b"}).shard("depth", {"c"});
  std::string const image = drawn<double_box>(mesh_of({{"a", 2}, {"b", 2}, {"c", 2}}), rules, 4);
  CHECK(image.find("7:\u00a0ring\u00a02-3,\u00a0width\u00a03-5,\u00a0depth\u00a02-3") != image.npos);
}

TEST_CASE("drawings of large meshes stay small, and all that is drawn is inside") {
  auto const rules = mt::layout_rules{}.shard("ring", {"data"}).shard("width", {"model"});
  for (std::int64_t const extent : {3, 513, 1000003})
    for (auto const& mesh : {mesh_of({{"data", 512}}), mesh_of({{"data", 64}, {"model", 8}}), mesh_of({{"data", 1}})}) {
      std::string const image = mesh.count > 1
                                    ? drawn<double_box>(mesh, rules, extent)
                                    : drawn<double_box>(mesh, mt::layout_rules{}.shard("ring", {"data"}), extent);
      CHECK(image.size() < 60000);
      std::smatch size;
      REQUIRE(std::regex_search(image, size, std::regex("viewBox=\"0 0 (\\d+) (\\d+)\"")));
      std::regex const rectangle("<rect[^>]* x=\"(-?\\d+)\" y=\"(-?\\d+)\" width=\"(-?\\d+)\" height=\"(-?\\d+)\"");
      int count = 0;
      for (std::sregex_iterator i(image.begin(), image.end(), rectangle), end; i != end; ++i, ++count) {
        CHECK(std::stoi((*i)[3]) >= 0);
        CHECK(std::stoi((*i)[1]) + std::stoi((*i)[3]) <= std::stoi(size[1]));
        CHECK(std::stoi((*i)[2]) + std::stoi((*i)[4]) <= std::stoi(size[2]));
      }
      CHECK(count > 3);
    }
}
