// SPDX-License-Identifier: Apache-2.0
// Random programs under random layouts, as ranks: every bit of every output and variable is that of one thread in
// turns, which is what the interpreter gives.
//
// passes: start-up
// ranks: 2 3 4 6 8
// needs: mpi
// timeout: 300
#include "property/random_run.hpp"

#include "meshtensor/device/reference.hpp"
#include "meshtensor/job/mpi_runner.hpp"
#include "mpi/ranks.hpp"

using namespace property;

namespace {

/// What all ranks hold, on rank `root`; nothing elsewhere.
held_bytes gathered(held_bytes const& mine, int root) {
  std::vector<char> sent;
  auto const put = [&](void const* data, std::size_t bytes) {
    std::uint64_t const length = bytes;
    auto const* const l = reinterpret_cast<char const*>(&length);
    sent.insert(sent.end(), l, l + sizeof(length));
    sent.insert(sent.end(), static_cast<char const*>(data), static_cast<char const*>(data) + bytes);
  };
  for (auto const& [label, bytes] : mine) put(label.data(), label.size()), put(bytes.data(), bytes.size());
  auto const count = static_cast<std::size_t>(ranks::count());
  std::vector<int> lengths(count), first(count);
  int const length = static_cast<int>(sent.size());
  MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, root, MPI_COMM_WORLD);
  int total = 0;
  for (std::size_t r = 0; r < count; ++r) first[r] = total, total += lengths[r];
  std::vector<char> all(static_cast<std::size_t>(total));
  MPI_Gatherv(sent.data(), length, MPI_CHAR, all.data(), lengths.data(), first.data(), MPI_CHAR, root, MPI_COMM_WORLD);
  held_bytes held;
  char const* at = all.data();
  auto const take = [&] {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, at, sizeof(bytes));
    std::string const taken(at + sizeof(bytes), bytes);
    at += sizeof(bytes) + bytes;
    return taken;
  };
  while (at != all.data() + all.size()) {
    std::string const label = take(), bytes = take();
    auto const* const data = reinterpret_cast<std::byte const*>(bytes.data());
    held[label].assign(data, data + bytes.size());
  }
  return held;
}

void try_programs(long count, std::uint64_t offset, random_run::program_maker make) {
  mt::job const ranks(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD)), turns = mt::job::in_lockstep();
  random_run run(count, offset + 1000 * static_cast<std::uint64_t>(ranks::count()), make);
  std::uint64_t seed = run.seed();  // of rank 0: midnight comes to all at once
  MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  run.set_seed(seed);
  int judge = 0;  // one rank after the other
  run.each(random_meshes(ranks::count()), [&](layout_trial const& trial) -> std::string {
    mt::reference_device const device;
    judge = (judge + 1) % ranks::count();
    held_bytes const held = gathered(trial.run(ranks, device), judge);
    if (ranks::rank() != judge) return "";
    held_bytes const wanted = trial.run(turns, device);
    std::string wrong = trial.compare(wanted);
    if (wrong.empty()) wrong = first_difference(held, wanted);
    if (!wrong.empty()) std::fprintf(stderr, "%s\n", run.context().c_str());
    REQUIRE(wrong == "");  // here and now: the other ranks go on to the next run
    return "";
  });
  if (ranks.is_root()) run.say();
  CHECK(run.counted() > 0);
}

}  // namespace

TEST_CASE("random programs under random layouts, as ranks") { try_programs(150, 0, &whole_programs::of); }
TEST_CASE("random graphs of integers near the limits, as ranks") {
  try_programs(60, 400000, &whole_programs::of_integers_near_limits);
}
