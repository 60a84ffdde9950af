// SPDX-License-Identifier: Apache-2.0
// each and map: results, gradients and updates by index, beside the same computed for one index after the other.
// passes: start-up
#include "meshtensor/op/each.hpp"

#include <map>
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/control.hpp"

#include "unit/op/trial.hpp"

namespace mt = meshtensor;
using mt::to, trial::numbers_of, trial::program;

namespace {

inline constexpr struct member_dim : mt::dim<"member", 3> {} member;
inline constexpr struct task_dim : mt::dim<"task", 2> {} task;
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct in_dim : mt::dim<"in", 2> {} in;
inline constexpr struct out_dim : mt::dim<"out", 3> {} out;
inline constexpr struct layers_dim : mt::dim<"layers", 2> {} layers;

using numbers = std::vector<double>;
template <class Program>
struct in_f64 : mt::precision<Program, mt::f64> {};

numbers of(program const& p, char const* path) { return numbers_of(p.variables.at(path)); }
void check(numbers const& got, numbers const& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(wanted[i]).epsilon(1e-12));
}

inline constexpr mt::layer network = [](mt::scope auto s, auto x) {
  auto const h = tanh(mt::nn::linear(s / "first", x, in, out));
  return sum(h * s.parameter("gain", out, mt::constant(0.5)), out);
};

/// Members learn from the same batch, each with its own weights.
struct ensemble {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, in);
    auto const y = s.input("y", s.real(), batch);
    auto const loss = mt::each(s / "members", member, [&](mt::scope auto m) {
      auto const error = network(m / "network", x) - y;
      auto const l = mean(error * error);
      mt::adam{.learning_rate = 0.1}.minimize(m / "optimizer", l);
      return l;
    });
    s.output("loss", loss);
  }
};
/// One member alone, with weights that are fed.
struct alone {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, in);
    auto const y = s.input("y", s.real(), batch);
    auto const error = network(s / "members" / "network", x) - y;
    auto const l = mean(error * error);
    mt::adam{.learning_rate = 0.1}.minimize(s / "members" / "optimizer", l);
    s.output("loss", l);
  }
};

}  // namespace

TEST_CASE("members of an ensemble learn as each of them would alone") {
  numbers const x{0.5, -1, 2, 0.25, -0.75, 1, 0, 1.5}, y{1, -1, 0.5, 0};
  char const* const paths[] = {"members/network/first/weight", "members/network/first/bias", "members/network/gain"};
  // The first step makes the variables. Then all begin anew.
  auto const begun = [&](program p) {
    p.fill("x", x), p.fill("y", y), p.run(), p.settings.step = 0;
    for (auto& [path, b] : p.variables)
      for (std::int64_t i = 0; i < b.size(); ++i) b.set(i, 0);
    return p;
  };
  program fresh = begun(program::of<in_f64<ensemble>>());
  std::vector<program> each;
  for (int i = 0; i < 3; ++i) each.push_back(begun(program::of<in_f64<alone>>()));
  trial::stream s{7};
  for (char const* path : paths) {
    mt::block& whole = fresh.variables.at(path);
    std::int64_t const size = whole.size() / 3;
    REQUIRE(each[0].variables.at(path).size() == size);
    for (std::int64_t i = 0; i < whole.size(); ++i) {
      double const v = s.between(-1, 1);
      whole.set(i, v), each[static_cast<std::size_t>(i / size)].variables.at(path).set(i % size, v);
    }
  }
  for (int step = 0; step < 4; ++step) {
    numbers const losses = numbers_of(fresh.run().at("loss"));
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(losses[i] == doctest::Approx(numbers_of(each[i].run().at("loss"))[0]).epsilon(1e-12));
  }
  for (char const* path : paths) {
    numbers const whole = of(fresh, path);
    std::size_t const size = whole.size() / 3;
    for (std::size_t i = 0; i < whole.size(); ++i)
      CHECK(whole[i] == doctest::Approx(of(each[i / size], path)[i % size]).epsilon(1e-12));
  }
}

