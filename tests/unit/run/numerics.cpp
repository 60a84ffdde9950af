// SPDX-License-Identifier: Apache-2.0
// `check_numerics` names what made the first value that is not finite: the operation, its line, the processor.
//
// needs: cpu
// sanitize: yes
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "meshtensor/device/default.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/folder.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct width : mt::dim<"width", 4> {} width;
inline constexpr struct inner : mt::dim<"inner", 8> {} inner;
inline constexpr struct blocks : mt::dim<"blocks", 3> {} blocks;
inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model", 2> {} model;
struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<inner, model>> {};

constexpr int line_of_log = __LINE__ + 9, line_of_product = __LINE__ + 5;
struct train {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, width);
    auto const h = mt::repeat(s / "blocks", blocks, x, [](mt::scope auto r, auto in) {
      auto const up = einsum(in, r.parameter("up", width, inner, mt::constant(0.5)), to(batch, inner));
      auto const more = tanh(up * r.parameter("gain", inner, mt::constant(0.5)));
      return in + einsum(more, r.parameter("down", inner, width, mt::constant(0.25)), to(batch, width));
    });
    auto const root = log(h * h + s.number("least", 1)) * 2 + 1;
    auto const loss = mean(root);
    mt::adam{.learning_rate = 0.01}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

template <class Device>
struct case_of {
  mt::job job = mt::job::as_threads();
  mt::store weights{job, 3};
  mt::executable<train, mesh, layout, Device> step{weights, batch(4), data(2)};
  std::vector<float> x = std::vector<float>(16, 0.5f);
  std::string error_of(double least = 1) {
    try {
      step(mt::feed<"x">(x), mt::set<"least">(least));
      return "";
    } catch (mt::error const& e) { return e.what(); }
  }
};
std::string at(int line) { return "(numerics.cpp:" + std::to_string(line) + ")"; }

template <class Device>
void every_case() {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  auto const has = [](std::string const& all, std::string const& part) {
    INFO(all << "\nwithout: " << part);
    CHECK(all.find(part) != std::string::npos);
  };
  {
    case_of<Device> c;
    c.x[9] = nan;
    CHECK(c.error_of() == "");  // it is off
  }
  {
    case_of<Device> c;
    c.step.check_numerics();
    CHECK(c.error_of() == "");
    CHECK(c.error_of() == "");
    c.x[9] = nan;
    has(c.error_of(), "R32: the input 'x'");
  }
  {
    case_of<Device> c;
    c.step.check_numerics();
    c.x[9] = nan;
    auto const e = c.error_of();
    has(e, "is f32[batch/data, width]: 1 of 8 elements are not finite, the first is nan, at batch=2, width=1");
    has(e, "before the step computed anything");
    c.step.check_numerics(false);
  }
  {
    case_of<Device> c;
    c.step.check_numerics();
    CHECK(c.error_of() == "");
    auto down = c.weights.template get<float>("blocks/gain");
    down.data()[3] = -infinite;
    c.weights.set("blocks/gain", down);
    auto const e = c.error_of();
    has(e, "R32: the parameter or state 'blocks/gain'");
    has(e, "the first is -inf, at blocks=0, inner=3");
    has(e, "in step 1");
  }
  {
    case_of<Device> c;
    c.step.check_numerics();
    auto const e = c.error_of(-100);
    has(e, "R32: log " + at(line_of_log) + " gives f32[batch/data, width]: 8 of 8 elements are not finite");
    has(e, "what it is made from is finite");
  }
  {
    case_of<Device> c;
    c.step.check_numerics();
    auto const e = c.error_of(std::numeric_limits<double>::quiet_NaN());
    has(e, "R32: constant of the number 'least' " + at(line_of_log) + " gives f32[]");
    has(e, ": set the number to a finite value");
  }
  {
    case_of<Device> c;
    c.step.check_numerics();
    c.x.assign(16, 3e38f);
    has(c.error_of(), "R32: einsum in blocks " + at(line_of_product) + " gives f32[batch/data, inner/model]: 8 of 8");
  }
}

}  // namespace

namespace {

constexpr int line_of_sinking = __LINE__ + 7;
/// The logarithm of what is less in each iteration.
struct sinking {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, width);
    auto const [count, y, last] = while_loop(
        s / "sink", mt::at_most(6), [](auto, auto h, auto) { return max(h) > -9; },
        [](auto, auto h, auto) { return std::tuple(h - 1, log(h + 0.5)); }, x, x);
    s.output("last", last);
  }
};

}  // namespace

