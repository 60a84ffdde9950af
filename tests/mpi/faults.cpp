// SPDX-License-Identifier: Apache-2.0
// A program to be harmed: it trains without end on ranks of MPI, unless its arguments, which may differ from rank to
// rank, say otherwise. tests/mpi/faults.sh starts it, does the harm, and looks at how the job ends.
//
//   throws refuses leaves gives_up exits computes   what this rank does after twenty steps
//   throws_number faults aborts terminates ends kills
//                                          … throws 42, writes where nothing is, calls abort, std::terminate with an
//                                          exception, std::exit(1), kills itself
//   inside                                 … not between two steps, but in the middle of one
//   infinite                               … gives an infinite value, which all look for (`numerics`)
//   idle                                   makes nothing at all
//   guest                                  … as a guest in a program with its own MPI: prints what it catches
//   catches rethrows                       prints what it catches inside of run_main, and returns 0 or throws it on
//   jobs=3                                 makes so many jobs, one after the other
//   memory=100                             this rank may have so many megabytes more than it has; its plan needs 512
//   batch=24 seed=7 steps=100              what it runs
//   late                                   … on a device with late queues and memory of its own
//   keeps pace=10                          … with checkpoints in the folder `run`, from the newest one on, each step
//   with data of
//                                          its own, so many milliseconds apart; leaves when it is told to
//   replicas                               one replica a rank, by gradient push, with checkpoints, from the newest one
//                                          on: the mean of the replicas must be that of the checkpoint
//
// passes: start-up
// script: faults.sh stopped computes throws refuses leaves dies survives memory facts builds cut slow preempted soak
// twin: -ffast-math
// optimize: 0
// needs: io mpi
// part: faults
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <thread>

#include "meshtensor/io/checkpoint.hpp"
#include "meshtensor/job/main.hpp"
#include "meshtensor/meshtensor.hpp"
#include "meshtensor/train/stop_request.hpp"
#include "support/late_machine.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct width : mt::dim<"width"> {} width;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>> {};

/// What x is; the harm is done in it, where it is to be in the middle of a step.
struct passed_on {
  static inline std::function<void()> harm = [] {};
  static inline bool is_infinite = false;
  static void run(std::span<float const> x, std::span<float> y) {
    harm();
    std::ranges::copy(x, y.begin());
    if (is_infinite) y[0] = std::numeric_limits<float>::infinity();
  }
};

struct train {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, width);
    s.output("seen", mean(mt::call<passed_on>(x)));
    auto const off = x * s.parameter("w", width, mt::ones) - 1;
    auto const loss = mean(off * off);
    mt::momentum{.learning_rate = 0.001}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct hold {
  constexpr void operator()(mt::scope auto s) const { s.output("y", sum(s.state("held", mt::f32, width))); }
};

inline constexpr struct replica : mt::dim<"replica"> {} replica;
struct learn {
  constexpr void operator()(mt::scope auto s) const {
    auto const off = s.input("x", s.real(), width) * s.parameter("w", width, mt::ones) - 1;
    mt::momentum{.learning_rate = 0.01}.minimize(s / "optimizer", mean(off * off));
  }
};
struct shown {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.parameter("w", width, mt::ones) * 1); }
};
using replicas = mt::replicas<learn, replica, mt::stochastic_gradient_push<mt::random_out_degrees<5>>>;
struct over_ranks : mt::layout<mt::shard<replica, data>> {};

class arguments {
 public:
  arguments(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      std::string const all = argv[i], key = all.substr(0, all.find('='));
      given_[key] = key == all ? 1 : std::stol(all.substr(key.size() + 1));
    }
  }
  bool have(std::string const& key) const { return given_.count(key) != 0; }
  long number(std::string const& key, long otherwise) const { return have(key) ? given_.at(key) : otherwise; }

 private:
  std::map<std::string, long> given_;
};

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }
void say_harm() { fmt::print(stderr, "harm at {:.3f}\n", now()); }

