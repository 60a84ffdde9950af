// SPDX-License-Identifier: Apache-2.0
// A learner of replicas for one set of programs. They are traced at run time, so that one trace serves all policies.
#pragma once

#include <memory>
#include <string>

#include "../common/built_devices.hpp"
#include "../common/traced_step.hpp"
#include "learner.hpp"
#include "programs.hpp"
#include "sizes.hpp"

namespace resnet {

/// Returns the mean of all replicas' values under a scope: the outputs 0, 1, … are the values of the variables with
/// these ids.
/// The network is applied to zeros only because this declares its variables. Its result is not used.
template <class Block, bool Averaged>
struct values_of {
  void operator()(mt::scope auto s) const {
    auto const nothing = full(s, 0, mt::f32, to(batch, rows, cols, color));
    logits_of<Block>(Averaged ? s / "average" : s / "model", nothing, evaluating);
    mt::builder& b = s.graph_builder();
    for (int v = 0, count = b.m.variable_count; v < count; ++v)
      mt::with_element(b.m.variables[v].type, [&]<class E>() {
        mt::named_here label = "value";
        label.label = mt::name::of(std::to_string(v));
        s.output(label, mt::any_tensor<mt::dtype_of<E>>(&b, mt::detail::read(b, static_cast<mt::variable_id>(v))));
      });
  }
};

template <class Device, class Block, class Train, class Evaluate, class EvaluateAverage, class Follow>
class learner_in_replicas : public learner {
  using step = examples::traced_step<Device>;
  using layout_of_replicas = mt::over_replicas<resnet::layout, examples::replica, resnet::data>;
  using layout_of_evaluation = examples::layout_of_consensus<resnet::layout, resnet::data>;

 public:
  explicit learner_in_replicas(learner_needs const& n) : weights_(n.weights), o_(n.o), needs_(n) {
    if (o_.counts) return;
    if (!o_.evaluate) step_ = std::make_unique<step>(weights_, plan_of_training());
    auto const rules = layout_of_evaluation::sharding_rules;
    if (o_.average != 0) {
      look_ = std::make_unique<step>(
          weights_, plan(examples::traced_consensus<EvaluateAverage, Train>(o_), rules, looked_at(o_.batch)));
      follow_ = std::make_unique<step>(
          weights_, plan(examples::traced_apart<Follow>(), layout_of_replicas::sharding_rules, learnt()));
      follow_->exclude_from_step_count();
    } else {
      look_ = std::make_unique<step>(weights_,
                                     plan(examples::traced_consensus<Evaluate, Train>(o_), rules, looked_at(o_.batch)));
    }
    if (step_ && o_.check_numerics) step_->check_numerics();
  }

  batch_loss learn(mt::datasets::image_batch const& b) override {
    (*step_)([&](step& run) {
      feed(run, b);
      std::apply([&](auto const&... rate) { (run.set(rate), ...); },
                 rate_numbers(o_, needs_.steps, needs_.steps_per_epoch));
      run.set("momentum", o_.momentum), run.set("weight_decay", o_.weight_decay);
      run.set("smoothing", o_.smoothing);
    });
    mt::block const losses = step_->whole("loss"), counts = step_->whole("count");
    batch_loss of;
    for (std::int64_t r = 0; r < losses.size(); ++r)
      of.nats += losses.number_at(r) * counts.number_at(r), of.images += counts.number_at(r);
    of.nats /= of.images;
    if (follow_) (*follow_)([&](step& run) { run.set("decay", o_.average); });
    return of;
  }
  void look(mt::datasets::image_batch const& b, scores& so_far) override {
    evaluate_batch(b);
    auto const count = [&](char const* name) { return static_cast<std::int64_t>(look_->number(name)); };
    so_far.nats += look_->number("nats");
    so_far.images += count("count"), so_far.first += count("first"), so_far.among_five += count("among_five");
  }
  std::vector<float> logits(mt::datasets::image_batch const& b) override {
    evaluate_batch(b);
    mt::block const all = look_->whole("logits");
    return {all.template as<float>(), all.template as<float>() + all.size()};
  }
  mt::datasets::image_part mine() const override {
    step const& any = step_ ? *step_ : *look_;
    auto const& m = any.bound_mesh();
    if (!any.is_one_rank() || m.size() == 1) return {};
    auto const along = [&](int axis) {
      return mt::datasets::batch_part{m.coordinate(any.ranks()[0], axis), m.axes[axis].extent};
    };
    return {along(0), along(1), along(2)};
  }

