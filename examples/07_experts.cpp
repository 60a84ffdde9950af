// SPDX-License-Identifier: Apache-2.0
// Trains a language model with a mixture of 8 experts on 1, 2, 3, 4 and 8 ranks, and checks that all losses agree.
// Run it alone, with threads as ranks, or with mpirun -n 4. The option `--device NAME` chooses another device.
//
// Prints:
//
//     1 ranks, step  0: loss 3.2210, 27.1 % of choices dropped
//     1 ranks, step 20: loss 0.86, 11.2 % of choices dropped
//     1 ranks, step 40: loss 0.18,  7.3 % of choices dropped
//     1 ranks, step 60: loss 0.08,  6.0 % of choices dropped
//     2 ranks, step  0: loss 3.2210, 27.1 % of choices dropped
//     ...
//     the losses differ by 3e-07 at most
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <meshtensor/meshtensor.hpp>

#include "common/main_on_device.hpp"

namespace mt = meshtensor;

namespace language {
using namespace mt::nn;

inline constexpr struct batch : mt::dim<"batch", 12> {} batch;
inline constexpr struct length : mt::dim<"length", 16> {} length;
inline constexpr struct memory : mt::dim<"memory", 16> {} memory;
inline constexpr struct vocab : mt::dim<"vocab", 16> {} vocab;
inline constexpr struct d_model : mt::dim<"d_model", 16> {} d_model;
inline constexpr struct heads : mt::dim<"heads", 4> {} heads;
inline constexpr struct d_head : mt::dim<"d_head", 4> {} d_head;
inline constexpr struct d_ff : mt::dim<"d_ff", 16> {} d_ff;
inline constexpr struct experts : mt::dim<"experts", 8> {} experts;
inline constexpr struct choices : mt::dim<"choices", 2> {} choices;  // the experts that process a word
// An expert has this many places for words of one sentence: 1.25 · length · 2 / experts. Further words are dropped.
inline constexpr struct slots : mt::dim<"slots", 5> {} slots;

// In this Transformer block, a mixture of experts replaces the feed-forward layer: Lepikhin et al., arXiv:2006.16668.
inline constexpr mt::layer block = [](mt::scope auto s, auto x) {
  auto normed = layer_norm(s / "norm_1", x, d_model);
  auto a = x + causal_attention(s / "attention", normed, length, memory, d_model, heads, d_head);
  auto [y, balance, dropped] = mixture_of_experts(s / "experts", layer_norm(s / "norm_2", a, d_model), length, d_model,
                                                  experts, choices, slots, d_ff);
  return std::tuple(a + y, balance, dropped);
};

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto text = s.input("text", mt::i32, batch, length);
    auto next = s.input("next", mt::i32, batch, length);
    auto x = embed(s / "words", text, vocab, d_model) + s.parameter("positions", length, d_model);
    auto [y, balance, dropped] = block(s / "block", x);
    auto logits = linear(s / "logits", layer_norm(s / "norm", y, d_model), d_model, vocab);
    auto loss = mean(cross_entropy(logits, next, vocab));
    mt::adam{.learning_rate = 0.02}.minimize(s / "optimizer", loss + 0.01 * balance);
    s.output("loss", loss);
    s.output("dropped", dropped);
  }
};

// Sentences and experts are sharded over the same ranks. A router sees all experts, but only sentences of its rank.
// An expert sees its words of all sentences. So words go to their experts in one all-to-all, and return in another.
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<experts, data>, mt::in<"router", mt::replicate<experts>>,
                           mt::in<"expert", mt::replicate<batch>>> {};

// Trains for 61 steps, each on new sentences, and returns the losses. Each sentence is in one of two languages, whose
// words grow by 3 or by 5. The language shows only in two words together, so attention must look at an earlier word.
template <class Device>
std::vector<float> train(mt::job const& job, int ranks) {
  mt::store weights(job);
  mt::executable<train_step, mesh, layout, Device> step(weights, data(ranks));
  std::mt19937 generator(1);
  mt::array<std::int32_t, batch, length> text, next;
  std::vector<float> losses;
  for (int i = 0; i < 61; ++i) {
    for (int b = 0; b < 12; ++b) {
      unsigned word = generator() % 16, growth = generator() % 2 == 0 ? 3 : 5;
      for (int t = 0; t < 16; ++t) {
        text(batch(b), length(t)) = static_cast<std::int32_t>(word);
        word = (word + growth) % 16;
        next(batch(b), length(t)) = static_cast<std::int32_t>(word);
      }
    }
    auto const result = step(mt::feed<"text">(text), mt::feed<"next">(next));
    losses.push_back(result.template get<"loss">());
    if (i % 20 == 0)
      mt::print(job, "{} ranks, step {:>2}: loss {:.4f}, {:>4.1f} % of choices dropped\n", ranks, i, losses.back(),
                100 * static_cast<float>(result.template get<"dropped">()));
  }
  return losses;
}

template <class Device>
int compare(mt::job const& job) {
  auto const alone = train<Device>(mt::job::in_lockstep(), 1);
  // A device that compiles whole programs needs equal parts of dims and hardware for each rank, so it gets 2 and 4.
  std::vector<int> const threads = mt::whole_program_device<Device> ? std::vector{2, 4} : std::vector{2, 3, 4, 8};
  std::vector<int> const processes{job.processes()};
  float most = 0;
  for (int const ranks : job.processes() == 1 ? threads : processes) {
    auto const losses = train<Device>(job, ranks);
    for (std::size_t i = 0; i < losses.size(); ++i) most = std::max(most, std::abs(losses[i] - alone[i]));
  }
  mt::print(job, "the losses differ by {:.0e} at most\n", most);
  // A model without attention knows only a word and its position. Both languages have every word equally often at every
  // position, so such a model must guess between two next words, and its loss is at least log 2 = 0.69. With attention
  // only the first word leaves a doubt. Therefore its loss can fall to log 2 / 16 = 0.04.
  return most < 1e-3f && alone.back() < 0.2f ? 0 : 1;
}
}  // namespace language

int main(int argc, char** argv) {
  return examples::main_on_device<mt::reference_device>(
      argc, argv,
      []<class Device>(mt::job const& job, std::type_identity<Device>) { return language::compare<Device>(job); });
}
