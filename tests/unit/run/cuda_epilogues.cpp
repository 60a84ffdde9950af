// SPDX-License-Identifier: Apache-2.0
// Products with their epilogues on mt::cuda_device: the library adds a bias and another matrix, or a kernel does behind
// it, and the values are those of plain loops.
// passes: start-up
// part: cuda
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>

#include "meshtensor/device/cuda/device.hpp"
#include "meshtensor/meshtensor.hpp"
#include "meshtensor/pass/fuse/epilogue.hpp"
#include "support/gpu_of_tests.hpp"

namespace mt = meshtensor;

namespace {

using mt::to;
inline constexpr struct text_dim : mt::dim<"text", 5> {} text;
inline constexpr struct place_dim : mt::dim<"place", 4> {} place;
inline constexpr struct from_dim : mt::dim<"from", 12> {} from;
inline constexpr struct head_dim : mt::dim<"head", 3> {} head;
inline constexpr struct part_dim : mt::dim<"part", 8> {} part;
inline constexpr struct twice_dim : mt::dim<"twice", 8> {} twice;
inline constexpr struct parts_axis : mt::axis<"parts"> {} parts;
struct mesh : mt::mesh<parts> {};
struct whole : mt::layout<> {};
struct by_texts : mt::layout<mt::shard<text, parts>> {};
struct by_sums : mt::layout<mt::shard<from, parts>> {};
struct by_columns : mt::layout<mt::shard<part, parts>> {};

template <mt::dtype Type>
struct sums_of_products {
  constexpr void operator()(mt::scope auto s) const {
    constexpr mt::dtype_constant<Type> type{};
    auto const x = s.input("x", type, text, place, from), other = s.input("other", type, text, place, from);
    auto const w = s.input("w", type, from, head, part), v = s.input("v", type, from, head, part);
    auto const bias = s.input("bias", type, head, part);
    auto const narrow = s.input("narrow", type, part);
    auto const more = s.input("more", type, text, place, head, part);
    auto const longer = s.input("longer", type, text, twice, head, part);
    auto const result = to(text, place, head, part);
    auto const first = einsum(x, w, result) + bias;
    s.output("bias", first);
    s.output("both", more + (einsum(x * 2, w, result) + bias));
    s.output("more", einsum(other, w, result) + more * 2);
    s.output("two products", einsum(x * 4, w, result) + einsum(other * 3, v, result));
    s.output("a part", einsum(other * 2, v, result) + slice(longer, twice, place, 2));
    s.output("columns first", einsum(x, w, to(text, place, part, head)) + transpose(bias, to(part, head)));
    s.output("rows last", einsum(x, w, to(head, part, text, place)) + transpose(more, to(head, part, text, place)));
    s.output("some columns", einsum(x, v, result) + narrow);
    auto const used = einsum(x * 3, w, result);
    s.output("used twice", (used + bias) * used);
    s.output("relu", mt::relu(einsum(x, v * 2, result) + bias));
    s.output("batches", einsum(x, more, to(text, from, head, part)) + w);
  }
};
// Of the outputs: those that are joined at all, those with an offset that the library takes, and with another matrix.
constexpr int joined = 8, offsets = 4, sums = 5;

struct outcome {
  std::map<std::string, std::vector<double>> values;
  int joined = 0;
};

template <class Device, mt::dtype Type, class Layout>
outcome outcome_of(int processors, bool broken) {
  using element = mt::element_t<Type>;
  mt::job const job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<sums_of_products<Type>, mesh, Layout, Device> step(values, parts(processors));
  std::uint32_t state = 7;
  auto const draw = [&](std::int64_t n) {
    std::vector<element> all;
    for (std::int64_t i = 0; i < n; ++i) {
      state = state * 1664525u + 1013904223u;
      all.push_back(static_cast<element>(static_cast<float>(static_cast<int>(state >> 8) - (1 << 23)) / (1 << 23)));
    }
    return all;
  };
  auto x = draw(5 * 4 * 12);
  if (broken) x[5] = static_cast<element>(std::numeric_limits<float>::quiet_NaN());
  auto const other = draw(5 * 4 * 12), w = draw(12 * 24), v = draw(12 * 24), bias = draw(24), narrow = draw(8),
             more = draw(20 * 24), longer = draw(40 * 24);
  auto const result =
      step(mt::feed<"x">(x), mt::feed<"other">(other), mt::feed<"w">(w), mt::feed<"v">(v), mt::feed<"bias">(bias),
           mt::feed<"narrow">(narrow), mt::feed<"more">(more), mt::feed<"longer">(longer));
  outcome all;
  auto const keep = [&](char const* name, auto const& output) {
    for (auto e : output) all.values[name].push_back(static_cast<double>(e));
  };
  keep("bias", result.template get<"bias">().gather());
  keep("both", result.template get<"both">().gather());
  keep("more", result.template get<"more">().gather());
  keep("two products", result.template get<"two products">().gather());
  keep("a part", result.template get<"a part">().gather());
  keep("columns first", result.template get<"columns first">().gather());
  keep("rows last", result.template get<"rows last">().gather());
  keep("some columns", result.template get<"some columns">().gather());
  keep("used twice", result.template get<"used twice">().gather());
  keep("relu", result.template get<"relu">().gather());
  keep("batches", result.template get<"batches">().gather());
  for (int i = 0; i < step.graph().node_count; ++i)
    all.joined += mt::epilogue_form_of(step.graph(), step.graph().nodes[i]).found;
  return all;
}

template <mt::dtype Type, class Layout>
int compare(int processors, double tolerance, bool broken = false) {
  outcome const wanted = outcome_of<mt::reference_device, Type, Layout>(processors, broken),
                got = outcome_of<mt::cuda_device, Type, Layout>(processors, broken);
  for (auto const& [name, values] : wanted.values) {
    CAPTURE(name);
    double most = 1, furthest = 0;
    int not_alike = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      double const a = values[i], b = got.values.at(name)[i];
      not_alike += std::isnan(a) != std::isnan(b);
      if (std::isnan(a) || std::isnan(b)) continue;
      most = std::max(most, std::abs(a)), furthest = std::max(furthest, std::abs(a - b));
    }
    CHECK(not_alike == 0);
    CHECK(furthest <= tolerance * most);
  }
  return got.joined;
}

