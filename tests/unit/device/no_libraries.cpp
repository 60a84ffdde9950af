// SPDX-License-Identifier: Apache-2.0
// The cpu device in a build that says 0 for its libraries: its header comes first, and its own loops compute what plain
// loops do: convolutions, pools, products and fused blocks, with gradients.
// passes: start-up
// part: native
#define MESHTENSOR_WITH_ONEDNN 0
#define MESHTENSOR_WITH_TBB 0
#include "meshtensor/device/cpu/device.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <type_traits>
#include <vector>

#include "meshtensor/device/default.hpp"
#include "meshtensor/device/reference.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct batch_dim : mt::dim<"batch", 3> {} batch;
inline constexpr struct rows_dim : mt::dim<"rows", 9> {} rows;
inline constexpr struct cols_dim : mt::dim<"cols", 8> {} cols;
inline constexpr struct rows_2_dim : mt::dim<"rows_2", mt::divided(rows, 2)> {} rows_2;
inline constexpr struct cols_2_dim : mt::dim<"cols_2", mt::divided(cols, 2)> {} cols_2;
inline constexpr struct k_rows_dim : mt::dim<"k_rows", 3> {} k_rows;
inline constexpr struct k_cols_dim : mt::dim<"k_cols", 3> {} k_cols;
inline constexpr struct in_dim : mt::dim<"in", 5> {} in;
inline constexpr struct out_dim : mt::dim<"out", 17> {} out;
inline constexpr struct classes_dim : mt::dim<"classes", 33> {} classes;
struct mesh : mt::mesh<> {};
struct whole : mt::layout<> {};

template <mt::dtype Type>
struct network {
  constexpr void operator()(mt::scope auto s) const {
    constexpr mt::dtype_constant<Type> type;
    auto const x = s.input("x", type, batch, rows, cols, in);
    auto const k = s.input("k", type, k_rows, k_cols, in, out);
    auto const w = s.input("w", type, out, classes);
    mt::window_options const centred{.padding = mt::centred_padding}, halved{.stride = 2, .padding = {1, 1}};
    auto const y = relu(conv(x, k, mt::to(batch, rows, cols, out), mt::window(rows, rows, k_rows, centred),
                             mt::window(cols, cols, k_cols, centred)));
    auto const z = max_pool(y, mt::window(rows, rows_2, 3, halved), mt::window(cols, cols_2, 3, halved));
    auto const scores = einsum(mean(z, rows_2, cols_2), w, mt::to(batch, classes));
    auto const loss = sum(tanh(scores) * scores);
    s.output("loss", loss);
    s.output("dx", gradient(loss, x)), s.output("dk", gradient(loss, k)), s.output("dw", gradient(loss, w));
  }
};

template <class Device, mt::dtype Type>
std::vector<double> outputs() {
  auto const job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<network<Type>, mesh, whole, Device> run(values);
  auto const wave = [](std::size_t count, double step) {
    std::vector<mt::element_t<Type>> all(count);
    for (std::size_t i = 0; i < count; ++i)
      all[i] = static_cast<mt::element_t<Type>>(std::sin(step * static_cast<double>(i)));
    return all;
  };
  auto const result = run(mt::feed<"x">(wave(3 * 9 * 8 * 5, 0.7)), mt::feed<"k">(wave(3 * 3 * 5 * 17, 1.3)),
                          mt::feed<"w">(wave(17 * 33, 2.1)));
  std::vector<double> all{static_cast<double>(result.template get<"loss">())};
  auto const add = [&](auto const& output) {
    for (auto const v : output.gather()) all.push_back(static_cast<double>(v));
  };
  add(result.template get<"dx">()), add(result.template get<"dk">()), add(result.template get<"dw">());
  return all;
}

template <mt::dtype Type>
void check(double tolerance) {
  auto const wanted = outputs<mt::reference_device, Type>(), got = outputs<mt::cpu_device, Type>();
  REQUIRE(got.size() == wanted.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    worst = std::fmax(worst, std::abs(got[i] - wanted[i]) / (1 + std::abs(wanted[i])));
  CHECK(worst < tolerance);
}

}  // namespace

TEST_CASE("what plain loops give") {
  static_assert(std::is_same_v<mt::default_device, mt::reference_device>);
  check<mt::dtype::f32>(1e-4);
  check<mt::dtype::f64>(1e-12);
}
