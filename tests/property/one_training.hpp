// SPDX-License-Identifier: Apache-2.0
// One training, repeated under every layout, by every kind of job and on every device: a small decoder Transformer with
// dropout learns a permutation of its vocabulary.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "meshtensor/device/reference.hpp"
#include "meshtensor/run/session.hpp"
#include "support/layouts.hpp"
#include "support/programs.hpp"

namespace training {

namespace mt = meshtensor;
using programs::batch, programs::length, programs::vocab, programs::model, programs::layers;
inline constexpr int steps = 20;

/// Dropout on the embeddings and within every layer; AdamW at a constant rate.
struct pupil {
  constexpr void operator()(mt::scope auto s) const {
    auto text = s.input("text", mt::i32, batch, length);
    auto next = s.input("next", mt::i32, batch, length);
    auto x = mt::nn::embed(s / "tokens", text, vocab, model) + s.parameter("positions", length, model);
    x = repeat(s / "decoder", layers, mt::nn::dropout(s / "drop", x, 0.1), [](mt::scope auto r, auto h) {
      return mt::nn::dropout(r / "drop", programs::decoder_block(r, h), 0.1);
    });
    auto loss = mean(mt::nn::cross_entropy(mt::nn::linear(s / "logits", x, model, vocab), next, vocab));
    s.output("loss", loss);
    mt::adamw{.learning_rate = 1e-2}.minimize(s / "optimizer", loss);
  }
};

/// A mesh and a layout of the training.
struct spread {
  char const* what;
  mt::mesh_shape mesh;
  mt::layout_rules rules;
};

inline mt::layout_rules by_data() { return mt::layout_rules{}.shard("batch", {"data"}); }
inline mt::layout_rules by_model(mt::layout_rules rules = {}) {
  return rules.shard("heads", {"tensor"}).shard("inner", {"tensor"}).shard("vocab", {"tensor"});
}
inline mt::mesh_shape two_axes(std::int64_t data, std::int64_t tensor) {
  return mt::mesh_shape{}.add("data", data).add("tensor", tensor);
}

/// On 2, 2, 4, 6, 8, 8 and 8 processors.
inline std::vector<spread> all_spreads() {
  auto const three = mt::mesh_shape{}.add("data", 2).add("tensor", 2).add("sequence", 2);
  return {
      {"data parallel", mt::mesh_shape{}.add("data", 2), by_data()},
      {"tensor parallel", mt::mesh_shape{}.add("tensor", 2), by_model()},
      {"both", two_axes(2, 2), by_model(by_data())},
      {"both, on six", two_axes(3, 2), by_model(by_data())},
      {"both, on eight", two_axes(4, 2), by_model(by_data())},
      {"both, the optimizer's state spread", two_axes(4, 2), by_model(by_data()).shard("model", {"data"}, "optimizer")},
      {"both, and the sequence", three,
       by_model(by_data()).shard("length", {"sequence"}).replicate("length", "attention")}};
}

/// The loss of every step, the bytes of every variable that this process holds at the end, and the axes over which
/// anything was communicated, as bits.
struct course {
  std::vector<double> losses;
  std::map<std::string, std::vector<std::byte>> held;  // by name and rank
  unsigned axes = 0;
  int kernels = 0;  // fused
};

/// Trains on new sentences in every step; each word is always followed by the same one.
template <class Device>
course train(mt::job const& job, mt::module const& traced, spread const& how, Device const& device) {
  auto const low = mt::lower(traced, mt::entry_name<pupil>(), how.mesh, how.rules, {}, mt::capabilities_of<Device>);
  mt::store values(job, 5);
  mt::session<Device> run(values, low->graph, low->planned, how.mesh, low->entry, device);
  meshtensor_test::rng c{17};
  std::vector<std::int32_t> text(batch.dim_rule.value * length.dim_rule.value), next(text.size());
  course all;
  for (int i = 0; i < low->graph.node_count; ++i) {
    mt::node const& n = low->graph.nodes[i];
    if (mt::is_collective(n.kind)) all.axes |= mt::axes_of_collective(n);
    all.kernels += n.kind == mt::primitive::kernel;
  }
  for (int t = 0; t < steps; ++t) {
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = c.below(12), next[i] = (text[i] * 5 + 2) % 12;
    run.feed("text", text.data());
    run.feed("next", next.data());
    run.step();
    mt::view const loss = run.local("loss");
    all.losses.push_back(loss.type == mt::dtype::f32 ? static_cast<double>(*loss.as<float>()) : *loss.as<double>());
  }
  for (std::size_t k = 0; k < run.held().size(); ++k)
    for (auto& [path, s] : values.values()) {
      auto const* first = static_cast<std::byte const*>(static_cast<void const*>(s.block_of(k)));
      all.held[path + " " + std::to_string(run.held()[k].rank())].assign(first, first + s.windows[k].bytes());
    }
  return all;
}

template <mt::dtype Type>
std::unique_ptr<mt::module> traced_in() {
  return mt::on_heap([] { return mt::trace<mt::precision<pupil, Type>>(); });
}

/// The greatest relative difference of two trainings' losses; NaN if a loss is NaN.
inline double farthest(course const& a, course const& b) {
  double most = 0;
  for (std::size_t t = 0; t < a.losses.size(); ++t) {
    double const off = std::abs(a.losses[t] - b.losses[t]) / std::abs(a.losses[t]);
    if (std::isnan(off)) return off;
    most = std::max(most, off);
  }
  return most;
}

/// The law: on every mesh a device has in every step the loss that it has on one processor, and that of the reference
/// device on one processor, within `tolerance`; repeated on threads, every bit is the same. Returns the number of
/// meshes.
template <mt::dtype Type, class Device>
int hold(double tolerance, Device const& device) {
  auto const traced = traced_in<Type>();
  auto const turns = mt::job::in_lockstep(mt::collective_timing::results_late), threads = mt::job::as_threads();
  std::vector<spread> all = all_spreads();
  all.insert(all.begin(), {"alone", {}, {}});
  course const wanted = train(turns, *traced, all[0], mt::reference_device()),
               alone = train(turns, *traced, all[0], device);
  MESSAGE("from " << alone.losses.front() << " to " << alone.losses.back());
  for (spread const& how : all) {
    INFO(std::string(how.what) << " on " << how.mesh.size());
    course const once = train(turns, *traced, how, device);
    REQUIRE(once.losses.size() == steps);
    CHECK(once.losses.back() < once.losses.front() - 0.5);
    CHECK(once.axes == (1u << how.mesh.count) - 1);
    CHECK((once.kernels > 0) == mt::capabilities_of<Device>.fuses);
    double const off = farthest(alone, once), off_reference = farthest(wanted, once);
    MESSAGE("off by " << off << ", from the reference by " << off_reference);
    CHECK(off <= tolerance);
    CHECK(off_reference <= tolerance);
    course const again = train(threads, *traced, how, device);
    CHECK(again.losses == once.losses);
    CHECK(again.held == once.held);
  }
  return static_cast<int>(all.size());
}

}  // namespace training
