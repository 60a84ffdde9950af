// SPDX-License-Identifier: Apache-2.0
// Processors as threads give what they give in turns on one thread: every bit of every output and variable.
// timeout: 300
#include "property/outcome.hpp"

using namespace property;

TEST_CASE("threads and lockstep are one") {
  auto const threads = mt::job::as_threads(), turns = mt::job::in_lockstep();
  int compared = 0;
  for (std::vector<int> const& sizes : std::vector<std::vector<int>>{{3}, {2, 2}}) {
    mt::mesh_shape mesh{};
    for (std::size_t a = 0; a < sizes.size(); ++a) mesh.add(a == 0 ? mt::name("ax") : mt::name("by"), sizes[a]);
    for (char const* label :
         {"contractions", "reductions", "not_finite", "movements", "orders", "lookups", "noise", "mlp", "recurrent",
          "nested", "composites", "classifier in f32", "attending", "in_parts", "memories", "penalised"})
      each_of_three(program_named(label), mesh,
                    [&](mt::lowering const& low, mt::blocks const& inputs, std::vector<std::string> const& outputs) {
                      auto const wanted = run_with(turns, low, mesh, inputs, outputs, 2);
                      CHECK(wanted.size() >= outputs.size() * 2);
                      CHECK(run_with(threads, low, mesh, inputs, outputs, 2) == wanted);
                      ++compared;
                    });
  }
  MESSAGE(compared << " runs compared");
  CHECK(compared == 16 * 3 * 2);
  at_least(96, compared);
}
