// SPDX-License-Identifier: Apache-2.0
// Compressed messages on ranks of MPI with one replica each: the bytes that MPI carries are those of the messages.
// passes: start-up
// ranks: 2 3 4 8
// needs: mpi
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

#include "meshtensor/job/mpi_runner.hpp"
#include "meshtensor/meshtensor.hpp"
#include "mpi/counted.hpp"
#include "mpi/ranks.hpp"

namespace {

namespace mt = meshtensor;

inline constexpr struct worker_dim : mt::dim<"worker"> {} worker;
inline constexpr struct worker_of_4 : mt::dim<"worker", 4> {} one_of_4;
inline constexpr struct batch_dim : mt::dim<"batch", 2> {} batch;
inline constexpr struct in_dim : mt::dim<"in", 40> {} in;
inline constexpr struct out_dim : mt::dim<"out", 250> {} out;
constexpr std::int64_t weights = 40 * 250, gains = 250, parameters = weights + gains;

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, in);
    auto const h = tanh(einsum(x, s.parameter("weight", in, out), mt::to(batch, out)));
    auto const y = sum(h * s.parameter("gain", out, mt::constant(0.5)), out) - 1;
    mt::sgd{.learning_rate = 0.05}.minimize(s / "optimizer", mean(y * y));
  }
};
inline constexpr struct worker_of_2 : mt::dim<"worker", 2> {} one_of_2;
inline constexpr struct long_in_dim : mt::dim<"long_in", 128> {} long_in;
inline constexpr struct units_dim : mt::dim<"units", 256> {} units;
/// A matrix whose longer dim a model axis shards.
struct wide_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, long_in);
    auto const y = sum(tanh(einsum(x, s.parameter("weight", long_in, units), mt::to(batch, units))), units);
    mt::sgd{.learning_rate = 0.001}.minimize(s / "optimizer", mean(y * y));
  }
};

/// Steps of all replicas of `job`, each of which has `models` ranks that shard `units`.
template <class Policy, auto Worker = worker, class Step = train_step>
class training {
 public:
  explicit training(mt::job const& job, int models = 1)
      : mesh_(mt::mesh_shape{}.add("ax", ranks::count() / models).add("model", models)),
        traced_(mt::on_heap([] { return mt::trace<mt::replicas<Step, Worker, Policy>>(); })),
        low_(mt::lower(*traced_, mt::entry_name<Step>(), mesh_,
                       mt::layout_rules{}.shard("worker", {"ax"}).shard("units", {"model"}),
                       std::array{mt::dim_extent{mt::name("worker"), ranks::count() / models}})),
        values_(job, 5),
        step_(values_, low_->graph, low_->planned, mesh_, low_->entry),
        x_(static_cast<std::size_t>(ranks::count() / models) * (std::is_same_v<Step, wide_step> ? 256 : 80)) {
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = static_cast<float>(i * 31 % 17) / 8 - 1;
    step_.feed("x", x_.data());
  }
  void step() { step_.step(); }
  std::int64_t planned() const { return mt::traffic_of(low_->graph, low_->planned).bytes; }
  mt::store const& values() const { return values_; }

 private:
  mt::mesh_shape mesh_;
  std::unique_ptr<mt::module> traced_;
  std::unique_ptr<mt::lowering> low_;
  mt::store values_;
  mt::session<mt::reference_device> step_;
  std::vector<float> x_;
};

/// The bytes that a rank plans to send in a step. They are those that it receives from others, unless an all_reduce
/// splits them unevenly.
template <class Policy, auto Worker = worker, class Step = train_step>
std::int64_t sent(bool reduces = false, int models = 1) {
  mt::job const by_mpi{std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD)};
  training<Policy, Worker, Step> mine(by_mpi, models);
  for (int round = 0; round < 3; ++round) {
    counted::clear();
    mine.step();
    if (!reduces) CHECK(counted::all_received() == mine.planned());
  }
  return mine.planned();
}
template <class C>
using gradients = mt::compressed<C, mt::synchronous>;
template <class C>
using gossip = mt::compressed<C, mt::stochastic_gradient_push<mt::directed_ring>>;

constexpr std::int64_t share(std::int64_t count, std::int64_t of) { return (count + of - 1) / of; }
constexpr std::int64_t part(std::int64_t of) { return share(weights, of) + share(gains, of); }
/// The elements of the largest parts, which lists of elements are cut into.
std::vector<std::int64_t> list_parts() { return {share(weights, ranks::count()), share(gains, ranks::count())}; }
/// The same if parameters are cut along `out`.
std::vector<std::int64_t> dim_parts() { return {40 * share(250, ranks::count()), share(gains, ranks::count())}; }
/// The bytes of a mean: a message of `first(elements)` bytes to each owner of a part, and one of `second(elements)`
/// bytes with its mean to all.
template <class First, class Second>
std::int64_t mean_of_parts(std::vector<std::int64_t> const& parts, First const& first, Second const& second) {
  std::int64_t all = 0;
  for (std::int64_t const of : parts) all += (ranks::count() - 1) * (first(of) + second(of));
  return all;
}
template <class F>
std::int64_t mean_of_parts(std::vector<std::int64_t> const& parts, F const& both) {
  return mean_of_parts(parts, both, both);
}

}  // namespace

