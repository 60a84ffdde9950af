// SPDX-License-Identifier: Apache-2.0
// What the example of images counts and follows beside its network: hits, the learning rate, of which warmup and falls
// are given in epochs, and which images are learnt from and looked at, in batches that do not divide them.
// passes: start-up
// needs: images
// alone
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../../../examples/resnet/images.cpp"
#include "../../../examples/resnet/programs.hpp"
#include "../../../examples/resnet/training.cpp"
#include "meshtensor/device/reference.hpp"
#include "support/folder.hpp"

namespace mt = meshtensor;

namespace {

struct count_hits {
  constexpr void operator()(mt::scope auto s) const {
    using namespace resnet;
    auto const logits = s.input("logits", mt::f32, batch, classes);
    auto const [count, first, among_five] =
        hits_of(logits, s.input("labels", mt::i32, batch), s.input("counts", mt::f32, batch));
    s.output("count", count);
    s.output("first", first);
    s.output("among_five", among_five);
  }
};
struct give_rate {
  constexpr void operator()(mt::scope auto s) const { s.output("rate", s.input("one", mt::f64) * resnet::rate_of(s)); }
};
/// Loses the learning rate in each update.
struct lose_rate {
  constexpr void operator()(mt::scope auto s) const {
    auto const loss = sum(s.parameter("weight", resnet::color, mt::zeros));
    resnet::with_nesterov::minimize(s, loss);
    s.output("loss", loss);
  }
};
struct lose_rate_f64 : mt::precision<lose_rate, mt::f64> {};
struct alone : mt::mesh<> {};
struct whole : mt::layout<> {};

/// Remembers which images it was given.
class watcher : public resnet::learner {
 public:
  std::vector<std::int64_t> learnt, looked_at;

  resnet::batch_loss learn(mt::datasets::image_batch const& b) override {
    learnt.insert(learnt.end(), b.images.begin(), b.images.end());
    return {1, static_cast<double>(b.images.size())};
  }
  void look(mt::datasets::image_batch const& b, resnet::scores& so_far) override {
    for (std::size_t i = 0; i < b.images.size(); ++i) {
      if (b.counts[i] > 0) looked_at.push_back(b.images[i]);
      so_far.images += b.counts[i] > 0 ? 1 : 0;
    }
  }
  std::vector<float> logits(mt::datasets::image_batch const&) override { return {}; }
  mt::datasets::image_part mine() const override { return {}; }
  std::pair<std::int64_t, std::int64_t> counts() const override { return {}; }
  std::string explained(std::string const&) const override { return {}; }
  std::int64_t planned_bytes() const override { return 0; }
  std::pair<bool, std::string> compare(mt::datasets::image_batch const&) override { return {}; }
  void record(bool) override {}
  std::string profile() const override { return {}; }
};

using numbers = std::vector<std::int64_t>;

/// Remembers the learning rate of each update. Fails in the one after the `last`.
class rate_watcher : public watcher {
 public:
  rate_watcher(mt::store& weights, resnet::options const& o, std::int64_t images, std::size_t last)
      : weights_(weights), o_(o), images_(images), last_(last), step_(weights) {}
  std::vector<double> rates;

  resnet::batch_loss learn(mt::datasets::image_batch const& b) override {
    if (rates.size() == last_) throw mt::error("R42", "enough");
    double const before = weight();
    std::apply([&](auto const&... rate) { step_(rate..., mt::set<"momentum">(0)); },
               resnet::rate_numbers(o_, resnet::steps_of(o_, images_), resnet::steps_per_epoch(o_, images_)));
    rates.push_back(before - weight());
    return watcher::learn(b);
  }

 private:
  double weight() { return weights_.get<double>("weight").data()[0]; }

  mt::store& weights_;
  resnet::options const& o_;
  std::int64_t images_;
  std::size_t last_;
  mt::executable<lose_rate_f64, alone, whole, mt::reference_device> step_;
};

/// Counts the images that were read.
class counted_images : public mt::datasets::image_set {
 public:
  counted_images(std::unique_ptr<mt::datasets::image_set> of, std::atomic<std::int64_t>& reads)
      : of_(std::move(of)), reads_(reads) {}
  std::int64_t size() const override { return of_->size(); }
  std::vector<std::string> const& classes() const override { return of_->classes(); }
  std::int32_t label(std::int64_t number) const override { return of_->label(number); }
  std::string name(std::int64_t number) const override { return of_->name(number); }
  void read(std::int64_t number, mt::datasets::image& to) const override { of_->read(number, to), ++reads_; }

