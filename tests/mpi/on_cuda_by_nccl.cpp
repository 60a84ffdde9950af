// SPDX-License-Identifier: Apache-2.0
// Ranks with mt::cuda_device whose collectives go from GPU to GPU, the host in the place of GPUs and messages of MPI in
// that of NCCL: they are captured with the step, and the losses are those of one process.
// passes: start-up
// sanitize: no
// ranks: 2 4
// needs: mpi
// timeout: 600
// part: cuda
#include <stdlib.h>  // setenv

#include <optional>
#include <stdexcept>

#include "meshtensor/device/cuda/device.hpp"
#include "mpi/recorded_devices.hpp"
#include "support/early_loops.hpp"
#include "support/nccl_over_mpi.hpp"

using namespace recorded;
namespace nccl = meshtensor_test::nccl;

namespace {

struct stand_ins {
  meshtensor_test::host_gpu gpu;
  stand_ins() {
    mt::cuda::given_gpu() = &gpu, mt::cuda::given_nccl() = &nccl::functions;
    setenv("MESHTENSOR_CUDA_NCCL", "1", 1);
    nccl::talk();
  }
  ~stand_ins() {
    unsetenv("MESHTENSOR_CUDA_NCCL");
    mt::cuda::given_gpu() = nullptr, mt::cuda::given_nccl() = nullptr;
  }
};

/// Its gradients are scattered sums where the optimizer's rows are spread, and its parameters are gathered then.
inline constexpr struct texts : mt::dim<"texts", 24> {} texts;
inline constexpr struct rows : mt::dim<"rows", 8> {} rows;
inline constexpr struct width : mt::dim<"width", 12> {} width;
struct squares {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, texts, rows);
    auto const y = einsum(x, s.parameter("w", rows, width, mt::normal(1)), mt::to(texts, width));
    auto const loss = mean(y * y);
    mt::adamw{.learning_rate = 1e-2}.minimize(s / "optimizer", loss);
    s.output("y", y);
    s.output("loss", loss);
  }
};

/// One line on two processors: a group of them has none, and exchanges nothing.
inline constexpr struct lines : mt::dim<"lines", 1> {} lines;
struct one_line {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, lines, rows);
    s.output("y", einsum(x, s.parameter("w", rows, width, mt::normal(1)), mt::to(lines, width)));
  }
};

}  // namespace

TEST_CASE("twenty losses of a Transformer, by messages between GPUs") {
  mt::job const job(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD)), turns = mt::job::in_lockstep();
  stand_ins const here;
  auto const traced = training::traced_in<mt::dtype::f32>();
  for (training::spread const& how : training::all_spreads()) {
    if (how.mesh.size() != job.get().size()) continue;
    INFO(std::string(how.what));
    training::course const mine = training::train(job, *traced, how, mt::cuda_device()),
                           wanted = training::train(turns, *traced, how, mt::cuda_device());
    CHECK(training::farthest(wanted, mine) < 1e-5);
    CHECK(mine.losses.back() < mine.losses.front() - 0.5);
  }
  CHECK(nccl::calls["all_reduce"] > 10);
  CHECK(nccl::communicators == 0);
  CHECK(here.gpu.replays > 0);
}

TEST_CASE("gathers and reductions whose parts lie one behind the other") {
  mt::job const job(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD)), turns = mt::job::in_lockstep();
  stand_ins const here;
  auto const traced = mt::on_heap([] { return mt::trace<mt::precision<squares, mt::dtype::f64>>(); });
  mt::blocks const inputs = inputs_of(*traced, mt::entry_name<squares>());
  mt::mesh_shape const mesh = mt::mesh_shape{}.add("ax", ranks::count());
  for (mt::layout_rules const& rules : {mt::layout_rules{}.shard("texts", {"ax"}).shard("rows", {"ax"}, "optimizer"),
                                        mt::layout_rules{}.shard("rows", {"ax"})}) {
    auto const low =
        mt::lower(*traced, mt::entry_name<squares>(), mesh, rules, {}, mt::capabilities_of<mt::cuda_device>);
    INFO(meshtensor_test::text_of(rules));
    auto const on = [&](mt::job const& j) {
      return run_on<mt::cuda_device>(j, low->graph, low->planned, low->entry, mesh, inputs, outputs_of(*traced), 4);
    };
    outcome const mine = on(job), all = on(turns);
    CHECK(mine.size() * static_cast<std::size_t>(mesh.size()) == all.size());
    int far = 0;
    for (auto const& [key, bytes] : mine)
      for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
        double got = 0, wanted = 0;
        std::memcpy(&got, bytes.data() + i, 8), std::memcpy(&wanted, all.at(key).data() + i, 8);
        far += !(std::abs(got - wanted) <= 1e-9 * std::max(1.0, std::abs(wanted)));
      }
    CHECK(far == 0);
  }
  CHECK(nccl::calls["all_gather"] > 0);
  CHECK(nccl::calls["reduce_scatter"] > 0);
  CHECK(nccl::communicators == 0);
}

