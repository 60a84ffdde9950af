// SPDX-License-Identifier: Apache-2.0
// Ranks whose devices have memory that nobody else can touch and queues that run late and out of order: every bit of
// the reference device in lockstep, and what fails on one is an error on all.
// passes: start-up
// ranks: 2 3 4 6
// needs: mpi io
// timeout: 600
#include <cmath>

#include "meshtensor/io/checkpoint.hpp"
#include "meshtensor/meshtensor.hpp"
#include "mpi/recorded_devices.hpp"
#include "support/early_loops.hpp"
#include "support/late_machine.hpp"
#include "support/layers_of_experts.hpp"
#include "support/temporary_folder.hpp"

using namespace recorded;
using meshtensor_test::late_device;
using meshtensor_test::late_here;

namespace {

inline constexpr struct data : mt::axis<"data"> {} data;
struct line : mt::mesh<data> {};
struct by_batch : mt::layout<mt::shard<programs::batch, data>> {};
using classifier = mt::precision<programs::classifier, mt::f64>;

template <class Step>
double one_step(Step& step) {
  std::vector<double> x(24 * 12);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(0.7 * static_cast<double>(i) + 0.3);
  std::vector<std::int32_t> label(24);
  for (std::size_t i = 0; i < label.size(); ++i) label[i] = static_cast<std::int32_t>(i * 7 % 5);
  return step(mt::feed<"x">(x), mt::feed<"label">(label), mt::set<"rate">(0.1)).template get<"loss">();
}
template <class Device>
using train = mt::executable<classifier, line, by_batch, Device>;

/// No memory for first values on the last rank.
struct without_memory : late_device {
  static void fill(mt::view const& where, mt::initial_value const& first) {
    if (ranks::rank() == ranks::count() - 1) throw std::bad_alloc();
    mt::fill(where, first);
  }
};

std::uint64_t own_seed() { return static_cast<std::uint64_t>(ranks::rank()) + 1; }

}  // namespace

TEST_CASE("twenty losses of a Transformer") {
  mt::job const job(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD));
  late_here const here(own_seed(), 3);
  hold_in_training<late_device, mt::reference_device>(job);
  CHECK(here.machine.out_of_order > 0);
  CHECK(here.machine.blocks() == 0);
  CHECK(here.machine.host_blocks() == 0);
}

TEST_CASE("programs of the catalogue, uneven parts among them") {
  mt::job const job(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD));
  late_here const here(own_seed());
  int const compared = hold_in_catalogue<late_device, mt::reference_device>(
      job, {catalogue().begin(), catalogue().begin() + static_cast<long>(in_f64)});
  if (job.is_root()) MESSAGE(compared << " runs compared");
  CHECK(compared > 70);
  CHECK(here.machine.out_of_order > 0);
  CHECK(here.machine.host_blocks() == 0);
}