/// The host in place of a GPU, whatever the tests run on.
struct stand_in {
  meshtensor_test::host_gpu gpu;
  stand_in() { mt::cuda::given_gpu() = &gpu; }
  ~stand_in() { mt::cuda::given_gpu() = nullptr; }
};

}  // namespace

TEST_CASE("a bias and another matrix are added by the library of products") {
  meshtensor_test::gpu_of_tests const here;
  CHECK(compare<mt::dtype::f64, whole>(1, 1e-13) == joined);
  compare<mt::dtype::f64, by_texts>(2, 1e-13);
  compare<mt::dtype::f64, by_sums>(2, 1e-13);
  compare<mt::dtype::f64, by_columns>(2, 1e-13);
  compare<mt::dtype::f32, whole>(1, 1e-6);
  compare<mt::dtype::f32, whole>(1, 1e-6, true);  // relu keeps a NaN
  compare<mt::dtype::bf16, by_texts>(3, 0.02);
}

TEST_CASE("epilogues reach the library") {
  stand_in here;
  compare<mt::dtype::f64, whole>(1, 1e-13);
  CHECK(here.gpu.offsets == offsets);
  CHECK(here.gpu.sums == sums);
}

TEST_CASE("without such products, or any, a kernel adds both") {
  for (bool const any : {true, false}) {
    stand_in here;
    here.gpu.has_epilogues = false, here.gpu.has_products = any;
    compare<mt::dtype::f64, by_texts>(2, 1e-13);
    compare<mt::dtype::bf16, whole>(1, 0.02);
    CHECK((here.gpu.products > 0) == any);
    CHECK(here.gpu.offsets + here.gpu.sums == 0);
  }
}

TEST_CASE("a matrix whose lines are further apart than the result's is added where it lies") {
  stand_in here;
  auto const m = mt::on_heap([] { return mt::module{}; });
  mt::cuda::kernel_library kernels;
  mt::cuda::preparation p{*m, here.gpu, kernels};
  mt::cuda::box_copier const copier(p);
  mt::cuda::device_memory const memory(here.gpu, 4096);
  auto const block = [&](int first, int second, std::int64_t rows, std::int64_t columns, std::size_t at) {
    mt::view v{};
    v.type = mt::dtype::f64, v.count = 2, v.data = memory.at() + at * 8;
    v.dim[0] = static_cast<std::uint16_t>(first), v.dim[1] = static_cast<std::uint16_t>(second);
    v.extent[0] = v.total[0] = rows, v.extent[1] = v.total[1] = columns;
    v.densify();
    return v;
  };
  mt::view const a = block(0, 1, 3, 2, 0), b = block(1, 2, 2, 4, 6), c = block(0, 2, 3, 4, 14);
  mt::view added = block(0, 2, 3, 4, 26);
  added.stride[0] = 6;
  int const aligned[] = {8, 8, 8};
  auto const made = mt::cuda::detail::pair_product::make(p, copier, a, b, c, aligned, {nullptr, &added, 8, 8});
  REQUIRE(made.has_value());
  std::vector<double> all(44), got(12);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<double>(i * i % 11);
  here.gpu.upload(memory.at(), all.data(), all.size() * 8);
  mt::cuda::recording to_do;
  auto const at = [](mt::view const& v) { return v.as<std::byte>(); };
  made->record(to_do, {at(a), at(b), at(c), nullptr, at(added)}, nullptr, nullptr);
  to_do.give_to(here.gpu, kernels);
  here.gpu.download(got.data(), at(c), got.size() * 8);
  here.gpu.wait();
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      CHECK(got[i * 4 + j] == all[i * 2] * all[6 + j] + all[i * 2 + 1] * all[10 + j] + all[26 + i * 6 + j]);
}
