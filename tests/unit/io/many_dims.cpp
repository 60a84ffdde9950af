// SPDX-License-Identifier: Apache-2.0
// Checkpoints and safetensors of a variable of ten dims, and reports about it. Another mesh loads it, with its dims in
// another order.
// passes: start-up
// needs: io
#include <map>

#include "meshtensor/device/reference.hpp"
#include "meshtensor/emit/drawing.hpp"
#include "meshtensor/emit/print.hpp"
#include "meshtensor/io/checkpoint.hpp"
#include "meshtensor/io/safetensors.hpp"
#include "meshtensor/meshtensor.hpp"
#include "meshtensor/run/session.hpp"
#include "property/graph.hpp"
#include "support/folder.hpp"

using namespace property;

namespace {

std::string const alphabet = "abcdefghij", backwards = "jihgfedcba";
std::int64_t extent_of(char dim) { return dim == 'b' || dim == 'i' ? 3 : 2; }

/// A program with one variable, on a mesh, and its store.
struct one_variable {
  one_variable(mt::job const& job, std::string const& order, mt::mesh_shape const& mesh, mt::layout_rules const& rules,
               std::uint64_t seed)
      : weights(job, seed) {
    std::vector<mt::dim_extent> extents;
    for (char const dim : alphabet) extents.push_back({mt::name::of(std::string(1, dim)), extent_of(dim)});
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
    std::vector<float> held(2304), all(2304);
    weights.copy_out("w", held.data());
    for (std::size_t k = 0; k < all.size(); ++k) {
      std::map<char, std::int64_t> index;
      auto rest = static_cast<std::int64_t>(k);
      for (auto dim = alphabet.rbegin(); dim != alphabet.rend(); ++dim)
        index[*dim] = rest % extent_of(*dim), rest /= extent_of(*dim);
      std::int64_t at = 0;
      for (char const dim : order) at = at * extent_of(dim) + index[dim];
      all[k] = held[static_cast<std::size_t>(at)];
    }
    return all;
  }

  mt::store weights;
  std::unique_ptr<mt::lowering> low;
  std::unique_ptr<mt::session<mt::reference_device>> run;
};

auto const two = mt::mesh_shape{}.add("ax", 2), four = mt::mesh_shape{}.add("ax", 2).add("by", 2);
auto const by_last = mt::layout_rules{}.shard("i", {"ax"});
auto const by_both = mt::layout_rules{}.shard("b", {"by"}).shard("j", {"ax"});

}  // namespace

TEST_CASE("a value of ten dims is saved and loaded") {
  auto const job = mt::job::in_lockstep();
  one_variable saved(job, alphabet, two, by_last, 9);
  auto const wanted = saved.by_name(alphabet);

  SUBCASE("in a checkpoint, by another mesh and in another order") {
    meshtensor_test::own_folder const folder;
    mt::save(saved.weights, folder.path());
    one_variable loaded(job, backwards, four, by_both, 1);
    CHECK(loaded.by_name(backwards) != wanted);
    mt::load(loaded.weights, folder.path()).require_all();
    CHECK(loaded.by_name(backwards) == wanted);
  }
  SUBCASE("in a safetensors file") {
    meshtensor_test::own_folder const folder;
    mt::export_safetensors(saved.weights, folder / "w.safetensors");
    one_variable loaded(job, alphabet, four, by_both, 1);
    CHECK(loaded.by_name(alphabet) != wanted);
    mt::import_safetensors(loaded.weights, folder / "w.safetensors");
    CHECK(loaded.by_name(alphabet) == wanted);
  }
}

TEST_CASE("a value of ten dims is printed and drawn") {
  auto const job = mt::job::in_lockstep();
  one_variable const w(job, alphabet, four, by_both, 9);
  CHECK(mt::text_of(w.low->graph).find("f32[a, b/by, c, d, e, f, g, h, i, j/ax]") != std::string::npos);
  std::string const image = mt::drawing(w.low->graph, w.low->planned, four);
  CHECK(image.find("</svg>") != std::string::npos);
  CHECK(image.find("[a, b/by, c, d, e, f, g, h, i, j/ax]") != std::string::npos);
}
