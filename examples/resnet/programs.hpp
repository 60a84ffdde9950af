// SPDX-License-Identifier: Apache-2.0
// The programs of a residual network, which share the parameters under "model".
#pragma once

#include "../resnet.hpp"
#include "command_line.hpp"

namespace resnet {

/// The inputs of a step are images, the class of each image, and 1 or 0 for whether the image counts.
constexpr auto images_of(mt::scope auto s, auto... dims) {
  return std::tuple(s.input("images", mt::f32, dims..., rows, cols, color), s.input("labels", mt::i32, dims...),
                    s.input("counts", mt::f32, dims...));
}

inline constexpr batch_norm_options evaluating{.statistics = batch_statistics::running};

/// The cross-entropy with label smoothing, summed over the images of a batch that count, in nats.
template <class Block>
inline constexpr mt::layer nats_of = [](mt::scope auto s, auto images, auto labels, auto counts) {
  auto const logits = logits_of<Block>(s, mt::cast<s.compute>(images), batch_norm_options{});
  return sum(cross_entropy(logits, labels, classes, s.number("smoothing", 0.1)) * counts);
};

/// The learning rate rises, then falls along half a cosine. If `stairs` is 1, it falls to a tenth at each of three
/// points.
constexpr mt::number rate_of(mt::scope auto s) {
  auto const peak = s.number("learning_rate", 0.1), warmup = s.number("warmup", 0), stairs = s.number("stairs", 0);
  auto const cosine = warmup_cosine(s, peak, warmup, s.number("steps", 1));
  auto const steps =
      warmup_stairs(s, peak, warmup, {s.number("fall_1", 1), s.number("fall_2", 1), s.number("fall_3", 1)});
  return cosine * (1 - stairs) + steps * stairs;
}
/// The numbers that `rate_of` needs for a training of `steps` updates. They are in updates, but the options `warmup`
/// and `falls` are in epochs.
inline auto rate_numbers(options const& o, std::int64_t steps, double steps_per_epoch) {
  auto const fall = [&](std::size_t i) { return o.fall_epochs[i] * steps_per_epoch; };
  return std::tuple(mt::set<"learning_rate">(o.learning_rate), mt::set<"warmup">(o.warmup * steps_per_epoch),
                    mt::set<"steps">(static_cast<double>(steps)), mt::set<"stairs">(o.schedule == "stairs" ? 1 : 0),
                    mt::set<"fall_1">(fall(0)), mt::set<"fall_2">(fall(1)), mt::set<"fall_3">(fall(2)));
}

/// The optimizers minimize `what`, which is a loss or accumulated gradients. Norms and biases do not decay.
struct with_nesterov {
  static constexpr void minimize(mt::scope auto s, auto const& what) {
    mt::momentum{.learning_rate = rate_of(s),
                 .decay = s.number("momentum", 0.9),
                 .nesterov = true,
                 .weight_decay = s.number("weight_decay", 1e-4),
                 .decayed = mt::decayed::matrices}
        .minimize(s / "optimizer", what);
  }
};
struct with_lars {
  static constexpr void minimize(mt::scope auto s, auto const& what) {
    mt::lars{
        .learning_rate = rate_of(s), .decay = s.number("momentum", 0.9), .weight_decay = s.number("weight_decay", 1e-4)}
        .minimize(s / "optimizer", what);
  }
};

template <class Block, class Optimizer>
struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const [images, labels, counts] = images_of(s, batch);
    auto const count = sum(counts);
    auto const loss = nats_of<Block>(s / "model", images, labels, counts) / maximum(count, 1);
    Optimizer::minimize(s, loss);
    s.output("loss", loss);
    s.output("count", count);
  }
};

/// The same step with the memory of one microbatch. Gradients are accumulated, and reduced over the mesh only once.
template <class Block, class Optimizer>
struct train_in_parts {
  constexpr void operator()(mt::scope auto s) const {
    auto const given = images_of(s, batch, parts);
    auto const count = sum(std::get<2>(given));
    auto const [loss, gradients] =
        mt::accumulate(s / "model", parts, given, [&](mt::scope auto m, auto images, auto labels, auto counts) {
          return nats_of<Block>(m, images, labels, counts) / maximum(count, 1);
        });
    Optimizer::minimize(s, gradients);
    s.output("loss", loss);
    s.output("count", count);
  }
};

/// Returns how many images count, how many of them have the right class first, and how many among the first five. A NaN
/// counts against the network: the right class comes after other classes with NaN, and last if its own logit is NaN.
constexpr auto hits_of(auto const& logits, auto const& labels, auto const& counts) {
  auto const right = sum(select(one_hot(labels, classes, mt::boolean), logits, 0), classes);
  auto const before = sum(mt::cast<mt::i64>(!(logits < right)), classes);  // with the right class itself
  auto const counted = [&](auto const& found) { return sum(mt::cast<mt::i64>(found && counts > 0)); };
  return std::tuple(counted(before >= 0), counted(before <= 1), counted(before <= 5));
}

/// Scores a batch with the parameters or with their moving average.
template <class Block, bool Averaged>
struct evaluate {
  constexpr void operator()(mt::scope auto s) const {
    auto const [images, labels, counts] = images_of(s, batch);
    auto const weights = Averaged ? s / "average" : s / "model";
    auto const logits = logits_of<Block>(weights, mt::cast<s.compute>(images), evaluating);
    auto const each = mt::cast<mt::f32>(logits);
    auto const [count, first, among_five] = hits_of(each, labels, counts);
    s.output("logits", each);
    s.output("nats", sum(cross_entropy(logits, labels, classes) * counts));
    s.output("count", count);
    s.output("first", first);
    s.output("among_five", among_five);
  }
};

/// Moves a copy of the network, with its running averages, towards the network. The network is applied to zeros only
/// because this declares its parameters. Its result is not used.
template <class Block>
struct follow {
  constexpr void operator()(mt::scope auto s) const {
    auto const nothing = full(s, 0, mt::f32, to(batch, rows, cols, color));
    logits_of<Block>(s / "model", mt::cast<s.compute>(nothing), evaluating);
    mt::moving_average{.decay = s.number("decay", 0.999), .states = true}.follow(s / "average", s / "model");
  }
};

}  // namespace resnet
