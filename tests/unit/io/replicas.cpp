// SPDX-License-Identifier: Apache-2.0
// A training with some replicas resumes with another number of them: the mean stays, each state follows its own rule,
// and the job says what became of the replicas.
// passes: start-up
// needs: io
// timeout: 300
#include <doctest/doctest.h>

#include <cmath>

#include "meshtensor/io/checkpoint.hpp"
#include "support/folder.hpp"
#include "unit/io/replica_programs.hpp"

namespace mt = meshtensor;
using namespace replica_programs;
using meshtensor_test::own_folder;
using meshtensor_test::sentence;

namespace {

struct silence {
  std::vector<std::string> said;
  std::function<void(std::string const&)> before =
      std::exchange(mt::on_warning(), [this](std::string const& sentence) { said.push_back(sentence); });
  ~silence() { mt::on_warning() = before; }
};

/// The mean of a value over replicas, weighted by `weights`, on the host.
std::vector<double> mean_of(std::vector<double> const& all, std::vector<double> const& weights) {
  std::size_t const each = all.size() / weights.size();
  std::vector<double> mean(each);
  double total = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    total += weights[i];
    for (std::size_t k = 0; k < each; ++k) mean[k] += weights[i] * all[i * each + k];
  }
  for (double& x : mean) x /= total;
  return mean;
}
void check_near(std::vector<double> const& a, std::vector<double> const& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) <= 1e-12 * std::max(1.0, std::abs(b[i])));
}
constexpr int counts[] = {1, 2, 3, 4, 6, 8};

}  // namespace

TEST_CASE("the consensus stays, and each state follows its rule") {
  silence quiet;
  auto const job = mt::job::in_lockstep();
  int pairs = 0;
  for (int const n : counts) {
    own_folder const run;
    training<pushed> before(job, n, 2);
    for (int i = 0; i < 3; ++i) before.once();
    mt::save(before.weights, run.path());
    auto const consensus = before.looked();
    auto const weights = before.of<double>("regime/push_sum_weight");
    auto const moments = before.of<double>("optimizer/first/w/v");
    for (int const m : counts) {
      INFO(n << " to " << m);
      quiet.said.clear();
      training<pushed> after(job, m, m % 2 == 0 ? 2 : 1);
      auto const found = mt::load(after.weights, run.path());
      found.require_all();
      check_near(after.looked(), consensus);
      CHECK(after.weights.step() == 3);
      CHECK(after.weights.steps_of("replica_programs::train_step") == 3);
      ++pairs;
      if (n == m) {
        CHECK(quiet.said.empty());
        CHECK(after.bytes() == before.bytes());
        continue;
      }
      CHECK(after.of<double>("regime/push_sum_weight") == std::vector<double>(static_cast<std::size_t>(m), 1));
      CHECK(after.of<std::int64_t>("count") == std::vector<std::int64_t>(static_cast<std::size_t>(m), 10 * (n - 1) + 3));
      auto const expected = mean_of(moments, std::vector<double>(static_cast<std::size_t>(n), 1));
      auto const all = after.of<double>("optimizer/first/w/v");
      for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == doctest::Approx(expected[i % expected.size()]).epsilon(1e-14));
      std::string const many = n == 1 ? "the replica" : "the " + std::to_string(n) + " replicas";
      REQUIRE(quiet.said.size() == 1);
      CHECK(quiet.said[0] == "C13: " + many + " of the checkpoint '" + (run / "0001-step-3") + "' became " +
                                 std::to_string(m) +
                                 ": parameters start at the mean weighted by 'regime/push_sum_weight', whose sum goes from " +
                                 std::to_string(n) + " to " + std::to_string(m) +
                                 ", and moments and states at the mean; counts at the largest");
      CHECK(std::isfinite(after.once()));
    }
  }
  CHECK(pairs == 36);
}
