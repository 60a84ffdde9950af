// Graphs made by chance: loops, composites, state and every operation between them, under layouts made by chance.
// timeout: 300
#include "property/author.hpp"

using namespace property;

namespace {

void try_graph(std::uint64_t seed, bool differentiates, int layouts, tally& t) {
  static auto const meshes = meshtensor_test::meshes();
  author const a(seed, differentiates);
  mt::module const& m = a.g.module();
  chance c{seed + 1};
  auto const& mesh = meshes[static_cast<std::size_t>(c.below(static_cast<int>(meshes.size())))];
  std::vector<mt::dim_extent> extents;
  for (int d = 0; d < m.dim_count; ++d)
    if (m.dims[d].kind == mt::dim_row::dynamic)
      extents.push_back({m.dim_name(d), mesh.size() == 1 ? 2 + d % 2 : mesh.size()});
  subject s(m, "main", extents);
  s.steps = 2;
  if (!a.exact()) s.tolerance = 1e-9;
  s.fill(sort::integers, c, 0, 0, static_cast<int>(mesh.size()));
  s.expect();
  auto const dims = dims_of(m);
  for (int i = 0; i < layouts; ++i)
    s.check_layout(mesh, meshtensor_test::drawn_layout(dims, {"in", "op", "other", "out"}, mesh, c), t);
}

void try_graphs(bool differentiates, std::uint64_t first, int count, char const* what) {
  tally t;
  if (char const* one = std::getenv("SEED")) first = std::strtoull(one, nullptr, 10), count = 1;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(count); ++seed) {
    INFO("seed " << seed);
    CAPTURE(seed);
    try_graph(seed, differentiates, 16, t);
  }
  t.say(what);
}

}  // namespace

TEST_CASE("graphs made by chance") { try_graphs(false, 1, quick() ? 60 : 1500, "graphs"); }
TEST_CASE("gradients of graphs made by chance") { try_graphs(true, 1000001, quick() ? 60 : 1500, "gradients"); }
