// SPDX-License-Identifier: Apache-2.0
// The example Transformer beside PyTorch's, from the same weights: twenty losses and the norm of every parameter's
// first gradient, as tests/data/transformer_by_torch.py has recorded them.
//
// passes: start-up
// needs: cpu
#include "../../examples/transformer.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "meshtensor/device/default.hpp"
#include "support/source_path.hpp"

namespace mt = meshtensor;
namespace net = transformer;

namespace {

/// Against the gradient by its whole length: what a parameter loses is its gradient.
struct descend {
  constexpr void operator()(mt::scope auto s) const {
    auto text = s.input("text", mt::u8, net::batch, net::length);
    auto next = s.input("next", mt::u8, net::batch, net::length);
    mt::sgd{.learning_rate = 1}.minimize(s / "optimizer", net::loss_of(s / "model", text, next));
  }
};

inline constexpr struct data : mt::axis<"data", 2> {} data;
inline constexpr struct model : mt::axis<"model", 2> {} model;
struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<net::batch, data>, mt::shard<net::heads, model>, mt::shard<net::d_ff, model>,
                           mt::shard<net::vocab, model>> {};

struct recorded {
  std::map<std::string, double> norms;
  std::vector<double> losses;
};
recorded read(std::string const& kind) {
  std::ifstream file(meshtensor_test::source_path(__FILE__).replace_extension(".txt"));
  REQUIRE(file.good());
  recorded r;
  std::string type, what, name;
  double value = 0;
  while (file >> type >> what >> name >> value) {
    if (type != kind) continue;
    if (what == "norm") r.norms["model/" + name] = value;
    else r.losses.push_back(value);
  }
  REQUIRE(r.norms.size() == 18);
  REQUIRE(r.losses.size() == 20);
  return r;
}

template <class T>
void set_weights(mt::store& weights) {
  int place = 0;
  for (std::string const& name : weights.names()) {
    if (!name.starts_with("model/")) continue;
    ++place;
    auto values = weights.get<T>(name);
    double const around = name.ends_with("gain") ? 1 : 0;
    std::int64_t i = 0;
    for (T& v : values) {
      v = static_cast<T>(around + 0.2 * std::sin(0.7 * place + 1.3 * static_cast<double>(i) +
                                                 0.01 * static_cast<double>(i % 97) * static_cast<double>(i % 89)));
      ++i;
    }
    weights.set(name, values);
  }
  REQUIRE(place == 18);
}

template <class T, mt::dtype Type>
void same_as_torch(std::string const& kind, double tolerance) {
  recorded const torch = read(kind);
  auto const job = mt::job::as_threads();
  std::vector<std::uint8_t> text(4 * 16), next(4 * 16);
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<std::uint8_t>(i * 7 + 3 * i * i);
    next[i] = static_cast<std::uint8_t>(i * 5 + 1);
  }
  auto const made = [&]<class Program>(mt::store& weights) {
    mt::executable<mt::precision<Program, Type>, mesh, layout, mt::default_device> step(
        weights, net::batch(4), net::length(16), net::layers(2), net::d_model(32), net::heads(4), net::d_head(8),
        net::d_ff(64), mt::feed<"text">(text), mt::feed<"next">(next));
    set_weights<T>(weights);
    return step;
  };
  mt::store weights(job), others(job);
  auto descending = made.template operator()<descend>(others);
  std::map<std::string, mt::any_array<T>> before;
  for (auto const& [name, norm] : torch.norms) before.emplace(name, others.get<T>(name));
  descending();
  for (auto const& [name, norm] : torch.norms) {
    double squares = 0;
    auto const after = others.get<T>(name);
    for (std::int64_t i = 0; i < after.size(); ++i) {
      double const derivative = static_cast<double>(before.at(name).data()[i]) - static_cast<double>(after.data()[i]);
      squares += derivative * derivative;
    }
    INFO(name << ": " << std::sqrt(squares) << ", PyTorch: " << norm);
    CHECK(std::abs(std::sqrt(squares) - norm) < tolerance * norm);
  }

  auto step = made.template operator()<net::train_step>(weights);
  for (double const expected : torch.losses) {
    auto const result = step(mt::set<"warmup">(5), mt::set<"steps">(40), mt::set<"learning_rate">(3e-3));
    auto const loss = static_cast<double>(result.template get<"loss">());
    INFO(loss << ", PyTorch: " << expected);
    CHECK(std::abs(loss - expected) < tolerance * expected);
  }
}

}  // namespace

TEST_CASE("in f32") { same_as_torch<float, mt::dtype::f32>("f32", 1e-4); }
TEST_CASE("in f64") { same_as_torch<double, mt::dtype::f64>("f64", 1e-8); }
