// SPDX-License-Identifier: Apache-2.0
// Compressed messages beside their algorithms on the host: which values a message keeps, what the residual keeps, and
// how the public copies of replicas follow them.
// passes: start-up
#include <algorithm>
#include <numeric>

#include "unit/regime/beside_host.hpp"

using namespace beside_host;

namespace {

inline constexpr struct wide_dim : mt::dim<"wide", 20> {} wide;
using compression = std::function<numbers(numbers const& x, int step)>;

/// The largest of each `of`, rounded up.
compression top(std::size_t kept, std::size_t of) {
  return [=](numbers const& x, int) {
    std::vector<std::size_t> order(x.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      return std::abs(x[a]) == std::abs(x[b]) ? a < b : std::abs(x[a]) > std::abs(x[b]);
    });
    numbers y(x.size());
    for (std::size_t i = 0; i < (x.size() * kept + of - 1) / of; ++i) y[order[i]] = x[order[i]];
    return y;
  };
}
compression rounded(int bits) {
  return [=](numbers const& x, int) {
    double most = 0;
    for (double const one : x) most = std::max(most, std::abs(one));
    double const scale = most / ((1 << (bits - 1)) - 1);
    numbers y = x;
    for (double& one : y) one = scale == 0 ? 0 : std::floor(one / scale + 0.5) * scale;
    return y;
  };
}
numbers all_values(numbers const& x, int) { return x; }
values each_of(values const& x, compression const& c, int step) {
  values all;
  for (numbers const& one : x) all.push_back(c(one, step));
  return all;
}
values zeros_like(values const& x) { return values(x.size(), numbers(x[0].size())); }

/// The parts of owners. Rows of so many elements are cut, each alike, as along the last dim of a matrix.
struct parts {
  std::size_t row;

  /// The part of an owner, with zeros behind the last element.
  numbers of(numbers const& x, std::size_t owner) const {
    numbers part(x.size() / row * size());
    each(x, owner, [&](std::size_t from, std::size_t to) { part[to] = x[from]; });
    return part;
  }
  void set(numbers& x, std::size_t owner, numbers const& part) const {
    each(x, owner, [&](std::size_t to, std::size_t from) { x[to] = part[from]; });
  }

 private:
  std::size_t size() const { return (row + n - 1) / n; }
  void each(numbers const& x, std::size_t owner, auto f) const {
    for (std::size_t r = 0; r < x.size() / row; ++r)
      for (std::size_t k = 0; k < size() && owner * size() + k < row; ++k)
        f(r * row + owner * size() + k, r * size() + k);
  }
};
numbers each_of(numbers const& a, numbers const& b, auto f) {
  numbers all = a;
  for (std::size_t k = 0; k < a.size(); ++k) all[k] = f(a[k], b[k]);
  return all;
}
/// How a mean is sent: the messages to owners, the messages of their means, and the elements of a row that is cut, or 0
/// if all elements are one row.
struct two_stages {
  compression first, of_means;
  std::size_t row = 0;
};
/// The mean of messages with error feedback: each replica sends the parts of their owners, and an owner sends the mean.
values fed_back(values const& x, values& residual, two_stages const& c, int step) {
  if (residual.empty()) residual = zeros_like(x);
  values const whole = combined(x, residual, plus);
  numbers result(x[0].size());
  parts const cut{c.row == 0 ? result.size() : c.row};
  for (std::size_t owner = 0; owner < n; ++owner) {
    numbers mean = cut.of(whole[owner], owner);  // nothing is left out of what it sends to itself
    for (std::size_t i = 0; i < n; ++i) {
      numbers const part = cut.of(whole[i], owner), sent = c.first(part, step);
      if (i == owner) continue;
      mean = each_of(mean, sent, plus);
      cut.set(residual[i], owner, each_of(part, sent, minus));
    }
    for (double& one : mean) one /= n;
    numbers const sent = c.of_means(mean, step);
    cut.set(result, owner, sent);
    cut.set(residual[owner], owner, each_of(mean, sent, [](double m, double s) { return n * (m - s); }));
  }
  return values(n, result);
}
mixing synchronous(two_stages const& c) {
  return [=](values const& before, values const& after, std::map<std::string, values>& states, std::string const& path,
             int step) {
    auto const by = [](double factor) { return [=](double a, double b) { return (a - b) * factor; }; };
    values const g = combined(before, after, by(10)),
                 sent = fed_back(g, states["regime/" + path + "/residual"], c, step);
    return combined(before, sent, [](double p, double one) { return p - 0.1 * one; });
  };
}
mixing local(int period, two_stages const& c) {
  return [=](values const& before, values const& after, std::map<std::string, values>& states, std::string const& path,
             int step) {
    values& start = states["start of " + path];
    if (step % period == 0) start = before;
    if ((step + 1) % period != 0) return after;
    values const change = combined(after, start, minus);
    return combined(start, fed_back(change, states["regime/" + path + "/residual_of_change"], c, step), plus);
  };
}
mixing first_steps(int steps, mixing const& first, mixing const& then) {
  return [=](values const& before, values const& after, std::map<std::string, values>& states, std::string const& path,
             int step) {
    return step < steps ? first(before, after, states, path, step) : then(before, after, states, path, step - steps);
  };
}
/// The path of the public copies of a parameter.
template <mt::topology T>
std::string of_topology(std::string const& path) {
  return "regime/" + mt::detail::label_of<T>(true).text() + "/" + path;
}
/// A round in which each replica mixes what it knows of its neighbours.
template <mt::topology T>
values by_copies(values const& x, std::map<std::string, values>& states, std::string const& path, double share,
                 compression const& c, int step) {
  values &copy = states[of_topology<T>(path) + "/public_copy"], &way = states[of_topology<T>(path) + "/difference"];
  if (copy.empty()) copy = way = zeros_like(x);
  values const sent = each_of(combined(x, copy, minus), c, step);
  copy = combined(copy, sent, plus), way = combined(way, combined(mixed<T>(sent, step), sent, minus), plus);
  return combined(x, way, [&](double one, double w) { return one + share * w; });
}
template <mt::topology T>
mixing gossip(double share, compression const& c) {
  return [=](values const& before, values const& after, std::map<std::string, values>& states, std::string const& path,
             int step) {
    return combined(by_copies<T>(before, states, path, share, c, step), combined(after, before, minus), plus);
  };
}
template <mt::topology T>
mixing push(double share, compression const& c) {
  return [=](values const& before, values const& after, std::map<std::string, values>& states, std::string const& path,
             int step) {
    values& w = states["regime/push_sum_weight"];
    values const x = combined(combined(before, spread(w, before), times), combined(after, before, minus), plus);
    values const sent = by_copies<T>(x, states, path, share, c, step);
    w = combined(w, mixed<T>(w, step), [&](double one, double m) { return one + share * (m - one); });
    return combined(sent, spread(w, sent), over);
  };
}

