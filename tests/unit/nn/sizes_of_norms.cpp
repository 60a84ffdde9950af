// SPDX-License-Identifier: Apache-2.0
// Norms of huge and of tiny values are those of usual ones, forward and backward, in each dtype of floats, on both
// devices of processors, with each dim over processors; a running variance that its dtype cannot hold is told of.
//
// needs: cpu
// timeout: 300
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "meshtensor/device/default.hpp"
#include "meshtensor/device/reference.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch_dim : mt::dim<"batch", 6> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 6> {} length;
inline constexpr struct model_dim : mt::dim<"model", 6> {} model;
inline constexpr struct groups_dim : mt::dim<"groups", 3> {} groups;
inline constexpr struct in_group_dim : mt::dim<"in_group", 2> {} in_group;
inline constexpr struct data_axis : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct whole : mt::layout<> {};
struct over_batch : mt::layout<mt::shard<batch, data>> {};
struct over_length : mt::layout<mt::shard<length, data>> {};
struct over_model : mt::layout<mt::shard<model, data>, mt::shard<groups, data>> {};

constexpr int line_of_batch = __LINE__ + 14;
enum class norms { all, of_batch, of_examples };

/// Norms of x, and the gradients by x of weighed sums of them. Only a batch norm can be without an epsilon, and squares
/// of tiny values do not count beside one.
template <mt::dtype T, norms Which>
struct normed {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::dtype_constant<T>{}, batch, length, model);
    auto const w = s.input("w", mt::dtype_constant<T>{}, batch, length, model);
    auto const give = [&](mt::named_here const& label, mt::named_here const& gradient_label, auto const& y) {
      s.output(label, y), s.output(gradient_label, gradient(sum(y * w), x));
    };
    if constexpr (Which != norms::of_examples)
      give("batch", "d batch", mt::nn::batch_norm(s / "batch", x, model, mt::nn::batch_norm_options{.epsilon = 0}));
    if constexpr (Which != norms::of_batch) {
      give("layer", "d layer", mt::nn::layer_norm(s / "layer", x, model));
      give("rms", "d rms", mt::nn::rms_norm(s / "rms", x, model));
      give("group", "d group", mt::nn::group_norm(s / "group", x, model, to(groups, in_group), length));
      give("instance", "d instance", mt::nn::instance_norm(s / "instance", x, model, length));
    }
  }
};
template <mt::dtype T, norms Which>
struct precise : mt::precision<normed<T, Which>, T == mt::dtype::f64 ? mt::dtype::f64 : mt::dtype::f32, T> {};

/// The results for x times `factor`; the gradients by x times `factor`, too, are those by x.
template <mt::dtype T, norms Which, class Layout, class Device>
std::vector<std::vector<double>> results(double factor, std::int64_t processors, bool checked = false) {
  using element = mt::element_t<T>;
  auto const job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<precise<T, Which>, mesh, Layout, Device> step(values, data(processors));
  if (checked) step.check_numerics();
  std::vector<element> x, w;
  for (int i = 0; i < 216; ++i) {
    auto const one = static_cast<float>(std::round(std::sin(i * i * 0.31 + i) * 96) / 64 + 0.5);  // exact in bf16
    x.push_back(static_cast<element>(static_cast<double>(one) * factor));
    w.push_back(static_cast<element>(static_cast<float>(i * 5 % 7 - 3)));
  }
  auto const all = step(mt::feed<"x">(x), mt::feed<"w">(w));
  std::vector<std::vector<double>> found;
  auto const keep = [&](auto const& of, double scale) {
    std::vector<double>& to = found.emplace_back();
    for (element const e : of.gather()) to.push_back(static_cast<double>(e) * scale);
  };
  if constexpr (Which != norms::of_examples)
    keep(all.template get<"batch">(), 1), keep(all.template get<"d batch">(), factor);
  if constexpr (Which != norms::of_batch) {
    keep(all.template get<"layer">(), 1), keep(all.template get<"d layer">(), factor);
    keep(all.template get<"rms">(), 1), keep(all.template get<"d rms">(), factor);
    keep(all.template get<"group">(), 1), keep(all.template get<"d group">(), factor);
    keep(all.template get<"instance">(), 1), keep(all.template get<"d instance">(), factor);
  }
  return found;
}