namespace {
/// Members learn at rates of their own: each takes a share of the whole step of Adam.
struct rates_of_members {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, in);
    auto const loss = mt::each(s / "members", member, s.input("rates", s.real(), member), [&](auto m, auto rate) {
      auto const error = network(m / "network", x) - 1;
      auto const l = mean(error * error);
      auto const by = mt::gradient_by_parameters<mt::f64>(l);
      mt::adamw{.learning_rate = 1, .weight_decay = 0.1}.minimize(m / "optimizer", by);
      for (int i = 0; i < by.size(); ++i) {
        auto const w = by[i].parameter;
        m.amend(w, w + rate * (m.next(w) - w));
      }
      return l;
    });
    s.output("loss", loss);
  }
};
/// The same members, all with one rate.
template <int Percent>
struct at_rate {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, in);
    auto const loss = mt::each(s / "members", member, [&](mt::scope auto m) {
      auto const error = network(m / "network", x) - 1;
      auto const l = mean(error * error);
      mt::adamw{.learning_rate = Percent / 100.0, .weight_decay = 0.1}.minimize(m / "optimizer", l);
      return l;
    });
    s.output("loss", loss);
  }
};
}  // namespace

TEST_CASE("a share of the update of an optimizer is a learning rate for each member") {
  program own = program::of<in_f64<rates_of_members>>(), one = program::of<in_f64<at_rate<10>>>(),
          two = program::of<in_f64<at_rate<2>>>(), three = program::of<in_f64<at_rate<30>>>();
  own.fill("rates", numbers{0.1, 0.02, 0.3});
  for (program* p : {&own, &one, &two, &three}) p->fill("x", numbers{0.5, -1, 2, 0.25, -0.75, 1, 0, 1.5});
  for (int step = 0; step < 4; ++step) {
    numbers wanted;
    for (std::size_t i = 0; program* p : {&one, &two, &three}) wanted.push_back(numbers_of(p->run().at("loss"))[i++]);
    check(numbers_of(own.run().at("loss")), wanted);
  }
}

namespace {
/// Gradients by index of shared weights, and of a tensor from outside.
struct per_example {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, in);
    auto const w = s.input("w", s.real(), in);
    auto const [loss, g, h] = mt::map(s / "examples", batch, x, [&](mt::scope auto m, auto x1) {
      auto const v = m.parameter("v", in, mt::constant(0.5));
      auto const l = exp(sum(x1 * w, in)) + sum(v * x1 * x1, in);
      return std::tuple(l, gradient(l, w), gradient(l, v));
    });
    s.output("loss", loss), s.output("g", g), s.output("h", h);
  }
};
}  // namespace

TEST_CASE("the gradient by a tensor from outside is one for each index") {
  program p = program::of<in_f64<per_example>>();
  numbers const x{0.5, -1, 2, 0.25, -0.75, 1, 0, 1.5}, w{0.25, -0.5};
  p.fill("x", x), p.fill("w", w);
  mt::blocks const given = p.run();
  numbers loss, g, h;
  for (std::size_t i = 0; i < 4; ++i) {
    double const a = x[2 * i], b = x[2 * i + 1], e = std::exp(a * w[0] + b * w[1]);
    loss.push_back(e + 0.5 * (a * a + b * b));
    g.push_back(e * a), g.push_back(e * b), h.push_back(a * a), h.push_back(b * b);
  }
  check(numbers_of(given.at("loss")), loss), check(numbers_of(given.at("g")), g), check(numbers_of(given.at("h")), h);
  CHECK(of(p, "examples/v").size() == 2);
}

namespace {
/// What indices see of each other, and the gradients through it.
struct exchanges {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), member, in);
    auto const result = mt::each(s, member, x, [&](mt::scope auto m, auto x1) {
      auto const square = sum(x1 * x1, in);
      auto const average = mean(mt::across(square, member), member);
      auto const next = mt::own(roll(mt::across(square, member), member, 1), member);
      auto const l = square * next + average * cast(mt::index(m, member) + 1, m.real());
      return std::tuple(l, gradient(l, x1), square - average);
    });
    s.output("loss", std::get<0>(result)), s.output("g", std::get<1>(result)), s.output("gap", std::get<2>(result));
    s.output("outer", gradient(sum(std::get<0>(result)), x));
  }
};
}  // namespace

