// SPDX-License-Identifier: Apache-2.0
// A program may order a variable's dims otherwise than the one that saved it. Each element gets its place by the names
// of the dims, whatever the meshes and layouts of both.
// passes: start-up
// needs: io
#include <algorithm>

#include "meshtensor/device/reference.hpp"
#include "meshtensor/io/checkpoint.hpp"
#include "meshtensor/run/session.hpp"
#include "property/graph.hpp"
#include "support/folder.hpp"

using namespace property;

namespace {

std::vector<mt::dim_extent> const extents{{mt::name("a"), 5}, {mt::name("b"), 4}, {mt::name("c"), 6}};

/// A program with one variable, on a mesh, and its store.
struct one_variable {
  one_variable(mt::job const& job, std::string const& order, mt::mesh_shape const& mesh, mt::layout_rules const& rules,
               std::uint64_t seed)
      : weights(job, seed) {
    graph g;
    mt::path_id const path = g.b.add_path(mt::no_id, mt::name("w"));
    mt::variable_id const w =
        mt::detail::declare(g.b, path, mt::dtype::f32, g.dims(order.c_str()), mt::normal(1), true);
    g.output("y", mt::scale(g.b, mt::detail::read(g.b, w), 2));
    low = mt::lower(g.module(), mt::name("main"), mesh, rules, extents);
    run = std::make_unique<mt::session<mt::reference_device>>(weights, low->graph, low->planned, mesh, low->entry);
  }
  /// The variable's elements in the order of the dims' names.
  std::vector<float> by_name(std::string const& order) {
    std::vector<float> held(120), all;
    weights.copy_out("w", held.data());
    auto const extent = [](char dim) { return dim == 'a' ? 5 : dim == 'b' ? 4 : 6; };
    for (int a = 0; a < 5; ++a)
      for (int b = 0; b < 4; ++b)
        for (int c = 0; c < 6; ++c) {
          int at = 0;
          for (char const dim : order) at = at * extent(dim) + (dim == 'a' ? a : dim == 'b' ? b : c);
          all.push_back(held[static_cast<std::size_t>(at)]);
        }
    return all;
  }

  mt::store weights;
  std::unique_ptr<mt::lowering> low;
  std::unique_ptr<mt::session<mt::reference_device>> run;
};

std::vector<std::string> orders() {
  std::vector<std::string> all;
  std::string order = "abc";
  do all.push_back(order);
  while (std::next_permutation(order.begin(), order.end()));
  return all;
}

}  // namespace

TEST_CASE("from any order of dims and any layout to any other") {
  auto const job = mt::job::in_lockstep();
  auto const meshes = meshtensor_test::meshes();
  auto const all = orders();
  REQUIRE(all.size() == 6);
  rng c{11};
  auto const drawn = [&] {
    auto const& mesh = meshes[static_cast<std::size_t>(c.below(static_cast<int>(meshes.size())))];
    auto rules = meshtensor_test::drawn_layout({mt::name("a"), mt::name("b"), mt::name("c")}, {}, mesh, c);
    return std::pair(mesh, rules);
  };
  int windows = 0;
  for (std::string const& from : all)
    for (int layout = 0; layout < 3; ++layout) {
      auto const [mesh, rules] = drawn();
      meshtensor_test::own_folder const folder;
      one_variable saved(job, from, mesh, rules, 9);
      auto const wanted = saved.by_name(from);
      mt::save(saved.weights, folder.path());
      for (std::string const& to : all) {
        auto const [other_mesh, other_rules] = drawn();
        INFO(from << " " << meshtensor_test::text_of(mesh) << " " << meshtensor_test::text_of(rules) << ", " << to
                  << " " << meshtensor_test::text_of(other_mesh) << " " << meshtensor_test::text_of(other_rules));
        one_variable loaded(job, to, other_mesh, other_rules, 1);
        CHECK(loaded.by_name(to) != wanted);
        mt::load(loaded.weights, folder.path()).require_all();
        CHECK(loaded.by_name(to) == wanted);
        windows += static_cast<int>(loaded.weights.values().at("w").windows.size());
      }
    }
  CHECK(windows > 200);
}
