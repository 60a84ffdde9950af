// SPDX-License-Identifier: Apache-2.0
// A learner for one training program. It has an executable for each bucket, and all share the store and the kernels.
#pragma once

#include <vector>

#include <meshtensor/inspect/check.hpp>
#include <meshtensor/inspect/explain_html.hpp>
#include <meshtensor/inspect/measured_rates.hpp>
#include <meshtensor/inspect/profile.hpp>
#include <meshtensor/run/executable.hpp>
#include <meshtensor/run/one_store.hpp>

#include "../common/built_devices.hpp"
#include "../common/machine_rates.hpp"
#include "learner.hpp"
#include "sizes.hpp"

namespace translation {

template <class Device, class Programs, class Train, class Evaluate>
class learner_of : public learner {
  template <class Program>
  using program = mt::executable<Programs, Program, translation::mesh, translation::layout, Device>;
  static_assert(mt::one_store<program<Train>, program<Evaluate>>);

 public:
  explicit learner_of(learner_needs const& n) : weights_(n.weights), o_(n.o), pieces_(n.pieces) {
    for (mt::datasets::bucket const& b : n.buckets) {
      buckets_.push_back(b);
      steps_.push_back(made<program<Train>>(weights_, size(b)));
      looks_.push_back(made<program<Evaluate>>(weights_, sizes(o_, pieces_, batch(b.rows), length(b.source_length))));
      if (o_.check_numerics) steps_.back()->check_numerics();
    }
  }

  batch_loss learn(mt::datasets::pair_batch const& b) override {
    auto const result =
        fed(b, *steps_[b.bucket], mt::set<"learning_rate">(o_.learning_rate), mt::set<"dropout">(o_.dropout),
            mt::set<"smoothing">(o_.smoothing), mt::set<"warmup">(static_cast<double>(o_.warmup)),
            mt::set<"clip_norm">(o_.clip_norm == 0 ? 1e30 : o_.clip_norm));
    return {static_cast<double>(result.template get<"loss">()), static_cast<double>(result.template get<"count">())};
  }
  batch_loss look(mt::datasets::pair_batch const& b) override {
    auto const result = fed(b, *looks_[b.bucket]);
    auto const count = static_cast<double>(result.template get<"count">());
    return {count == 0 ? 0 : static_cast<double>(result.template get<"sum">()) / count, count};
  }
  mt::datasets::batch_part mine() const override {
    auto const held = steps_[0]->ranks();
    auto const& m = steps_[0]->bound_mesh();
    if (static_cast<std::int64_t>(held.size()) != 1 || m.size() == 1) return {};
    return {.part = m.coordinate(held[0], 0), .of = m.axes[0].extent};
  }

  std::string explained(std::string const& what) const override {
    if (what == "instructions") return mt::instructions(*steps_[0]);
    if (what == "html")
      return mt::page({mt::on_page("training", *steps_[0],
                                   o_.rates.empty() ? mt::measured_rates(*steps_[0])
                                                    : examples::given_rates(o_.rates, steps_[0]->bound_mesh()))});
    return mt::explain(*steps_[0]) + "\n" + mt::pictures(*steps_[0]);
  }
  std::pair<bool, std::string> compare(mt::datasets::pair_batch const& b) override {
    auto const found = std::apply(
        [&](auto const&... each) {
          return mt::check<Programs, Train, translation::mesh, translation::layout, Device>(
              weights_, each..., mt::feed<"source">(b.source), mt::feed<"target">(b.target),
              mt::feed<"next">(b.target_next), mt::set<"dropout">(o_.dropout));
        },
        size(buckets_[b.bucket]));
    return {found.agrees(), text_of(found)};
  }
  void record(bool on) override {
    for (auto const& step : steps_) step->record(on);
  }
  std::string profile() const override {
    std::string all;
    for (auto const& step : steps_)
      if (!step->recorded().empty()) all += fmt::format("{}", mt::profile(*step));
    return all;
  }

 private:
  auto size(mt::datasets::bucket const& b) const {
    if constexpr (requires { Train::parts; })
      return sizes(o_, pieces_, Train::parts(o_.microbatches), batch(b.rows / o_.microbatches),
                   length(b.source_length));
    else return sizes(o_, pieces_, batch(b.rows), length(b.source_length));
  }
  auto fed(mt::datasets::pair_batch const& b, auto& run, auto const&... numbers) const {
    if (mine().of == 1 && steps_[0]->ranks().size() != 1)
      return run(mt::feed<"source">(b.source), mt::feed<"target">(b.target), mt::feed<"next">(b.target_next),
                 numbers...);
    return run(mt::feed_local<"source">(b.source), mt::feed_local<"target">(b.target),
               mt::feed_local<"next">(b.target_next), numbers...);
  }

  mt::store& weights_;
  options const& o_;
  std::int64_t pieces_;
  std::vector<mt::datasets::bucket> buckets_;
  std::vector<std::unique_ptr<program<Train>>> steps_;  // one for each bucket
  std::vector<std::unique_ptr<program<Evaluate>>> looks_;
};

/// A learner on the device that the options name.
template <class... Programs>
std::unique_ptr<learner> learner_on_device(learner_needs const& needs) {
  return examples::on_device(needs.o.device, [&]<class Device>(std::type_identity<Device>) -> std::unique_ptr<learner> {
    return std::make_unique<learner_of<Device, Programs...>>(needs);
  });
}

}  // namespace translation
