// SPDX-License-Identifier: Apache-2.0
// The translating example on a PJRT plugin: it learns with the losses of the cpu device under four layouts, and says
// what the cpu device says, by beam search and by sampling.
// passes: start-up
// needs: cpu
// sanitize: no
// alone
// part: pjrt
// timeout: 600
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "../../../examples/translate/learner_of.hpp"
#include "../../../examples/translate/speaking_on.hpp"
#include "meshtensor/device/cpu/device.hpp"
#include "meshtensor/device/pjrt/device.hpp"
#include "support/pjrt.hpp"

using namespace translation;

namespace {

struct training_programs : mt::programs<train_step<with_adam>, evaluate> {};
template <class Device>
using learner_on = learner_of<Device, training_programs, train_step<with_adam>, evaluate>;

constexpr std::int64_t pieces = 24, rows = 16, longest = 8;
constexpr mt::datasets::bucket bucket{rows, longest, longest};

options toy(std::int64_t over_data, std::int64_t over_model) {
  options o;
  o.size = "toy", o.dropout = 0, o.learning_rate = 0.03, o.warmup = 20, o.beam = 3, o.limit = 10, o.longest = longest;
  o.sentences = 8, o.top_k = 4;
  o.mesh["data"] = over_data, o.mesh["model"] = over_model;
  return o;
}

/// Some words, and the same ones with other numbers.
sentence source_of(std::mt19937& generator) {
  sentence words(2 + generator() % 4);
  for (std::int32_t& w : words) w = static_cast<std::int32_t>(4 + generator() % 20);
  return words;
}
mt::datasets::pair_batch batch_of(int number) {
  std::mt19937 generator(static_cast<unsigned>(number));
  mt::datasets::pair_batch b;
  auto const put = [](std::vector<std::int32_t>& to, sentence words) {
    words.resize(longest, padding), to.insert(to.end(), words.begin(), words.end());
  };
  for (int i = 0; i < rows; ++i) {
    sentence const words = source_of(generator);
    sentence from = words, into{begin}, next;
    from.push_back(end);
    for (std::int32_t w : words) into.push_back(27 - w), next.push_back(27 - w);
    next.push_back(end);
    put(b.source, from), put(b.target, into), put(b.target_next, next);
  }
  return b;
}

template <class Device>
std::vector<double> losses(mt::store& weights, options const& o, int steps) {
  learner_on<Device> by({weights, o, std::span(&bucket, 1), pieces});
  std::vector<double> all;
  for (int i = 0; i < steps; ++i) all.push_back(by.learn(batch_of(i)).nats);
  all.push_back(by.look(batch_of(1000)).nats);
  return all;
}
template <class Device>
std::vector<sentence> translated(mt::store& weights, options const& o) {
  std::mt19937 generator(7);
  std::vector<sentence> sources(11);
  for (sentence& s : sources) s = source_of(generator), s.push_back(end);
  std::vector<std::span<std::int32_t const>> const all(sources.begin(), sources.end());
  return programs_on<Device>(weights, o, pieces, {}).translate(all);
}

}  // namespace

TEST_CASE("it learns under four layouts") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  mt::job const job = mt::job::in_lockstep();
  for (auto const& [d, m] : {std::pair{1, 1}, {4, 1}, {1, 2}, {2, 2}}) {
    CAPTURE(d);
    CAPTURE(m);
    mt::store plain(job), ours(job);
    auto const wanted = losses<mt::cpu_device>(plain, toy(d, m), 20),
               got = losses<mt::pjrt_device>(ours, toy(d, m), 20);
    CHECK(wanted[19] < 0.95 * wanted[0]);
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(std::abs(got[i] - wanted[i]) < 1e-3);
  }
}

TEST_CASE("it says the same") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  options o = toy(1, 1);
  auto const learnt = losses<mt::pjrt_device>(weights, o, 150);
  CHECK(learnt.back() < 0.6 * learnt.front());
  auto const wanted = translated<mt::cpu_device>(weights, o);
  CHECK(translated<mt::pjrt_device>(weights, o) == wanted);
  for (sentence const& s : wanted) CHECK(!s.empty());
  o.sample = true;
  mt::store others(job);
  losses<mt::pjrt_device>(others, o, 1);
  CHECK(translated<mt::pjrt_device>(others, o).size() == wanted.size());
}
