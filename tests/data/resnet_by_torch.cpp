// SPDX-License-Identifier: Apache-2.0
// The example ResNet-18, of width 8 on images of 33 x 33 and of 32 x 32, beside torchvision's from the same weights in
// f64: a loss, every gradient, the running averages behind it, and logits of an evaluation, as
// tests/data/resnet_by_torch.py has recorded them; on one processor, and on several that share batch and rows unevenly.
//
// passes: start-up
// needs: cpu
#include "../../examples/resnet/programs.hpp"
#include "../../examples/resnet/torch_names.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "meshtensor/device/default.hpp"
#include "support/source_path.hpp"

namespace mt = meshtensor;

namespace {

/// Against the gradient by its whole length: what a parameter loses is its gradient.
struct descend {
  constexpr void operator()(mt::scope auto s) const {
    auto const [images, labels, counts] = resnet::images_of(s, resnet::batch);
    auto const each = mt::cast<s.compute>(counts);
    auto const loss = resnet::nats_of<resnet::basic>(s / "model", images, labels, each) / sum(each);
    mt::sgd{.learning_rate = 1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct judge {
  constexpr void operator()(mt::scope auto s) const {
    auto const images = s.input("images", mt::f32, resnet::batch, resnet::rows, resnet::cols, resnet::color);
    s.output("logits", resnet::logits_of<resnet::basic>(s / "model", mt::cast<s.compute>(images), resnet::evaluating));
  }
};
struct descend_f64 : mt::precision<descend, mt::f64> {};
struct judge_f64 : mt::precision<judge, mt::f64> {};

struct sums {
  double norm = 0, by_pattern = 0;
};
std::map<std::string, sums> read(std::int64_t wanted) {
  std::ifstream file(meshtensor_test::source_path(__FILE__).replace_extension(".txt"));
  REQUIRE(file.good());
  std::map<std::string, sums> all;
  std::int64_t size = 0;
  std::string kind, name;
  sums s;
  while (file >> size >> kind >> name >> s.norm >> s.by_pattern)
    if (size == wanted) all[kind + " " + name] = s;
  REQUIRE(all.size() == 104);
  return all;
}

double pattern(int place, std::int64_t i) {
  return std::sin(0.7 * place + 1.3 * static_cast<double>(i) +
                  0.01 * static_cast<double>(i % 97) * static_cast<double>(i % 89));
}
int place_of(std::string const& name) {
  int sum = 0;
  for (char const c : name) sum += static_cast<unsigned char>(c);
  return sum % 101;
}
sums sums_of(std::string const& name, double const* values, std::int64_t count) {
  double squares = 0, product = 0;
  for (std::int64_t i = 0; i < count; ++i)
    squares += values[i] * values[i], product += values[i] * pattern(place_of(name) + 1, i);
  return {std::sqrt(squares), product};
}

/// A value with its dims in torchvision's order; behind the number of the tensor, if it is several there.
mt::any_array<double> in_their_order(mt::any_array<double> const& a, mt::tensor_name const& n) {
  std::vector<mt::name> order;
  if (!n.along.empty()) order.push_back(mt::name::of(n.along));
  for (std::string const& d : n.dims) order.push_back(mt::name::of(d));
  return a.ordered(order);
}
/// Calls use(tensor, elements, count, elements behind an index of the first dim) for each tensor that a value is there.
void for_each_tensor(mt::any_array<double>& a, mt::tensor_name const& n, auto const& use) {
  std::int64_t const parts = n.along.empty() ? 1 : a.dims()[0].extent, count = a.size() / parts;
  std::int64_t const of_output = count / a.dims()[n.along.empty() ? 0 : 1].extent;
  for (std::int64_t part = 0; part < parts; ++part) {
    std::string tensor = n.tensor;
    if (!n.along.empty()) tensor.replace(tensor.find("{}"), 2, std::to_string(n.first + part));
    use(tensor, a.data() + part * count, count, of_output);
  }
}

void set_weights(mt::store& weights, mt::tensor_names const& names) {
  for (mt::tensor_name const& n : names) {
    auto values = in_their_order(weights.get<double>(n.value), n);
    bool const is_kernel = n.value.ends_with("kernel");
    double const around = n.value.ends_with("gain") || n.value.ends_with("variance") ? 1 : 0;
    for_each_tensor(values, n, [&](std::string const& tensor, double* to, std::int64_t count, std::int64_t of_output) {
      double const scale = is_kernel ? 2 / std::sqrt(static_cast<double>(of_output)) : 0.2;
      for (std::int64_t i = 0; i < count; ++i) to[i] = around + scale * pattern(place_of(tensor), i);
    });
    weights.set(n.value, values);
  }
}

/// The largest part of a sum that rounding may have changed is in proportion to the norm.
void check_same(sums const& got, sums const& wanted) {
  CHECK(std::abs(got.norm - wanted.norm) < 1e-8 * wanted.norm);
  CHECK(std::abs(got.by_pattern - wanted.by_pattern) < 1e-8 * wanted.norm);
}

void same_as_torch(std::int64_t on_data, std::int64_t on_rows, std::int64_t size) {
  auto const torch = read(size);
  resnet::options o;
  o.depth = 18, o.width = 8, o.size = size;
  o.mesh["data"] = on_data, o.mesh["rows"] = on_rows;
  std::vector<float> pixels(static_cast<std::size_t>(4 * size * size * 3)), counts(4, 1);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<float>(pattern(3, static_cast<std::int64_t>(i)));
  std::vector<std::int32_t> const labels{0, 3, 6, 9};

  auto const job = mt::job::as_threads();
  mt::store weights(job);
  auto const given = resnet::sizes<resnet::basic>(o, 10, resnet::batch(4));
  auto const judging =
      resnet::made<mt::executable<judge_f64, resnet::mesh, resnet::layout, mt::default_device>>(weights, given);
  auto const names = resnet::torch_names(o, "model").all();
  set_weights(weights, names);
  auto const logits = (*judging)(mt::feed<"images">(pixels)).template get<"logits">().gather();
  check_same(sums_of("logits", logits.data(), logits.size()), torch.at("logits logits"));

  auto const step =
      resnet::made<mt::executable<descend_f64, resnet::mesh, resnet::layout, mt::default_device>>(weights, given);
  set_weights(weights, names);
  std::map<std::string, mt::any_array<double>> before;
  for (mt::tensor_name const& n : names) before.emplace(n.value, weights.get<double>(n.value));
  auto const result = (*step)(mt::feed<"images">(pixels), mt::feed<"labels">(labels), mt::feed<"counts">(counts));
  double const loss = result.template get<"loss">();
  check_same(sums_of("loss", &loss, 1), torch.at("loss loss"));
  for (mt::tensor_name const& n : names) {
    bool const is_running = n.value.ends_with("mean") || n.value.ends_with("variance");
    auto after = weights.get<double>(n.value);
    if (!is_running)
      for (std::int64_t i = 0; i < after.size(); ++i) after.data()[i] = before.at(n.value).data()[i] - after.data()[i];
    auto values = in_their_order(after, n);
    for_each_tensor(values, n, [&](std::string const& tensor, double const* from, std::int64_t count, std::int64_t) {
      INFO(tensor);
      check_same(sums_of(tensor, from, count), torch.at((is_running ? "running " : "gradient ") + tensor));
    });
  }
}

}  // namespace

TEST_CASE("on one processor") { same_as_torch(1, 1, 33); }
TEST_CASE("on four, uneven rows") { same_as_torch(2, 2, 33); }
TEST_CASE("on three, an uneven batch") { same_as_torch(3, 1, 33); }
TEST_CASE("on one processor, even rows: a stride of 2 leaves out the padding behind") { same_as_torch(1, 1, 32); }
TEST_CASE("on three that share even rows") { same_as_torch(1, 3, 32); }