TEST_CASE("across and own exchange between indices, and gradients are those of the sum of all losses") {
  program p = program::of<in_f64<exchanges>>();
  numbers const x{0.5, -1, 2, 0.25, -0.75, 1};
  p.fill("x", x);
  mt::blocks const given = p.run();
  double q[3], total = 0;
  for (std::size_t i = 0; i < 3; ++i) q[i] = x[2 * i] * x[2 * i] + x[2 * i + 1] * x[2 * i + 1], total += q[i] / 3;
  numbers loss, gap, g;
  for (std::size_t i = 0; i < 3; ++i) {
    std::size_t const before = (i + 2) % 3, after = (i + 1) % 3;
    loss.push_back(q[i] * q[before] + total * static_cast<double>(i + 1)), gap.push_back(q[i] - total);
    for (std::size_t k = 0; k < 2; ++k) g.push_back(2 * x[2 * i + k] * (q[before] + q[after] + (1 + 2 + 3) / 3.0));
  }
  check(numbers_of(given.at("loss")), loss), check(numbers_of(given.at("gap")), gap);
  check(numbers_of(given.at("g")), g), check(numbers_of(given.at("outer")), g);
}

namespace {
/// Loops in an each, an each in a loop, states of both, nested eaches.
struct nested {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), task, member, in);
    auto const y = mt::each(s / "tasks", task, x, [](mt::scope auto t, auto x1) {
      return mt::each(t / "members", member, x1, [](mt::scope auto m, auto x2) {
        auto const deep = mt::repeat(m / "layers", layers, x2, [](mt::scope auto r, auto h) {
          auto const seen = r.state("seen", r.real(), in);
          r.update(seen, seen + h);
          return h * r.parameter("scale", in, mt::constant(2.0)) + seen;
        });
        auto const count = m.state("count", m.real());
        m.update(count, count + sum(deep, in));
        return deep;
      });
    });
    s.output("y", y);
    auto const z = mt::repeat(s / "outer", layers, x, [](mt::scope auto r, auto h) {
      return mt::each(r / "inside", member, h, [](mt::scope auto m, auto h1) {
        auto const w = m.state("w", m.real(), task);
        m.update(w, w + sum(h1, in));
        return h1 + w;
      });
    });
    s.output("z", z);
    s.output("g", gradient(sum(y) + sum(z * z), x));
  }
};
}  // namespace

TEST_CASE("loops, states and eaches nest in each other") {
  program p = program::of<in_f64<nested>>();
  numbers x;
  trial::stream s{3};
  for (int i = 0; i < 12; ++i) x.push_back(s.between(-1, 1));
  p.fill("x", x);
  for (int step = 0; step < 2; ++step) {
    numbers seen(24, 0.0), w(12, 0.0);
    mt::blocks const before = p.variables;
    if (step != 0) seen = of(p, "tasks/members/layers/seen"), w = of(p, "outer/inside/w");
    numbers const count = step == 0 ? numbers(6, 0.0) : of(p, "tasks/members/count");
    mt::blocks const given = p.run();
    // seen is [layers, task, member, in], count [task, member], w [layers, member, task]
    numbers y = x, z = x, next_seen = seen, next_w = w, next_count = count, g(12, 0.0);
    for (std::size_t l = 0; l < 2; ++l)
      for (std::size_t i = 0; i < 12; ++i) next_seen[12 * l + i] += y[i], y[i] = 2 * y[i] + seen[12 * l + i];
    for (std::size_t i = 0; i < 12; ++i) next_count[i / 2] += y[i];
    for (std::size_t l = 0; l < 2; ++l) {
      numbers const now = z;
      for (std::size_t t = 0; t < 2; ++t)
        for (std::size_t m = 0; m < 3; ++m)
          for (std::size_t k = 0; k < 2; ++k) {
            std::size_t const i = (t * 3 + m) * 2 + k, at = (l * 3 + m) * 2 + t;
            next_w[at] += now[i], z[i] = now[i] + w[at];
          }
    }
    for (std::size_t i = 0; i < 12; ++i) g[i] = 4 + 2 * z[i];
    // outputs are [task, member, in]
    check(numbers_of(given.at("y")), y), check(numbers_of(given.at("z")), z), check(numbers_of(given.at("g")), g);
    check(of(p, "tasks/members/layers/seen"), next_seen), check(of(p, "outer/inside/w"), next_w);
    check(of(p, "tasks/members/count"), next_count);
  }
}

