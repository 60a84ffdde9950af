// Ranks that are about to run different things say so before the first step, each of them; none waits for the others.
// ranks: 2 3
// needs: mpi
#include <doctest/doctest.h>

#include <mpi.h>

#include "mpi/ranks.hpp"
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

namespace {

inline constexpr struct all_axis : mt::axis<"all"> {
} all;
struct line_of_ranks : mt::mesh<all> {};
struct by_batch : mt::layout<mt::shard<batch, all>> {};
struct whole : mt::layout<> {};

// A square, spread one way or the other: graphs, memory and traffic of both are alike.
inline constexpr struct down : mt::dim<"down", 12> {
} down;
inline constexpr struct across : mt::dim<"across", 12> {
} across;
struct square {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.input("x", mt::f32, down, across) * 2); }
};
struct in_rows : mt::layout<mt::shard<down, all>> {};
struct in_columns : mt::layout<mt::shard<across, all>> {};

std::string sentence(auto make) {
  try {
    make();
  } catch (mt::error const& e) { return e.what(); }
  return "";
}

}  // namespace

TEST_CASE("other sizes, layouts or programs") {
  mt::processors const job(MPI_COMM_WORLD);
  int const batches = 2 * ranks::count();
  bool const other = ranks::rank() == ranks::count() - 1;
  std::string const expected = "meshtensor R24: the ranks have different plans";
  {
    mt::store weights(job);
    CHECK(sentence([&] {
            mt::executable<grow, line_of_ranks, by_batch>(weights, batch(other ? 2 * batches : batches));
          }).starts_with(expected));
  }
  {
    mt::store weights(job);
    CHECK(sentence([&] {
            if (other) mt::executable<grow, line_of_ranks, whole>(weights, batch(batches));
            else mt::executable<grow, line_of_ranks, by_batch>(weights, batch(batches));
          }).starts_with(expected));
  }
  {
    mt::store weights(job);
    CHECK(sentence([&] {
            if (other) mt::executable<programs, look, line_of_ranks, by_batch> mine(weights);
            else mt::executable<programs, grow, line_of_ranks, by_batch>(weights, batch(batches));
          }).starts_with(expected));
  }
  {
    mt::store weights(job);
    CHECK(sentence([&] {
            if (other) mt::executable<square, line_of_ranks, in_columns> mine(weights);
            else mt::executable<square, line_of_ranks, in_rows> mine(weights);
          }).starts_with(expected));
  }
  mt::store weights(job);  // and what they agree on goes on
  mt::executable<grow, line_of_ranks, by_batch> step(weights, batch(batches));
  mt::array<float, batch, rows> x(batch(batches));
  CHECK(step(mt::feed<"x">(x)).get<"sum">() != 0);
}
