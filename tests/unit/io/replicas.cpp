// SPDX-License-Identifier: Apache-2.0
// A training with some replicas resumes with another number of them: the mean stays, each state follows its own rule,
// and the job says what became of the replicas.
// passes: start-up
// needs: io
// timeout: 300
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <regex>

#include "meshtensor/io/checkpoint.hpp"
#include "meshtensor/io/checksum.hpp"
#include "support/folder.hpp"
#include "support/kept_warnings.hpp"
#include "unit/io/replica_programs.hpp"

namespace mt = meshtensor;
using namespace replica_programs;
using meshtensor_test::kept_warnings;
using meshtensor_test::own_folder;
using meshtensor_test::sentence;

namespace {

/// The mean over `n` replicas, for each of `m` of them, of a value with the dims [outer, replica, …].
std::vector<double> mean_of(std::vector<double> const& all, std::size_t outer, int n, int m) {
  auto const replicas = static_cast<std::size_t>(n);
  std::size_t const each = all.size() / outer / replicas;
  std::vector<double> mean;
  for (std::size_t o = 0; o < outer; ++o)
    for (int j = 0; j < m; ++j)
      for (std::size_t k = 0; k < each; ++k) {
        double sum = 0;
        for (std::size_t i = 0; i < replicas; ++i) sum += all[(o * replicas + i) * each + k];
        mean.push_back(sum / n);
      }
  return mean;
}
void check_near(std::vector<double> const& a, std::vector<double> const& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) <= 1e-12 * std::max(1.0, std::abs(b[i])));
}
constexpr int counts[] = {1, 2, 3, 4, 6, 8};

/// A policy with a state for each rule.
struct with_rules {
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    auto const keep = [&](auto const& state) { r.scope.update(state, state); };
    keep(r.scope.state("sum", mt::f64, hidden, mt::merge_rule::sum));
    keep(r.scope.state("sent", mt::i32, mt::merge_rule::sum));
    keep(r.scope.state("largest", mt::f32, mt::zeros, mt::merge_rule::largest));
    keep(r.scope.state("anew", mt::bf16, hidden, mt::constant(0.5), mt::merge_rule::restart));
    keep(r.scope.state("mean", mt::bf16, mt::merge_rule::mean));
    keep(r.scope.state("weighted", mt::f32, mt::merge_rule::weighted_mean));
    keep(r.scope.state("weight", mt::f32, mt::ones, mt::merge_rule::mass));
    keep(r.scope.state("seen", mt::boolean));
    keep(r.scope.state("small", mt::u8));
    keep(r.scope.state_like("residual", r[0].before, mt::merge_rule::sum));
  }
};

template <class T>
std::vector<T> repeated(std::vector<T> const& one, int times) {
  std::vector<T> all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), one.begin(), one.end());
  return all;
}
std::string text_in(std::filesystem::path const& file) { return meshtensor_test::content(file); }

}  // namespace

TEST_CASE("the consensus stays, and each state follows its rule") {
  kept_warnings quiet;
  auto const job = mt::job::in_lockstep();
  int pairs = 0;
  for (int const n : counts) {
    own_folder const run;
    replica_training<pushed> before(job, n, 2);
    for (int i = 0; i < 3; ++i) before.once();
    mt::save(before.weights, run.path());
    auto const consensus = before.looked();
    auto const moments = before.of<double>("optimizer/layers/square/w/v");
    for (int const m : counts) {
      INFO(n << " to " << m);
      quiet.said.clear();
      replica_training<pushed> after(job, m, m % 2 == 0 ? 2 : 1);
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
      CHECK(after.of<std::int64_t>("count") ==
            std::vector<std::int64_t>(static_cast<std::size_t>(m), 10 * (n - 1) + 3));
      check_near(after.of<double>("optimizer/layers/square/w/v"), mean_of(moments, 1, n, m));
      std::string const many = n == 1 ? "the replica" : "the " + std::to_string(n) + " replicas";
      REQUIRE(quiet.said.size() == 1);
      CHECK(quiet.said[0] ==
            "C18: " + many + " of the checkpoint '" + (run / "0001-step-3") + "' became " + std::to_string(m) +
                ": parameters start at the mean weighted by 'regime/push_sum_weight', whose sum goes from " +
                std::to_string(n) + " to " + std::to_string(m) +
                ", and moments and states at the mean; counts at the largest");
      CHECK(std::isfinite(after.once()));
    }
  }
  CHECK(pairs == 36);
}