/// A step with enough parameters that messages leave some out.
template <class Optimizer>
struct widely_trained_by {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, in);
    auto const y = s.input("y", s.real(), batch);
    auto const first = tanh(mt::nn::linear(s / "first", x, in, wide));
    auto const error = sum(first * s.parameter("gain", wide, mt::constant(0.1)), wide) - y;
    auto const loss = mean(error * error);
    Optimizer{}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
using wide_step = widely_trained_by<plain>;

}  // namespace

TEST_CASE("synchronous training sends compressed gradients, and keeps the rest for the next step") {
  std::vector<std::string> const residual{"regime/first/weight/residual", "regime/gain/residual"};
  compare<mt::compressed<mt::top_k_values<1, 4>, mt::synchronous>, wide_step>(9, synchronous({top(1, 4), all_values}),
                                                                              residual);
  compare<mt::compressed<mt::top_k_values<1, 10>, mt::synchronous>, wide_step>(9, synchronous({top(1, 10), top(3, 10)}),
                                                                               residual);
  compare<mt::compressed<mt::quantized<4>, mt::synchronous>, wide_step>(7, synchronous({rounded(4), rounded(4)}),
                                                                        residual);
  compare<mt::compressed<mt::quantized<8>, mt::synchronous>, wide_step>(7, synchronous({rounded(8), rounded(8), 20}),
                                                                        residual);
  // Fewer elements than replicas: some own nothing.
  compare<mt::compressed<mt::quantized<4>, mt::synchronous>, plain_step>(3, synchronous({rounded(4), rounded(4)}),
                                                                         residual);
}
TEST_CASE("local SGD sends compressed changes from the start of a period") {
  std::vector<std::string> const residual{"regime/first/weight/residual_of_change"};
  compare<mt::compressed<mt::top_k_values<1, 5>, mt::local_sgd<3>>, wide_step>(10, local(3, {top(1, 5), all_values}),
                                                                               residual);
  compare<mt::compressed<mt::quantized<8>, mt::local_sgd<2>>>(5, local(2, {rounded(8), rounded(8), 3}));
}
TEST_CASE("post-local SGD has a residual of gradients, and another one of changes of parameters") {
  std::vector<std::string> const residuals{"regime/first/weight/residual", "regime/first/weight/residual_of_change"};
  using first = mt::first_steps<3>;
  using top_k = mt::top_k_values<1, 5>;
  auto const c = two_stages{top(1, 5), all_values};
  compare<mt::compressed<top_k, mt::by_step<first, mt::synchronous, mt::local_sgd<2>>>, wide_step>(
      9, first_steps(3, synchronous(c), local(2, c)), residuals);
  using both =
      mt::by_step<first, mt::compressed<top_k, mt::synchronous>, mt::compressed<mt::quantized<4>, mt::local_sgd<2>>>;
  compare<both, wide_step>(7, first_steps(3, synchronous(c), local(2, {rounded(4), rounded(4)})), residuals);
}
TEST_CASE("post-local SGD compresses its means of parameters, because gradients have kept replicas equal") {
  mixing const later = local(3, {rounded(8), rounded(8), 3});
  compare<mt::by_step<mt::first_steps<4>, mt::synchronous, mt::compressed<mt::quantized<8>, mt::local_sgd<3>>>,
          plain_step>(10, [&](values const& before, values const& after, std::map<std::string, values>& states,
                              std::string const& path, int step) {
    if (step < 4) return combined(before, mean(combined(after, before, minus)), plus);
    return later(before, after, states, path, step - 4);
  });
}
TEST_CASE("gossip sends compressed changes of public copies") {
  std::vector<std::string> const copies{of_topology<mt::ring>("first/weight") + "/public_copy",
                                        of_topology<mt::ring>("gain") + "/difference"};
  compare<mt::compressed<mt::quantized<8>, mt::decentralized_sgd<>>>(5, gossip<mt::ring>(1, rounded(8)), copies);
  compare<mt::compressed<mt::top_k_values<1, 8>, mt::decentralized_sgd<>>>(7, gossip<mt::ring>(0.125, top(1, 8)),
                                                                           copies);
  compare<mt::compressed<mt::quantized<4>, mt::stochastic_gradient_push<mt::directed_ring>>>(
      5, push<mt::directed_ring>(0.5, rounded(4)), {"regime/push_sum_weight"});
}

