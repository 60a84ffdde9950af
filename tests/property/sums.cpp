// SPDX-License-Identifier: Apache-2.0
// Sums keep their digits: along leading, middle, trailing and all dims, of products, gradients and scattered rows, on
// plain loops and on the cpu device, on one and on four processors. Each error is at most a small multiple of
// log2(n) · eps · Σ|x|. Equal numbers are the worst case for terms that are added in a row.
// needs: cpu
// timeout: 600
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "meshtensor/device/default.hpp"
#include "meshtensor/meshtensor.hpp"
#include "property/sample.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct terms : mt::dim<"terms"> {} terms;
inline constexpr struct outer : mt::dim<"outer", 3> {} outer;
inline constexpr struct inner : mt::dim<"inner", 5> {} inner;
inline constexpr struct bins : mt::dim<"bins", 4> {} bins;
inline constexpr struct left : mt::dim<"left", 3> {} left;
inline constexpr struct ranks : mt::axis<"ranks"> {} ranks;

inline constexpr struct image_dim : mt::dim<"image"> {} image;
inline constexpr struct rows_dim : mt::dim<"rows", 80> {} rows;
inline constexpr struct columns_dim : mt::dim<"columns"> {} columns;
inline constexpr struct k_rows_dim : mt::dim<"k_rows", 3> {} k_rows;
inline constexpr struct k_columns_dim : mt::dim<"k_columns", 3> {} k_columns;
inline constexpr struct in_dim : mt::dim<"in", 8> {} in;
inline constexpr struct out_dim : mt::dim<"out", 16> {} out;
inline constexpr struct parts_dim : mt::dim<"parts", mt::divided(columns, 64)> {} parts;

struct mesh : mt::mesh<ranks> {};
struct whole : mt::layout<> {};
struct by_terms : mt::layout<mt::shard<terms, ranks>> {};
struct by_images : mt::layout<mt::shard<image, ranks>> {};

/// Sums over `terms` of x, with that dim first, in the middle, last and alone.
template <mt::dtype Type>
struct sums_of {
  constexpr void operator()(mt::scope auto s) const {
    auto const type = mt::dtype_constant<Type>{};
    auto const line = s.input("line", type, terms);
    auto const first = s.input("rows", type, terms, outer);
    auto const last = s.input("columns", type, left, terms);
    auto const middle = broadcast(line, to(outer, terms, inner));
    auto const bias = s.input("bias", type, outer);
    auto const index = mt::cast<mt::i32>(iota(s, terms, mt::i64) % 4);
    s.output("line", sum(line));
    s.output("mean", mean(line));
    s.output("first", sum(first, terms));
    s.output("middle", sum(middle, terms));
    s.output("last", sum(last, terms));
    s.output("all", sum(middle));
    s.output("norm", sum(line * line));
    s.output("product", einsum(line, line, to()));
    s.output("of each", einsum(first, first, to(outer)));
    s.output("of all", einsum(middle, last, to(outer, inner, left)));
    s.output("gradient", gradient(sum(first * bias), bias));
    s.output("scattered", scatter_add(line, index * 0, bins, to(bins)));
    s.output("in bins", scatter_add(first, index, bins, to(bins, outer)));
    s.output("cumulative", max(cumulative_sum(abs(line), terms)));
  }
};

/// Of a long line alone.
struct sums_of_line {
  constexpr void operator()(mt::scope auto s) const {
    auto const line = s.input("line", mt::f32, terms);
    s.output("line", sum(line));
    s.output("mean", mean(line));
    s.output("product", einsum(line, line, to()));
    s.output("norm", sum(line * line));
  }
};

/// The sum of f64 terms, to the last bit for our purposes.
struct exact_sum {
  long double sum = 0, error = 0;
  void add(long double x) {
    long double const next = sum + x, added = next - sum;
    error += (sum - (next - added)) + (x - added), sum = next;
  }
  double value() const { return static_cast<double>(sum + error); }
};

enum class numbers : std::uint8_t { equal, random, one_large, cancelling };

