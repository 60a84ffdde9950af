// SPDX-License-Identifier: Apache-2.0
// What runs is what the plan says: the calls and bytes of each rank.
// passes: start-up
// ranks: 2 3 4 6
// timeout: 300
#include "mpi/traffic.hpp"
#include "property/outcome.hpp"

using namespace property;

TEST_CASE("the calls of a step are those of its plan") {
  traffic::trial t{mt::reference_device()};
  for (char const* label : {"contractions", "orders", "lookups", "asked", "mlp", "recurrent in f32",
                            "classifier in f32", "attending", "in_parts", "language_model in f32"})
    t.add(label);
  t.add_spread("mlp");
  t.add_apart("mlp"), t.add_apart("language_model in f32");
  CHECK(t.runs == 10 * 3 + 3);
  CHECK(t.joined > 0);
  for (mt::primitive kind :
       {mt::primitive::all_reduce, mt::primitive::reduce_scatter, mt::primitive::all_gather, mt::primitive::all_to_all})
    CHECK_MESSAGE(t.kinds[kind] > 0, std::string(mt::text_of(kind)));
  for (char const* function : {"iallgather", "ialltoall", "ibcast"})
    CHECK_MESSAGE(t.functions[function] > 0, std::string(function));
  if (ranks::rank() == 0)
    for (auto const& [function, count] : t.functions) MESSAGE(function << ": " << count << " planned and made");
}