TEST_CASE("rows go to the holders of their experts") {
  mt::job const job(MPI_COMM_WORLD);
  late_here const here(own_seed());
  auto const losses = [&]<class Device>(Device) {
    mt::store weights(job, 3);
    layers_of_experts::executable<Device> step(weights, layers_of_experts::data(ranks::count()));
    CHECK(layers_of_experts::exchanges_rows(step.graph()));
    std::vector<double> all;
    for (int i = 0; i < 4; ++i) all.push_back(layers_of_experts::one_step(step, i));
    return all;
  };
  CHECK(losses(late_device()) == losses(mt::reference_device()));
  CHECK(here.machine.host_blocks() == 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("loops end early on all ranks, single nodes looked at in between") {
  mt::job const job(MPI_COMM_WORLD), turns = mt::job::in_lockstep();
  int const data_size = ranks::count() == 6 ? 3 : ranks::count(), model_size = ranks::count() / data_size;
  auto const looked_at = [](auto& step, int number) {
    if (number == 3) step.check_numerics();
    if (number == 5) step.check_numerics(false);
  };
  auto const plain = [](auto&, int) {};
  auto const hold = [&]<class Program>(Program, auto const& each) {
    late_here const here(own_seed(), 3);
    auto const mine =
        early_loops::all_steps<Program, early_loops::in_parts, late_device>(job, data_size, model_size, each);
    CHECK(mine == early_loops::all_steps<Program, early_loops::in_parts, mt::reference_device>(turns, data_size,
                                                                                               model_size, plain));
    CHECK(here.machine.out_of_order > 0);
    CHECK(here.machine.host_blocks() == 0);
    MPI_Barrier(MPI_COMM_WORLD);
  };
  hold(early_loops::one(), plain);
  hold(early_loops::nested(), looked_at);
  hold(early_loops::in_layers(), plain);
}

TEST_CASE("values come home, are saved and set, and go back; single nodes can be looked at") {
  mt::job const job(MPI_COMM_WORLD);
  late_here const here(own_seed());
  std::vector<double> wanted;
  {
    mt::store plain(job);
    train<mt::reference_device> reference(plain, data(ranks::count()));
    for (int i = 0; i < 8; ++i) wanted.push_back(one_step(reference));
  }
  meshtensor_test::temporary_folder const folder;
  std::string at = (folder / "third").string();
  at.resize(200);
  MPI_Bcast(at.data(), static_cast<int>(at.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  at.resize(at.find('\0'));
  mt::store weights(job);
  train<late_device> step(weights, data(ranks::count()));
  for (int i = 0; i < 3; ++i) CHECK(one_step(step) == wanted[static_cast<std::size_t>(i)]);
  mt::save(weights, at);
  CHECK(one_step(step) == wanted[3]);
  step.check_numerics();
  CHECK(one_step(step) == wanted[4]);
  step.check_numerics(false);
  step.record();
  CHECK(one_step(step) == wanted[5]);
  CHECK(step.recorded().size() == 1);
  step.record(false);
  mt::load(weights, at);
  for (std::size_t i = 3; i < 6; ++i) CHECK(one_step(step) == wanted[i]);
  train<mt::reference_device> other(weights, data(ranks::count()));
  CHECK(one_step(other) == wanted[6]);
  CHECK(one_step(step) == wanted[7]);
  CHECK(step.memory().workspace > 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("a device that fails on one rank ends the step on all") {
  for (char const* what : {"einsum", "download", "upload"}) {
    INFO(std::string(what));
    mt::job const job(MPI_COMM_WORLD);
    late_here here(own_seed());
    mt::store weights(job);
    train<late_device> step(weights, data(ranks::count()));
    one_step(step);
    MPI_Barrier(MPI_COMM_WORLD);  // who is told in the first step would end there
    bool const fails = ranks::rank() == ranks::count() - 1;
    if (fails) here.machine.fails_at = what;
    std::string const said = [&] {
      try {
        one_step(step);
      } catch (mt::error const& e) { return std::string(e.what()); }
      return std::string();
    }();
    CAPTURE(said);
    CHECK(said.find(fails ? "R81: the test's device: the kernel of " + std::string(what) : "R21") != said.npos);
    CHECK(said.find("the test's device: the kernel of " + std::string(what)) != said.npos);
    CHECK(here.machine.is_idle());
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_CASE("a rank whose device has no memory ends the start of all") {
  mt::job const job(MPI_COMM_WORLD);
  late_here here(own_seed());
  bool const fails = ranks::rank() == 0;
  if (fails) here.machine.fails_to_allocate = 1;
  std::string said;
  try {
    mt::store weights(job);
    train<late_device> step(weights, data(ranks::count()));
    one_step(step);
  } catch (mt::error const& e) { said = e.what(); }
  CAPTURE(said);
  CHECK(said.find(fails ? "R82" : "R21") != said.npos);
  CHECK(said.find("the test's device has no") != said.npos);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("a rank that has no memory for the first values ends the start of all") {
  mt::job const job(MPI_COMM_WORLD);
  late_here const here(own_seed());
  mt::store weights(job);
  std::string said;
  try {
    train<without_memory> step(weights, data(ranks::count()));
    one_step(step);
  } catch (mt::error const& e) { said = e.what(); }
  CHECK_MESSAGE(said.starts_with(ranks::rank() == ranks::count() - 1 ? "meshtensor M10: " : "meshtensor R21: "), said);
  CHECK_MESSAGE(said.find("M10: ") != said.npos, said);
  MPI_Barrier(MPI_COMM_WORLD);  // while the job is there
}
