// SPDX-License-Identifier: Apache-2.0
// A learner for one task and one dtype.
#pragma once

#include "../ppo.hpp"

#include <meshtensor/inspect/explain_html.hpp>
#include <meshtensor/inspect/measured_rates.hpp>
#include <meshtensor/inspect/profile.hpp>
#include <meshtensor/run/executable.hpp>
#include <meshtensor/run/one_store.hpp>

#include "../common/built_devices.hpp"
#include "../common/machine_rates.hpp"
#include "learner.hpp"
#include "networks.hpp"

namespace ppo {

/// The environments are divided over `data`, and the first hidden layer over `model`.
struct layout : mt::layout<mt::shard<environments, data>, mt::shard<hidden, model>> {};

template <class Device, class Environment, class Model, mt::dtype Dtype>
class learner_of : public learner {
  using train = mt::precision<train_step<Environment, Model>, Dtype>;
  using judge = mt::precision<evaluate<Environment, Model>, Dtype>;
  using programs = mt::programs<train, judge>;
  using training = mt::executable<programs, train, ppo::mesh, ppo::layout, Device>;
  using playing = mt::executable<programs, judge, ppo::mesh, ppo::layout, Device>;
  static_assert(mt::one_store<training, playing>);

 public:
  learner_of(mt::store& weights, options const& o)
      : o_(o),
        step_(weights, data(o.mesh.at("data")), ppo::model(o.mesh.at("model")), environments(o.environments),
              epochs(o.epochs), minibatches(o.minibatches), samples(o.steps / o.minibatches)),
        play_(weights, data(o.mesh.at("data")), ppo::model(o.mesh.at("model")), environments(o.episodes)) {}

  update_result update(double learning_rate) override {
    auto const result =
        step_(mt::set<"learning_rate">(learning_rate), mt::set<"gamma">(o_.gamma), mt::set<"lambda">(o_.lambda),
              mt::set<"clip">(o_.clip), mt::set<"value_weight">(o_.value_weight),
              mt::set<"entropy_weight">(o_.entropy_weight), mt::set<"clip_norm">(o_.clip_norm));
    return {static_cast<double>(result.template get<"episodes">()),
            static_cast<double>(result.template get<"scores">()), static_cast<double>(result.template get<"loss">())};
  }
  played play() override {
    auto const result = play_();
    return {static_cast<double>(result.template get<"score">()), static_cast<double>(result.template get<"least">())};
  }

  std::string explained(std::string const& what) const override {
    if (what == "instructions") return mt::instructions(step_);
    if (what == "html")
      return mt::page({mt::on_page(
          "update", step_,
          o_.rates.empty() ? mt::measured_rates(step_) : examples::given_rates(o_.rates, step_.bound_mesh()))});
    return mt::explain(step_) + "\n" + mt::pictures(step_);
  }
  void record(bool on) override { step_.record(on); }
  std::string profile() const override { return mt::profile(step_); }

 private:
  options const& o_;
  training step_;
  playing play_;
};

/// A learner on the device that the options name.
template <class Environment, class Model, mt::dtype Dtype>
std::unique_ptr<learner> learner_on_device(mt::store& weights, options const& o) {
  return examples::on_device(o.device, [&]<class Device>(std::type_identity<Device>) -> std::unique_ptr<learner> {
    return std::make_unique<learner_of<Device, Environment, Model, Dtype>>(weights, o);
  });
}

}  // namespace ppo
