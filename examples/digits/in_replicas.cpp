// SPDX-License-Identifier: Apache-2.0
// passes: start-up
#include "in_replicas.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "../common/built_devices.hpp"
#include "../common/traced_step.hpp"
#include "../digits.hpp"
#include "images.hpp"

namespace digits {

namespace {

using examples::replica;

inline constexpr struct ranks : mt::axis<"ranks"> {} ranks;
struct mesh_of_replicas : mt::mesh<ranks> {};
struct layout_of_one : mt::layout<mt::shard<batch, ranks>> {};
using layout_of_replicas = mt::over_replicas<layout_of_one, replica, ranks>;
using layout_of_evaluation = examples::layout_of_consensus<layout_of_one, ranks>;

/// Judges images by the mean of all replicas: the sum of their losses, and the number that it reads correctly.
struct judge_mean {
  void operator()(mt::scope auto s) const {
    auto const image = s.input("image", mt::f32, batch, rows, cols, colours);
    auto const label = s.input("label", mt::i32, batch);
    auto const counts = s.input("counts", mt::f32, batch);
    auto const logits = network(s / "network", image, batch_statistics::running);
    auto const is_right = mt::cast<mt::f32>(argmax(logits, digit) == mt::cast<mt::i64>(label));
    s.output("right", sum(is_right * counts));
    s.output("loss", sum(cross_entropy(logits, label, digit) * counts));
  }
};

template <class Device>
int train_on(mt::job const& job, options const& given) {
  examples::regime_options const& o = given.regime;
  int const epochs = given.epochs;
  mt::datasets::idx_images const all(given.images, given.labels);
  std::int64_t const fifth = all.size() / 5;
  mt::datasets::image_range const learnt(all, 0, all.size() - fifth), held_out(all, all.size() - fifth);
  mt::datasets::image_batches const seen(learnt, moved(50 * o.replicas, given.seed)), asked(held_out, in_order());

  mt::store weights(job, given.seed);
  auto const plan_on = [&](std::int64_t n, examples::traced_program program, mt::layout_rules const& rules) {
    return examples::traced_plan(std::move(program), mesh_of_replicas::shape, rules, mt::capabilities_of<Device>,
                                 std::tuple(ranks(n), replica(o.replicas)));
  };
  auto const plan = [&](examples::traced_program program, mt::layout_rules const& rules) {
    return plan_on(std::max(1, job.get().size()), std::move(program), rules);
  };
  examples::traced_step<Device> step(
      weights, plan(examples::traced_replicas<train_step>(o), layout_of_replicas::sharding_rules));
  examples::traced_step<Device> judge(
      weights, plan(examples::traced_consensus<judge_mean, train_step>(o), layout_of_evaluation::sharding_rules));
  mt::print(job, "regime {}; each learns from 50 of the {} images of a step, with a learning rate of at most {}\n",
            step.plan().regime_text(o), 50 * o.replicas, rate_at(0));

  auto const steps = seen.per_epoch();
  std::vector<double> times;
  if (!o.network.empty()) {
    times = plan_on(o.replicas, examples::traced_replicas<train_step>(o), layout_of_replicas::sharding_rules)
                .predicted(o, step.rates_of_rank(""), steps * epochs);
    mt::print(job, "the times are those of {} ranks on {} with pauses of {}, as predicted\n", o.replicas, o.network,
              o.pauses.empty() ? "0%" : o.pauses);
  }
  mt::datasets::image_stream stream(seen);
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    double loss = 0, right = 0, judged = 0;
    for (std::int64_t i = 0; i < steps; ++i) {
      double const done = static_cast<double>((epoch - 1) * steps + i) / static_cast<double>(epochs * steps);
      mt::datasets::image_batch const& b = stream.next();
      step(
          [&](auto& run) { run.feed("image", b.pixels), run.feed("label", b.labels), run.set("rate", rate_at(done)); });
      mt::block const losses = step.whole("loss");
      for (std::int64_t r = 0; r < losses.size(); ++r)
        loss += losses.number_at(r) / static_cast<double>(losses.size() * steps);
    }
    for (mt::datasets::image_stream rest(asked); !rest.at_end();) {
      mt::datasets::image_batch const& b = rest.next();
      judge([&](auto& run) { run.feed("image", b.pixels), run.feed("label", b.labels), run.feed("counts", b.counts); });
      right += judge.number("right"), judged += judge.number("loss");
    }
    auto const of_all = [&](double sum) { return sum / static_cast<double>(held_out.size()); };
    std::string const time =
        times.empty() ? "" : ", after " + mt::seconds_text(times[static_cast<std::size_t>(epoch * steps - 1)]);
    mt::print(job, "mean of replicas, epoch {:>2}: loss {:.4f}, held out {:.4f}, {:.2f} % of the held-out digits{}\n",
              epoch, loss, of_all(judged), 100 * of_all(right), time);
  }
  return 0;
}

}  // namespace

int train_replicas(mt::job const& job, std::string const& device, options const& o) {
  return examples::on_device(device,
                             [&]<class Device>(std::type_identity<Device>) { return train_on<Device>(job, o); });
}

}  // namespace digits
