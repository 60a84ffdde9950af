// SPDX-License-Identifier: Apache-2.0
// Programs as StableHLO: the two-layer training step against the texts that are kept beside this file, and the
// catalogue of programs, alone and spread. Where MESHTENSOR_STABLEHLO_CASES names a folder all of them are written
// there, for stablehlo_on_xla.py, which runs them.
//
// optimize: 0
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "property/program.hpp"
#include "stablehlo_cases.hpp"
#include "two_layers.hpp"
#include "unit/pass/programs.hpp"

namespace mt = meshtensor;

namespace {

constexpr auto two_layers_traced = mt::trace<two_layers::train_step>();
constexpr mt::name step = mt::entry_name<two_layers::train_step>();

std::string folder() {
  char const* const named = std::getenv("MESHTENSOR_STABLEHLO_CASES");
  return named == nullptr ? "" : named;
}
mt::mesh_shape mesh_of(std::int64_t data, std::int64_t model) {
  mt::mesh_shape mesh = two_layers::mesh::shape;
  return mesh.bind(two_layers::data(data)).bind(two_layers::model(model));
}

/// The first line in which a text differs from the one that is kept.
std::string first_difference(std::string const& text, char const* kept) {
  std::filesystem::path const path = std::filesystem::path(__FILE__).parent_path() / kept;
  std::ifstream file(path);
  std::istringstream got(text);
  std::string line, wanted;
  for (int n = 1;; ++n) {
    bool const more = bool(std::getline(got, line)), there = bool(std::getline(file, wanted));
    if (!more && !there) return "";
    if (more != there || line != wanted) return std::string(kept) + ":" + std::to_string(n) + ": now " + line;
  }
}
std::string whole_text(mt::module const& m, std::vector<mt::dim_extent> const& extents = {}) {
  int entry = 0;
  while (m.regions[entry].kind != mt::region_kind::entry) ++entry;
  return mt::stablehlo(m, entry, mt::bind(m, {}, extents)).text;
}

}  // namespace

TEST_CASE("the training step of two layers, alone and on four processors, is the text that is kept") {
  mt::dim_extent const extents[] = {two_layers::batch(8)};
  auto const text = [&](mt::mesh_shape const& mesh, mt::layout_rules const& rules) {
    auto const l = mt::lower(two_layers_traced, step, mesh, rules, extents);
    return mt::stablehlo(l->graph, l->entry, l->planned.numbers, mesh).text;
  };
  CHECK(first_difference(text(mesh_of(1, 1), two_layers::whole::rules), "two_layers.mlir") == "");
  CHECK(first_difference(text(mesh_of(2, 2), two_layers::spread::rules), "two_layers_spread.mlir") == "");
  CHECK(first_difference(text(mesh_of(1, 2), two_layers::spread::rules), "two_layers_spread.mlir") != "");

  probe::stablehlo_cases cases(folder(), two_layers_traced, step, {two_layers::batch(8)});
  CHECK(cases.add("two_layers", mesh_of(1, 1), two_layers::whole::rules));
  CHECK(cases.add("two_layers_spread", mesh_of(2, 2), two_layers::spread::rules));
  CHECK(cases.add("two_layers_fused", mesh_of(2, 2), two_layers::spread::rules, {.fuses = true}));
  CHECK_THROWS_WITH_AS(
      cases.add("", mesh_of(3, 1), two_layers::spread::rules),
      "meshtensor S02: dim 'batch' (8) is cut into unequal parts by 3 processors, which StableHLO does "
      "not have: make it 6 or 9, or replicate it",
      mt::error);
}

