// SPDX-License-Identifier: Apache-2.0
// Convolutions and their gradients beside straightforward loops: every type, stride, order of memory and padding, for
// any number of threads, nothing written beside the result.
// needs: cpu
// arch: baseline native
#include "meshtensor/device/cpu/convolution.hpp"

#include <doctest/doctest.h>

#include "property/sample.hpp"
#include "unit/device/convolutions.hpp"

using namespace convolutions;
namespace cpu = mt::cpu;

namespace {

constexpr dtype floats[] = {dtype::f32, dtype::bf16, dtype::f64};
/// The gradients' kernels and outputs lie as the forward's do.
constexpr orders all_orders[] = {channels_last,
                                 channels_first,
                                 {"nxyzgc", "nxyzgk", "gkcxyz"},
                                 {"ngcxyz", "nxyzgk", "xyzgck"},
                                 {"cgxnyz", "kzyxng", "ckgyxz"},
                                 {"nzyxgc", "nzyxgk", "zyxgkc"}};

struct run {
  explicit run(convolution_problem const& problem, bool integers = true, int threads = 1)
      : p(problem), plan(p, threads), x(p, integers), scratch(plan.workspace_bytes() + 64) {}
  block& operator()(cpu::thread_team* team = nullptr) {
    std::memset(scratch.data(), 0xff, scratch.size());
    auto const d = p.direction;
    for (std::int64_t i = 0; i < x.result(d).count; ++i) x.result(d).set(i, std::nan(""));
    plan.execute(x.left(d).data(), x.right(d).data(), x.result(d).data(), scratch.data(), team);
    for (std::size_t i = plan.workspace_bytes(); i < scratch.size(); ++i)
      intact = intact && scratch.data()[i] == std::byte{0xff};
    return x.result(d);
  }
  int wrong(bool integers = true) {
    auto& result = (*this)();
    return wrong_elements(p, x, result, integers) + !intact;
  }
  convolution_problem p;
  cpu::convolution_plan plan;
  tensors x;
  mt::arena scratch;
  bool intact = true;
};

std::string text_of(convolution_problem const& p) {
  std::string text = name_of(p.direction);
  text += " n" + std::to_string(p.images) + " g" + std::to_string(p.groups) + " c" + std::to_string(p.input_channels) +
          " k" + std::to_string(p.output_channels);
  for (int i = 0; i < p.dims; ++i) {
    auto const& d = p.dim[i];
    text += " [i" + std::to_string(d.input) + " o" + std::to_string(d.output) + " w" + std::to_string(d.kernel) + " s" +
            std::to_string(d.stride) + " d" + std::to_string(d.dilation) + " low" + std::to_string(d.low) + "]";
  }
  return text + " input.c" + std::to_string(p.input.input_channel);
}

/// Whether the next problem is in the sample.
bool is_tried() {
  static std::uint64_t number = 0;
  return property::is_in_even_sample(number++);
}

/// Checks a problem in every direction, type and order.
void check_everywhere(std::int64_t n, std::int64_t g, std::int64_t c, std::int64_t k,
                      std::vector<convolution_dim> const& dims) {
  for (auto direction : directions)
    for (auto type : floats)
      for (auto const& lies : all_orders) {
        if (!is_tried()) continue;
        run one(problem(direction, type, n, g, c, k, dims, lies));
        INFO(text_of(one.p), " ", std::string(mt::text_of(type)), " ", one.plan.implementation());
        CHECK(one.wrong() == 0);
      }
}

}  // namespace

TEST_CASE("one, two and three spatial dims") {
  check_everywhere(2, 1, 5, 7, {padded(11, 3)});
  check_everywhere(2, 1, 4, 6, {padded(9, 3, 1, 1, 1), padded(7, 3, 1, 1, 1)});
  check_everywhere(2, 1, 3, 5, {padded(5, 3, 1, 1, 1), padded(4, 1), padded(6, 2, 1, 1, 1)});
  check_everywhere(3, 1, 6, 4, {});
}

TEST_CASE("channels that fill registers") {
  check_everywhere(2, 1, 32, 48, {padded(6, 3, 1, 1, 1), padded(5, 3, 1, 1, 1)});
  check_everywhere(1, 1, 64, 16, {padded(7, 1), padded(8, 1)});
  check_everywhere(1, 2, 16, 32, {padded(7, 3, 2, 1, 1), padded(6, 3, 2, 1, 1)});
}

