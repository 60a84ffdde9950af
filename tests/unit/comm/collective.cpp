// SPDX-License-Identifier: Apache-2.0
// The description of a collective: extents, bytes, and what is refused.
#include "meshtensor/comm/collective.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "meshtensor/comm/mpi_algorithm.hpp"

namespace mt = meshtensor;
using mt::collective;

namespace {
constexpr mt::collective_call block(collective kind, int split = -1, int join = -1) {
  mt::collective_call call;
  call.kind = kind, call.type = mt::f32, call.dims = 2, call.extent[0] = 6, call.extent[1] = 4;
  call.split = split, call.join = join;
  return call;
}
void refuses(mt::collective_call const& call, int count, char const* words) {
  auto const report = mt::check(call, count);
  CHECK(report.code() == "R20");
  CHECK_MESSAGE(report.view().find(words) != std::string_view::npos, report.view());
  CHECK_THROWS_AS(mt::require_valid(call, count), mt::error);
}
}  // namespace

TEST_CASE("extents and bytes of the result") {
  constexpr auto scattered = mt::result_of(block(collective::reduce_scatter, 0), 3, 0);
  static_assert(scattered.extent[0] == 2 && scattered.extent[1] == 4);
  constexpr auto exchanged = mt::result_of(block(collective::all_to_all, 0, 1), 3, 2);
  static_assert(exchanged.extent[0] == 2 && exchanged.extent[1] == 12);
  static_assert(mt::bytes_of(block(collective::all_gather, -1, 0)) == 96);
  static_assert(mt::result_bytes_of(block(collective::all_gather, -1, 0), 3, 0) == 288);
  static_assert(mt::result_bytes_of(block(collective::all_reduce), 3, 0) == 96);
  mt::collective_call scalar;
  CHECK(mt::elements_of(scalar) == 1);
}

TEST_CASE("parts that differ") {
  constexpr auto scattered = block(collective::reduce_scatter, 0);  // 6 over 4: 2, 2, 1, 1
  static_assert(mt::result_of(scattered, 4, 1).extent[0] == 2 && mt::result_of(scattered, 4, 2).extent[0] == 1);
  static_assert(mt::received_bytes_of(scattered, 4, 0) == 3 * 32 && mt::received_bytes_of(scattered, 4, 3) == 3 * 16);
  constexpr auto few = block(collective::reduce_scatter, 1);  // 4 over 8: four of them get nothing
  static_assert(mt::result_bytes_of(few, 8, 3) == 24 && mt::result_bytes_of(few, 8, 4) == 0);
  constexpr auto gather = [] {  // 13 rows over 3: 5, 4, 4; this is member 1
    auto call = block(collective::all_gather, -1, 0);
    call.extent[0] = 4, call.joined = 13;
    return call;
  }();
  static_assert(mt::of_member(gather, 3, 0).extent[0] == 5 && mt::result_of(gather, 3, 1).extent[0] == 13);
  static_assert(mt::received_bytes_of(gather, 3, 0) == 8 * 16 && mt::received_bytes_of(gather, 3, 1) == 9 * 16);
  CHECK_NOTHROW(mt::require_valid(gather, 3, 1));
  CHECK_THROWS_WITH_AS(
      mt::require_valid(gather, 3, 0),
      "meshtensor R20: all_gather f32[4, 4]: member 0 of 3 brings 4 along dim 0, but its part of 13 is "
      "5",
      mt::error);
  static_assert(mt::part_of(12, 4, 0, 6) == mt::interval{0, 6} && mt::part_of(12, 4, 1, 6) == mt::interval{6, 6});
  static_assert(mt::part_of(12, 4, 2, 6).count == 0);
}

TEST_CASE("received bytes: the table of communication volumes") {
  constexpr std::int64_t l = 96;
  static_assert(mt::received_bytes_of(block(collective::all_reduce), 4, 1) == 2 * l);  // in two steps
  static_assert(mt::received_bytes_of(block(collective::all_reduce), 6, 0) == 3 * l);  // of 4 and 2: one more
  static_assert(mt::received_bytes_of(block(collective::all_reduce), 6, 2) == 2 * l);
  static_assert(mt::received_bytes_of(block(collective::all_reduce), 6, 4) == l);
  auto long_one = block(collective::all_reduce);
  long_one.extent[0] = 600;  // 9600 bytes
  CHECK(mt::received_bytes_of(long_one, 4, 1) == 2 * 3 * 9600 / 4);
  static_assert(mt::received_bytes_of(block(collective::reduce_scatter, 0), 3, 1) == 2 * l / 3);
  static_assert(mt::received_bytes_of(block(collective::all_gather, -1, 1), 3, 1) == 2 * l);
  static_assert(mt::received_bytes_of(block(collective::all_to_all, 0, 1), 3, 1) == 2 * l / 3);
  static_assert(mt::received_bytes_of(block(collective::broadcast), 3, 1) == l);
  static_assert(mt::received_bytes_of(block(collective::broadcast), 3, 0) == 0);
  static_assert(mt::received_bytes_of(block(collective::all_reduce), 1, 0) == 0);
}