  std::pair<std::int64_t, std::int64_t> counts() const override {
    options one = o_;
    one.mesh = options().mesh;
    auto const of_image = plan(examples::traced_program::of<Evaluate>(), resnet::layout::sharding_rules,
                               sizes<Block>(one, needs_.classes, batch(1)));
    return {static_cast<std::int64_t>(of_image.parameter_bytes()) / 4,
            mt::work_of(of_image.graph(), of_image.planned().numbers).products / 2};
  }
  std::string regime() const override { return (step_ ? *step_ : *look_).plan().regime_text(o_); }
  std::vector<double> predicted(std::int64_t steps) const override {
    if (o_.network.empty() || !step_) return {};
    options large = o_;
    large.mesh["data"] = o_.replicas;
    auto const sizes_of_one =
        sizes<Block>(large, needs_.classes, batch(o_.batch / o_.replicas), examples::replica(o_.replicas));
    return plan(examples::traced_replicas<Train>(o_), layout_of_replicas::sharding_rules, sizes_of_one)
        .predicted(o_, step_->rates_of_rank(o_.rates), steps);
  }
  std::string explained(std::string const& what) const override { return step_->explained(what, o_, o_.rates); }
  std::int64_t planned_bytes() const override {
    return static_cast<std::int64_t>((step_ ? *step_ : *look_).memory().all());
  }
  std::pair<bool, std::string> compare(mt::datasets::image_batch const& b) override {
    return step_->compare([&] { return plan_of_training(); }, [&](step& run) { feed(run, b, false); });
  }
  void record(bool on) override { (step_ ? *step_ : *look_).record(on); }
  std::string profile() const override { return (step_ ? *step_ : *look_).profile(); }

  std::unique_ptr<mt::store> new_model(mt::job const& job) const override {
    auto one = std::make_unique<mt::store>(job, o_.seed);
    auto const declare = [&](examples::traced_program program) {
      step const unused(*one, plan(std::move(program), resnet::layout::sharding_rules,
                                   sizes<Block>(o_, needs_.classes, batch(o_.batch))));
    };
    declare(examples::traced_program::of<Evaluate>());
    if (o_.average != 0) declare(examples::traced_program::of<EvaluateAverage>());
    return one;
  }
  void take(mt::store& one) override {
    for (std::string const& name : one.names()) examples::take_for_replicas(weights_, name, one);
  }
  std::unique_ptr<mt::store> mean(mt::job const& job) override {
    auto one = new_model(job);
    examples::traced_program program = o_.average != 0 ? examples::traced_consensus<values_of<Block, true>, Train>(o_)
                                                       : examples::traced_consensus<values_of<Block, false>, Train>(o_);
    step values(weights_, plan(std::move(program), layout_of_evaluation::sharding_rules, looked_at(o_.batch)));
    values.exclude_from_step_count();
    values([](auto&) {});
    mt::module const& traced = *values.plan().program().graph;
    for (int v = 0; v < traced.variable_count; ++v)
      if (std::string const name = mt::path_text(traced, traced.variables[v].path); one->values().contains(name))
        one->copy_in(name, values.whole(std::to_string(v)).data());
    return one;
  }

 private:
  auto looked_at(std::int64_t images) const {
    return sizes<Block>(o_, needs_.classes, batch(images), examples::replica(o_.replicas));
  }
  auto learnt() const { return looked_at(o_.batch / o_.replicas); }
  template <class Sizes>
  examples::traced_plan plan(examples::traced_program program, mt::layout_rules const& rules,
                             Sizes const& given) const {
    return {std::move(program), resnet::mesh::shape, rules, mt::capabilities_of<Device>, given};
  }
  examples::traced_plan plan_of_training() const {
    return plan(examples::traced_replicas<Train>(o_), layout_of_replicas::sharding_rules, learnt());
  }
  void evaluate_batch(mt::datasets::image_batch const& b) {
    (*look_)([&](step& run) { feed(run, b); });
  }
  void feed(step& run, mt::datasets::image_batch const& b) const { feed(run, b, run.is_one_rank()); }
  /// The memory of all replicas' batches is that of one batch.
  static void feed(step& run, mt::datasets::image_batch const& b, bool is_part) {
    run.feed("images", b.pixels, is_part), run.feed("labels", b.labels, is_part);
    run.feed("counts", b.counts, is_part);
  }

  mt::store& weights_;
  options const& o_;
  learner_needs needs_;
  std::unique_ptr<step> step_, look_, follow_;
};

/// A learner of replicas on the device that the options name.
template <class Block, class... Programs>
std::unique_ptr<learner> replicas_on_device(learner_needs const& needs) {
  return examples::on_device(needs.o.device, [&]<class Device>(std::type_identity<Device>) -> std::unique_ptr<learner> {
    return std::make_unique<learner_in_replicas<Device, Block, Programs...>>(needs);
  });
}

}  // namespace resnet
