// SPDX-License-Identifier: Apache-2.0
// Convolutions along one dim under each rule of padding, with strides and dilations, on even and odd extents, beside
// PyTorch's, as tests/data/padding_by_torch.py has recorded them: results, and the gradients by operand and kernel.
//
// passes: start-up
#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "meshtensor/meshtensor.hpp"
#include "support/source_path.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct length_dim : mt::dim<"length"> {} length;
inline constexpr struct half_dim : mt::dim<"half", mt::divided(length, 2)> {} half;
inline constexpr struct third_dim : mt::dim<"third", mt::divided(length, 3)> {} third;
template <int Size>
struct kernel_dim : mt::dim<Size == 2   ? "of 2"
                            : Size == 3 ? "of 3"
                                        : "of 5",
                            Size> {};
struct mesh : mt::mesh<> {};
struct whole : mt::layout<> {};

/// Element i is (by · i + 3) mod 11 - 5.
constexpr auto numbers(mt::scope auto s, auto along, int by) {
  auto const i = mt::iota(s, along, mt::i32) * by + 3;
  return mt::cast<mt::f64>(i - i / 11 * 11 - 5);
}

template <mt::padding::kind_t Rule, int Stride, int Dilation, int Size>
struct convolved {
  constexpr void operator()(mt::scope auto s) const {
    auto const places = [] {
      if constexpr (Stride == 1) return length;
      else if constexpr (Stride == 2) return half;
      else return third;
    }();
    kernel_dim<Size> const taps;
    auto const x = numbers(s, length, 7);
    auto const k = numbers(s, taps, 4);
    auto const y =
        conv(x, k, mt::to(places),
             mt::window(length, places, taps, {.stride = Stride, .dilation = Dilation, .padding = mt::padding(Rule)}));
    auto const loss = sum(y * numbers(s, places, 5));
    s.output("y", y), s.output("dx", gradient(loss, x)), s.output("dk", gradient(loss, k));
  }
};

using recorded = std::map<std::string, std::vector<double>>;
recorded read() {
  std::ifstream file(meshtensor_test::source_path(__FILE__).replace_extension(".txt"));
  recorded all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    double value = 0;
    words >> name;
    while (name != "#" && words >> value) all[name].push_back(value);
  }
  REQUIRE(all.size() == 14 * 3 * 5);
  return all;
}

/// Whole numbers: no sum is rounded.
template <mt::padding::kind_t Rule, int Stride, int Dilation, int Size>
void check(recorded const& torch, std::string const& rule) {
  auto const job = mt::job::in_lockstep();
  for (std::int64_t extent = 6; extent <= 10; ++extent) {
    mt::store values(job);
    mt::executable<convolved<Rule, Stride, Dilation, Size>, mesh, whole, mt::reference_device> run(values,
                                                                                                   length(extent));
    auto const got = run();
    auto const compare = [&](char const* what, auto const& output) {
      std::string const name = rule + "_" + std::to_string(Stride) + "_" + std::to_string(Dilation) + "_" +
                               std::to_string(Size) + "/" + what + "/" + std::to_string(extent);
      auto const gathered = output.gather();
      CHECK_MESSAGE(std::vector<double>(gathered.begin(), gathered.end()) == torch.at(name), name);
    };
    compare("y", got.template get<"y">());
    compare("dx", got.template get<"dx">());
    compare("dk", got.template get<"dk">());
  }
}

}  // namespace

TEST_CASE("same: as many places as the stride leaves, the odd element behind") {
  recorded const torch = read();
  check<mt::padding::same, 1, 1, 2>(torch, "same");
  check<mt::padding::same, 1, 2, 3>(torch, "same");
  check<mt::padding::same, 2, 1, 3>(torch, "same");
  check<mt::padding::same, 2, 1, 5>(torch, "same");
  check<mt::padding::same, 3, 1, 2>(torch, "same");
  check<mt::padding::same, 2, 2, 3>(torch, "same");
}

TEST_CASE("centred: half of what the kernel spans on both sides") {
  recorded const torch = read();
  check<mt::padding::centred, 1, 2, 3>(torch, "centred");
  check<mt::padding::centred, 2, 1, 3>(torch, "centred");
  check<mt::padding::centred, 2, 2, 5>(torch, "centred");
  check<mt::padding::centred, 3, 1, 5>(torch, "centred");
}

TEST_CASE("circular: the elements of the other end") {
  recorded const torch = read();
  check<mt::padding::circular, 1, 1, 5>(torch, "circular");
  check<mt::padding::circular, 1, 2, 3>(torch, "circular");
  check<mt::padding::circular, 2, 1, 3>(torch, "circular");
  check<mt::padding::circular, 2, 2, 3>(torch, "circular");
}