TEST_CASE("a move receives what it does not have") {
  mt::movement moves;  // 13 rows of 4 on 3 members: 5, 4, 4; one row is cut off at the end
  moves.dims = 2, moves.along = 0, moves.extent = 13;
  for (int m = 0; m < 3; ++m) {
    auto const rows = mt::part_of(13, 3, m);
    mt::box b;
    b.origin[0] = rows.begin, b.extent[0] = rows.count, b.extent[1] = 4;
    moves.from.push_back(b), moves.to.push_back(b), moves.copy.push_back(0);
  }
  moves.find_alike();
  mt::collective_call call;
  call.kind = collective::move, call.moves = &moves, call.dims = 2, call.at.first = 1;
  call = mt::of_member(call, 3, 0);
  CHECK(call.extent[0] == 5);
  CHECK(mt::received_bytes_of(call, 3, 0) == 16);  // a row of four floats
  CHECK(mt::received_bytes_of(call, 3, 1) == 16);
  CHECK(mt::received_bytes_of(call, 3, 2) == 0);
  call.at.first = 14;
  CHECK(mt::received_bytes_of(call, 3, 0) == 0);
  CHECK(mt::check(call, 3).empty());
  refuses(call, 2, "its boxes are those of another number of members than 2");
}

TEST_CASE("parts cover a row whatever its length") {
  for (int n : {0, 1, 5, 6, 7, 100})
    for (int p : {1, 2, 3, 6, 8}) {
      std::int64_t end = 0;
      for (int m = 0; m < p; ++m) {
        auto const part = mt::part_of(n, p, m);
        CHECK(part.begin == end);
        CHECK(part.count <= mt::part_of(n, p, 0).count);
        end += part.count;
      }
      CHECK(end == n);
    }
}

TEST_CASE("what cannot be done is refused with its numbers") {
  static_assert(mt::check(block(collective::all_to_all, 0, 1), 3).empty());
  refuses(block(collective::all_reduce), 0, "at least one member");
  auto grained = block(collective::reduce_scatter, 0);
  grained.split_grain = 4;
  refuses(grained, 2, "dim 0, extent 6, is to be cut into multiples of 4");
  grained = block(collective::all_gather, -1, 0);
  grained.joined = 12, grained.join_grain = 8;
  refuses(grained, 2, "dim 0, in all 12, is to have parts of multiples of 8");
  refuses(block(collective::all_to_all, 1, 1), 2, "dim 1 is to be split and joined");
  refuses(block(collective::reduce_scatter), 2, "split names dim -1");
  refuses(block(collective::all_to_all, 0, 2), 2, "join names dim 2");
  refuses(block(collective::all_gather), 2, "join names dim -1");
  refuses(block(collective::move), 2, "nothing says who holds what");
  auto call = block(collective::broadcast);
  call.root = 2;
  refuses(call, 2, "the root is member 2 of 2");
  call = block(collective::all_reduce);
  call.type = mt::boolean;
  refuses(call, 2, "bool has no sum");
  call.op = mt::reduction::max;
  CHECK(mt::check(call, 2).empty());
  call.extent[1] = -1;
  refuses(call, 2, "negative extent -1");
  call.dims = 11;
  refuses(call, 2, "at most 10 dims");
  call = block(collective::all_gather, -1, 0);
  call.extent[0] = call.extent[1] = std::int64_t{1} << 30;
  CHECK(mt::check(call, 1).empty());
  refuses(call, 2, "more bytes than a 64-bit number counts");
}

