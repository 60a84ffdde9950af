// SPDX-License-Identifier: Apache-2.0
// passes: start-up
// The programs are traced at run time, so that one trace of the model serves all policies.
#include "in_replicas.hpp"

#include "../common/built_devices.hpp"
#include "../common/traced_step.hpp"
#include "../transformer.hpp"
#include "plan.hpp"

namespace transformer {

namespace {

using examples::replica, examples::traced_plan;

using layout_of_replicas = mt::over_replicas<layout, replica, data>;
using layout_of_evaluation = examples::layout_of_consensus<layout, data>;
using layout_of_one_text = examples::layout_of_consensus<one_text, data>;

/// All extents and axes, for a batch of `texts` texts.
auto sizes_of(options const& o, std::int64_t texts) {
  return std::tuple(data(o.mesh.at("data")), model(o.mesh.at("model")), replica(o.replicas), batch(texts),
                    length(o.length), layers(o.layers), d_model(o.d_model), heads(o.heads), d_head(o.d_head),
                    d_ff(o.d_ff));
}
traced_plan plan_of_training(options const& o, mt::device_capabilities const& capabilities) {
  return {examples::traced_replicas<train_step>(o), mesh::shape, layout_of_replicas::sharding_rules, capabilities,
          sizes_of(o, o.batch / o.replicas)};
}

template <class Device>
class learner_in_replicas : public learner {
 public:
  learner_in_replicas(mt::store& weights, options const& o) : weights_(weights), o_(o) {}

  double learn(mt::datasets::text_batch const& b, double steps) override {
    step_([&](auto& run) { feed(run, b, steps); });
    mt::block const losses = step_.whole("loss");
    loss_ = 0;
    for (std::int64_t i = 0; i < losses.size(); ++i) loss_ += losses.number_at(i) / static_cast<double>(losses.size());
    return loss_;
  }
  double loss_of(mt::datasets::text_batch const& b) override {
    ask_([&](auto& run) { run.feed("text", b.text), run.feed("next", b.next); });
    return ask_.number("loss");
  }
  std::vector<float> likely(std::vector<std::uint8_t> const& seen, std::int32_t last, double temperature) override {
    last_[0] = last;
    next_byte_(
        [&](auto& run) { run.feed("text", seen), run.feed("last", last_), run.set("temperature", temperature); });
    mt::block const next = next_byte_.whole("likely");
    return {next.template as<float>(), next.template as<float>() + next.size()};
  }

  std::string regime() const override { return step_.plan().regime_text(o_); }
  std::vector<double> predicted(std::int64_t steps) const override {
    if (o_.network.empty()) return {};
    options large = o_;
    large.mesh["data"] = o_.replicas;
    return plan_of_training(large, mt::capabilities_of<Device>).predicted(o_, step_.rates_of_rank(o_.rates), steps);
  }
  std::pair<bool, std::string> compare(mt::datasets::text_batch const& b) override {
    return step_.compare([&] { return plan_of_training(o_, mt::capabilities_of<Device>); },
                         [&](auto& run) { feed(run, b, 0); });
  }
  std::string pictures() const override { return mt::pictures(step_.graph(), step_.planned(), step_.bound_mesh()); }
  mt::memory_use memory() const override { return step_.memory(); }
  void record(bool on) override { step_.record(on); }
  std::string profile() const override { return step_.profile(); }
  void write_trace(std::string const& file) const override { step_.write_trace(file); }
  mt::progress_unit unit() const override { return mt::unit_of(step_.graph(), step_.planned().numbers); }
  void write_numbers(mt::tensorboard& board, std::int64_t step) const override {
    if (o_.tensorboard.empty()) return;
    board.scalar("train/loss", loss_, step);
    board.scalar("train/learning_rate", step_.number("learning_rate"), step);
  }

 private:
  template <class Program>
  traced_plan plan_of_mean(mt::layout_rules const& rules, std::int64_t texts) const {
    return {examples::traced_consensus<Program, train_step>(o_), mesh::shape, rules, mt::capabilities_of<Device>,
            sizes_of(o_, texts)};
  }
  void feed(auto& run, mt::datasets::text_batch const& b, double steps) const {
    run.feed("text", b.text), run.feed("next", b.next);  // the memory of all replicas' batches is that of one batch
    run.set("dropout", o_.dropout);
    if (steps == 0) return;
    run.set("steps", steps), run.set("learning_rate", o_.learning_rate);
    run.set("warmup", static_cast<double>(o_.warmup));
  }

  mt::store& weights_;
  options const& o_;
  mutable examples::traced_step<Device> step_{weights_, plan_of_training(o_, mt::capabilities_of<Device>)};
  examples::traced_step<Device> ask_{weights_, plan_of_mean<evaluate>(layout_of_evaluation::sharding_rules, o_.batch)};
  examples::traced_step<Device> next_byte_{weights_, plan_of_mean<generate>(layout_of_one_text::sharding_rules, 1)};
  std::vector<std::int32_t> last_ = std::vector<std::int32_t>(1);
  double loss_ = 0;  // the mean of the replicas' losses in the last step
};

}  // namespace

std::unique_ptr<learner> replicas_of(mt::store& weights, options const& o) {
  return examples::on_device(o.device, [&]<class Device>(std::type_identity<Device>) -> std::unique_ptr<learner> {
    return std::make_unique<learner_in_replicas<Device>>(weights, o);
  });
}

int show_plan_of_replicas(mt::job const& job, options const& o) {
  traced_plan const plan = plan_of_training(o, mt::capabilities_of<mt::default_device>);
  auto const rates = o.rates.empty() ? examples::measured_here<mt::default_device>()
                                     : examples::given_rates(o.rates, plan.bound_mesh());
  return show(job, o, o.explain.empty() ? "" : plan.explained(o.explain, o, rates), plan.graph(), plan.planned());
}

}  // namespace transformer
