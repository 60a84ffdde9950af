// SPDX-License-Identifier: Apache-2.0
// Steps with each, map and steps that the compiler has written out give the bits of the engine that reads a list, on
// one rank and with a sharded dim of the each; their costs are constants.
// timeout: 300
// alone
// part: compiled
#include <doctest/doctest.h>

#include "meshtensor/job/local_runners.hpp"
#include "support/programs_of_indices.hpp"

using namespace of_indices;

namespace {

template <std::int64_t Size>
struct on {
  static constexpr struct axis_of_ranks : mt::axis<"ranks", Size> {
  } axis{};
  struct mesh : mt::mesh<axis> {};
};
template <class Program, std::int64_t Size, class Layout>
void check_same() {
  using compiled = mt::compiled_step<in_f64<Program>, typename on<Size>::mesh, Layout, mt::reference_device>;
  using read = mt::executable<in_f64<Program>, typename on<Size>::mesh, Layout, mt::reference_device>;
  static_assert(compiled::is_unrolled == mt::early && !read::is_unrolled);
  static_assert(mt::constants_of<compiled>.launches == mt::constants_of<read>.launches);
  static_assert((mt::constants_of<compiled>.messages > 0) == (Size > 1));
  auto const job = mt::job::as_threads();
  mt::store here(job, 7), there(job, 7);
  compiled step(here);
  read other(there);
  CHECK(outcome_of<Program>(step, here) == outcome_of<Program>(other, there));
}

}  // namespace

TEST_CASE("an ensemble") { check_same<ensemble, 1, by_member>(), check_same<ensemble, 2, by_member>(); }
TEST_CASE("gradients of each example") { check_same<private_gradients, 2, by_example>(); }
TEST_CASE("loops and branches that differ") {
  check_same<settling, 1, by_task>(), check_same<settling, 2, by_task>(), check_same<settling, 3, by_example>();
}
TEST_CASE("scans that stop") { check_same<stopping, 1, by_member>(), check_same<stopping, 2, by_member>(); }
TEST_CASE("steps around a map") { check_same<rounds_of_training, 2, by_example>(); }
