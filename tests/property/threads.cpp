// Processors as threads give what they give in turns on one thread: every bit of every output and variable.
// timeout: 300
#include "property/outcome.hpp"

using namespace property;

TEST_CASE("threads and lockstep are one") {
  auto const threads = mt::processors::as_threads(), turns = mt::processors::in_lockstep();
  int compared = 0;
  for (std::vector<int> const& sizes : std::vector<std::vector<int>>{{3}, {2, 2}}) {
    mt::mesh_shape mesh{};
    for (std::size_t a = 0; a < sizes.size(); ++a) mesh.add(a == 0 ? mt::name("ax") : mt::name("by"), sizes[a]);
    auto const compare = [&]<class Program>(char const* what) {
      each_of_three<Program>(what, mesh, [&](mt::lowering const& low, mt::blocks const& inputs, auto const& outputs) {
        auto const wanted = run_with(turns, low, mesh, inputs, outputs, 2);
        CHECK(wanted.size() >= outputs.size() * 2);
        CHECK(run_with(threads, low, mesh, inputs, outputs, 2) == wanted);
        ++compared;
      });
    };
    compare.operator()<programs::contractions>("contractions");
    compare.operator()<programs::reductions>("reductions");
    compare.operator()<programs::movements>("movements");
    compare.operator()<programs::lookups>("lookups");
    compare.operator()<programs::noise>("noise");
    compare.operator()<programs::mlp>("mlp");
    compare.operator()<programs::recurrent>("recurrent");
    compare.operator()<programs::nested>("nested");
    compare.operator()<programs::composites>("composites");
    compare.operator()<programs::classifier>("classifier");
    compare.operator()<programs::attending>("attending");
    compare.operator()<programs::memories>("memories");
  }
  MESSAGE(compared << " runs compared");
  CHECK(compared == 12 * 3 * 2);
}
