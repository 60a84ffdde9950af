// SPDX-License-Identifier: Apache-2.0
// Puts a C++ function of your own into a program, which is then differentiated and sharded like any operation.
// Run it alone, with threads as ranks, or with mpirun -n 2 or 4.
#include <algorithm>
#include <numeric>

#include <meshtensor/device/default.hpp>
#include <meshtensor/job/main.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
inline constexpr struct day : mt::dim<"day", 365> {} day;
inline constexpr struct place : mt::dim<"place", 8> {} place;
inline constexpr struct workers : mt::axis<"workers"> {} workers;

/// The rain from each day on, as suffix sums of any element type. The function needs all days of a place, so that `day`
/// is never sharded. However, `place` may be.
struct still_to_come {
  static constexpr auto whole = mt::to(day), gives = mt::to(day);
  template <class T>
  static void run(std::span<T const> x, std::span<T> y) {
    std::partial_sum(x.rbegin(), x.rend(), y.rbegin());
  }
};
/// The rain up to each day, as prefix sums. Its gradient calls the function above on `dy`, the gradient of the result.
struct so_far {
  static constexpr auto whole = mt::to(day), gives = mt::to(day);
  template <class T>
  static void run(std::span<T const> x, std::span<T> y) {
    std::partial_sum(x.begin(), x.end(), y.begin());
  }
  static constexpr auto gradient(auto, auto, auto dy) { return mt::call<still_to_come>(dy); }
};

/// Learns the rain of each day from gauges that are never emptied, so that a gauge shows all rain so far.
struct learn {
  constexpr void operator()(mt::scope auto s) const {
    auto rain = exp(s.parameter("rain", place, day, mt::constant(0)));
    auto error = mt::call<so_far>(rain) - s.input("gauge", mt::f32, place, day);
    auto loss = mean(error * error);
    mt::adam{.learning_rate = 0.02}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct mesh : mt::mesh<workers> {};
struct layout : mt::layout<mt::shard<place, workers>> {};
int main(int argc, char** argv) {
  return mt::run_main(argc, argv, [](mt::job const& job) {
    mt::store weights(job);
    mt::executable<learn, mesh, layout, mt::default_device> step(weights, workers(std::max(2, job.get().size())));
    mt::array<float, place, day> gauge;
    for (int p = 0; p < 8; ++p)
      for (int d = 0; d < 365; ++d) gauge(place(p), day(d)) = static_cast<float>(d * (p + 4)) / 8;
    for (int i = 0; i <= 600; ++i) {
      float const loss = step(mt::feed<"gauge">(gauge)).get<"loss">();
      if (i % 100 == 0) mt::print(job, "{:>4}  {:.4f}\n", i, loss);
    }
  });
}