 private:
  std::unique_ptr<mt::datasets::image_set> of_;
  std::atomic<std::int64_t>& reads_;
};
/// Ends a step when the images of the next one were read, or after twenty seconds.
class patient_watcher : public watcher {
 public:
  explicit patient_watcher(std::atomic<std::int64_t> const& reads) : reads_(reads) {}
  int in_time = 0;

  resnet::batch_loss learn(mt::datasets::image_batch const& b) override {
    auto const of = watcher::learn(b);
    auto const wanted = static_cast<std::int64_t>(learnt.size() + b.images.size());
    double const start = mt::seconds_now();
    while (reads_ < wanted && mt::seconds_now() < start + 20) std::this_thread::yield();
    in_time += reads_ >= wanted ? 1 : 0;
    return of;
  }

 private:
  std::atomic<std::int64_t> const& reads_;
};

/// The rates of a training of 10 images, 4 in a batch, 4 times: 2.5 updates an epoch. It fails after `last` updates.
std::vector<double> rates_of(std::string const& schedule, std::string const& folder, std::size_t last, bool resume) {
  resnet::options o;
  o.data = "synthetic", o.count = 10, o.classes = 5, o.size = 8, o.batch = 4, o.epochs = 4;
  o.learning_rate = 0.5, o.schedule = schedule, o.warmup = 1, o.fall_epochs = {2, 3, 3.5};
  o.keep = folder + "/kept", o.save = folder + "/saved", o.every = 3, o.resume = resume;
  resnet::images const all(o);
  auto const job = mt::job::in_lockstep();
  mt::store values(job);
  rate_watcher by(values, o, all.train->size(), last);
  resnet::training t{job, o, all, values, by};
  if (last < 10) CHECK_THROWS_AS(t.run(), mt::error);
  else CHECK(!t.run());
  return by.rates;
}

}  // namespace

TEST_CASE("hits: the right class first, and among the first five") {
  auto const job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<count_hits, alone, whole, mt::reference_device> run(values, resnet::batch(7), resnet::classes(7));
  float const none = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> const logits{9,    1,    2, 3, 4, 5, 6,   // first
                                  5,    9,    8, 7, 6, 1, 2,   // the fifth
                                  4,    9,    8, 7, 6, 5, 2,   // the sixth
                                  3,    3,    1, 1, 1, 1, 1,   // as great as another: not first
                                  none, 1,    2, 3, 4, 5, 6,   // no number
                                  2,    none, 1, 1, 1, 1, 1,   // beside one that is no number
                                  9,    1,    2, 3, 4, 5, 6};  // first, but it does not count
  auto const got = run(mt::feed<"logits">(logits), mt::feed<"labels">(std::vector<std::int32_t>(7, 0)),
                       mt::feed<"counts">(std::vector<float>{1, 1, 1, 1, 1, 1, 0}));
  CHECK(got.get<"count">() == 6);
  CHECK(got.get<"first">() == 1);
  CHECK(got.get<"among_five">() == 4);
}

TEST_CASE("the learning rate rises, then falls along a cosine or in stairs") {
  for (bool const stairs : {false, true}) {
    auto const job = mt::job::in_lockstep();
    mt::store values(job);
    mt::executable<give_rate, alone, whole, mt::reference_device> run(values);
    std::vector<double> rates;
    for (int t = 0; t < 12; ++t)
      rates.push_back(run(mt::feed<"one">(std::vector<double>{1}), mt::set<"learning_rate">(0.8), mt::set<"warmup">(4),
                          mt::set<"steps">(12), mt::set<"stairs">(stairs ? 1 : 0), mt::set<"fall_1">(6),
                          mt::set<"fall_2">(8), mt::set<"fall_3">(10))
                          .get<"rate">());
    for (std::size_t t = 0; t < rates.size(); ++t) {
      double const at = static_cast<double>(t), rise = t < 4 ? (at + 1) / 4 : 1;
      double const fall = stairs ? std::pow(0.1, (t >= 6) + (t >= 8) + (t >= 10))
                                 : (1 + std::cos(3.14159265358979 * std::max(0.0, at - 4) / 8)) / 2;
      INFO("step " << t << (stairs ? " of stairs" : ""));
      CHECK(std::abs(rates[t] - 0.8 * rise * fall) < 1e-9);
    }
  }
}