TEST_CASE("strides and dilations") {
  for (std::int64_t stride : {1, 2, 3, 4})
    for (std::int64_t dilation : {1, 2, 3}) {
      check_everywhere(2, 1, 3, 4, {padded(13, 3, stride, dilation, 2), padded(10, 2, stride, 1, 0)});
      check_everywhere(1, 1, 2, 3, {padded(17, 4, stride, dilation, 1)});
    }
  check_everywhere(1, 1, 2, 3, {padded(12, 3, 3, 1, 0), padded(12, 2, 2, 3, 0)});
  check_everywhere(2, 1, 3, 20, {padded(15, 7, 2, 1, 3), padded(15, 7, 2, 1, 3)});
}

TEST_CASE("groups, and one channel a group") {
  check_everywhere(2, 3, 4, 5, {padded(7, 3, 1, 1, 1), padded(6, 3, 2, 1, 1)});
  check_everywhere(2, 19, 1, 1, {padded(7, 3, 1, 1, 1), padded(9, 3, 1, 1, 1)});
  check_everywhere(2, 32, 1, 1, {padded(7, 3, 2, 1, 1), padded(9, 3, 2, 1, 1)});
  check_everywhere(1, 17, 1, 1, {padded(9, 4, 2, 2, 3)});
  check_everywhere(1, 80, 1, 1, {padded(9, 5, 1, 1, 2), padded(11, 5, 2, 1, 2)});
  check_everywhere(1, 6, 1, 3, {padded(9, 3, 1, 1, 1)});
  check_everywhere(1, 5, 1, 1, {padded(4, 3, 1, 1, 1), padded(5, 3, 1, 1, 1), padded(4, 3, 2, 1, 1)});
}

TEST_CASE("borders of blocks: negative padding on either side, and windows outside") {
  check_everywhere(2, 1, 3, 4, {{12, 5, 3, 1, 1, -2}, {10, 4, 3, 1, 1, -1}});  // unused input at both ends
  check_everywhere(2, 1, 3, 4, {{12, 4, 3, 2, 1, -3}, {10, 3, 3, 2, 1, 1}});
  check_everywhere(2, 1, 16, 16, {{12, 5, 3, 1, 1, -2}, {10, 10, 3, 1, 1, 1}});
  check_everywhere(1, 1, 2, 2, {{4, 9, 3, 1, 1, 3}, {4, 2, 3, 1, 1, -6}});  // outputs of padding alone
  check_everywhere(1, 1, 2, 2, {{5, 3, 2, 4, 1, 2}});
  check_everywhere(1, 20, 1, 1, {{12, 5, 3, 1, 1, -2}, {10, 4, 3, 2, 1, -1}});
  check_everywhere(1, 1, 3, 2, {{3, 2, 7, 1, 1, 2}, {2, 3, 5, 1, 2, 3}});  // a kernel larger than the input
}

TEST_CASE("empty extents: nothing, or zeros") {
  for (int which = 0; which < 7; ++which) {
    convolution_dim d = padded(6, 3, 1, 1, 1);
    std::int64_t n = 2, g = 1, c = 3, k = 4;
    if (which == 0) n = 0;
    if (which == 1) g = 0;
    if (which == 2) c = 0;
    if (which == 3) k = 0;
    if (which == 4) d.input = 0;
    if (which == 5) d.output = 0;
    if (which == 6) d.kernel = 0;
    check_everywhere(n, g, c, k, {d, padded(5, 3, 1, 1, 1)});
    if (g == 0 || c == 0 || k == 0) continue;
    check_everywhere(n, 20, 1, 1, {d, padded(5, 3, 1, 1, 1)});
    check_everywhere(n, 20, 1, 1, {padded(5, 3, 1, 1, 1), d});
  }
  CHECK(cpu::convolution_plan(problem(directions[0], dtype::f32, 0, 1, 1, 1, {padded(3, 1)})).implementation() ==
        "nothing");
}

TEST_CASE("real numbers within rounding") {
  for (auto direction : directions)
    for (auto type : floats)
      for (auto const& lies : all_orders) {
        run one(problem(direction, type, 3, 2, 9, 21, {padded(9, 3, 1, 1, 1), padded(8, 3, 2, 1, 1)}, lies), false);
        INFO(text_of(one.p), " ", std::string(mt::text_of(type)), " ", one.plan.implementation());
        CHECK(one.wrong(false) == 0);
      }
}