/// Results beside those in f64 of values beside which the epsilon does not count.
template <mt::dtype T, class Layout, class Device, norms Which = norms::all>
void compare(double factor, std::int64_t processors, double tolerance) {
  static auto const wanted = results<mt::dtype::f64, Which, whole, mt::reference_device>(0x1p30, 1);
  INFO("factor " << factor << ", " << processors << " processors");
  auto const found = results<T, Which, Layout, Device>(factor, processors);
  REQUIRE(found.size() == wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    double worst = 0, most = 0;
    for (std::size_t i = 0; i < wanted[k].size(); ++i) {
      double const apart = std::abs(found[k][i] - wanted[k][i]);
      worst = apart <= worst ? worst : apart;  // a nan is the worst
      most = std::max(most, std::abs(wanted[k][i]));
    }
    INFO("result " << k);
    CHECK(most > 0.5);
    CHECK(worst <= tolerance * most);
  }
}

}  // namespace

TEST_CASE("norms of huge values") {
  for (double const factor : {0x1p47, 0x1p49, 0x1p62, 0x1p64, 1e25, 1e35}) {
    compare<mt::dtype::f32, whole, mt::reference_device>(factor, 1, 2e-6);
    compare<mt::dtype::f32, whole, mt::cpu_device>(factor, 1, 2e-6);
    compare<mt::dtype::bf16, whole, mt::reference_device>(factor, 1, 0.04);
  }
  for (double const factor : {1e25, 0x1p399, 0x1p401, 1e200, 1e300})
    compare<mt::dtype::f64, whole, mt::reference_device>(factor, 1, 1e-13);
}

TEST_CASE("norms of huge values whose parts are on several processors") {
  for (std::int64_t const processors : {2, 3}) {
    compare<mt::dtype::f32, over_batch, mt::reference_device>(1e25, processors, 2e-6);
    compare<mt::dtype::f32, over_length, mt::reference_device>(1e25, processors, 2e-6);
    compare<mt::dtype::f32, over_model, mt::reference_device>(1e25, processors, 2e-6);
    compare<mt::dtype::f32, over_model, mt::cpu_device>(1e25, processors, 2e-6);
  }
}

TEST_CASE("batch norms of tiny values") {
  for (double const factor : {1e-15, 1e-25, 1e-35}) {
    compare<mt::dtype::f32, over_batch, mt::reference_device, norms::of_batch>(factor, 2, 2e-6);
    compare<mt::dtype::f32, whole, mt::cpu_device, norms::of_batch>(factor, 1, 2e-6);
  }
}

TEST_CASE("check_numerics tells of a running variance that does not fit, and of nothing before") {
  CHECK_NOTHROW(results<mt::dtype::f32, norms::of_examples, over_model, mt::reference_device>(1e25, 2, true));
  CHECK_NOTHROW(results<mt::dtype::f32, norms::of_examples, over_length, mt::cpu_device>(1e35, 3, true));
  CHECK_NOTHROW(results<mt::dtype::f32, norms::of_batch, over_model, mt::reference_device>(1e15, 2, true));
  try {
    results<mt::dtype::f32, norms::of_batch, over_model, mt::reference_device>(1e25, 2, true);
    FAIL("no error");
  } catch (mt::error const& e) {
    std::string const all = e.what();
    INFO(all);
    CHECK(std::string(e.code()) == "R32");
    CHECK(all.find("cast in batch (sizes_of_norms.cpp:" + std::to_string(line_of_batch) + ") gives f32[model/data]") !=
          std::string::npos);
    CHECK(all.find("the first is inf") != std::string::npos);
  }
}