void go_wrong(arguments const& a) {
  for (char const* harm :
       {"throws", "throws_number", "exits", "computes", "faults", "aborts", "terminates", "ends", "kills"})
    if (a.have(harm)) say_harm();
  if (a.have("throws")) throw std::runtime_error("the disk is full");
  if (a.have("throws_number")) throw 42;
  if (a.have("exits")) std::_Exit(3);
  if (a.have("faults")) *static_cast<int volatile*>(nullptr) = 1;
  if (a.have("aborts")) std::abort();
  if (a.have("terminates")) std::thread([] { throw std::runtime_error("the disk is full"); }).join();
  if (a.have("ends")) std::exit(1);
  if (a.have("kills")) std::raise(SIGKILL);
  for (std::atomic<long> turns = 0; a.have("computes"); ++turns) {}
}

template <class... Device>
void run_on(mt::job const& job, arguments const& a) {
  std::int64_t const batches = a.number("batch", 12), wide = 12;
  mt::store weights(job, static_cast<std::uint64_t>(a.number("seed", 1)));
  if (a.have("idle")) return say_harm();
  double const begin = now();
  mt::executable<train, mesh, layout, Device...> step(weights, data(job.processes()), batch(batches), width(wide));
  if (a.have("numerics")) step.check_numerics();
  mt::progress(job, "made in {:.1f} ms\n", (now() - begin) * 1e3);
  std::vector<float> const x(static_cast<std::size_t>(batches * wide), 0.5f), few(7);
  long const steps = a.number("steps", -1);
  double const first = now();
  float loss = 0;
  for (long i = 0; i != steps; ++i) {
    if (i == 20) {
      fmt::print(stderr, "rank {} is process {}\n", job.get().held(job.processes())[0], getpid());
      if (a.have("inside")) passed_on::harm = [&] { go_wrong(a); };
      else go_wrong(a);
      if (a.have("infinite")) say_harm(), passed_on::is_infinite = true;
      if (a.have("refuses") || a.have("leaves")) say_harm();
      if (a.have("leaves")) return;
      if (a.have("gives_up")) try {
          say_harm();
          step(mt::feed<"x">(few));
        } catch (mt::error const&) { return; }
    }
    bool const refuses = i == 20 && a.have("refuses");
    loss = step(mt::feed<"x">(refuses ? few : x)).template get<"loss">();
  }
  mt::progress(job, "{} steps in {:.3f} s, loss {}\n", steps, now() - first, loss);
}

void run(mt::job const& job, arguments const& a) {
  if (!a.have("late")) return run_on(job, a);
  meshtensor_test::late_here const here(static_cast<std::uint64_t>(job.get().held(job.processes())[0]) + 1);
  run_on<meshtensor_test::late_device>(job, a);
}

/// Its own error, or that of another rank, is caught within the job.
int run_and_catch(mt::job const& job, arguments const& a) {
  try {
    run(job, a);
  } catch (mt::error const& e) {
    fmt::print(stderr, "rank {} has caught: {}, of rank {}\n", job.get().held(job.processes())[0], e.what(), e.rank());
    if (a.have("rethrows")) throw;
  }
  return 0;
}

int run_jobs(int argc, char** argv, arguments const& a) {
  for (long k = 0; k < a.number("jobs", 1); ++k) {
    mt::job const job(argc, argv);
    run(job, a);
    mt::print(job, "job {} is over\n", k);
  }
  return 0;
}

/// What may end at any time and be started again.
int run_kept(mt::job const& job, arguments const& a) {
  constexpr std::int64_t batches = 12, wide = 12;
  mt::stop_request stop(job);
  mt::store weights(job);
  mt::executable<train, mesh, layout, mt::reference_device> step(weights, data(job.get().size()), batch(batches),
                                                                 width(wide));
  mt::checkpoints keep(weights, "run", {.every = 5, .keep = 2, .may_fail = true});
  std::int64_t drawn = 0;
  if (auto const start = keep.resume()) drawn = start->get<std::int64_t>("drawn");
  mt::progress(job, "begins at step {}\n", weights.step());
  std::vector<float> x(static_cast<std::size_t>(batches * wide));
  while (weights.step() < static_cast<std::uint64_t>(a.number("steps", 60))) {
    for (float& one : x) one = static_cast<float>(drawn++ * 7 % 19) / 10 - 0.9f;
    float const loss = step(mt::feed<"x">(x)).get<"loss">();
    auto const more = [&] { return mt::notes{{"drawn", drawn}, {"loss", loss}}; };
    if (weights.step() % 20 == 7)
      fmt::print(stderr, "rank {} is process {}\n", job.get().held(job.processes())[0], getpid());
    keep.after_step(more);
    if (stop()) {
      keep.save(more()), keep.finish();
      fmt::print(stderr, "rank {} leaves after step {} for {}\n", job.get().held(job.processes())[0], weights.step(),
                 stop.reason());
      return mt::stop_request::exit_code;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(a.number("pace", 0)));
  }
  keep.finish();
  std::string bits;
  for (float const w : weights.get<float>("w")) bits += fmt::format(" {:a}", w);
  mt::print(job, "at the end:{}\n", bits);
  return 0;
}