TEST_CASE("any number of threads") {
  for (auto direction : directions)
    for (auto type : floats)
      for (auto const& lies : {channels_last, channels_first})
        for (std::int64_t images : {1, 2, 5}) {
          auto const p =
              problem(direction, type, images, 1, 24, 40, {padded(23, 3, 1, 1, 1), padded(20, 3, 1, 1, 1)}, lies);
          run alone(p);
          auto& expected = alone();
          CHECK(wrong_elements(p, alone.x, expected) == 0);
          for (int threads : {2, 3}) {
            cpu::thread_team team(threads);
            run several(p, true, threads);
            INFO(text_of(p), " ", std::string(mt::text_of(type)), " ", several.plan.implementation(), " ", threads);
            CHECK(several(&team) == expected);
            CHECK(several(&team) == expected);
            CHECK(several.intact);
          }
        }
}

TEST_CASE("problems that are worth a library: strides, dilations, groups, in both formats, on one and two threads") {
  cpu::thread_team team(2);
  int by_library = 0, reordered = 0, products = 0;
  auto const check_one = [&](std::int64_t n, std::int64_t g, std::int64_t c, std::int64_t k,
                             std::vector<convolution_dim> const& dims) {
    for (auto direction : directions)
      for (auto type : {dtype::f32, dtype::bf16})
        for (auto const& lies : {channels_last, channels_first})
          for (int threads : {1, 2}) {
            run one(problem(direction, type, n, g, c, k, dims, lies), true, threads);
            auto const name = one.plan.implementation();
            INFO(text_of(one.p), " ", std::string(mt::text_of(type)), " ", name, " ", threads);
            CHECK(wrong_elements(one.p, one.x, one(&team)) == 0);
            CHECK(one.intact);
            by_library += name.starts_with("onednn"), reordered += name.ends_with("reordered");
            products += name.starts_with("product");
          }
  };
  check_one(4, 1, 16, 32, {padded(17, 3, 2, 1, 1), padded(15, 3, 2, 1, 1)});
  check_one(4, 1, 20, 36, {padded(13, 3, 1, 2, 2), padded(14, 3, 1, 1, 0)});
  check_one(4, 2, 16, 16, {padded(15, 3, 1, 1, 1), padded(16, 3, 1, 1, 1)});
  check_one(4, 32, 1, 1, {padded(21, 3, 1, 1, 1), padded(22, 3, 1, 1, 1)});
  check_one(4, 32, 1, 1, {padded(41, 3, 2, 1, 1), padded(42, 3, 2, 1, 1)});
  check_one(4, 1, 3, 64, {padded(33, 7, 2, 1, 3), padded(32, 7, 2, 1, 3)});
  check_one(4, 1, 64, 48, {padded(14, 1, 2), padded(13, 1, 2)});
  check_one(4, 1, 64, 48, {padded(14, 1), padded(13, 1)});
  check_one(4, 1, 16, 16, {padded(400, 5, 1, 1, 2)});
  check_one(2, 1, 16, 16, {padded(9, 3, 1, 1, 1), padded(8, 3, 1, 1, 1), padded(7, 3, 1, 1, 1)});
  CHECK(by_library > 40);
  CHECK(reordered > 10);
  CHECK(products >= 12);
}

TEST_CASE("our loops give the same bits for any number of threads") {
  for (auto direction : directions)
    for (auto const& lies : {channels_last, channels_first}) {
      auto const p =
          problem(direction, dtype::f64, 2, 1, 20, 36, {padded(41, 3, 1, 1, 1), padded(40, 3, 1, 1, 1)}, lies);
      run alone(p, false);
      auto& expected = alone();
      for (int threads : {2, 5}) {
        cpu::thread_team team(threads);
        run several(p, false, threads);
        CHECK(several(&team) == expected);
      }
    }
}

TEST_CASE("our depthwise loops give the same bits for any number of threads") {
  for (auto direction : directions) {
    auto const p = problem(direction, dtype::f64, 2, 300, 1, 1, {padded(41, 3, 2, 1, 1), padded(40, 3, 1, 1, 1)});
    run alone(p, false);
    CHECK(alone.plan.implementation() == "depthwise loops");
    auto& expected = alone();
    CHECK(wrong_elements(p, alone.x, expected, false) == 0);
    for (int threads : {2, 5}) {
      cpu::thread_team team(threads);
      run several(p, false, threads);
      CHECK(several(&team) == expected);
    }
  }
}

TEST_CASE("a problem that cannot be") {
  auto p = problem(directions[0], dtype::f32, 1, 1, 1, 1, {padded(5, 3)});
  p.type = dtype::i32;
  CHECK_THROWS_WITH_AS(cpu::convolution_plan{p}, doctest::Contains("cast its operands"), mt::error const&);
  p.type = dtype::f32;
  p.dim[0].stride = 0;
  CHECK_THROWS_WITH_AS(cpu::convolution_plan{p}, doctest::Contains("strides and dilations of 1 or more"),
                       mt::error const&);
}