namespace {
/// Random numbers of an index are its slice of one draw.
struct draws {
  constexpr void operator()(mt::scope auto s) const {
    auto const inside = mt::each(s / "a", member, [](mt::scope auto m) { return mt::uniform(m, m.real(), to(in)); });
    s.output("inside", inside);
    s.output("same", mt::each(s, member, inside, [](mt::scope auto, auto x) { return x; }));
  }
};
struct drawn {
  constexpr void operator()(mt::scope auto s) const {
    auto const a = [](mt::scope auto m) { return mt::uniform(m, m.real(), to(member, in)); };
    s.output("inside", a(s / "a"));
  }
};
}  // namespace

TEST_CASE("random numbers of an index are its slice of one draw") {
  program p = program::of<in_f64<draws>>();
  mt::blocks const given = p.run();
  numbers const inside = numbers_of(given.at("inside"));
  CHECK(inside.size() == 6);
  CHECK(numbers_of(given.at("same")) == inside);
  for (std::size_t i = 1; i < 6; ++i) CHECK(inside[i] != inside[0]);
}

namespace {
template <bool Equal>
struct replicas {
  constexpr void operator()(mt::scope auto s) const {
    auto const body = [](mt::scope auto m) {
      return m.parameter("w", in, out) + m.parameter("v", in, out, mt::uniform(2.0)) * m.parameter("b", out, mt::ones);
    };
    if constexpr (Equal) s.output("y", mt::each(s / "m", member, body, mt::start_equal));
    else s.output("y", mt::each(s / "m", member, body));
  }
};
struct single {
  constexpr void operator()(mt::scope auto s) const {
    auto const m = s / "m";
    auto const body = mt::layer([](mt::scope auto n) {
      return n.parameter("w", in, out) + n.parameter("v", in, out, mt::uniform(2.0)) * n.parameter("b", out, mt::ones);
    });
    s.output("y", body(m));
  }
};
}  // namespace

TEST_CASE("indices start apart, or all equal to the program alone") {
  program equal = program::of<in_f64<replicas<true>>>(), apart = program::of<in_f64<replicas<false>>>(),
          one = program::of<in_f64<single>>();
  numbers const same = numbers_of(equal.run().at("y")), other = numbers_of(apart.run().at("y")),
                alone = numbers_of(one.run().at("y"));
  REQUIRE(alone.size() == 6);
  for (std::size_t i = 0; i < 18; ++i) CHECK(same[i] == alone[i % 6]);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(other[i] == alone[i]);
    CHECK(other[i] != other[i + 6]);
  }
}