TEST_CASE("warmup and falls are given in epochs, and a training that was interrupted goes on in their middle") {
  // Rises for 2.5 updates. The steps fall at 5, 7.5 and 8.75 updates; the cosine ends at 10.
  std::vector<double> const stairs{0.2, 0.4, 0.5, 0.5, 0.5, 0.05, 0.05, 0.05, 0.005, 0.0005};
  std::vector<double> cosine{0.2, 0.4, 0.5};
  for (int t = 3; t < 10; ++t) cosine.push_back(0.25 * (1 + std::cos(3.141592653589793 * (t - 2.5) / 7.5)));
  for (auto const& [schedule, wanted] :
       std::map<std::string, std::vector<double>>{{"stairs", stairs}, {"cosine", cosine}}) {
    INFO(schedule);
    meshtensor_test::own_folder const folder;
    auto const near = [&](std::vector<double> const& got, std::size_t from) {
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - wanted[from + i]) < 1e-12);
    };
    auto const before = rates_of(schedule, folder.path(), 7, false);
    REQUIRE(before.size() == 7);
    near(before, 0);
    // A failure leaves the checkpoint behind the 6th update if it was complete by then, or that behind the 3rd.
    auto const after = rates_of(schedule, folder.path(), 10, true);
    REQUIRE((after.size() == 4 || after.size() == 7));
    near(after, 10 - after.size());
  }
}

TEST_CASE("every image is learnt from once an epoch, and looked at once; no image is both") {
  meshtensor_test::own_folder const folder;
  resnet::options o;
  o.data = "synthetic", o.count = 21, o.classes = 5, o.size = 8, o.batch = 4, o.epochs = 2, o.keep = folder.path();
  resnet::images const all(o);
  CHECK(resnet::steps_of(o, all.train->size()) == 11);
  mt::datasets::image a, b;
  for (std::int64_t i = 0; i < all.train->size(); ++i)
    for (std::int64_t k = 0; k < all.valid->size(); ++k) {
      all.train->read(i, a), all.valid->read(k, b);
      CHECK(a.pixels != b.pixels);
    }
  auto const job = mt::job::in_lockstep();
  mt::store values(job);
  watcher by;
  resnet::training t{job, o, all, values, by};
  CHECK(!t.run());
  REQUIRE(by.learnt.size() == 44);
  for (int epoch = 0; epoch < 2; ++epoch) {
    numbers seen(by.learnt.begin() + epoch * 21, by.learnt.begin() + (epoch + 1) * 21);
    CHECK(!std::is_sorted(seen.begin(), seen.end()));
    std::sort(seen.begin(), seen.end());
    for (std::int64_t i = 0; i < 21; ++i) CHECK(seen[static_cast<std::size_t>(i)] == i);
  }
  CHECK(by.looked_at == numbers{0, 1, 2, 0, 1, 2});  // behind the 6th and the 11th step
  CHECK(t.look().images == 3);
}

TEST_CASE("the images of the next step are read while a step runs") {
  meshtensor_test::own_folder const folder;
  resnet::options o;
  o.data = "synthetic", o.count = 21, o.classes = 5, o.size = 8, o.batch = 4, o.epochs = 1, o.keep = folder.path();
  resnet::images all(o);
  std::atomic<std::int64_t> reads = 0;
  all.train = std::make_unique<counted_images>(std::move(all.train), reads);
  auto const job = mt::job::in_lockstep();
  mt::store values(job);
  patient_watcher by(reads);
  resnet::training t{job, o, all, values, by};
  CHECK(!t.run());
  CHECK(by.in_time == 6);
}

TEST_CASE("a line names the epoch that has ended, though its last batch has images of the next one") {
  resnet::options o;
  o.batch = 4;
  CHECK(resnet::epoch_of(o, 21, 6) == 1);
  CHECK(resnet::epoch_of(o, 21, 11) == 2);
  CHECK(resnet::epoch_of(o, 21, 3) == 1);  // where --steps ends the training
  CHECK(resnet::epoch_of(o, 21, 8) == 2);
  CHECK(resnet::epoch_of(o, 20, 5) == 1);
  CHECK(resnet::epoch_of(o, 3, 5) == 6);
}