TEST_CASE("a mean of compressed gradients sends parts to their owners, and the means of the parts to all") {
  using bytes = std::int64_t;
  CHECK(sent<gradients<mt::top_k_values<1, 100>>>() == mean_of_parts(
                                                           list_parts(), [](bytes of) { return 8 * share(of, 100); },
                                                           [](bytes of) { return 8 * share(3 * of, 100); }));
  CHECK(sent<gradients<mt::top_k_values<1, 5>>>() ==
        mean_of_parts(list_parts(), [](bytes of) { return 8 * share(of, 5); }, [](bytes of) { return 4 * of; }));
  CHECK(sent<gradients<mt::quantized<8>>>() == mean_of_parts(dim_parts(), [](bytes of) { return of + 4; }));
  CHECK(sent<gradients<mt::quantized<4>>>() == mean_of_parts(list_parts(), [](bytes of) { return share(of, 2) + 4; }));
}
TEST_CASE("compressed means send fewer bytes for any number of replicas") {
  double const dense = 8.0 * parameters * (ranks::count() - 1) / ranks::count();  // the least of an all_reduce
  CHECK(static_cast<double>(sent<gradients<mt::top_k_values<1, 100>>>()) < dense / 24);
  CHECK(static_cast<double>(sent<gradients<mt::quantized<8>>>()) < dense / 3.8);
  CHECK(static_cast<double>(sent<gradients<mt::quantized<4>>>()) < dense / 7.8);
}
TEST_CASE("a model axis that shards another dim than the one that is cut keeps its parts of gradients of 8 bits") {
  if (ranks::count() % 2 != 0) return;
  int const models = ranks::count() / 2;
  auto const whole = static_cast<double>(sent<mt::synchronous, one_of_2, wide_step>(true, models));
  CHECK(static_cast<double>(sent<gradients<mt::quantized<8>>, one_of_2, wide_step>(false, models)) < whole / 3.8);
}
TEST_CASE("random positions are not sent, so a mean is an all_reduce of the kept values") {
  double const least = 8.0 * parameters * (ranks::count() - 1) / ranks::count();  // of an all_reduce of all gradients
  CHECK(static_cast<double>(sent<mt::synchronous>(true)) >= least);
  CHECK(static_cast<double>(sent<gradients<mt::random_k_values<1, 100>>>(true)) < least / 40);
}
TEST_CASE("compressed gossip sends one message, with the weight of push-sum whole") {
  CHECK(sent<gossip<mt::quantized<8>>>() == parameters + 2 * 4 + 4);
  CHECK(sent<gossip<mt::quantized<4>>>() == part(2) + 2 * 4 + 4);
  CHECK(sent<gossip<mt::top_k_values<1, 100>>>() == part(100) * 8 + 4);
  CHECK(sent<gossip<mt::random_k_values<1, 100>>>() == part(100) * 4 + 4);
}
TEST_CASE("compressed gossip sends one message in each round of a topology that changes") {
  if (ranks::count() != 4) return;
  using exponential = mt::stochastic_gradient_push<mt::one_peer_exponential>;
  using matching = mt::stochastic_gradient_push<mt::random_matching<1>>;
  CHECK(sent<mt::compressed<mt::quantized<8>, exponential>, one_of_4>() == parameters + 2 * 4 + 4);
  CHECK(sent<mt::compressed<mt::top_k_values<1, 100>, matching>, one_of_4>() == part(100) * 8 + 4);
}
TEST_CASE("DiLoCo with 50 inner steps sends a fiftieth of what synchronous training does") {
  mt::job const by_mpi{std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD)};
  training<mt::diloco<50>> outer(by_mpi);
  training<mt::synchronous> every(by_mpi);
  auto const received = [](auto& one, int steps) {
    counted::clear();
    for (int step = 0; step < steps; ++step) one.step();
    std::int64_t calls = 0;
    for (auto const& [name, count] : counted::calls_made) calls += count;
    return std::pair(counted::all_received(), calls);
  };
  CHECK(received(outer, 49) == std::pair<std::int64_t, std::int64_t>(0, 0));
  auto const [rare, rare_calls] = received(outer, 1);
  auto const [bytes, calls] = received(every, 1);
  CHECK(calls > 0);
  CHECK(rare_calls > 0);
  // All_reduces are joined only outside of branches, and small ones send more bytes in fewer rounds.
  CHECK(45 * rare <= 50 * bytes);
  CHECK(45 * outer.planned() <= 50 * every.planned());
}