namespace {
/// A program that learns nothing.
struct idle {
  constexpr void operator()(mt::scope auto s) const {
    auto const w = s.parameter("w", in, out);
    s.update(w, w);
  }
};
struct mass {
  double lost;      // the largest change of the sum of numerators over all replicas
  double distance;  // of a replica from the mean at the end
};
template <class Policy, mt::dtype Type = mt::dtype::f64>
mass after(int steps) {
  program p = program::of<mt::precision<mt::replicas<idle, replica, Policy>, Type>>();
  p.run();
  p.settings.step = 0;
  numbers const start = drawn(n * 6, 11);
  for (auto& [path, b] : p.variables)
    for (int i = 0; i < b.size(); ++i)
      b.set(i, path == "w" ? start[static_cast<std::size_t>(i)] : path == "regime/push_sum_weight" ? 1 : 0);
  for (int step = 0; step < steps; ++step) p.run();
  auto const weight = p.variables.find("regime/push_sum_weight");
  mass found{0, 0};
  for (int k = 0; k < 6; ++k) {
    double before = 0, now = 0;
    for (int i = 0; i < n; ++i) {
      before += start[static_cast<std::size_t>(6 * i + k)];
      now += p.variables.at("w").number_at(6 * i + k) * (weight == p.variables.end() ? 1 : weight->second.number_at(i));
    }
    found.lost = std::max(found.lost, std::abs(now - before));
    for (int i = 0; i < n; ++i)
      found.distance = std::max(found.distance, std::abs(p.variables.at("w").number_at(6 * i + k) - before / n));
  }
  return found;
}
}  // namespace