template <class E>
std::vector<E> draw(numbers how, std::int64_t n, std::mt19937_64& from) {
  std::vector<E> x(static_cast<std::size_t>(n));
  double const value = 0.05 + std::uniform_real_distribution<>(0, 1)(from);
  std::uniform_real_distribution<> between(-0.5, 1);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = E(static_cast<float>(how == numbers::equal       ? value
                                : how == numbers::random    ? between(from)
                                : how == numbers::one_large ? (i == 0 ? 1 : 0x1p-24)
                                                            : (i % 2 == 0 ? 1 + value : -1)));
  return x;
}

/// The largest error of an output, in log2(n) · eps · Σ|x|.
template <mt::dtype Type, class Layout, class Device>
std::map<std::string, double> errors_of(std::int64_t n, int processors, std::vector<mt::element_t<Type>> const& x) {
  using E = mt::element_t<Type>;
  auto job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<sums_of<Type>, mesh, Layout, Device> step(values, terms(n), ranks(processors));
  std::vector<E> first, last;
  for (E v : x) first.insert(first.end(), 3, v);
  for (int i = 0; i < 3; ++i) last.insert(last.end(), x.begin(), x.end());
  auto const result = step(mt::feed<"line">(x), mt::feed<"rows">(first), mt::feed<"columns">(last),
                           mt::feed<"bias">(std::vector<E>(3, E(1))));
  exact_sum all, size, squares, some[4], sizes[4];
  for (std::size_t i = 0; i < x.size(); ++i) {
    auto const v = static_cast<double>(x[i]);
    all.add(v), size.add(std::abs(v)), squares.add(v * v);
    some[i % 4].add(v), sizes[i % 4].add(std::abs(v));
  }
  double const eps = Type == mt::dtype::f64 ? 0x1p-52 : Type == mt::dtype::f32 ? 0x1p-23 : 0x1p-8;
  double const unit = std::log2(static_cast<double>(n)) * eps;
  std::map<std::string, double> errors;
  auto const note = [&](char const* name, auto const& output, auto wanted, auto scale) {
    std::size_t i = 0;
    double& worst = errors[name];
    auto const one = [&](auto v) {
      worst = std::max(worst, std::abs(static_cast<double>(v) - wanted(i)) / (unit * scale(i))), ++i;
    };
    if constexpr (requires { output.gather(); })
      for (auto v : output.gather()) one(v);
    else one(static_cast<E>(output));
    CHECK(i > 0);
  };
  auto const same = [](double v) { return [v](std::size_t) { return v; }; };
  auto const given = [&](char const* name, auto const& output, double wanted, double scale) {
    note(name, output, same(wanted), same(scale));
  };
  double const sum = all.value(), of = size.value();
  given("line", result.template get<"line">(), sum, of);
  given("mean", result.template get<"mean">(), sum / static_cast<double>(n), of / static_cast<double>(n));
  given("first", result.template get<"first">(), sum, of);
  given("middle", result.template get<"middle">(), sum, of);
  given("last", result.template get<"last">(), sum, of);
  given("all", result.template get<"all">(), 15 * sum, 15 * of);
  given("norm", result.template get<"norm">(), squares.value(), squares.value());
  given("product", result.template get<"product">(), squares.value(), squares.value());
  given("of each", result.template get<"of each">(), squares.value(), squares.value());
  given("of all", result.template get<"of all">(), squares.value(), squares.value());
  given("gradient", result.template get<"gradient">(), sum, of);
  given("cumulative", result.template get<"cumulative">(), of, of);
  note("scattered", result.template get<"scattered">(), [&](std::size_t i) { return i == 0 ? sum : 0; }, same(of));
  note(
      "in bins", result.template get<"in bins">(), [&](std::size_t i) { return some[i / 3].value(); },
      [&](std::size_t i) { return sizes[i / 3].value(); });
  return errors;
}

/// A sum adds 32 terms in a row, then 32 such sums: 31 / 5 / 2 of the unit. Libraries add up to 4096 products in a row,
/// where equal numbers lose up to 512 eps.
double most_of(std::string const& name) {
  bool const by_libraries =
      name == "product" || name == "of each" || name == "of all" || name == "kernel" || name == "depthwise";
  return by_libraries ? 48 : 3.2;
}