TEST_CASE("a group lists different ranks of the world") {
  int const members[] = {4, 1, 3};
  CHECK_NOTHROW(mt::require_valid(mt::group{members, 3, 1}, 1, 5));
  CHECK_THROWS_AS(mt::require_valid(mt::group{members, 3, 1}, 3, 5), mt::error);  // another's index
  CHECK_THROWS_AS(mt::require_valid(mt::group{members, 3, 1}, 1, 4), mt::error);  // no rank 4
  CHECK_THROWS_AS(mt::require_valid(mt::group{members, 3, 3}, 1, 5), mt::error);
  CHECK_THROWS_AS(mt::require_valid(mt::group{members, 0, 0}, 1, 5), mt::error);
  int const twice[] = {1, 1};
  CHECK_THROWS_WITH_AS(mt::require_valid(mt::group{twice, 2, 0}, 1, 5),
                       "meshtensor R23: a group lists different ranks below 5, with rank 1 at its own index; got ranks "
                       "{1, 1}, index 0",
                       mt::error);
}

TEST_CASE("a call says what it is") {
  CHECK(mt::text_of(block(collective::all_reduce)) == "all_reduce sum f32[6, 4]");
  CHECK(mt::text_of(block(collective::all_to_all, 0, 1)) == "all_to_all f32[6, 4]");
}

TEST_CASE("the MPI calls of a collective, and their workspace") {
  using mt::reductions;
  using mt::comm::mpi_algorithm_of;
  using mt::comm::mpi_function;
  auto big = block(collective::all_reduce);
  big.extent[0] = 1000;  // 16,000 bytes
  constexpr auto small = mpi_algorithm_of(block(collective::all_reduce), 4, reductions::ordered);
  static_assert(small.first == mpi_function::steps && small.second == mpi_function::none);
  static_assert(small.workspace_bytes() == 2 * 128);
  auto const even = mpi_algorithm_of(big, 4, reductions::ordered);
  CHECK(even.first == mpi_function::ialltoall);
  CHECK(even.second == mpi_function::iallgather);
  CHECK(even.workspace_bytes() == 16000);
  auto const uneven = mpi_algorithm_of(big, 3, reductions::ordered);
  CHECK(uneven.first == mpi_function::ialltoallv);
  CHECK(uneven.second == mpi_function::iallgatherv);
  CHECK(mpi_algorithm_of(big, 4, reductions::native).first == mpi_function::iallreduce);
  big.type = mt::bf16;  // the MPI library never adds those
  CHECK(mpi_algorithm_of(big, 4, reductions::native).first == mpi_function::ialltoall);

  // The outermost dim needs no packing, an inner one does.
  constexpr auto outer = mpi_algorithm_of(block(collective::reduce_scatter, 0), 2, reductions::ordered);
  static_assert(outer.first == mpi_function::ialltoall && !outer.packs && outer.workspace_bytes() == 128);
  constexpr auto inner = mpi_algorithm_of(block(collective::reduce_scatter, 1), 2, reductions::ordered);
  static_assert(inner.packs && inner.workspace_bytes() == 256);
  static_assert(mpi_algorithm_of(block(collective::all_gather, -1, 0), 2, reductions::ordered).workspace_bytes() == 0);
  static_assert(mpi_algorithm_of(block(collective::all_gather, -1, 1), 2, reductions::ordered).unpacks);
  static_assert(mpi_algorithm_of(block(collective::all_to_all, 0, 1), 2, reductions::ordered).unpacks);
  static_assert(!mpi_algorithm_of(block(collective::all_to_all, 0, 1), 2, reductions::ordered).packs);
  static_assert(mpi_algorithm_of(block(collective::all_gather, -1, 0), 1, reductions::ordered).first ==
                mpi_function::none);
  static_assert(mt::workspace_bytes_of(block(collective::reduce_scatter, 1), 2) == 256);
}

TEST_CASE("a move to covers has room for an element that goes to several members") {
  mt::movement moves;  // five rows of 16, one a member; each gets those up to two before and behind its own
  moves.dims = 2;
  for (int m = 0; m < 5; ++m) {
    mt::box own, cover;
    own.origin[0] = m, own.extent[0] = 1, own.extent[1] = cover.extent[1] = 16;
    cover.origin[0] = std::max(0, m - 2), cover.extent[0] = std::min(5, m + 3) - cover.origin[0];
    moves.from.push_back(own), moves.to.push_back(cover), moves.copy.push_back(0);
  }
  moves.find_alike();
  mt::collective_call call;
  call.kind = collective::move, call.type = mt::f64, call.moves = &moves, call.dims = 2;
  for (int m = 0; m < 5; ++m) {  // the ends' covers have three rows
    auto const form = mt::comm::mpi_algorithm_of(mt::of_member(call, 5, m), 5, mt::reductions::ordered);
    CHECK(form.packed_bytes == 4 * 128);
    CHECK(form.received_bytes == 5 * 128);
  }
}

