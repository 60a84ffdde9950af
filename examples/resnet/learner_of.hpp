// SPDX-License-Identifier: Apache-2.0
// A learner for one set of programs: one learns, one evaluates, and one moves the moving average, if it is wanted.
#pragma once

#include <algorithm>

#include <meshtensor/inspect/check.hpp>
#include <meshtensor/inspect/explain_html.hpp>
#include <meshtensor/inspect/measured_rates.hpp>
#include <meshtensor/inspect/profile.hpp>
#include <meshtensor/pass/cost.hpp>
#include <meshtensor/run/executable.hpp>
#include <meshtensor/run/one_store.hpp>

#include "../common/built_devices.hpp"
#include "../common/machine_rates.hpp"
#include "learner.hpp"
#include "programs.hpp"
#include "sizes.hpp"

namespace resnet {

template <class Device, class Block, bool InParts, class Train, class Evaluate, class EvaluateAverage, class Follow>
class learner_of : public learner {
  using programs = mt::programs<Train, Evaluate, EvaluateAverage, Follow>;
  template <class Program>
  using program = mt::executable<programs, Program, resnet::mesh, resnet::layout, Device>;
  static_assert(mt::one_store<program<Train>, program<Evaluate>>);

 public:
  explicit learner_of(learner_needs const& n) : weights_(n.weights), o_(n.o), needs_(n) {
    if (o_.counts) return;
    if (!o_.evaluate) step_ = made<program<Train>>(weights_, learnt());
    if (o_.average != 0) {
      look_average_ = made<program<EvaluateAverage>>(weights_, looked_at());
      follow_ = made<program<Follow>>(weights_, looked_at());
      follow_->exclude_from_step_count();
    } else {
      look_ = made<program<Evaluate>>(weights_, looked_at());
    }
    if (step_ && o_.check_numerics) step_->check_numerics();
  }

  batch_loss learn(mt::datasets::image_batch const& b) override {
    auto const result = std::apply(
        [&](auto const&... rate) {
          return fed(b, *step_, rate..., mt::set<"momentum">(o_.momentum), mt::set<"weight_decay">(o_.weight_decay),
                     mt::set<"smoothing">(o_.smoothing));
        },
        rate_numbers(o_, needs_.steps, needs_.steps_per_epoch));
    batch_loss const of{static_cast<double>(result.template get<"loss">()),
                        static_cast<double>(result.template get<"count">())};
    if (follow_) (*follow_)(mt::set<"decay">(o_.average));
    return of;
  }
  void look(mt::datasets::image_batch const& b, scores& so_far) override {
    auto const add = [&](auto const& result) {
      so_far.nats += static_cast<double>(result.template get<"nats">());
      so_far.images += result.template get<"count">(), so_far.first += result.template get<"first">();
      so_far.among_five += result.template get<"among_five">();
    };
    if (look_average_) add(fed(b, *look_average_));
    else add(fed(b, *look_));
  }
  std::vector<float> logits(mt::datasets::image_batch const& b) override {
    auto const all = [&](auto& run) {
      auto const values = fed(b, run).template get<"logits">().gather();
      return std::vector<float>(values.begin(), values.end());
    };
    return look_average_ ? all(*look_average_) : all(*look_);
  }
  mt::datasets::image_part mine() const override {
    if (step_) return part_of(*step_);
    return look_average_ ? part_of(*look_average_) : part_of(*look_);
  }