/// The largest error of each sum in the whole test.
std::map<std::string, double>& largest() {
  static std::map<std::string, double> all;
  return all;
}
/// How many sums were judged.
long& tried() {
  static long count = 0;
  return count;
}
void judge(std::string const& what, char const* where, std::map<std::string, double> const& errors) {
  for (auto const& [name, error] : errors) {
    ++tried();
    CHECK_MESSAGE(error <= most_of(name), name << " of " << what << ", " << where << ": " << error);
    double& most = largest()[std::string(where) + ", " + name];
    most = std::max(most, error);
  }
}
void print_largest() {
  std::string text;
  for (auto const& [name, error] : largest()) text += "\n" + name + ": " + std::to_string(error);
  MESSAGE("the largest errors, in log2(n) eps sum(|x|):" << text);
}

template <mt::dtype Type>
void check(std::int64_t n, numbers how, std::mt19937_64& from) {
  auto const x = draw<mt::element_t<Type>>(how, n, from);
  std::string const what =
      std::to_string(n) + " " + mt::text_of(Type) + ", numbers " + std::to_string(static_cast<int>(how));
  auto const one = [&](char const* where, auto const& errors) { judge(what, where, errors); };
  one("plain loops", errors_of<Type, whole, mt::reference_device>(n, 1, x));
  one("plain loops on four", errors_of<Type, by_terms, mt::reference_device>(n, 4, x));
  one("cpu device", errors_of<Type, whole, mt::default_device>(n, 1, x));
  one("cpu device on four", errors_of<Type, by_terms, mt::default_device>(n, 4, x));
}

template <class Layout, class Device>
std::map<std::string, double> errors_of_line(std::vector<float> const& x, int processors) {
  auto job = mt::job::in_lockstep();
  mt::store values(job);
  auto const n = static_cast<double>(x.size());
  mt::executable<sums_of_line, mesh, Layout, Device> step(values, terms(std::ssize(x)), ranks(processors));
  auto const result = step(mt::feed<"line">(x));
  exact_sum all, size, squares;
  for (double v : x) all.add(v), size.add(std::abs(v)), squares.add(v * v);
  double const unit = std::log2(n) * 0x1p-23, sum = all.value(), of = size.value(), square = squares.value();
  auto const error = [&](double got, double wanted, double scale) { return std::abs(got - wanted) / (unit * scale); };
  return {{"line", error(static_cast<float>(result.template get<"line">()), sum, of)},
          {"mean", error(static_cast<float>(result.template get<"mean">()) * n, sum, of)},
          {"product", error(static_cast<float>(result.template get<"product">()), square, square)},
          {"norm", error(static_cast<float>(result.template get<"norm">()), square, square)}};
}

/// Gradients of kernels, which are sums over all places of all images, and pools with large windows. All numbers of an
/// operand are equal.
struct convolutions {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, image, rows, columns, in);
    auto const dy = s.input("dy", mt::f32, image, rows, columns, out);
    auto const dz = s.input("dz", mt::f32, image, rows, columns, in);
    auto const kernel = s.input("kernel", mt::f32, k_rows, k_columns, in, out);
    auto const each = s.input("each", mt::f32, k_rows, k_columns, in);
    auto const down = mt::window(rows, rows, k_rows, {.padding = mt::centred_padding});
    auto const beside = mt::window(columns, columns, k_columns, {.padding = mt::centred_padding});
    auto const y = conv(x, kernel, to(image, rows, columns, out), down, beside);
    auto const z = conv(x, each, to(image, rows, columns, in), down, beside);
    s.output("kernel", gradient(sum(y * dy), kernel));
    s.output("depthwise", gradient(sum(z * dz), each));
    s.output("pool", sum_pool(sum(x, rows), mt::window(columns, parts, 64, {.stride = 64})));
  }
};

