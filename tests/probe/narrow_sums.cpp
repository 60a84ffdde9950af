// SPDX-License-Identifier: Apache-2.0
// Texts for devices without f64: statistics of f32 and bf16, whole and in parts, have the digits of f64. Run on the
// PJRT plugin for processors.
// passes: start-up
// sanitize: no
// part: pjrt
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "meshtensor/device/pjrt/device.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/pjrt.hpp"

namespace mt = meshtensor;
namespace pjrt = mt::pjrt;

namespace {

inline constexpr struct batch : mt::dim<"batch", 12> {} batch;
inline constexpr struct rows : mt::dim<"rows", 40> {} rows;
inline constexpr struct cols : mt::dim<"cols", 36> {} cols;
inline constexpr struct channel : mt::dim<"channel", 4> {} channel;
inline constexpr struct groups : mt::dim<"groups", 2> {} groups;
inline constexpr struct in_group : mt::dim<"in_group", 2> {} in_group;
inline constexpr struct one_side : mt::dim<"one_side", 8> {} one_side;
inline constexpr struct other_side : mt::dim<"other_side", 8> {} other_side;
inline constexpr struct examples : mt::dim<"examples", 4096> {} examples;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct by_batch : mt::layout<mt::shard<batch, data>, mt::shard<examples, data>> {};

constexpr mt::nn::batch_norm_options only_this_batch{.momentum = 1};

/// Norms whose states are the statistics of one batch.
template <mt::dtype T>
struct normed {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::dtype_constant<T>{}, batch, rows, cols, channel);
    s.output("y", mt::cast<mt::dtype::f32>(mt::nn::batch_norm(s / "norm", x, channel, only_this_batch)));
  }
};
struct normed_rows {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, examples, channel);
    s.output("y", mt::nn::batch_norm(s / "norm", x, channel, only_this_batch));
  }
};
struct normed_groups {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, rows, cols, channel);
    s.output("y", mt::nn::group_norm(s / "norm", x, channel, mt::to(groups, in_group), rows, cols));
  }
};
/// Sums of products of two tensors, one of which lacks a dim, and of a tensor that has infinite elements.
struct multiplied {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, rows, cols, channel);
    auto const y = max(x, rows) * 2 + 1;
    auto const wide_x = mt::cast<mt::dtype::f64>(x);
    auto const wide_y = mt::cast<mt::dtype::f64>(y);
    s.output("product", sum(wide_x * wide_y, batch, rows, cols));
    s.output("infinite", sum(mt::cast<mt::dtype::f64>(1 / (x - x)), batch));
    s.output("all", sum(wide_x));
  }
};

/// Sums of a tensor along two dims of one extent; for the second the dims are in the other order.
struct summed_twice {
  constexpr void operator()(mt::scope auto s) const {
    auto const wide_x = mt::cast<mt::dtype::f64>(s.input("x", mt::f32, one_side, other_side));
    auto const wide_y = mt::cast<mt::dtype::f64>(s.input("y", mt::f32, other_side, one_side));
    s.output("first", sum(wide_x, one_side));
    s.output("second", sum(wide_y * wide_x, other_side));
  }
};

/// Numbers with this mean and deviation, other ones in each channel.
std::vector<float> drawn(std::int64_t count, double mean, double deviation) {
  std::vector<float> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i) {
    double const wave = std::sin(0.7 * static_cast<double>(i * i % 100'003)) * std::numbers::sqrt2;
    all[i] = static_cast<float>(mean * (1 + static_cast<double>(i % 4)) + deviation * wave);
  }
  return all;
}

using results = std::map<std::string, std::vector<double>>;

/// What a program gives on so many devices that each have a part of the batch: the outputs and the variables. Outputs
/// that have the batch are those of the first device.
template <class Program, class E = float>
results run(std::vector<float> const& x, int devices, mt::stablehlo_options const& how) {
  auto const traced = mt::on_heap([] { return mt::trace<Program>(); });
  mt::mesh_shape shape = mesh::shape;
  shape.bind(data(devices));
  auto const l = mt::lower(*traced, mt::entry_name<Program>(), shape, by_batch::rules, {});
  auto const whole = mt::stablehlo(l->graph, l->entry, l->planned.numbers, shape, how);
  auto const type_of = [&](mt::stablehlo_port const& p) {
    mt::value const& v = l->graph.values[p.value];
    pjrt::tensor_type t{pjrt::element_of(v.type), {}, static_cast<std::size_t>(l->planned.numbers.local_bytes(v))};
    for (int i = 0; i < v.dims.count; ++i) t.dims.push_back(l->planned.numbers.local(v, i));
    return std::make_shared<pjrt::tensor_type>(std::move(t));
  };
  auto const name_of = [&](mt::stablehlo_port const& p) {
    return p.kind == mt::stablehlo_port::variable ? mt::path_text(l->graph, l->graph.variables[p.row].path)
                                                  : mt::label_of_output(l->graph, l->graph.nodes[p.row]);
  };
  std::vector<pjrt::shared_type> arguments, given;
  for (auto const& p : whole.arguments) arguments.push_back(type_of(p));
  for (auto const& p : whole.results) given.push_back(type_of(p));
  auto& client = pjrt::device_client::of_file(std::getenv("MESHTENSOR_PJRT"));
  pjrt::loaded_program const program(client, whole.text, static_cast<std::size_t>(devices), arguments, given);
  std::vector<std::vector<pjrt::held_tensor>> held(static_cast<std::size_t>(devices));
  std::vector<std::vector<pjrt::buffer*>> buffers(held.size());
  std::vector<E> const elements(x.begin(), x.end());
  for (std::size_t k = 0; k < held.size(); ++k)
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      std::vector<float> const ones(arguments[i]->bytes / 4, 1);
      bool const is_x = whole.arguments[i].kind == mt::stablehlo_port::input;
      void const* const from = is_x ? static_cast<void const*>(elements.data() + k * elements.size() / held.size())
                                    : static_cast<void const*>(ones.data());
      buffers[k].push_back(held[k].emplace_back(program.upload(i, k, from)).handle());
    }
  auto const made = program.run(buffers);
  results all;
  for (std::size_t i = 0; i < given.size(); ++i) {
    std::vector<char> bytes(given[i]->bytes);
    made[0][i].copy_to(bytes.data());
    std::vector<double>& to = all[name_of(whole.results[i])];
    auto const read = [&]<class R>(R) {
      for (std::size_t k = 0; k * sizeof(R) < bytes.size(); ++k) {
        R number;
        std::memcpy(&number, bytes.data() + k * sizeof(R), sizeof(R));
        to.push_back(static_cast<double>(number));
      }
    };
    if (given[i]->type == pjrt::element::f64) read(double{});
    else read(float{});
  }
  return all;
}