/// One replica a rank, from the newest checkpoint on, of however many replicas it is.
int run_replicas(mt::job const& job, arguments const& a) {
  constexpr std::int64_t wide = 12;
  int const n = job.processes();
  mt::store weights(job);
  mt::executable<mt::precision<replicas, mt::f64>, mesh, over_ranks> step(weights, data(n), replica(n), width(wide));
  mt::executable<mt::precision<mt::consensus<shown, replicas>, mt::f64>, mesh, over_ranks> mean(
      weights, data(n), replica(n), width(wide));
  mt::checkpoints keep(weights, "run", {.every = 5, .in_background = false});
  auto const consensus = [&] {
    double sum = 0, factor = 1;
    for (double const w : mean().get<"y">().gather()) sum += w * factor++;
    return sum;
  };
  if (auto const start = keep.resume())
    if (double const then = start->get<double>("consensus"), now = consensus(); !(std::abs(now - then) <= 1e-12))
      throw std::runtime_error(fmt::format("the mean of the replicas was {}, and is {}", then, now));
  mt::progress(job, "begins at step {}\n", weights.step());
  std::vector<double> x(static_cast<std::size_t>(n * wide));
  while (weights.step() < static_cast<std::uint64_t>(a.number("steps", 1000))) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>((weights.step() + i) * 7 % 19) / 10 - 0.9;
    step(mt::feed<"x">(x));
    keep.after_step([&] { return mt::notes{{"consensus", consensus()}}; });
    if (weights.step() == 22) go_wrong(a);
  }
  keep.finish();
  mt::print(job, "at the end: {} replicas, {:a}\n", n, consensus());
  return 0;
}

/// In a program with its own MPI, which goes on, as far as the launcher lets it.
int run_as_guest(arguments const& a) {
  int level = 0, rank = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    mt::job const job(MPI_COMM_WORLD);
    try {
      run(job, a);
    } catch (mt::error const&) {
      try {
        run(job, a);
      } catch (mt::error const& e) { fmt::print(stderr, "rank {} is told again: {}\n", rank, e.what()); }
      throw;
    }
  } catch (std::exception const& e) { fmt::print(stderr, "rank {} has caught: {}\n", rank, e.what()); } catch (int) {
    fmt::print(stderr, "rank {} has caught a number\n", rank);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // the launcher ends the others with the first
  std::_Exit(4);  // of a rank that is gone MPI_Finalize would wait for ever
}

/// Not every rank has the memory for this.
void run_large(mt::job const& job, arguments const& a) {
  if (a.have("memory")) {
    long pages = 0;
    if (std::FILE* const f = std::fopen("/proc/self/statm", "r")) {
      if (std::fscanf(f, "%ld", &pages) != 1) pages = 0;
      std::fclose(f);
    }
    auto const most = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + a.number("memory", 0) * 1'000'000);
    rlimit const limit{most, most};
    setrlimit(RLIMIT_AS, &limit);
    say_harm();
  }
  mt::store weights(job);
  mt::executable<hold, mesh, mt::layout<>, mt::reference_device> step(weights, data(job.get().size()),
                                                                      width(128'000'000));
  mt::progress(job, "there is memory enough\n");
}

}  // namespace

int main(int argc, char** argv) {
  arguments const a(argc, argv);
  if (a.have("guest")) return run_as_guest(a);
  if (a.have("jobs")) return run_jobs(argc, argv, a);
  return mt::run_main([&](mt::job const& job) {
    if (a.have("keeps")) return run_kept(job, a);
    if (a.have("replicas")) return run_replicas(job, a);
    if (a.have("catches")) return run_and_catch(job, a);
    if (a.have("large")) run_large(job, a);
    else run(job, a);
    return 0;
  });
}
