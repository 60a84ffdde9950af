// SPDX-License-Identifier: Apache-2.0
// The Transformer's programs on one device: one learns, one evaluates, and one generates text.
#pragma once

#include "../transformer.hpp"

#include <algorithm>
#include <tuple>

#include <meshtensor/inspect/check.hpp>
#include <meshtensor/inspect/explain.hpp>
#include <meshtensor/inspect/trace_events.hpp>
#include <meshtensor/run/one_store.hpp>

#include "learner.hpp"

namespace transformer {

/// All extents and axes, for a batch of `texts` texts.
inline auto sizes(options const& o, std::int64_t texts) {
  return std::tuple(data(o.mesh.at("data")), model(o.mesh.at("model")), batch(texts), length(o.length),
                    layers(o.layers), d_model(o.d_model), heads(o.heads), d_head(o.d_head), d_ff(o.d_ff));
}
template <class Executable, class... Store>
Executable made(auto const& given, Store&... weights) {
  return std::apply([&](auto const&... each) { return Executable(weights..., each...); }, given);
}

template <class Device>
class learner_of : public learner {
  template <class Program, class Layout>
  using program = mt::executable<programs, Program, transformer::mesh, Layout, Device>;
  using evaluation = program<evaluate, transformer::layout>;
  using conversation = program<generate, one_text>;

 public:
  using training = program<train_step, transformer::layout>;
  static_assert(mt::one_store<training, evaluation, conversation>);

  learner_of(mt::store& weights, options const& o) : weights_(weights), o_(o) {}

  double learn(mt::datasets::text_batch const& b, double steps) override {
    auto const result = step_(mt::feed<"text">(b.text), mt::feed<"next">(b.next), mt::set<"steps">(steps),
                              mt::set<"learning_rate">(o_.learning_rate), mt::set<"dropout">(o_.dropout),
                              mt::set<"warmup">(static_cast<double>(o_.warmup)));
    return static_cast<double>(result.template get<"loss">());
  }
  double loss_of(mt::datasets::text_batch const& b) override {
    return static_cast<double>(ask_(mt::feed<"text">(b.text), mt::feed<"next">(b.next)).template get<"loss">());
  }
  std::vector<float> likely(std::vector<std::uint8_t> const& seen, std::int32_t last, double temperature) override {
    last_[0] = last;
    auto const next = next_byte_(mt::feed<"text">(seen), mt::feed<"last">(last_), mt::set<"temperature">(temperature))
                          .template get<"likely">()
                          .local();
    return {next.data(), next.data() + next.size()};
  }

  std::pair<bool, std::string> compare(mt::datasets::text_batch const& b) override {
    auto const found = std::apply(
        [&](auto const&... each) {
          return mt::check<programs, train_step, transformer::mesh, transformer::layout, Device>(
              weights_, each..., mt::feed<"text">(b.text), mt::feed<"next">(b.next), mt::set<"dropout">(o_.dropout));
        },
        sizes(o_, o_.batch));
    return {found.agrees(), text_of(found)};
  }
  std::string pictures() const override { return mt::pictures(step_); }
  mt::memory_use memory() const override { return step_.memory(); }
  void record(bool on) override { step_.record(on); }
  std::string profile() const override { return mt::profile(step_); }
  void write_trace(std::string const& file) const override { mt::write_trace(step_, file); }
  mt::progress_unit unit() const override { return mt::unit_of(step_); }
  void write_numbers(mt::tensorboard& board, std::int64_t step) const override { board.outputs(step_, step, "train/"); }

 private:
  mt::store& weights_;
  options const& o_;
  training step_ = made<training>(sizes(o_, o_.batch), weights_);
  evaluation ask_ = made<evaluation>(sizes(o_, o_.batch), weights_);
  conversation next_byte_ = made<conversation>(sizes(o_, 1), weights_);
  std::vector<std::int32_t> last_ = std::vector<std::int32_t>(1);
};

template <class Device>
std::unique_ptr<learner> learner_on(mt::store& weights, options const& o) {
  return std::make_unique<learner_of<Device>>(weights, o);
}

}  // namespace transformer