TEST_CASE("all ranks capture in the same step, and replay what they captured then") {
  mt::job const job(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD));
  stand_ins const here;
  auto const traced = mt::on_heap([] { return mt::trace<mt::precision<squares, mt::dtype::f64>>(); });
  mt::blocks const inputs = inputs_of(*traced, mt::entry_name<squares>());
  mt::mesh_shape const mesh = mt::mesh_shape{}.add("ax", ranks::count());
  auto const low = mt::lower(*traced, mt::entry_name<squares>(), mesh, mt::layout_rules{}.shard("texts", {"ax"}), {},
                             mt::capabilities_of<mt::cuda_device>);
  mt::store values(job);
  mt::session<mt::cuda_device> run(values, low->graph, low->planned, mesh, low->entry);
  for (auto const& [label, b] : inputs) run.feed(label, b.data());
  std::vector<long> recordings, replays;
  for (int t = 0; t < 9; ++t) {
    if (t == 4) run.record(ranks::rank() == 0);  // one rank alone takes the time of its nodes
    if (t == 5) run.record(false);
    run.step();
    recordings.push_back(here.gpu.recordings), replays.push_back(here.gpu.replays);
  }
  // On each rank: given, captured, replayed twice; given while one rank looks, and once more; captured again.
  CHECK(recordings == std::vector<long>{0, 1, 1, 1, 1, 1, 2, 2, 2});
  CHECK(replays == std::vector<long>{0, 1, 2, 3, 3, 3, 4, 5, 6});
}

TEST_CASE("loops that may end early: all ranks run the same iterations, and nothing is captured") {
  mt::job const job(MPI_COMM_WORLD), turns = mt::job::in_lockstep();
  stand_ins const here;
  auto const hold = [&]<class Program>(Program) {
    auto const run = [&](mt::job const& j) {
      return early_loops::all_steps<Program, early_loops::by_batch, mt::cuda_device>(j, ranks::count(), 1,
                                                                                     [](auto&, int) {});
    };
    long const before = nccl::calls["all_reduce"], captured = here.gpu.recordings;
    auto const mine = run(job);
    CHECK(nccl::calls["all_reduce"] > before + 20);
    CHECK(here.gpu.recordings == captured);
    auto const wanted = run(turns);
    REQUIRE(mine.size() == wanted.size());
    for (std::size_t i = 0; i < mine.size(); ++i) CHECK(std::abs(mine[i] - wanted[i]) < 1e-9);
    CHECK(nccl::communicators == 0);
  };
  hold(early_loops::one());
  hold(early_loops::nested());
}

TEST_CASE("ranks whose groups exchange nothing begin steps with the others") {
  mt::job const job(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD));
  stand_ins const here;
  auto const traced = mt::on_heap([] { return mt::trace<mt::precision<one_line, mt::dtype::f64>>(); });
  mt::blocks const inputs = inputs_of(*traced, mt::entry_name<one_line>());
  mt::mesh_shape const mesh = mt::mesh_shape{}.add("data", ranks::count() / 2).add("model", 2);
  auto const low = mt::lower(*traced, mt::entry_name<one_line>(), mesh,
                             mt::layout_rules{}.shard("lines", {"data"}).shard("rows", {"model"}), {},
                             mt::capabilities_of<mt::cuda_device>);
  long const before = nccl::calls["all_reduce"];
  run_on<mt::cuda_device>(job, low->graph, low->planned, low->entry, mesh, inputs, outputs_of(*traced), 4);
  CHECK((nccl::calls["all_reduce"] == before) == (ranks::rank() >= 2));
  CHECK(nccl::communicators == 0);
}

namespace {

/// What the call throws on this rank: its code; empty: nothing.
std::string code_of(auto const& call) {
  try {
    call();
  } catch (mt::error const& e) { return std::string(e.code()); }
  return "";
}
mt::collective_call sum_of_five() {
  mt::collective_call call;
  call.kind = mt::collective::all_reduce, call.op = mt::reduction::sum, call.type = mt::dtype::f32;
  call.dims = 1, call.extent[0] = 5;
  return call;
}

}  // namespace

