// SPDX-License-Identifier: Apache-2.0
// Every layer, loss, optimizer and schedule at once: an eager scope takes the steps that an executable takes, bit for
// bit.
//
// passes: start-up
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/programs.hpp"

namespace mt = meshtensor;

namespace {

struct one : mt::mesh<> {};
struct whole : mt::layout<> {};

std::vector<float> reals(std::size_t n) {
  std::vector<float> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 25;
  return all;
}
std::vector<std::int32_t> words(std::size_t n, std::size_t step) {
  std::vector<std::int32_t> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<std::int32_t>(i * step % 12);
  return all;
}

template <class A, class B>
bool same(A const& a, B const& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(float)) == 0;
}

/// Three steps each way, from the same seed: the losses, and in the end every parameter and all state.
template <class Program, class... Fed>
void check_program(Fed const&... fed) {
  auto job = mt::job::in_lockstep();
  mt::store weights(job, 7), start(job, 7);
  mt::executable<Program, one, whole> step(weights);
  mt::executable<Program, one, whole> untouched(start);
  mt::eager s(start);
  for (int i = 0; i < 3; ++i) {
    float const loss = step(fed...).template get<"loss">();
    CHECK(loss == s.run(Program{}, fed...).template get<float>("loss").item());
    CHECK(loss == loss);
  }
  CHECK(weights.names().size() > 2);
  bool moved = false;
  for (auto const& name : weights.names()) {
    CAPTURE(name);
    if (weights.values().at(name).type != mt::dtype::f32) continue;
    auto const after = weights.get<float>(name);
    CHECK(same(after, s.template get<float>(name)));
    moved = moved || !same(after, start.get<float>(name));
  }
  CHECK(moved);
}

}  // namespace

TEST_CASE("layer_norm, linear, dropout, cross_entropy, adamw with one norm for all gradients") {
  auto const x = reals(24 * 12);
  auto const label = words(24, 5);
  check_program<programs::classifier>(mt::feed<"x">(x), mt::feed<"label">(label));
}

TEST_CASE("attention, causal attention, momentum") {
  auto const x = reals(24 * 6 * 12);
  check_program<programs::attending>(mt::feed<"x">(x));
}

TEST_CASE("a decoder: embed, feed_forward, warmup_cosine, adam") {
  auto const text = words(24 * 6, 7), next = words(24 * 6, 11);
  check_program<programs::language_model>(mt::feed<"text">(text), mt::feed<"next">(next));
}

TEST_CASE("an encoder and a decoder: cross_attention, rms_norm, inverse_square_root") {
  auto const source = words(24 * 6, 5), target = words(24 * 6, 7);
  check_program<programs::translator>(mt::feed<"source">(source), mt::feed<"target">(target));
}

TEST_CASE("two networks, two optimizers and a moving average") {
  auto const x = reals(24 * 12);
  check_program<programs::adversaries>(mt::feed<"x">(x));
}

TEST_CASE("gradients that are taken part by part") {
  auto const word = words(24 * 3, 5), next = words(24 * 3, 7);
  check_program<programs::in_parts>(mt::feed<"word">(word), mt::feed<"next">(next));
}

TEST_CASE("states that loops update") {
  auto const x = reals(3 * 24 * 12);
  check_program<programs::averaged>(mt::feed<"x">(x));
}

TEST_CASE("a recurrent cell") {
  auto const x = reals(24 * 6 * 12), start = reals(24 * 24);
  check_program<programs::recurrent>(mt::feed<"x">(x), mt::feed<"start">(start));
}

TEST_CASE("a loss with another gradient in it: layer_norm, softmax, cross_entropy") {
  auto const x = reals(24 * 12);
  auto const label = words(24, 5);
  check_program<programs::penalised>(mt::feed<"x">(x), mt::feed<"label">(label));
}