TEST_CASE("ranks and places in words") {
  CHECK(mt::text_of_ranks({3}) == "rank 3");
  CHECK(mt::text_of_ranks({0, 1}) == "ranks 0, 1");
  CHECK(mt::text_of_ranks({0, 1, 2, 5}) == "ranks 0 to 2, 5");
  CHECK(mt::text_of_ranks({0, 2, 4, 6, 8, 9}) == "ranks 0, 2, 4, 6 and 2 more");
  auto call = block(collective::all_gather, -1, 0);
  std::string const plain = text_of(call);
  CHECK(located(call) == plain);
  call.file = "train.cpp", call.line = 31;
  CHECK(located(call) == plain + " (train.cpp:31)");
  call.file = "an agreement", call.line = 0;
  CHECK(located(call) == plain + " (an agreement)");
}

TEST_CASE("the largest count of a call of MPI is that of its messages and displacements") {
  using namespace mt::comm;
  int compared = 0, by_function[12] = {};
  for (collective const kind : {collective::all_reduce, collective::reduce_scatter, collective::reduce,
                                collective::all_gather, collective::all_to_all})
    for (mt::reductions const made : {mt::reductions::ordered, mt::reductions::native})
      for (int const count : {2, 3, 5})
        for (std::int64_t const rows : {1, 3, 7, 12, 20, 1000})
          for (std::int64_t const columns : {1, 5, 12, 30}) {
            auto call = block(kind, mt::splits(kind) ? 1 : -1, mt::joins(kind) ? 0 : -1);
            if (mt::joins(kind)) call.joined = rows;
            call.extent[0] = rows, call.extent[1] = columns;
            call = mt::of_member(call, count, 0);
            auto const form = mpi_algorithm_of(call, count, made);
            std::int64_t const n = elements_of(call);
            std::int64_t largest = 0;
            auto const see = [&](std::int64_t x) { largest = std::max(largest, x); };
            // What members give each other, and where it lies in what is sent and received.
            auto const parts = [&](bool places) {
              for (int i = 0; i < count; ++i) {
                std::int64_t sent = 0, received = 0;
                for (int j = 0; j < count; ++j) {
                  bool const by_parts = form.second != mpi_function::none, to_root = kind == collective::reduce;
                  std::int64_t const to = by_parts  ? mt::part_of(n, count, j).count
                                          : to_root ? (j == 0 ? n : 0)
                                                    : taken(call, count, i, j).bytes / 4;
                  std::int64_t const from = by_parts          ? mt::part_of(n, count, i).count
                                            : to_root         ? (i == 0 ? n : 0)
                                            : mt::joins(kind) ? placed(call, count, j, i).bytes / 4
                                                              : taken(call, count, j, i).bytes / 4;
                  see(to), see(from);
                  if (places) see(received);
                  if (places && kind != collective::all_gather) see(sent);
                  sent += to, received += from;
                }
              }
            };
            using enum mpi_function;
            switch (form.first) {
              case none: break;
              case isend_irecv: parts(false); break;
              case ialltoallv:
              case iallgatherv: parts(true); break;
              case ialltoall:
              case ireduce_scatter_block: see(n / count); break;
              case ireduce_scatter: see(taken(call, count, 0, 0).bytes / 4); break;
              default: see(n);
            }
            if (form.second == igatherv || form.second == iallgatherv)
              for (int j = 0; j < count; ++j) see(mt::part_of(n, count, j).begin), see(mt::part_of(n, count, j).count);
            CAPTURE(text_of(call));
            CAPTURE(count);
            CHECK(largest_count(call, count, form) == largest);
            ++compared, ++by_function[static_cast<int>(form.first)];
          }
  CHECK(compared == 5 * 2 * 3 * 6 * 4);
  for (mpi_function const f : {mpi_function::iallgather, mpi_function::iallgatherv, mpi_function::ialltoall,
                               mpi_function::ialltoallv, mpi_function::iallreduce, mpi_function::ireduce_scatter_block,
                               mpi_function::ireduce_scatter, mpi_function::isend_irecv, mpi_function::steps})
    CHECK_MESSAGE(by_function[static_cast<int>(f)] > 0, static_cast<int>(f));
  // A reduce of as many elements as MPI counts.
  auto greatest = block(collective::reduce);
  greatest.extent[0] = std::numeric_limits<int>::max(), greatest.extent[1] = 1;
  CHECK(largest_count(greatest, 3, mpi_algorithm_of(greatest, 3, mt::reductions::ordered)) <=
        std::numeric_limits<int>::max());
}