TEST_CASE("every rule does what it says") {
  kept_warnings quiet;
  own_folder const run;
  auto const job = mt::job::in_lockstep();
  replica_training<with_rules> four(job, 4, 2);
  mt::store& w = four.weights;
  std::vector<double> sums(24);
  for (std::size_t i = 0; i < 24; ++i) sums[i] = static_cast<double>(i % 6) + 10 * static_cast<double>(i / 6);
  w.set("regime/sum", sums);
  w.set("regime/sent", std::vector<std::int32_t>{5, 1, 0, 2});
  w.set("regime/largest", std::vector<float>{-3, -1, -4, -2});
  w.set("regime/mean", std::vector<mt::bf16_t>{mt::bf16_t(1.0f), mt::bf16_t(2.0f), mt::bf16_t(4.0f), mt::bf16_t(5.0f)});
  w.set("regime/weighted", std::vector<float>{1, 2, 3, 4});
  w.set("regime/weight", std::vector<float>{0, 1, 0.5f, 2.5f});
  std::array<bool, 4> const seen{false, true, false, false};
  w.set("regime/seen", seen);
  w.set("regime/small", std::vector<std::uint8_t>{3, 250, 7, 9});
  mt::save(w, run.path());
  for (int const m : {3, 5, 8}) {
    INFO(m);
    quiet.said.clear();
    replica_training<with_rules> now(job, m, m == 3 ? 3 : 2);
    now.weights.set("regime/anew", std::vector<mt::bf16_t>(static_cast<std::size_t>(6 * m), mt::bf16_t(7.0f)));
    mt::load(now.weights, run.path()).require_all();
    auto const sum = now.of<double>("regime/sum");
    for (std::size_t i = 0; i < sum.size(); ++i)
      CHECK(sum[i] == doctest::Approx((60 + 4 * static_cast<double>(i % 6)) / m).epsilon(1e-15));
    std::vector<std::int32_t> const sent = m == 3   ? std::vector<std::int32_t>{3, 3, 2}
                                           : m == 5 ? std::vector<std::int32_t>{2, 2, 2, 1, 1}
                                                    : std::vector<std::int32_t>(8, 1);
    CHECK(now.of<std::int32_t>("regime/sent") == sent);
    CHECK(now.of<float>("regime/largest") == repeated<float>({-1}, m));
    CHECK(now.of<mt::bf16_t>("regime/anew") == repeated<mt::bf16_t>({mt::bf16_t(0.5f)}, 6 * m));
    CHECK(now.of<mt::bf16_t>("regime/mean") == repeated<mt::bf16_t>({mt::bf16_t(3.0f)}, m));
    CHECK(now.of<float>("regime/weighted") == repeated<float>({3.375f}, m));  // (2 + 1.5 + 10) / 4
    CHECK(now.of<float>("regime/weight") == repeated<float>({1}, m));
    for (bool const one : now.of<bool>("regime/seen")) CHECK(one);
    CHECK(now.of<std::uint8_t>("regime/small") == repeated<std::uint8_t>({250}, m));
    REQUIRE(quiet.said.size() == 1);
    CHECK(quiet.said[0].ends_with(
        "parameters start at the mean weighted by 'regime/weight', whose sum goes from 4 to " + std::to_string(m) +
        ", and moments and states at the mean; counts at the largest; states with the rule "
        "sum at their share of it; states with the rule restart anew"));
  }
  w.set("regime/sent", std::vector<std::int32_t>(4, 2'000'000'000));
  mt::save(w, run.path());
  replica_training<with_rules> few(job, 3, 1);
  CHECK(sentence([&] {
          mt::load(few.weights, run.path());
        }).starts_with("meshtensor C19: a share of a sum over 4 replicas is too large for its dtype: 2666666667"));
  w.set("regime/sent", std::vector<std::int32_t>(4));
  w.set("regime/weight", std::vector<float>{1, -1, 0.5f, 2.5f});
  std::string const path = mt::save(w, run.path());
  replica_training<with_rules> none(job, 3, 1);
  auto const before = none.bytes();
  CHECK(sentence([&] { mt::load(none.weights, run.path()); }) ==
        "meshtensor C19: the checkpoint '" + path +
            "' has weights of replicas, 'regime/weight', that are negative or have the sum 3.0: no mean can be "
            "weighted by them");
  CHECK(none.bytes() == before);
}

TEST_CASE("one model becomes replicas, and replicas become one model") {
  kept_warnings quiet;
  auto const job = mt::job::in_lockstep();
  own_folder const one, many;
  plain_training plain(job, 2, 3);
  plain.once(), plain.once();
  std::string const path = mt::save(plain.weights, one.path());
  replica_training<pushed> spread(job, 3, 2);
  spread.weights.set("regime/push_sum_weight", std::vector<double>{0.5, 2, 0.5});
  mt::load(spread.weights, one.path()).require_all();
  CHECK(quiet.said == std::vector<std::string>{"C18: the checkpoint '" + path +
                                               "' has one model: each of the 3 replicas starts with it"});
  for (auto const* label : {"first", "gain", "optimizer/first/m", "target"})
    CHECK(spread.of<double>(label) == repeated(numbers_of<double>(plain.weights, label), 3));
  auto const w = numbers_of<double>(plain.weights, "layers/square/w"), all = spread.of<double>("layers/square/w");
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == w[i / 108 * 36 + i % 36]);  // [layers, replica, …]
  CHECK(spread.of<std::int64_t>("count") == std::vector<std::int64_t>(3, 2));
  CHECK(spread.of<double>("regime/push_sum_weight") == std::vector<double>(3, 1));
  CHECK(spread.weights.step() == 2);
  check_near(spread.looked(), plain.looked());

  for (int i = 0; i < 3; ++i) spread.once();
  std::string const back = mt::save(spread.weights, many.path());
  quiet.said.clear();
  plain_training joined(job, 1, 2, 8);
  mt::load(joined.weights, many.path()).require_all();  // the mean has the weights
  REQUIRE(quiet.said.size() == 1);
  CHECK(
      quiet.said[0].starts_with("C18: the 3 replicas of the checkpoint '" + back + "' became 1: parameters start at "));
  check_near(joined.looked(), spread.looked());
  CHECK(numbers_of<std::int64_t>(joined.weights, "count") == std::vector<std::int64_t>{5});
  joined.once();
  CHECK(joined.weights.step() == 6);

  own_folder const single;  // one replica is one model, bit for bit
  replica_training<mt::synchronous> alone(job, 1, 1);
  alone.once();
  mt::save(alone.weights, single.path());
  quiet.said.clear();
  plain_training same(job, 2, 1, 8);
  mt::load(same.weights, single.path()).require_all();
  CHECK(bytes_of(same.weights) == alone.bytes());
  mt::save(same.weights, single.path());
  replica_training<mt::synchronous> again(job, 1, 1, 1, 9);
  mt::load(again.weights, single.path()).require_all();
  CHECK(again.bytes() == alone.bytes());
  CHECK(quiet.said.empty());
}

TEST_CASE("a file of one model becomes replicas") {
  kept_warnings quiet;
  auto const job = mt::job::in_lockstep();
  own_folder const folder;
  plain_training plain(job);
  plain.once();
  mt::export_safetensors(plain.weights, folder / "model.safetensors");
  replica_training<pushed> spread(job, 4, 2);
  mt::import_safetensors(spread.weights, folder / "model.safetensors").require_all();
  CHECK(spread.of<double>("first") == repeated(numbers_of<double>(plain.weights, "first"), 4));
  CHECK(quiet.said.size() == 1);
}

TEST_CASE("equal replicas resume bit for bit, and values may wait in the files") {
  kept_warnings quiet;
  auto const job = mt::job::in_lockstep();
  own_folder const run;
  replica_training<mt::local_sgd<2>> four(job, 4, 4);
  four.once(), four.once();
  mt::save(four.weights, run.path());
  auto const w = four.of<double>("first");
  replica_training<mt::local_sgd<2>> two(job, 2, 2);
  mt::checkpoints keep(two.weights, run.path(), {.every = 1});
  auto const start = keep.resume();
  REQUIRE(start);
  CHECK(start->step() == 2);
  CHECK(two.of<double>("first") == std::vector<double>(w.begin(), w.begin() + 48));
  CHECK(quiet.said.size() == 1);
  CHECK(quiet.said[0].ends_with(
      "parameters start at the mean and moments and states at the mean; counts at the largest"));

  mt::store later(job);
  auto const waits = mt::load(later, run.path());
  CHECK(quiet.said.size() == 1);
  run_in_f64<replicas_of<mt::local_sgd<2>>, by_replicas> step(later, replica(2), data(1), model(3));
  waits.require_all();
  CHECK(quiet.said.size() == 2);
  CHECK(bytes_of(later) == two.bytes());
}

TEST_CASE("what cannot be merged is refused") {
  kept_warnings quiet;
  auto const job = mt::job::in_lockstep();
  own_folder const run;
  replica_training<pushed> four(job, 4, 2);
  four.once();
  auto const is_model = [](std::string const& name) { return !name.starts_with("regime/"); };
  std::string const path = mt::save(four.weights, run.path(), {}, {.only = is_model});
  replica_training<pushed> three(job, 3, 1);
  auto const before = three.bytes();
  CHECK(sentence([&] { mt::load(three.weights, run.path(), {.only = is_model}); }) ==
        "meshtensor C19: the checkpoint '" + path +
            "' lacks 'regime/push_sum_weight' of its 4 replicas, by which the mean of 'first' is weighted: save it "
            "with the parameters, or load with as many replicas");
  CHECK(sentence([&] { mt::load(three.weights, run.path()); }).starts_with("meshtensor C"));
  CHECK(three.bytes() == before);
  replica_training<pushed> same(job, 4, 1);
  CHECK(sentence([&] {
          mt::load(same.weights, run.path());
        }).starts_with("meshtensor C07: the checkpoint '" + path + "' has no value 'regime/push_sum_weight'"));
  mt::load(same.weights, run.path(), {.only = is_model});
  CHECK(same.of<double>("first") == four.of<double>("first"));

  // An index of version 2 says nothing about replicas.
  std::string const whole = mt::save(four.weights, run.path());
  std::string text = text_in(whole + "/index.json");
  text = std::regex_replace(text, std::regex(R"("replicas": "replica", "merge": "[a-z_]+", )"), "");
  text = std::regex_replace(text, std::regex(R"("mass": "[a-z_/]+",\n)"), "");
  text = std::regex_replace(text, std::regex(R"("version": 3)"), "\"version\": 2");
  text.resize(text.size() - 20);
  text += mt::io::text_of(mt::io::checksum_of(text)) + "\"\n}\n";
  std::ofstream(whole + "/index.json") << text;
  CHECK(
      sentence([&] { mt::load(three.weights, whole); }) ==
      "meshtensor C08: the checkpoint '" + whole +
          "' has 'count' as i64[replica=4/data=2], but the program has i64[replica=3]; it was saved without a word on "
          "how replicas are merged, so it needs as many replicas");
  replica_training<pushed> old(job, 4, 1);
  mt::load(old.weights, whole).require_all();
  CHECK(old.bytes() == four.bytes());
  quiet.said.clear();
}

namespace {

struct of_integers {
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    r.scope.update(r.scope.state("n", mt::i64, mt::merge_rule::mean),
                   r.scope.state("n", mt::i64, mt::merge_rule::mean));
  }
};
struct of_bools {
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    r.scope.state("b", mt::boolean, mt::merge_rule::sum);
  }
};
struct of_two_weights {
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    r.scope.state("a", mt::f32, mt::ones, mt::merge_rule::mass);
    r.scope.state("b", mt::f32, mt::ones, mt::merge_rule::mass);
  }
};
struct of_wide_weights {
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    r.scope.state("a", mt::f32, hidden, mt::ones, mt::merge_rule::mass);
  }
};
struct of_drawn {
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    r.scope.state("a", mt::f32, hidden, mt::normal(1), mt::merge_rule::restart);
  }
};
struct of_two_rules {
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    r.scope.state("a", mt::f32, mt::merge_rule::sum);
    r.scope.state("a", mt::f32, mt::merge_rule::mean);
  }
};
template <class Policy>
std::string refused() {
  return sentence([] { mt::on_heap([] { return mt::trace<replicas_of<Policy>>(); }); });
}

}  // namespace