TEST_CASE("every program of the catalogue is emitted, alone and on a mesh") {
  mt::mesh_shape const four = mt::mesh_shape{}.add("ax", 2).add("by", 2);
  for (property::listed const& p : property::catalogue()) {
    CAPTURE(std::string(p.label));
    auto const traced = p.trace();
    if (traced->call_count != 0) continue;    // the user's own C++; refused, see below
    if (traced->window_count != 0) continue;  // likewise
    probe::stablehlo_cases cases(folder(), *traced, p.entry, {});
    std::string name = p.label;
    std::replace(name.begin(), name.end(), ' ', '_');
    CHECK(cases.add(name, mt::mesh_shape{}.add("ax", 1), {}));
    auto const dims = property::dims_in_use(cases.whole().graph()), scopes = property::scopes_of(cases.whole().graph());
    for (property::rng c{3}; cases.emitted < 2;)
      cases.add(name + "_spread", four, meshtensor_test::drawn_layout(dims, scopes, four, c));
  }
}

TEST_CASE("layers that are spread over processors are emitted") {
  for (std::string const label : {"mlp", "language_model in f32"}) {
    CAPTURE(label);
    property::listed const& p = property::program_named(label);
    auto const traced = p.trace();
    probe::stablehlo_cases cases(folder(), *traced, p.entry, {});
    auto const rules = mt::layout_rules{}.shard("batch", {"ax"}).shard("layers", {"ax"});
    std::string const name = label.substr(0, label.find(' '));
    CHECK(cases.add(name + "_layers_apart", mt::mesh_shape{}.add("ax", 2), rules));
    CHECK(cases.add(name + "_layers_apart_fused", mt::mesh_shape{}.add("ax", 2), rules, {.fuses = true}));
  }
}

TEST_CASE("what has no form yet is refused in one sentence") {
  CHECK_THROWS_WITH_AS(whole_text(meshtensor_test::traced<meshtensor_test::branching>),
                       doctest::Contains("R01: there is no StableHLO for cond yet (node %"), mt::error);
  CHECK_THROWS_WITH_AS(whole_text(meshtensor_test::traced<meshtensor_test::network>),
                       doctest::Contains("there is no StableHLO for gradient yet"), mt::error);
  property::listed const& choosing = property::program_named("choosing");
  auto const traced = choosing.trace();
  probe::stablehlo_cases cases("", *traced, choosing.entry, {});
  CHECK_THROWS_WITH_AS(cases.add("", mt::mesh_shape{}.add("ax", 1), {}),
                       doctest::Contains("R01: there is no StableHLO for top_positions<"), mt::error);
  property::listed const& convolved = property::program_named("convolved");
  auto const with_windows = convolved.trace();
  probe::stablehlo_cases windows("", *with_windows, convolved.entry, {});
  CHECK_THROWS_WITH_AS(windows.add("", mt::mesh_shape{}.add("ax", 1), {}),
                       doctest::Contains("R01: there is no StableHLO for conv yet (node %"), mt::error);
}

TEST_CASE("numbers are spelled exactly, and as MLIR reads them") {
  using mt::hlo::literal;
  CHECK(literal("f32", 8) == "8.0");
  CHECK(literal("f64", 0.1) == "0.1");
  CHECK(std::stof(literal("f32", 0.1)) == 0.1f);
  CHECK(std::stod(literal("f32", 0.1)) == static_cast<double>(0.1f));
  CHECK(literal("f64", 1e-8) == "1.0e-08");
  CHECK(literal("bf16", 0.3) == "0.30078125");
  double const infinity = std::numeric_limits<double>::infinity();
  CHECK(literal("f64", -infinity) == "0xFFF0000000000000");
  CHECK(literal("f32", -infinity) == "0xFF800000");
  CHECK(literal("bf16", infinity) == "0x7F80");
  CHECK(literal("i32", -1.5) == "-2");  // as element_of
  CHECK(literal("i1", 2) == "true");
}

TEST_CASE("the replicas that take part together") {
  mt::mesh_shape const mesh = mt::mesh_shape{}.add("data", 2).add("model", 3);
  CHECK(mt::hlo::groups(mesh, 1) == "replica_groups = dense<[[0, 3], [1, 4], [2, 5]]> : tensor<3x2xi64>");
  CHECK(mt::hlo::groups(mesh, 2) == "replica_groups = dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64>");
  CHECK(mt::hlo::groups(mesh, 3) == "replica_groups = dense<[[0, 1, 2, 3, 4, 5]]> : tensor<1x6xi64>");
}