/// The mean and the variance, with n - 1 as the divisor, of a channel.
std::pair<double, double> moments(std::vector<double> const& x, std::size_t channel_index) {
  double mean = 0, variance = 0, count = static_cast<double>(x.size() / 4);
  for (std::size_t i = channel_index; i < x.size(); i += 4) mean += x[i] / count;
  for (std::size_t i = channel_index; i < x.size(); i += 4) variance += (x[i] - mean) * (x[i] - mean) / (count - 1);
  return {mean, variance};
}
template <class Program, class E = float>
void check_statistics(std::int64_t count, double mean, double deviation) {
  std::vector<float> const x = drawn(count, mean, deviation);
  std::vector<double> rounded;
  for (float const one : x) rounded.push_back(static_cast<double>(E(one)));
  auto const f64 = run<Program, E>(x, 1, {});
  for (int devices : {1, 2, 4}) {
    CAPTURE(devices);
    auto const got = run<Program, E>(x, devices, {.has_f64 = false});
    for (std::size_t c = 0; c < 4; ++c) {
      auto const [centre, variance] = moments(rounded, c);
      CAPTURE(centre);
      CHECK(got.at("norm/mean")[c] == doctest::Approx(centre).epsilon(1e-7));
      CHECK(std::abs(got.at("norm/variance")[c] / variance - 1) < 1e-6);
    }
    double worst = 0;
    for (std::size_t i = 0; i < got.at("y").size(); ++i)
      worst = std::max(worst, std::abs(got.at("y")[i] - f64.at("y")[i]));
    CHECK(worst < (std::is_same_v<E, float> ? 1e-5 : 4e-2));
  }
}

}  // namespace

TEST_CASE("means far from zero cost no digits of a batch's statistics") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  constexpr std::int64_t images = 12 * 40 * 36 * 4;
  check_statistics<normed<mt::dtype::f32>>(images, 100, 0.1);
  check_statistics<normed<mt::dtype::f32>>(images, 0, 3);
  check_statistics<normed<mt::dtype::f32>>(images, -1000, 1);
  check_statistics<normed<mt::dtype::bf16>, mt::bf16_t>(images, 10, 0.5);
  check_statistics<normed_rows>(4096 * 4, 100, 0.1);
}

TEST_CASE("statistics of groups, products of two tensors, and infinite elements") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  std::vector<float> const x = drawn(12 * 40 * 36 * 4, 30, 0.2);
  for (int devices : {1, 2}) {
    CAPTURE(devices);
    auto const wanted = run<normed_groups>(x, devices, {}), got = run<normed_groups>(x, devices, {.has_f64 = false});
    for (std::size_t i = 0; i < got.at("y").size(); i += 7) CHECK(std::abs(got.at("y")[i] - wanted.at("y")[i]) < 2e-5);
    auto const sums = run<multiplied>(x, devices, {}), parts = run<multiplied>(x, devices, {.has_f64 = false});
    for (char const* name : {"product", "all", "infinite"})
      for (std::size_t i = 0; i < sums.at(name).size(); ++i) {
        double const a = sums.at(name)[i], b = parts.at(name)[i];
        CHECK((a == b || std::abs(b / a - 1) < 1e-8));
      }
    CHECK(std::isinf(parts.at("infinite")[0]));
  }
}

TEST_CASE("one element that is far from all others costs no digits") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  for (std::size_t at : {0, 4 * 7'901, 4 * 17'279}) {
    std::vector<float> x = drawn(12 * 40 * 36 * 4, 0, 0.01);
    x[at] = 1000;
    CAPTURE(at);
    auto const got = run<normed<mt::dtype::f32>>(x, 1, {.has_f64 = false});
    std::vector<double> const exact(x.begin(), x.end());
    CHECK(std::abs(got.at("norm/variance")[0] / moments(exact, 0).second - 1) < 1e-6);
  }
}

TEST_CASE("sums of a tensor whose dims are in another order") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  std::vector<float> const x = drawn(8 * 8, 30, 0.2);
  auto const sums = run<summed_twice>(x, 1, {}), parts = run<summed_twice>(x, 1, {.has_f64 = false});
  for (char const* name : {"first", "second"})
    for (std::size_t i = 0; i < 8; ++i) CHECK(parts.at(name)[i] == doctest::Approx(sums.at(name)[i]).epsilon(1e-6));
}