TEST_CASE("in an iteration of a loop that ends early") {
  auto const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<sinking, mesh, layout, mt::reference_device> step(weights, batch(4), data(2));
  step.check_numerics();
  std::vector<float> const x(16, 1.0f);
  CHECK(meshtensor_test::sentence([&] { step(mt::feed<"x">(x)); }) ==
        "meshtensor R32: log in sink (numerics.cpp:" + std::to_string(line_of_sinking) +
            ") gives f32[batch/data, width]: 8 of 8 elements are not finite, the first is nan, at batch=0, width=0 on "
            "rank 0 in step 0, iteration 2: what it is made from is finite");
}

TEST_CASE("on the reference device") { every_case<mt::reference_device>(); }
TEST_CASE("where nodes are one kernel") { every_case<mt::default_device>(); }

namespace {
inline constexpr struct length_dim : mt::dim<"length", 8> {} length;
inline constexpr struct memory_dim : mt::dim<"memory", 8> {} memory;
inline constexpr struct heads_dim : mt::dim<"heads", 2> {} heads;
inline constexpr struct head_dim : mt::dim<"head", 4> {} head;

constexpr int line_of_attention = __LINE__ + 4;
struct attend {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, length, width);
    auto const y = mt::nn::causal_attention(s / "attention", x, length, memory, width, heads, head);
    auto const loss = mean(y * y);
    mt::sgd{.learning_rate = 0.01}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
}  // namespace

TEST_CASE("inside of attention, which the device runs whole; masks are finite numbers") {
  mt::job const job = mt::job::as_threads();
  mt::store weights(job, 3);
  mt::executable<attend, mesh, layout, mt::default_device> step(weights, batch(4), data(2));
  step.check_numerics();
  std::vector<float> x(4 * 8 * 4, 0.5f);
  for (int i = 0; i < 3; ++i) CHECK_NOTHROW(step(mt::feed<"x">(x)));
  std::fill(x.begin(), x.end(), 1e25f);
  std::string said;
  try {
    step(mt::feed<"x">(x));
  } catch (mt::error const& e) { said = e.what(); }
  INFO(said);
  CHECK(said.find("R32: einsum in attention " + at(line_of_attention) + " gives f32[") != std::string::npos);
  CHECK(said.find(", memory]: ") != std::string::npos);
  CHECK(said.find("what it is made from is finite") != std::string::npos);
}

namespace {
inline constexpr struct past_dim : mt::dim<"past", 12> {} past;
constexpr int line_of_past = __LINE__ + 9;
struct look_back {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, heads, head);
    auto const kept = s.parameter("kept", blocks, batch, heads, past, head, mt::ones);
    auto const [y, each] =
        scan(s / "blocks", blocks, rename(x, head, width), kept, [](mt::scope auto, auto h, auto all) {
          auto const some = slice(all, past, memory, 3);
          auto const q = broadcast(rename(h, width, head), to(batch, length, heads, head));
          auto const found = mt::nn::dot_product_attention(q, some, some, length, memory, head);
          return std::tuple(h + rename(mean(found, length), head, width), h);
        });
    s.output("y", y);
  }
};
}  // namespace

TEST_CASE("inside of attention to a slice of what a loop has, which is no copy") {
  mt::job const job = mt::job::as_threads();
  mt::store weights(job, 3);
  mt::executable<look_back, mt::mesh<>, mt::layout<>, mt::default_device> step(weights, batch(2));
  step.check_numerics();
  std::vector<float> const x(2 * 2 * 4, 9.0f);
  CHECK_NOTHROW(step(mt::feed<"x">(x)));
  auto kept = weights.get<float>("kept");
  kept.data()[(((1 * 2 + 1) * 2 + 0) * 12 + 5) * 4 + 1] = 3e38f;  // of the second block, the second text, position 5
  weights.set("kept", kept);
  std::string said;
  try {
    step(mt::feed<"x">(x));
  } catch (mt::error const& e) { said = e.what(); }
  INFO(said);
  CHECK(said.find("R32: einsum in blocks " + at(line_of_past)) != std::string::npos);
  CHECK(said.find("the first is inf, at batch=1, length=0, heads=0, memory=2") != std::string::npos);
}

namespace {
constexpr int line_of_update = __LINE__ + 4;
struct replace {
  constexpr void operator()(mt::scope auto s) const {
    auto const v = s.parameter("v", width, inner, mt::ones);
    s.update(v, log(v * 3 - s.number("less", 1)) + v);
  }
};
}  // namespace

TEST_CASE("a kernel that writes over what it reads") {
  mt::job const job = mt::job::as_threads();
  mt::store weights(job, 3);
  mt::executable<replace, mt::mesh<>, mt::layout<>, mt::default_device> step(weights);
  step.check_numerics();
  CHECK_NOTHROW(step());
  std::string said;
  try {
    step(mt::set<"less">(100));
  } catch (mt::error const& e) { said = e.what(); }
  INFO(said);
  CHECK(said.starts_with("meshtensor R32: log " + at(line_of_update) + " gives f32[width, inner]: 32 of 32 elements"));
}
