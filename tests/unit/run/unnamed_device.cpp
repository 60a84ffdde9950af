// SPDX-License-Identifier: Apache-2.0
// An executable that names no device runs on the fastest one that this file is compiled with, and its type says so.
// needs: cpu
// passes: start-up
#include <doctest/doctest.h>

#include "meshtensor/inspect/explain.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct in : mt::dim<"in", 4> {} in;
inline constexpr struct out : mt::dim<"out", 3> {} out;
struct one_product {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", einsum(s.input("x", mt::f32, in), s.parameter("w", in, out, mt::ones), mt::to(out)));
  }
};
using unnamed = mt::executable<one_product, mt::mesh<>, mt::layout<>>;
template <class Device>
using named = mt::executable<one_product, mt::mesh<>, mt::layout<>, Device>;

static_assert(std::is_same_v<mt::default_device, mt::cpu_device>);
static_assert(std::is_same_v<unnamed::device, mt::cpu_device>);
static_assert(std::is_same_v<named<mt::reference_device>::device, mt::reference_device>);
static_assert(std::is_same_v<mt::compiled_step<one_product, mt::mesh<>, mt::layout<>>::device, mt::cpu_device>);
// A file that is compiled without the component means another type by the same words.
template <class T, class Device>
constexpr bool says = false;
template <std::uint64_t Fingerprint, class Unnamed, class... Args, class Device>
constexpr bool says<mt::executable_of<Fingerprint, Unnamed, Args...>, Device> = std::is_same_v<Unnamed, Device>;
static_assert(says<unnamed, mt::cpu_device> && says<named<mt::reference_device>, void>);

}  // namespace

TEST_CASE("with and without a name of the device, the same bits") {
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  unnamed step(weights);
  named<mt::cpu_device> same(weights);
  std::vector<float> const x{0.1f, 0.2f, 0.3f, 0.7f};
  auto const y = step(mt::feed<"x">(x)).get<"y">().gather();
  auto const again = same(mt::feed<"x">(x)).get<"y">().gather();
  CHECK(std::ranges::equal(y, again));
  CHECK(y(out(2)) == doctest::Approx(1.3));
  CHECK(mt::explain(step).find("w  f32[in, out]") != std::string::npos);
}
