// SPDX-License-Identifier: Apache-2.0
// A step takes nothing from the heap once two have been made: what is fed, numbers, the store, kernels, collectives,
// results.
// passes: start-up
// needs: cpu
// sanitize: no
#include <doctest/doctest.h>

#include "meshtensor/device/cpu/device.hpp"
#include "support/allocations.hpp"
#include "support/programs.hpp"

namespace mt = meshtensor;
using namespace programs;

namespace {

inline constexpr struct by_axis : mt::axis<"by"> {} by;
struct mesh : mt::mesh<ax, by> {};
struct spread : mt::layout<mt::shard<batch, ax>, mt::shard<inner, by>, mt::shard<heads, by>,
                           mt::in<"optimizer", mt::shard<model, ax>>> {};

/// All that can be given to a step.
struct given {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, model);
    auto y = s.input("y_of_the_only_processor_there_is", mt::f32, batch);
    auto count = s.state("count", mt::i32);
    s.update(count, count + 1);
    s.output("counted_before_this_step", count);
    s.output("sum", sum(x * y) * s.number("a_number_of_the_program", 1));
  }
};

struct in_f32 : mt::precision<language_model, mt::f32> {};
struct in_f64 : mt::precision<language_model, mt::f64> {};

template <class Program, class Device>
void check(mt::job const& job, int first, int second) {
  INFO(first << " x " << second);
  mt::store weights(job);
  mt::executable<Program, mesh, spread, Device> step(weights, ax(first), by(second));
  mt::array<std::int32_t, batch, length> text;
  std::vector<std::int32_t> next(static_cast<std::size_t>(text.size()));
  for (std::int32_t i = 0; std::int32_t& e : text) e = next[static_cast<std::size_t>(i)] = i * 7 % 12, ++i;
  double losses[5] = {};
  auto const run = [&](int t) {
    losses[t] = step(mt::feed<"text">(text), mt::feed<"next">(next)).template get<"loss">();
  };
  run(0), run(1);
  meshtensor_test::allocation_count count;
  run(2), run(3), run(4);
  count.stop();
  CHECK(losses[4] < losses[0]);
  // oneDNN makes a list of arguments whenever a primitive runs.
  INFO(count.text("libdnnl"));
  CHECK(count.without("libdnnl") == 0);
  if (std::is_same_v<Program, in_f64> || std::is_same_v<Device, mt::reference_device>) CHECK(count.all() == 0);
}

}  // namespace

TEST_CASE("what is taken from the heap is counted") {
  meshtensor_test::allocation_count count;
  std::vector<double> volatile_numbers(1000);
  std::thread([&] { volatile_numbers.resize(3000); }).join();
  count.stop();
  CHECK(count.without("libdnnl") >= 2);
  CHECK(count.text().find(" bytes:") != std::string::npos);
  CHECK(count.without("libstdc++") < count.all());
}

TEST_CASE("what is given to a step") {
  auto const job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<given, mt::mesh<>, mt::layout<>, mt::reference_device> step(weights);
  mt::array<float, model, batch> x;
  for (float& e : x) e = 1;
  std::vector<float> const y(24, 2);
  auto const run = [&](int t) {
    auto const result = step(mt::feed<"x">(x), mt::feed_local<"y_of_the_only_processor_there_is">(y),
                             mt::set<"a_number_of_the_program">(t));
    return result.get<"sum">() == 24 * 12 * 2 * t && result.get<"counted_before_this_step">() == t;
  };
  std::vector<float> const apart(48, 2);
  auto const run_views = [&](int t) {  // in another order of dims, and with gaps
    auto const result = step(mt::feed<"x">(mt::in_memory(x.data(), model(x.extent(model)), batch(x.extent(batch)))),
                             mt::feed_local<"y_of_the_only_processor_there_is">(
                                 mt::in_memory(apart.data(), mt::apart(batch(x.extent(batch)), 2))),
                             mt::set<"a_number_of_the_program">(t));
    return result.get<"sum">() == 24 * 12 * 2 * t && result.get<"counted_before_this_step">() == t;
  };
  float sum = 0;
  auto const run_fetching = [&](int t) {
    step(mt::feed_local<"y_of_the_only_processor_there_is">(y), mt::set<"a_number_of_the_program">(t),
         mt::fetch_local<"sum">(&sum));
    return sum == 24 * 12 * 2 * static_cast<float>(t);
  };
  bool right = run(0) && run(1) && run_views(2) && run(3);
  meshtensor_test::allocation_count count;
  right = run(4) && run_views(5) && run(6) && run_views(7) && run_fetching(8) && run(9) && run_fetching(10) && right;
  count.stop();
  CHECK(right);
  INFO(count.text());
  CHECK(count.all() == 0);
}

TEST_CASE("cpu device") {
  auto const job = mt::job::as_threads();
  check<in_f32, mt::cpu_device>(job, 1, 1);
  check<in_f32, mt::cpu_device>(job, 2, 1);
  check<in_f32, mt::cpu_device>(job, 2, 2);
  check<in_f64, mt::cpu_device>(job, 2, 2);
}
TEST_CASE("reference device") {
  check<in_f32, mt::reference_device>(mt::job::as_threads(), 2, 2);
  check<in_f32, mt::reference_device>(mt::job::in_lockstep(), 2, 2);
}
