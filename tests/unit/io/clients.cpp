// SPDX-License-Identifier: Apache-2.0
// Clients of federated averaging resume from a checkpoint, in the middle of a period too: as many go on as if nothing
// had happened, and another number of them begins with the mean and is drawn anew by the same steps.
// passes: start-up
// needs: io
// timeout: 300
#include <doctest/doctest.h>

#include <cmath>

#include "meshtensor/io/checkpoint.hpp"
#include "support/folder.hpp"
#include "support/kept_warnings.hpp"
#include "unit/io/replica_programs.hpp"

namespace mt = meshtensor;
using namespace replica_programs;
using meshtensor_test::kept_warnings;
using meshtensor_test::own_folder;
using meshtensor_test::sentence;

namespace {

using policy = mt::federated_averaging<3, 2>;
using clients = replica_training<policy>;
struct nothing {};
constexpr int count = 5;
std::vector<double> const examples{600, 50, 0, 350, 20};

template <class Training>
void take(Training& training, int steps) {
  for (int i = 0; i < steps; ++i) training.once();
}
/// The clients whose parameters count in the mean after a step, from the definition of the draw.
std::vector<int> sample(int n, int step, std::vector<double> const& all) {
  mt::detail::random_order const order{n, mt::detail::scrambled(1, static_cast<std::uint64_t>(step))};
  std::vector<int> drawn;
  for (int place = 0; place < n && drawn.size() < 2; ++place)
    if (all[static_cast<std::size_t>(order(place))] > 0) drawn.push_back(order(place));
  return drawn;
}
/// One mean of a parameter with the dims [client, …] for a sample, in which each client counts by its examples.
std::vector<double> mean_of(std::vector<double> const& x, std::vector<int> const& drawn,
                            std::vector<double> const& all) {
  std::size_t const each = x.size() / all.size();
  std::vector<double> mean(each);
  double sum = 0;
  for (int const one : drawn) {
    auto const i = static_cast<std::size_t>(one);
    sum += all[i];
    for (std::size_t k = 0; k < each; ++k) mean[k] += all[i] * x[i * each + k];
  }
  for (double& one : mean) one /= sum;
  return mean;
}

}  // namespace

TEST_CASE("as many clients resume in the middle of a period as if nothing had happened") {
  auto const job = mt::job::in_lockstep();
  clients whole(job, count, count);
  whole.weights.set("regime/examples", examples);
  take(whole, 13);
  for (int const stopped : {3, 4, 5, 8}) {
    INFO(stopped);
    own_folder const run;
    {
      clients before(job, count, count);
      before.weights.set("regime/examples", examples);
      take(before, stopped);
      mt::save(before.weights, run.path());
      take(before, 1);  // what was not saved is lost
    }
    clients after(job, count, count, 1, 9);
    mt::checkpoints keep(after.weights, run.path(), {.every = 100});
    REQUIRE(keep.resume());
    CHECK(after.of<double>("regime/examples") == examples);
    take(after, 13 - stopped);
    CHECK(after.bytes() == whole.bytes());

    clients alone(job, count, 1);  // all on one rank
    mt::load(alone.weights, run.path()).require_all();
    take(alone, 13 - stopped);
    auto const first = alone.of<double>("first"), wanted = whole.of<double>("first");
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(first[i] == doctest::Approx(wanted[i]).epsilon(1e-10));
  }
}

TEST_CASE("another number of clients begins with the mean, and its sample is drawn by the same steps") {
  kept_warnings quiet;
  auto const job = mt::job::in_lockstep();
  own_folder const run;
  clients before(job, count, count);
  before.weights.set("regime/examples", examples);
  take(before, 4);
  mt::save(before.weights, run.path());
  auto const consensus = before.looked();
  for (int const n : {1, 2, 3, 8}) {
    INFO(n);
    quiet.said.clear();
    clients after(job, n, n);
    after.weights.set("regime/examples", std::vector<double>(static_cast<std::size_t>(n), 7));
    mt::load(after.weights, run.path()).require_all();
    REQUIRE(quiet.said.size() == 1);
    CHECK(quiet.said[0].find("the 5 replicas of the checkpoint") != std::string::npos);
    CHECK(after.of<double>("regime/examples") == std::vector<double>(static_cast<std::size_t>(n), 1));
    auto const now = after.looked();
    for (std::size_t i = 0; i < now.size(); ++i) CHECK(now[i] == doctest::Approx(consensus[i]).epsilon(1e-12));

    // The period that began at step 3 ends with step 5. Replicas that exchange nothing show what each client has then.
    std::vector<double> numbers_of_new;
    for (int i = 0; i < n; ++i) numbers_of_new.push_back(i == 1 ? 0 : 1 + 3 * i);
    after.weights.set("regime/examples", numbers_of_new);
    replica_training<nothing> apart(job, n, n);
    mt::load(apart.weights, run.path());
    take(after, 1), take(apart, 1);
    CHECK(after.of<double>("first") == apart.of<double>("first"));
    take(after, 1), take(apart, 1);
    auto const first = after.of<double>("first"), alone = apart.of<double>("first");
    auto const mean = mean_of(alone, sample(n, 5, numbers_of_new), numbers_of_new);
    for (std::size_t i = 0; i < first.size(); ++i)
      CHECK(first[i] == doctest::Approx(mean[i % mean.size()]).epsilon(1e-10));
  }
}

TEST_CASE("a checkpoint of one model becomes clients, if the numbers of examples may begin anew") {
  kept_warnings quiet;
  auto const job = mt::job::in_lockstep();
  own_folder const one;
  plain_training plain(job);
  plain.once();
  std::string const path = mt::save(plain.weights, one.path());
  clients spread(job, count, 1);
  CHECK(sentence([&] {
          mt::load(spread.weights, one.path());
        }).starts_with("meshtensor C07: the checkpoint '" + path + "' has no value 'regime/examples'"));
  mt::load(spread.weights, one.path(), {.begin_missing = true});
  CHECK(spread.of<double>("regime/examples") == std::vector<double>(count, 1));
  take(spread, 2);
  auto const first = spread.of<double>("first");
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(first[i] == first[i % (first.size() / count)]);
}
