// SPDX-License-Identifier: Apache-2.0
// Language models with experts train on a PJRT plugin: the losses of the cpu device, under two layouts each.
// needs: cpu
// passes: start-up
// sanitize: no
// part: pjrt
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "meshtensor/device/cpu/device.hpp"
#include "meshtensor/device/pjrt/device.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/pjrt.hpp"

namespace mt = meshtensor;

namespace {
using namespace mt::nn;

inline constexpr struct batch : mt::dim<"batch", 8> {} batch;
inline constexpr struct length : mt::dim<"length", 12> {} length;
inline constexpr struct memory : mt::dim<"memory", 12> {} memory;
inline constexpr struct vocab : mt::dim<"vocab", 16> {} vocab;
inline constexpr struct d_model : mt::dim<"d_model", 16> {} d_model;
inline constexpr struct heads : mt::dim<"heads", 4> {} heads;
inline constexpr struct d_head : mt::dim<"d_head", 4> {} d_head;
inline constexpr struct d_ff : mt::dim<"d_ff", 16> {} d_ff;
inline constexpr struct experts : mt::dim<"experts", 8> {} experts;
inline constexpr struct choices : mt::dim<"choices", 2> {} choices;
inline constexpr struct slots : mt::dim<"slots", 4> {} slots;

inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};
/// Sentences and experts over the same processors: tokens travel to their experts and back.
struct by_sentence : mt::layout<mt::shard<batch, data>, mt::shard<experts, data>,
                                mt::in<"router", mt::replicate<experts>>, mt::in<"expert", mt::replicate<batch>>> {};
/// Sentences over one axis, the hidden values of every expert and the heads over the other.
struct by_width : mt::layout<mt::shard<batch, data>, mt::shard<d_ff, model>, mt::shard<heads, model>> {};

/// `Drops`: a sentence has four places at each expert; else each serves all that choose it.
template <bool Drops>
struct language_model {
  constexpr void operator()(mt::scope auto s) const {
    auto text = s.input("text", mt::i32, batch, length);
    auto next = s.input("next", mt::i32, batch, length);
    auto x = embed(s / "words", text, vocab, d_model) + s.parameter("positions", length, d_model);
    auto a = x + causal_attention(s / "attention", layer_norm(s / "norm_1", x, d_model), length, memory, d_model, heads,
                                  d_head);
    auto const normed = layer_norm(s / "norm_2", a, d_model);
    auto const [y, balance] = [&] {
      if constexpr (Drops) {
        auto const [made, even, dropped] =
            mixture_of_experts(s / "experts", normed, length, d_model, experts, choices, slots, d_ff);
        s.output("dropped", dropped);
        return std::pair(made, even);
      } else {
        auto const [made, even] =
            dropless_mixture_of_experts(s / "experts", normed, length, d_model, experts, choices, d_ff);
        return std::pair(made, even);
      }
    }();
    auto logits = linear(s / "logits", layer_norm(s / "norm", a + y, d_model), d_model, vocab);
    auto loss = mean(cross_entropy(logits, next, vocab));
    mt::adam{.learning_rate = 0.01}.minimize(s / "optimizer", loss + 0.01 * balance);
    s.output("loss", loss);
  }
};

/// Sentences in two languages, in each of which a word says which is next.
template <bool Drops, class Layout, class Device>
std::vector<float> losses(int over_data, int over_model) {
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<language_model<Drops>, mesh, Layout, Device> step(weights, data(over_data), model(over_model));
  std::mt19937 generator(1);
  mt::array<std::int32_t, batch, length> text, next;
  std::vector<float> all;
  for (int i = 0; i < 30; ++i) {
    for (int b = 0; b < 8; ++b) {
      unsigned word = generator() % 16, factor = generator() % 2 == 0 ? 5 : 13;
      for (int t = 0; t < 12; ++t) {
        text(batch(b), length(t)) = static_cast<std::int32_t>(word);
        word = (word * factor + 3) % 16;
        next(batch(b), length(t)) = static_cast<std::int32_t>(word);
      }
    }
    all.push_back(step(mt::feed<"text">(text), mt::feed<"next">(next)).template get<"loss">());
  }
  return all;
}
template <bool Drops>
void trains_as_on_processors() {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  auto const wanted = losses<Drops, by_sentence, mt::cpu_device>(1, 1);
  bool const has_four = mt::pjrt::device_client::of_file(std::getenv("MESHTENSOR_PJRT")).devices().size() >= 4;
  int const of_data = has_four ? 4 : 1, of_both = has_four ? 2 : 1;
  std::vector<float> const got[] = {losses<Drops, by_sentence, mt::pjrt_device>(of_data, 1),
                                    losses<Drops, by_width, mt::pjrt_device>(of_both, of_both)};
  for (std::vector<float> const& all : got)
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      CAPTURE(i);
      CHECK(std::abs(all[i] - wanted[i]) < 1e-3f);
    }
  CHECK(wanted.back() < 0.6f * wanted.front());
}

}  // namespace

TEST_CASE("a model whose experts have room for some tokens") { trains_as_on_processors<true>(); }

TEST_CASE("a model whose experts serve all that choose them") { trains_as_on_processors<false>(); }