TEST_CASE("a rule that does not fit a state is refused") {
  CHECK(refused<of_integers>().starts_with(
      "meshtensor T55: 'regime/n' is of integers, which have no mean: give it the rule largest or sum"));
  CHECK(refused<of_bools>().starts_with(
      "meshtensor T55: 'regime/b' is of bools, which have no sum: give it the rule largest"));
  CHECK(refused<of_two_weights>().starts_with("meshtensor T55: 'regime/b' has the rule mass, which is for one state"));
  CHECK(refused<of_wide_weights>().starts_with("meshtensor T55: 'regime/a' has the rule mass, which is for one state"));
  CHECK(refused<of_drawn>().starts_with(
      "meshtensor T55: 'regime/a' has the rule restart, but does not start with a constant"));
  CHECK(refused<of_two_rules>().starts_with(
      "meshtensor G03: 'regime/a' is declared twice, with two rules by which replicas are merged"));
  CHECK(refused<with_rules>() == sentence([] {}));
}

namespace {

struct by_hand {
  constexpr void operator()(mt::scope auto s) const {
    mt::each(
        s, replica,
        [](mt::scope auto m) {
          auto const w = m.parameter("w", hidden, mt::normal(1));
          m.update(w, w * 0.5);
        },
        mt::start_equal);
  }
};

}  // namespace

TEST_CASE("an each that starts equal is not of replicas: it needs the same extent") {
  auto const job = mt::job::in_lockstep();
  own_folder const run;
  mt::store four(job), three(job);
  run_in_f64<by_hand, by_replicas> a(four, replica(4), data(1), model(1)), b(three, replica(3), data(1), model(1));
  std::string const path = mt::save(four, run.path());
  CHECK(sentence([&] { mt::load(three, run.path()); }) ==
        "meshtensor C08: the checkpoint '" + path +
            "' has 'w' as f64[replica=4, hidden=6], but the program has f64[replica=3, hidden=6]");
  CHECK(text_in(path + "/index.json").find("\"version\": 2") != std::string::npos);
}
