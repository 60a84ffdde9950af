// SPDX-License-Identifier: Apache-2.0
// A loss in parts: the same gradients as at once, parameters of the same names and dims, and random numbers of each
// part's own.
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/accumulate_gradients.hpp"

#include "unit/op/trial.hpp"

namespace mt = meshtensor;
using mt::to, trial::program;

namespace {

inline constexpr struct batch_dim : mt::dim<"batch", 3> {} batch;
inline constexpr struct parts_dim : mt::dim<"parts", 4> {} parts;
inline constexpr struct model_dim : mt::dim<"model", 4> {} model;
inline constexpr struct inner_dim : mt::dim<"inner", 5> {} inner;
inline constexpr struct vocab_dim : mt::dim<"vocab", 7> {} vocab;
inline constexpr struct layers_dim : mt::dim<"layers", 2> {} layers;

/// A network with layers, whose table is used at both ends. The targets of word 0 do not count.
// Losses of bf16 are f32.
template <class S>
constexpr mt::dtype of_losses = S::compute == mt::dtype::bf16 ? mt::dtype::f32 : S::compute;

inline constexpr mt::layer nats_of = [](mt::scope auto s, auto word, auto next) {
  auto const table = s.parameter("table", vocab, model, mt::normal(0.5));
  auto const y = repeat(s / "layers", layers, gather(table, word, vocab), [](mt::scope auto r, auto h) {
    auto const up = mt::nn::linear(r / "up", mt::nn::layer_norm(r / "norm", h, model), model, inner);
    return h + mt::nn::linear(r / "down", tanh(up), inner, model);
  });
  auto const each = mt::nn::cross_entropy(sum(y * table, model), next, vocab);
  return sum(each * mt::cast<decltype(each)::type>(next != 0));
};

constexpr auto words_of(mt::scope auto s) {
  return std::tuple(s.input("word", mt::i32, batch, parts), s.input("next", mt::i32, batch, parts));
}
constexpr auto changed_by(mt::scope auto s, auto const& what) {
  mt::momentum{.learning_rate = 0.5, .clip_norm = s.number("clip", 0.3)}.minimize(s / "optimizer", what);
}

struct at_once {
  constexpr void operator()(mt::scope auto s) const {
    auto const [word, next] = words_of(s);
    auto const loss = nats_of(s / "model", word, next) / sum(mt::cast<of_losses<decltype(s)>>(next != 0));
    changed_by(s, loss);
    s.output("loss", loss);
  }
};
struct in_parts {
  constexpr void operator()(mt::scope auto s) const {
    auto const [word, next] = words_of(s);
    auto const count = sum(mt::cast<of_losses<decltype(s)>>(next != 0));
    auto const [loss, gradients] =
        mt::accumulate(s / "model", parts, std::tuple(word, next),
                       [&](mt::scope auto m, auto w, auto n) { return nats_of(m, w, n) / count; });
    changed_by(s, gradients);
    s.output("loss", loss);
  }
};

/// What two programs with the same inputs make of their parameters in some steps.
template <class Left, class Right>
void check_same_training(mt::dtype type, double tolerance) {
  program a = program::of<Left>(), b = program::of<Right>();
  for (program* p : {&a, &b}) {
    trial::stream numbers{5};
    for (auto& [name, x] : p->inputs)
      for (std::int64_t i = 0; i < x.size(); ++i) x.set(i, std::floor(numbers.between(0, 7)));
  }
  for (int step = 0; step < 4; ++step) {
    double const wanted = a.run().at("loss").number_at(0), got = b.run().at("loss").number_at(0);
    CHECK(std::abs(got - wanted) <= tolerance);
    REQUIRE(a.variables.size() == b.variables.size());
    for (auto const& [path, x] : a.variables) {
      CAPTURE(path);
      REQUIRE(b.variables.count(path) == 1);
      mt::block const& y = b.variables.at(path);
      CHECK(y.type() == type);
      REQUIRE(x.size() == y.size());
      for (std::int64_t i = 0; i < x.size(); ++i) CHECK(std::abs(x.number_at(i) - y.number_at(i)) <= tolerance);
    }
  }
}

template <class Program>
struct in_f64 : mt::precision<Program, mt::f64> {};
template <class Program>
struct in_bf16 : mt::precision<Program, mt::f32, mt::bf16> {};

}  // namespace

TEST_CASE("a loss in parts trains as it does at once") {
  check_same_training<in_f64<at_once>, in_f64<in_parts>>(mt::dtype::f64, 1e-12);
}
TEST_CASE("gradients of what is computed in bf16 are added up in the parameters' dtype") {
  check_same_training<in_bf16<at_once>, in_bf16<in_parts>>(mt::dtype::f32, 0.05);
}

