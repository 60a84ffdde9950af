// SPDX-License-Identifier: Apache-2.0
// Batch norm in synchronous replicas: with mt::across they train like one model with the batches of all, and without it
// they warn.
// passes: start-up
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/regime/regime.hpp"
#include "meshtensor/run/executable/unused.hpp"

#include "unit/op/trial.hpp"

namespace mt = meshtensor;
using trial::numbers_of, trial::program;

namespace {

inline constexpr struct replica_dim : mt::dim<"replica"> {} replica;
inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct in_dim : mt::dim<"in", 2> {} in;
inline constexpr struct out_dim : mt::dim<"out", 3> {} out;

using numbers = std::vector<double>;

/// How a norm is called: with options of `batch_norm` behind the channels.
struct with_across {
  static constexpr auto norm(mt::scope auto s, auto const& x) {
    return mt::nn::batch_norm(s, x, out, mt::across(replica));
  }
};
struct with_options_and_across {
  static constexpr auto norm(mt::scope auto s, auto const& x) {
    return mt::nn::batch_norm(s, x, out, mt::nn::batch_norm_options{.momentum = 0.3, .epsilon = 1e-3},
                              mt::across(replica));
  }
};
struct without_across {
  static constexpr auto norm(mt::scope auto s, auto const& x) { return mt::nn::batch_norm(s, x, out); }
};
struct of_running {
  static constexpr auto norm(mt::scope auto s, auto const& x) {
    return mt::nn::batch_norm(s, x, out, mt::nn::batch_statistics::running, mt::across(replica));
  }
};

template <class How>
struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, in);
    auto const y = s.input("y", s.real(), batch);
    auto const h = tanh(How::norm(s / "first/norm", mt::nn::linear(s / "first", x, in, out)));
    auto const g = How::norm(s / "second/norm", h * s.parameter("scale", out, mt::constant(0.5)));
    auto const error = sum(g * s.parameter("gain", out, mt::constant(0.5)), out) - y;
    auto const loss = mean(error * error);
    mt::momentum{.learning_rate = 0.05, .decay = 0.8}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
template <class How, class Policy>
using train = mt::replicas<train_step<How>, replica, Policy>;
struct nothing {};

numbers drawn(std::int64_t count, std::uint64_t seed) {
  trial::stream s{seed};
  numbers all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(s.between(-1, 1));
  return all;
}

/// The first value of a variable's element.
double start_of(std::string const& path, double random) {
  if (path.starts_with("optimizer") || path.ends_with("/mean")) return 0;
  return path.ends_with("/variance") ? 1 : random;
}
void start_equal(program& alone, program& many, int n) {
  alone.run(), many.run();
  alone.settings.step = many.settings.step = 0;
  for (auto& [path, b] : alone.variables) {
    mt::block& spread = many.variables.at(path);
    REQUIRE(spread.size() == n * b.size());
    numbers const random = drawn(b.size(), 5);
    for (std::int64_t i = 0; i < b.size(); ++i) b.set(i, start_of(path, random[static_cast<std::size_t>(i)]));
    for (std::int64_t i = 0; i < n * b.size(); ++i) spread.set(i, b.number_at(i % b.size()));
  }
}

/// The largest difference between n synchronous replicas and the plain step, in losses, parameters and states.
template <class How, mt::dtype T>
double largest_difference(int n) {
  program alone = program::of<mt::precision<train_step<How>, T>>({batch(4 * n)});
  program many = program::of<mt::precision<train<How, mt::synchronous>, T>>({batch(4), replica(n)});
  start_equal(alone, many, n);
  double largest = 0;
  auto const compare = [&](double a, double b) { largest = std::max(largest, std::abs(a - b)); };
  for (std::uint64_t step = 0; step < 4; ++step) {
    numbers const x = drawn(8 * n, 100 + step), y = drawn(4 * n, 7);
    alone.fill("x", x), many.fill("x", x), alone.fill("y", y), many.fill("y", y);
    double mean = 0;
    for (double const l : numbers_of(many.run().at("loss"))) mean += l / n;
    compare(mean, numbers_of(alone.run().at("loss"))[0]);
  }
  for (auto const& [path, b] : alone.variables)
    for (std::int64_t i = 0; i < n * b.size(); ++i)
      compare(many.variables.at(path).number_at(i), b.number_at(i % b.size()));
  return largest;
}

template <class Program>
std::vector<std::string> warnings_of() {
  std::unique_ptr<mt::module> const traced(new mt::module(mt::trace<Program>()));
  std::vector<std::string> all;
  mt::on_warning() = [&](std::string const& sentence) { all.push_back(sentence); };
  auto const job = mt::job::in_lockstep();
  mt::detail::warn_alone(job.get(), *traced);
  mt::on_warning() = {};
  return all;
}

}  // namespace

TEST_CASE("synchronous replicas with mt::across train like one model with the batches of all") {
  for (int const n : {1, 2, 3, 8}) {
    CHECK(largest_difference<with_across, mt::dtype::f64>(n) < 1e-12);
    CHECK(largest_difference<with_across, mt::dtype::f32>(n) < 1e-5);
    CHECK(largest_difference<with_options_and_across, mt::dtype::f64>(n) < 1e-12);
  }
}

TEST_CASE("without mt::across each replica normalizes over its own batch") {
  CHECK(largest_difference<without_across, mt::dtype::f64>(1) < 1e-12);
  CHECK(largest_difference<without_across, mt::dtype::f64>(2) > 1e-3);
}

TEST_CASE("norms of single replicas are a warning under a policy that keeps replicas equal, and under no other") {
  auto const found = warnings_of<train<without_across, mt::synchronous>>();
  REQUIRE(found.size() == 1);
  CHECK(found[0].starts_with("G54: the batch norm 'first/norm' and 1 more of each replica uses the mean"));
  CHECK(found[0].find("mt::across(replica)") != std::string::npos);
  CHECK(warnings_of<train<with_across, mt::synchronous>>().empty());
  CHECK(warnings_of<train<of_running, mt::synchronous>>().empty());
  CHECK(warnings_of<train<without_across, mt::local_sgd<4>>>().empty());
  CHECK(warnings_of<train<without_across, nothing>>().empty());
  CHECK(warnings_of<train_step<without_across>>().empty());
}

TEST_CASE("mt::across changes nothing where no each over its dim is open") {
  program plain = program::of<mt::precision<train_step<without_across>, mt::f64>>({batch(6)});
  program across = program::of<mt::precision<train_step<with_across>, mt::f64>>({batch(6)});
  CHECK(plain.graph().node_count == across.graph().node_count);
  CHECK(plain.graph().dim_count == across.graph().dim_count);
}