namespace {
inline constexpr struct rows_dim : mt::dim<"rows", 5> {} rows;
inline constexpr struct cols_dim : mt::dim<"cols", 4> {} cols;
inline constexpr struct k_rows_dim : mt::dim<"k_rows", 3> {} k_rows;
inline constexpr struct k_cols_dim : mt::dim<"k_cols", 3> {} k_cols;
inline constexpr struct channels_dim : mt::dim<"channels", 2> {} channels;
inline constexpr struct classes_dim : mt::dim<"classes", 3> {} classes;

/// The loss of one image in a convolutional network, and its gradients by all weights, clipped together.
inline constexpr mt::layer clipped_gradients = [](mt::scope auto s, auto image, auto label) {
  auto const kernel = s.parameter("kernel", k_rows, k_cols, channels);
  auto const last = s.parameter("last", rows, channels, classes);
  auto const bias = s.parameter("bias", classes);
  auto const h = relu(conv(image, kernel, to(rows, cols, channels),
                           mt::window(rows, rows, k_rows, {.padding = mt::centred_padding}),
                           mt::window(cols, cols, k_cols, {.padding = mt::centred_padding})));
  auto const loss = mt::nn::cross_entropy(einsum(max(h, cols), last, to(classes)) + bias, label, classes);
  auto const [a, b, c] = gradient(loss, kernel, last, bias);
  auto const shrink = 1 / maximum(1, sqrt(sum(a * a) + sum(b * b) + sum(c * c)) / 0.75);
  return std::tuple(loss, a * shrink, b * shrink, c * shrink);
};
/// Abadi et al. 2016: the mean of clipped gradients, with noise, here on one weight alone.
struct private_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const images = s.input("image", s.real(), batch, rows, cols);
    auto const labels = s.input("label", mt::i32, batch);
    auto const [loss, a, b, c] =
        mt::map(s / "network", batch, std::tuple(images, labels),
                [](mt::scope auto m, auto image, auto label) { return clipped_gradients(m, image, label); });
    auto const learn = [&](auto const& w, auto const& g) { s.update(w, w - 0.5 * g / extent(batch)); };
    auto const noise = normal(s / "noise", s.real(), to(rows, channels, classes));
    learn(s.parameter("network/kernel", k_rows, k_cols, channels), sum(a, batch));
    learn(s.parameter("network/last", rows, channels, classes), sum(b, batch) + 0.1 * noise);
    learn(s.parameter("network/bias", classes), sum(c, batch));
    s.output("loss", loss), s.output("noise", noise);
  }
};
struct one_image {
  constexpr void operator()(mt::scope auto s) const {
    auto const [loss, a, b, c] =
        clipped_gradients(s / "network", s.input("image", s.real(), rows, cols), s.input("label", mt::i32));
    s.output("loss", loss), s.output("kernel", a), s.output("last", b), s.output("bias", c);
  }
};
}  // namespace

TEST_CASE("private training of a convolutional network is that of a loop over the examples") {
  program p = program::of<in_f64<private_step>>(), one = program::of<in_f64<one_image>>();
  trial::stream random{5};
  numbers images(4 * 20), labels{2, 0, 1, 2};
  for (double& e : images) e = random.between(-1, 1);
  p.fill("image", images), p.fill("label", labels);
  char const* const weights[] = {"kernel", "last", "bias"};
  for (int step = 0; step < 3; ++step) {
    if (step == 0) p.run(), p.settings.step = 0;  // the first step makes the variables, and the second one begins anew
    std::map<std::string, numbers> before, total;
    for (std::string const name : weights) {
      mt::block& w = p.variables.at("network/" + name);
      for (std::int64_t i = 0; step == 0 && i < w.size(); ++i) w.set(i, random.between(-1, 1));
      before[name] = numbers_of(w), total[name] = numbers(before[name].size());
    }
    mt::blocks const given = p.run();
    numbers losses;
    bool any_clipped = false;
    for (std::size_t e = 0; e < 4; ++e) {
      one.fill("image",
               numbers(images.begin() + static_cast<long>(20 * e), images.begin() + static_cast<long>(20 * e + 20)));
      one.fill("label", {labels[e]});
      if (one.variables.empty()) one.run();
      for (std::string const name : weights)
        for (std::size_t i = 0; i < before[name].size(); ++i)
          one.variables.at("network/" + name).set(static_cast<std::int64_t>(i), before[name][i]);
      mt::blocks const alone = one.run();
      losses.push_back(numbers_of(alone.at("loss"))[0]);
      double squares = 0;
      for (std::string const name : weights) {
        numbers const g = numbers_of(alone.at(name));
        for (std::size_t i = 0; i < g.size(); ++i) total[name][i] += g[i], squares += g[i] * g[i];
      }
      any_clipped = any_clipped || std::abs(std::sqrt(squares) - 0.75) < 1e-9;
    }
    CHECK(any_clipped);
    numbers const noise = numbers_of(given.at("noise"));
    check(numbers_of(given.at("loss")), losses);
    for (std::string const name : weights) {
      numbers wanted = before[name];
      for (std::size_t i = 0; i < wanted.size(); ++i)
        wanted[i] -= 0.5 * (total[name][i] + (name == "last" ? 0.1 * noise[i] : 0)) / 4;
      numbers const got = of(p, ("network/" + name).c_str());
      REQUIRE(got.size() == wanted.size());
      for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(std::abs(got[i] - wanted[i]) < 1e-12);
    }
  }
}