namespace {

inline constexpr mt::layer product = [](mt::scope auto s, auto x) { return x * s.parameter("w", model, mt::ones); };

/// Two networks, of which one is changed, by a loss or by its gradients.
template <class How, bool ByGradients>
struct changes_one {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), model);
    auto const y = product(s / "right", product(s / "left", x)) - 1.0;
    auto const loss = sum(y * y * x);
    if constexpr (ByGradients)
      How::with(s).minimize(s / "optimizer", mt::gradient_by_parameters<mt::dtype::f64>(loss), s / "left");
    else How::with(s).minimize(s / "optimizer", loss, s / "left");
    s.output("loss", loss);
  }
};
template <class How>
void check_same_change() {
  program a = program::of<in_f64<changes_one<How, false>>>(), b = program::of<in_f64<changes_one<How, true>>>();
  a.fill("x", {0.5, -1.5, 2, 3}), b.fill("x", {0.5, -1.5, 2, 3});
  for (int step = 0; step < 3; ++step) {
    auto const wanted = a.run(), got = b.run();
    CHECK(trial::numbers_of(wanted.at("loss")) == trial::numbers_of(got.at("loss")));
  }
  REQUIRE(a.variables.size() == b.variables.size());
  for (auto const& [path, x] : a.variables) CHECK(trial::numbers_of(x) == trial::numbers_of(b.variables.at(path)));
  CHECK(trial::numbers_of(b.variables.at("left/w")) != std::vector<double>(4, 1));
  CHECK(trial::numbers_of(b.variables.at("right/w")) == std::vector<double>(4, 1));
}

struct sgd {
  static constexpr auto with(mt::scope auto) { return mt::sgd{.learning_rate = 0.1, .clip_norm = 2}; }
};
struct momentum {
  static constexpr auto with(mt::scope auto) { return mt::momentum{.learning_rate = 0.1, .nesterov = true}; }
};
struct adam {
  static constexpr auto with(mt::scope auto s) { return mt::adam{.learning_rate = s.number("rate", 0.1)}; }
};
struct adamw {
  static constexpr auto with(mt::scope auto) { return mt::adamw{.learning_rate = 0.1, .weight_decay = 0.2}; }
};
struct adafactor {
  static constexpr auto with(mt::scope auto) { return mt::adafactor{.learning_rate = 0.1}; }
};

}  // namespace

TEST_CASE("every optimizer takes gradients instead of a loss, and changes those of a scope") {
  check_same_change<sgd>();
  check_same_change<momentum>();
  check_same_change<adam>();
  check_same_change<adamw>();
  check_same_change<adafactor>();
}

namespace {

/// Each part weighs a parameter, which is read outside, by random numbers of its own, and by what stays as it is.
struct draws {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, parts);
    auto const w = s.parameter("w", model, mt::ones);
    auto const fixed = stop_gradient(w * 3.0);
    auto const [loss, gradients] = mt::accumulate(s / "model", parts, x, [&](mt::scope auto m, auto part) {
      auto const weight = mt::uniform(m / "noise", mt::f64, to(model));
      m.watch("weight", weight);
      auto const y = w * weight;
      m.watch_gradient("by", y);
      return sum(y * fixed) * part;
    });
    s.output("loss", loss);
    s.output("slope", gradients[0].gradient);
    s.output("parameter", gradients[0].parameter);
  }
};

}  // namespace

TEST_CASE("random numbers are each part's own; what is watched comes out for all parts") {
  program p = program::of<mt::precision<draws, mt::f64>>();
  p.fill("x", {1, -2, 3, 0.5});
  auto const made = p.run();
  auto const weight = trial::numbers_of(made.at("model/weight")), derivative = trial::numbers_of(made.at("slope"));
  auto const by = trial::numbers_of(made.at("model/by"));
  REQUIRE(weight.size() == 16);
  REQUIRE(by.size() == 16);
  CHECK(trial::numbers_of(made.at("parameter")) == std::vector<double>(4, 1));
  double const x[] = {1, -2, 3, 0.5};
  double loss = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      sum += 3 * x[i] * weight[4 * i + k];
      CHECK(by[4 * i + k] == 3 * x[i]);
      for (std::size_t j = 0; j < i; ++j) CHECK(weight[4 * i + k] != weight[4 * j + k]);
    }
    CHECK(std::abs(derivative[k] - sum) <= 1e-12);
    loss += sum;
  }
  CHECK(std::abs(made.at("loss").number_at(0) - loss) <= 1e-12);
}

namespace {

/// What the body runs along, or takes from outside, was made from a parameter.
template <bool Along>
struct goes_around {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, parts, model);
    auto const y = x * s.parameter("w", model, mt::ones);
    auto const [loss, gradients] = mt::accumulate(s / "model", parts, std::tuple(x, y), [&](auto m, auto, auto part) {
      if constexpr (Along) return sum(product(m / "product", part));
      else return sum(product(m / "product", part * 0.0 + sum(y, parts)));
    });
    s.output("loss", loss);
  }
};
struct lacks_the_dim {
  constexpr void operator()(mt::scope auto s) const {
    mt::any_tensor<mt::dtype::f32> const x = s.input("x", mt::f32, model);
    mt::accumulate(s / "model", parts, x, [](auto m, auto part) { return sum(product(m / "product", part)); });
  }
};
struct has_dims {
  constexpr void operator()(mt::scope auto s) const {
    mt::any_tensor<mt::dtype::f32> const x = s.input("x", mt::f32, parts, model);
    mt::accumulate(s / "model", parts, x, [](auto m, auto part) { return product(m / "product", part); });
  }
};

template <class Program>
std::string refusal() {
  try {
    auto const m = std::make_unique<mt::module>(mt::trace<Program>());
    return "none";
  } catch (mt::error const& e) { return std::string(e.code()); }
}

}  // namespace

TEST_CASE("what would be wrong without a word is refused") {
  CHECK(refusal<goes_around<true>>() == "G34");
  CHECK(refusal<goes_around<false>>() == "G34");
  CHECK(refusal<lacks_the_dim>() == "T01");
  CHECK(refusal<has_dims>() == "T03");
}