  std::pair<std::int64_t, std::int64_t> counts() const override {
    auto const one = [&](auto const&... each) {
      return mt::draft<program<Evaluate>>(data(1), over_rows(1), over_cols(1), model(1), each...);
    };
    auto const of_image = std::apply(
        [&](auto const&, auto const&, auto const&, auto const&, auto const&... each) { return one(each...); },
        sizes<Block>(o_, needs_.classes, batch(1)));
    mt::module const& m = of_image.graph();
    auto const& numbers = of_image.planned().numbers;
    std::int64_t parameters = 0;
    for (int v = 0; v < m.variable_count; ++v) {
      if (!m.variables[v].trainable || !mt::detail::has_variable(m, v)) continue;
      std::int64_t elements = 1;
      for (int i = 0; i < m.variables[v].dims.count; ++i) elements *= numbers.extent[m.variables[v].dims.at[i]];
      parameters += elements;
    }
    return {parameters, mt::work_of(m, numbers).products / 2};
  }
  std::string explained(std::string const& what) const override {
    if (what == "instructions") return mt::instructions(*step_);
    if (what == "html")
      return mt::page({mt::on_page(
          "training", *step_,
          o_.rates.empty() ? mt::measured_rates(*step_) : examples::given_rates(o_.rates, step_->bound_mesh()))});
    return mt::explain(*step_) + "\n" + mt::pictures(*step_);
  }
  std::int64_t planned_bytes() const override {
    auto const bytes = [](auto const& run) { return static_cast<std::int64_t>(run.memory().all()); };
    if (step_) return bytes(*step_);
    return look_average_ ? bytes(*look_average_) : bytes(*look_);
  }
  std::pair<bool, std::string> compare(mt::datasets::image_batch const& b) override {
    auto const found = std::apply(
        [&](auto const&... each) {
          return mt::check<programs, Train, resnet::mesh, resnet::layout, Device>(
              weights_, each..., mt::feed<"images">(b.pixels), mt::feed<"labels">(b.labels),
              mt::feed<"counts">(b.counts));
        },
        learnt());
    return {found.agrees(), text_of(found)};
  }
  void record(bool on) override {
    if (step_) return step_->record(on);
    look_average_ ? look_average_->record(on) : look_->record(on);
  }
  std::string profile() const override {
    if (step_) return fmt::format("{}", mt::profile(*step_));
    return look_average_ ? fmt::format("{}", mt::profile(*look_average_)) : fmt::format("{}", mt::profile(*look_));
  }

 private:
  auto looked_at() const { return sizes<Block>(o_, needs_.classes, batch(o_.batch)); }
  auto learnt() const {
    if constexpr (InParts)
      return sizes<Block>(o_, needs_.classes, batch(o_.batch / o_.microbatches), parts(o_.microbatches));
    else return looked_at();
  }
  mt::datasets::image_part part_of(auto const& any) const {
    auto const held = any.ranks();
    auto const& m = any.bound_mesh();
    if (static_cast<std::int64_t>(held.size()) != 1 || m.size() == 1) return {};
    auto const along = [&](int axis) {
      return mt::datasets::batch_part{m.coordinate(held[0], axis), m.axes[axis].extent};
    };
    return {along(0), along(1), along(2)};
  }
  auto fed(mt::datasets::image_batch const& b, auto& run, auto const&... numbers) const {
    if (run.ranks().size() != 1)
      return run(mt::feed<"images">(b.pixels), mt::feed<"labels">(b.labels), mt::feed<"counts">(b.counts), numbers...);
    return run(mt::feed_local<"images">(b.pixels), mt::feed_local<"labels">(b.labels),
               mt::feed_local<"counts">(b.counts), numbers...);
  }

  mt::store& weights_;
  options const& o_;
  learner_needs needs_;
  std::unique_ptr<program<Train>> step_;
  std::unique_ptr<program<Evaluate>> look_;
  std::unique_ptr<program<EvaluateAverage>> look_average_;
  std::unique_ptr<program<Follow>> follow_;
};

/// A learner on the device that the options name.
template <class Block, bool InParts, class... Programs>
std::unique_ptr<learner> learner_on_device(learner_needs const& needs) {
  return examples::on_device(needs.o.device, [&]<class Device>(std::type_identity<Device>) -> std::unique_ptr<learner> {
    return std::make_unique<learner_of<Device, Block, InParts, Programs...>>(needs);
  });
}

}  // namespace resnet