template <class Layout, class Device>
std::map<std::string, double> errors_of_convolutions(std::int64_t images, std::int64_t width, int processors, float x,
                                                     float dy) {
  auto job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<convolutions, mesh, Layout, Device> step(values, image(images), columns(width), ranks(processors));
  auto const places = static_cast<std::size_t>(images * 80 * width);
  auto const result =
      step(mt::feed<"x">(std::vector<float>(places * 8, x)), mt::feed<"dy">(std::vector<float>(places * 16, dy)),
           mt::feed<"dz">(std::vector<float>(places * 8, dy)), mt::feed<"kernel">(std::vector<float>(9 * 8 * 16, 1)),
           mt::feed<"each">(std::vector<float>(9 * 8, 1)));
  std::map<std::string, double> errors;
  auto const note = [&](char const* name, auto const& output, auto wanted) {
    std::size_t i = 0;
    double& worst = errors[name];
    for (float v : output) {
      double const exact = wanted(i++), unit = std::log2(static_cast<double>(places)) * 0x1p-23 * exact;
      worst = std::max(worst, std::abs(static_cast<double>(v) - exact) / unit);
    }
    CHECK(i > 0);
  };
  // How many places of all images see an element of a kernel, beside the padding.
  auto const seen = [&](std::size_t row, std::size_t column) {
    return static_cast<double>(images * (row == 1 ? 80 : 79) * (column == 1 ? width : width - 1));
  };
  double const term = static_cast<double>(x) * dy;
  note("kernel", result.template get<"kernel">().gather(),
       [&](std::size_t i) { return term * seen(i / (3 * 8 * 16), i / (8 * 16) % 3); });
  note("depthwise", result.template get<"depthwise">().gather(),
       [&](std::size_t i) { return term * seen(i / (3 * 8), i / 8 % 3); });
  note("pool", result.template get<"pool">().gather(), [&](std::size_t) { return 64.0 * 80 * x; });
  return errors;
}

}  // namespace

TEST_CASE("gradients of kernels keep their digits") {
  std::mt19937_64 from(property::sample_number());
  std::uniform_real_distribution<float> between(0.05f, 1);
  for (auto const& [images, width] : {std::pair(2, 128), std::pair(6, 64), std::pair(2, 1024)}) {
    float const x = between(from), dy = between(from);
    std::string const what = std::to_string(images) + " images of 80 x " + std::to_string(width);
    judge(what, "cpu device", errors_of_convolutions<whole, mt::default_device>(images, width, 1, x, dy));
    judge(what, "cpu device on two", errors_of_convolutions<by_images, mt::default_device>(images, width, 2, x, dy));
    if (width == 64)
      judge(what, "plain loops", errors_of_convolutions<whole, mt::reference_device>(images, width, 1, x, dy));
  }
  print_largest();
}

TEST_CASE("a line of millions of numbers") {
  std::mt19937_64 from(property::sample_number());
  auto const n = std::uniform_int_distribution<std::int64_t>(1 << 23, 1 << 24)(from);
  for (numbers how : {numbers::equal, numbers::one_large}) {
    auto const x = draw<float>(how, n, from);
    std::string const what = std::to_string(n) + ", numbers " + std::to_string(static_cast<int>(how));
    judge(what, "plain loops", errors_of_line<whole, mt::reference_device>(x, 1));
    judge(what, "cpu device", errors_of_line<whole, mt::default_device>(x, 1));
    judge(what, "cpu device on four", errors_of_line<by_terms, mt::default_device>(x, 4));
  }
  print_largest();
}

TEST_CASE("sums keep their digits") {
  std::mt19937_64 from(property::sample_number());
  for (numbers how : {numbers::equal, numbers::random, numbers::one_large, numbers::cancelling}) {
    check<mt::dtype::f32>(std::uniform_int_distribution<>(2, 5000)(from), how, from);
    check<mt::dtype::f32>(std::uniform_int_distribution<>(1 << 17, 1 << 18)(from), how, from);
    check<mt::dtype::bf16>(std::uniform_int_distribution<>(2, 1 << 16)(from), how, from);
    check<mt::dtype::f64>(std::uniform_int_distribution<>(2, 1 << 16)(from), how, from);
  }
  print_largest();
  property::at_least(900, tried());
}