TEST_CASE("an exchange of as many rows as there are ranks") {
  mt::job const job(MPI_COMM_WORLD);
  stand_ins here;
  mt::cuda_device::join(*job.get().processes());
  auto const members = ranks::below(ranks::count());
  mt::group const all{members.data(), ranks::count(), ranks::rank()};
  mt::collective_call call;
  call.kind = mt::collective::all_to_all, call.type = mt::dtype::i32, call.dims = 2;
  call.extent[0] = ranks::count(), call.extent[1] = 5, call.split = 0, call.join = 1;
  {
    mt::cuda::nccl_communicators communicators(here.gpu);
    REQUIRE(communicators.takes(call, all.count));
    communicators.join({members});
    std::vector<std::int32_t> sent(members.size() * 5), got(sent.size()), wanted(sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<int>(i) + 100 * ranks::rank();
    for (std::size_t i = 0; i < sent.size(); ++i)
      wanted[i] = static_cast<int>(i % 5) + 5 * ranks::rank() + 100 * static_cast<int>(i / 5);
    mt::cuda::device_memory const in(here.gpu, sent.size() * 4), out(here.gpu, sent.size() * 4);
    mt::cuda::recording to_do;
    to_do.upload(in.at(), reinterpret_cast<std::byte const*>(sent.data()), static_cast<std::int64_t>(sent.size() * 4));
    communicators.record(to_do, call, all, in.at(), out.at());
    to_do.download(reinterpret_cast<std::byte*>(got.data()), out.at(), static_cast<std::int64_t>(sent.size() * 4));
    mt::cuda::api::nccl refusing = nccl::functions;
    refusing.ncclRecv = [](void*, std::size_t, int, int, mt::cuda::api::communicator, mt::cuda::api::stream) {
      return 3;
    };
    mt::cuda::given_nccl() = &refusing;
    CHECK(code_of([&] { to_do.give_to(here.gpu, {}); }) == "R81");
    CHECK(!nccl::group().is_open);  // else NCCL would keep what is called next
    mt::cuda::given_nccl() = &nccl::functions;
    here.gpu.wait();
    to_do.give_to(here.gpu, {});
    here.gpu.wait();
    CHECK(got == wanted);
  }
  CHECK(nccl::calls["group"] > 0);
  CHECK(nccl::communicators == 0);
}

TEST_CASE("a rank that fails does not leave the others in their streams") {
  long const aborted = nccl::calls["abort"];
  {
    mt::job const job(MPI_COMM_WORLD);
    stand_ins here;
    mt::cuda_device::join(*job.get().processes());
    auto const members = ranks::below(ranks::count());
    mt::group const all{members.data(), ranks::count(), ranks::rank()};
    mt::cuda::nccl_communicators communicators(here.gpu);
    communicators.join({members});
    MPI_Barrier(MPI_COMM_WORLD);  // else a rank may hear of the failure while it joins, and say so there
    bool const fails = ranks::rank() == ranks::count() - 1;
    if (fails) {
      auto const failing = [](int, auto const&) { throw std::runtime_error("it has had enough"); };
      CHECK_THROWS_AS(job.get().run(ranks::count(), failing), std::runtime_error);
    } else {
      mt::cuda::device_memory const values(here.gpu, 20);
      mt::cuda::recording to_do;
      communicators.record(to_do, sum_of_five(), all, values.at(), values.at());
      auto const runs = [&] {
        to_do.give_to(here.gpu, {});  // hears of the failure, too
        here.gpu.wait();
      };
      CHECK(code_of(runs) == "R21");
      CHECK(nccl::calls["abort"] == aborted + 1);
      here.gpu.wait();  // there is nothing left to wait for
    }
  }
  CHECK(nccl::calls["abort"] == aborted + 1);  // the rank that has failed ends its own so, too: nobody else comes
  CHECK(nccl::communicators == 0);
}

TEST_CASE("communicators end when all members end them, and do not wait for ever for one that does not") {
  setenv("MESHTENSOR_WAIT_SECONDS", "1", 1);
  for (bool const all_come : {true, false}) {
    long const aborted = nccl::calls["abort"], finalized = nccl::calls["finalize"];
    mt::job const job(MPI_COMM_WORLD);
    stand_ins here;
    mt::cuda_device::join(*job.get().processes());
    {
      auto communicators = std::make_optional<mt::cuda::nccl_communicators>(here.gpu);
      communicators->join({ranks::below(ranks::count())});
      if (bool const stays = !all_come && ranks::rank() == ranks::count() - 1; !stays) communicators.reset();
      MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(nccl::calls["finalize"] == finalized + 1);
    CHECK(nccl::calls["abort"] == aborted + !all_come);
    CHECK(nccl::communicators == 0);
  }
  unsetenv("MESHTENSOR_WAIT_SECONDS");
}

TEST_CASE("a rank that does not come to a communicator is waited for so long, and not longer") {
  long const aborted = nccl::calls["abort"];
  setenv("MESHTENSOR_WAIT_SECONDS", "1", 1);
  {
    mt::job const job(MPI_COMM_WORLD);
    stand_ins here;
    mt::cuda_device::join(*job.get().processes());
    mt::cuda::nccl_communicators communicators(here.gpu);
    bool const comes = ranks::rank() != ranks::count() - 1;
    auto const members = ranks::below(ranks::count());
    std::vector<std::vector<int>> groups;
    if (comes) groups.push_back(members);
    std::string const code = code_of([&] { communicators.join(groups); });
    CHECK((code == "R22" || (!comes && code == "R21")));
    CHECK(nccl::calls["abort"] == aborted + comes);
  }
  unsetenv("MESHTENSOR_WAIT_SECONDS");
  CHECK(nccl::communicators == 0);
}
