// SPDX-License-Identifier: Apache-2.0
// What `each` and `steps` save and cost: an ensemble in one program beside as many executables in turn, one member in
// an each beside the plain program, and many steps in one call beside as many calls.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "meshtensor/meshtensor.hpp"

#include "meshtensor/device/cpu/device.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct member_dim : mt::dim<"member", 8> {} member;
inline constexpr struct single_dim : mt::dim<"single", 1> {} single;
inline constexpr struct calls_dim : mt::dim<"calls", 1000> {} calls;
inline constexpr struct batch_dim : mt::dim<"batch", 64> {} batch;
inline constexpr struct in_dim : mt::dim<"in", 32> {} in;
inline constexpr struct hidden_dim : mt::dim<"hidden", 64> {} hidden;
inline constexpr struct classes_dim : mt::dim<"classes", 10> {} classes;
struct mesh : mt::mesh<> {};
struct layout : mt::layout<> {};

constexpr auto learns(mt::scope auto s, auto x, auto y) {
  auto const h = relu(mt::nn::linear(s / "first", x, in, hidden));
  auto const scores = mt::nn::linear(s / "second", h, hidden, classes);
  auto const loss = mean(mt::nn::cross_entropy(scores, y, classes));
  mt::adam{.learning_rate = 1e-3}.minimize(s / "optimizer", loss);
  return loss;
}

/// A training step of one small network.
struct alone {
  constexpr void operator()(mt::scope auto s) const {
    s.output("loss", learns(s, s.input("x", mt::f32, batch, in), s.input("y", mt::i32, batch)));
  }
};
/// Of several networks that learn from the same batch.
template <auto Member>
struct ensemble {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, in);
    auto const y = s.input("y", mt::i32, batch);
    s.output("loss", sum(mt::each(s / "members", Member, [&](mt::scope auto m) { return learns(m, x, y); }), Member));
  }
};
/// The step of the first program, a thousand times in a call, on one batch.
struct many_steps {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, in);
    auto const y = s.input("y", mt::i32, batch);
    mt::steps(s, calls, [&](mt::scope auto r) { r.output("loss", learns(r, x, y)); });
  }
};

template <class Program>
using step_of = mt::executable<Program, mesh, layout, mt::cpu_device>;

std::vector<float> const x(64 * 32, 0.25f);
std::vector<std::int32_t> const y(64, 3);

double seconds(auto const& f) {
  using clock = std::chrono::steady_clock;
  auto const start = clock::now();
  f();
  return std::chrono::duration<double>(clock::now() - start).count();
}
double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}
/// The ratio of the times of two pieces of work that run in turn.
void compare(char const* what, char const* first, char const* second, auto const& one, auto const& other) {
  std::vector<double> a, b, ratios;
  one(), other();
  for (int round = 0; round < 9; ++round) {
    a.push_back(seconds(one)), b.push_back(seconds(other));
    ratios.push_back(a.back() / b.back());
  }
  fmt::print("{:<28} {:<24} {:9.2f} ms   {:<24} {:9.2f} ms   ratio {:.3f}\n", what, first, 1e3 * median(a), second,
             1e3 * median(b), median(ratios));
}

}  // namespace

int main() {
  mt::job const job = mt::job::as_threads();
  auto const run = [](auto& step, int times) {
    for (int i = 0; i < times; ++i) step(mt::feed<"x">(x), mt::feed<"y">(y)).template get<"loss">();
  };

  std::vector<std::unique_ptr<mt::store>> stores;
  std::vector<std::unique_ptr<step_of<alone>>> members;
  for (int i = 0; i < 8; ++i) {
    stores.push_back(std::make_unique<mt::store>(job));
    members.push_back(std::make_unique<step_of<alone>>(*stores.back()));
  }
  mt::store of_all(job), of_one(job), of_many(job);
  step_of<ensemble<member>> all(of_all);
  step_of<ensemble<single>> one(of_one);
  step_of<many_steps> many(of_many);

  compare(
      "8 networks, 100 steps", "8 executables in turn", "one each",
      [&] {
        for (auto& m : members) run(*m, 100);
      },
      [&] { run(all, 100); });
  compare("1 network, 800 steps", "each of one", "plain", [&] { run(one, 800); }, [&] { run(*members[0], 800); });
  compare("1,000 steps", "1,000 calls", "one call of steps", [&] { run(*members[0], 1000); }, [&] { run(many, 1); });
}