TEST_CASE("compressed gossip keeps the sum over 1000 steps, and replicas reach the mean") {
  auto const check = [](mass const& m) {
    CHECK(m.lost < 1e-12 * n);
    CHECK(m.distance < 1e-6);
  };
  check(after<mt::compressed<mt::top_k_values<1, 6>, mt::decentralized_sgd<>>>(1000));
  check(after<mt::compressed<mt::random_k_values<1, 3>, mt::decentralized_sgd<>>>(1000));
  check(after<mt::compressed<mt::quantized<4>, mt::decentralized_sgd<>>>(1000));
  check(after<mt::compressed<mt::quantized<8>, mt::stochastic_gradient_push<towards_first>>>(1000));
  check(after<mt::compressed<mt::quantized<4>, mt::overlapped_gradient_push<towards_first>>>(1000));
}
TEST_CASE("compressed gossip of bf16 and f32 keeps the sum, apart from the rounding of parameters") {
  using by_ring = mt::compressed<mt::quantized<8>, mt::decentralized_sgd<>>;
  using to_first = mt::compressed<mt::quantized<8>, mt::stochastic_gradient_push<towards_first>>;
  using few = mt::compressed<mt::top_k_values<1, 6>, mt::decentralized_sgd<>>;
  auto const check = [](mass const& m, double lost, double distance) {
    CHECK(m.lost < lost * n);
    CHECK(m.distance < distance);
  };
  check(after<by_ring, mt::dtype::f32>(3000), 2e-6, 1e-5);
  check(after<few, mt::dtype::f32>(3000), 2e-6, 1e-5);
  check(after<to_first, mt::dtype::f32>(3000), 2e-6, 1e-5);
  check(after<by_ring, mt::dtype::bf16>(3000), 0.01, 0.02);
  check(after<few, mt::dtype::bf16>(3000), 0.01, 0.02);
  check(after<to_first, mt::dtype::bf16>(3000), 0.01, 0.02);
}
/// The tensor that the receivers of a message have.
template <class C>
struct decoded {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), wide);
    mt::builder& b = s.graph_builder();
    mt::any_tensor<decltype(x)::type> const all(x);
    mt::shape const dims = b.m.values[all.id].dims;
    auto const message = C::encode(s, all, mt::path_id{}, dims);
    s.output("y", C::template decode<decltype(x)::type>(b, message, dims, {}));
  }
};
TEST_CASE("each value of bf16 is rounded to a code, also the largest") {
  auto const check = []<class C>(C, double half_range) {
    program p = program::of<mt::precision<decoded<C>, mt::dtype::bf16>>();
    auto const size = static_cast<std::size_t>(p.inputs.at("x").size());
    for (std::uint64_t seed = 0; seed < 128; ++seed) {
      numbers x = drawn(size, seed);
      x[seed % size] = (seed % 2 == 0 ? 1 : -1) * (1 + static_cast<double>(seed) / 128);
      p.fill("x", x);
      numbers const y = numbers_of(p.run().at("y"));
      double const step = std::abs(x[seed % size]) / half_range;
      for (std::size_t i = 0; i < size; ++i) CHECK(std::abs(x[i] - y[i]) <= 0.51 * step + 0.01 * std::abs(x[i]));
    }
  };
  check(mt::quantized<8>{}, 127), check(mt::quantized<4>{}, 7);
}
TEST_CASE("values keep their sign where the scale is rounded down by much") {
  program p = program::of<mt::precision<decoded<mt::quantized<8>>, mt::dtype::f32>>();
  auto const size = static_cast<std::size_t>(p.inputs.at("x").size());
  numbers x(size, 0);
  x[0] = 190 * 0x1p-149, x[1] = -x[0];  // 1.5 subnormal steps for each code, of which one is left
  p.fill("x", x);
  numbers const y = numbers_of(p.run().at("y"));
  CHECK((y[0] > 0 && y[1] < 0));
}
TEST_CASE("random positions of more than 2^31 are drawn") {
  std::vector<std::int64_t> const place{0, 1, 2, 3}, step(4, 7), count(4, (std::int64_t{1} << 31) + 5), key(4, 9);
  std::vector<std::int64_t> position(4, -1);
  mt::detail::drawn_position<1>::run(place, step, count, key, position);
  for (std::size_t i = 0; i < 4; ++i) CHECK((position[i] >= 0 && position[i] < count[i]));
}
TEST_CASE("random positions differ from step to step and between parameters, and are the same in all replicas") {
  using kept = mt::random_k_values<1, 6>;
  program p = program::of<in_f64<mt::replicas<idle, replica, mt::compressed<kept, mt::decentralized_sgd<>>>>>();
  p.run();
  p.settings.step = 0;
  for (int i = 0; i < n * 6; ++i) p.variables.at("w").set(i, 1 + i);
  numbers before(static_cast<std::size_t>(n * 6));
  for (int i = 0; i < n * 6; ++i) p.variables.at(of_topology<mt::ring>("w") + "/public_copy").set(i, 0);
  std::map<int, int> drawn_at;
  for (int step = 0; step < 60; ++step) {
    p.run();
    numbers const now = numbers_of(p.variables.at(of_topology<mt::ring>("w") + "/public_copy"));
    int at = -1;
    for (int i = 0; i < n * 6; ++i) {
      auto const k = static_cast<std::size_t>(i);
      if (now[k] == before[k]) continue;
      if (at < 0) at = i % 6;
      CHECK(i % 6 == at);  // one position, in all replicas
    }
    if (at >= 0) ++drawn_at[at];
    before = now;
  }
  CHECK(drawn_at.size() == 6);
}
