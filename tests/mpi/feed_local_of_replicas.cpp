// SPDX-License-Identifier: Apache-2.0
// Each rank feeds the batches of its own replicas alone: they train as if every rank had fed those of all.
// passes: start-up
// ranks: 2 4
// needs: mpi
#include <doctest/doctest.h>

#include <vector>

#include "meshtensor/job/mpi_runner.hpp"
#include "meshtensor/meshtensor.hpp"
#include "mpi/ranks.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct own_replica : mt::dim<"replica", 8> {} replica;
inline constexpr struct own_batch : mt::dim<"batch", 3> {} batch;
inline constexpr struct own_width : mt::dim<"width", 2> {} width;
inline constexpr struct own_axis : mt::axis<"ranks"> {} axis;

struct fit {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, width);
    auto const error = sum(x * s.parameter("w", width, mt::ones), width) - 1;
    auto const loss = mean(error * error);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
    s.output("seen", x + 0);
  }
};
using step_of_test = mt::executable<mt::replicas<fit, replica, mt::stochastic_gradient_push<>>, mt::mesh<axis>,
                                    mt::over_replicas<mt::layout<>, replica, axis>, mt::reference_device>;

}  // namespace

TEST_CASE("a rank feeds the batches of its replicas") {
  mt::job const job(MPI_COMM_WORLD);
  mt::store weights(job, 3), others(job, 3);
  step_of_test own(weights, axis(ranks::count())), all(others, axis(ranks::count()));
  for (int t = 0; t < 3; ++t) {
    std::vector<float> whole(8 * 6);
    for (std::size_t i = 0; i < whole.size(); ++i)
      whole[i] = static_cast<float>(i % 11 + static_cast<std::size_t>(t)) / 8;
    auto const size = static_cast<std::ptrdiff_t>(whole.size()) / ranks::count();
    std::vector<float> const part(whole.begin() + size * ranks::rank(), whole.begin() + size * (ranks::rank() + 1));
    auto const given = own(mt::feed_local<"x">(part)), wanted = all(mt::feed<"x">(whole));
    auto const seen = given.get<"seen">().gather();
    REQUIRE(seen.size() == static_cast<std::int64_t>(whole.size()));
    for (std::size_t i = 0; i < whole.size(); ++i) CHECK(seen.data()[i] == whole[i]);
    CHECK(given.get<"loss">().gather() == wanted.get<"loss">().gather());
  }
}
