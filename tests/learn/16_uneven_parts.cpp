// SPDX-License-Identifier: Apache-2.0
// Lesson 16. You learn to shard a dim whose extent is no multiple of the number of ranks. The parts differ by at most
// one element, and nothing is padded. Therefore you can choose the number of ranks freely, and no result changes.
// passes: start-up
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include <meshtensor/inspect/explain.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
using mt::to;

namespace lesson {
inline constexpr struct samples : mt::dim<"samples", 10> {} samples;
inline constexpr struct features : mt::dim<"features", 3> {} features;  // fewer than the ranks of some meshes below

// The operations of this program combine all samples or all features. With padding, each of them would need a mask.
struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, samples, features);
    s.output("mean", mean(x, samples));
    s.output("least", min(x, features));
    s.output("running", cumulative_sum(x, samples));
    s.output("table", einsum(x, x, to(samples)));  // the squared length of each sample
  }
};

inline constexpr struct first : mt::axis<"first"> {} first;
inline constexpr struct second : mt::axis<"second"> {} second;
struct mesh : mt::mesh<first, second> {};
struct by_samples : mt::layout<mt::shard<samples, first>> {};
struct by_features : mt::layout<mt::shard<features, first>> {};
struct by_both : mt::layout<mt::shard<samples, first>, mt::shard<features, second>> {};
// Two axes may shard one dim. They divide it one after the other.
struct by_two_axes : mt::layout<mt::shard<samples, first, second>> {};

// The elements are whole numbers, so that all sums are exact and every layout gives the same bits.
mt::array<float, samples, features> x;
mt::array<float, features> means;
mt::array<float, samples> least, table;
mt::array<float, samples, features> running;
bool const computed = [] {
  int n = 0;
  for (float& e : x) e = static_cast<float>(n++ * 7 % 11 - 6);
  for (int i = 0; i < 10; ++i) {
    least(samples(i)) = x(samples(i), features(0));
    for (int f = 0; f < 3; ++f) {
      float const e = x(samples(i), features(f));
      least(samples(i)) = std::min(least(samples(i)), e);
      table(samples(i)) += e * e;
      means(features(f)) += e;
      running(samples(i), features(f)) = means(features(f));
    }
  }
  means = means / 10;
  return true;
}();

template <class Layout>
void compare(std::int64_t along_first, std::int64_t along_second) {
  auto job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<program, mesh, Layout> step(weights, first(along_first), second(along_second));
  // You feed and gather whole arrays, whatever the parts are.
  auto const result = step(mt::feed<"x">(x));
  CHECK(max(abs(result.template get<"mean">().gather() - means)) < 1e-6f);
  CHECK(max(abs(result.template get<"least">().gather() - least)) == 0);
  CHECK(max(abs(result.template get<"running">().gather() - running)) == 0);
  CHECK(max(abs(result.template get<"table">().gather() - table)) == 0);
}

// The parts of n elements on some ranks, in the words of a plan: for example, `4 | 3 | 3`. The first n mod ranks hold
// one element more than the others.
std::string parts(int n, int ranks) {
  std::string text;
  for (int r = 0; r < ranks; ++r) text += (r == 0 ? "" : " | ") + std::to_string(n / ranks + (r < n % ranks));
  return text;
}
// A draft has the plan of an executable, but starts no ranks. `explain` says how uneven dims are divided.
template <class Layout>
std::string plan(std::int64_t along_first, std::int64_t along_second) {
  return mt::explain(mt::draft<mt::executable<program, mesh, Layout>>(first(along_first), second(along_second)));
}
}  // namespace lesson
using namespace lesson;

TEST_CASE("the result is that of plain loops, under every layout on any number of ranks") {
  for (int const ranks : {1, 2, 3, 4, 6, 8}) {
    compare<by_samples>(ranks, 1);
    compare<by_features>(ranks, 1);  // 3 features on 8 ranks: five ranks hold none
    compare<by_two_axes>(1, ranks);
  }
  compare<by_both>(3, 2);
  compare<by_both>(4, 2);
  compare<by_two_axes>(3, 2);
  compare<by_two_axes>(2, 4);
}

TEST_CASE("the parts differ by at most one element") {
  CHECK(parts(10, 4) == "3 | 3 | 2 | 2");
  CHECK(parts(3, 4) == "1 | 1 | 1 | 0");
  for (int const ranks : {3, 4, 6, 8}) CHECK(plan<by_samples>(ranks, 1).find(parts(10, ranks)) != std::string::npos);
  CHECK(plan<by_features>(4, 1).find(parts(3, 4)) != std::string::npos);
  // Two ranks along the first axis hold 5 samples each. Two ranks along the second axis share these 5 as 3 and 2.
  CHECK(plan<by_two_axes>(2, 2).find("3 | 2 | 3 | 2") != std::string::npos);
  // The rank with the largest part takes the most time. If all parts are equal, the plan has no such note.
  CHECK(plan<by_samples>(3, 1).find("the largest part is 4") != std::string::npos);
  CHECK(plan<by_samples>(2, 1).find("the largest part") == std::string::npos);
}
