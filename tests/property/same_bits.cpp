// SPDX-License-Identifier: Apache-2.0
// Results stay what they are: 25 random programs, on three meshes each, ten steps, hashes of every bit of outputs and
// variables. A change that is to keep results keeps this table; one that is to change them, sums in another order for
// example, replaces it by what the test prints.
// timeout: 300
#include <array>
#include <cmath>

#include "meshtensor/device/reference.hpp"
#include "property/random_run.hpp"
#include "property/sample.hpp"
#include "support/skip.hpp"

namespace {

using namespace property;

/// FNV-1a, over values one after another.
struct hash_of_bits {
  std::uint64_t value = 0xcbf29ce484222325u;

  void add(void const* data, std::size_t bytes) {
    auto const* p = static_cast<unsigned char const*>(data);
    for (std::size_t i = 0; i < bytes; ++i) value = (value ^ p[i]) * 0x100000001b3u;
  }
};

/// Of what the system's mathematical functions give: other ones round otherwise, and then no results can be the same.
std::uint64_t of_functions() {
  hash_of_bits h;
  for (int i = 1; i < 2000; ++i) {
    double const x = i * 0.0037;
    for (double const y :
         {std::exp(-x), std::log(x), std::tanh(x), std::sin(x), std::cos(x), std::erf(x), std::pow(x, 0.37)})
      h.add(&y, sizeof y);
    auto const z = static_cast<float>(x);
    for (float const y : {std::exp(-z), std::log(z), std::tanh(z), std::sin(z), std::cos(z), std::erf(z)})
      h.add(&y, sizeof y);
  }
  return h.value;
}

/// Of ten steps of a seed's programs, on a mesh of four, two and six processors.
std::uint64_t of_program(std::uint64_t seed) {
  whole_programs const programs = whole_programs::of(seed);
  hash_of_bits h;
  constexpr int shapes[][3] = {{2, 1, 2}, {1, 2, 1}, {3, 2, 1}};
  for (auto const& s : shapes) {
    auto const mesh = mt::mesh_shape{}.add("ax", s[0]).add("by", s[1]).add("cz", s[2]);
    for (std::uint64_t layout = 1000 * seed;; ++layout) {
      random_spread spread(programs, mesh, layout, true);
      while (spread.steps.size() < 10) spread.steps.push_back(spread.steps[spread.steps.size() % 3]);
      try {
        layout_trial const trial(programs, spread);
        if (!trial.is_even()) continue;  // the table has layouts that divide the extents
        for (auto const& [label, bytes] : trial.run(mt::job::in_lockstep(), mt::reference_device{}))
          h.add(bytes.data(), bytes.size());
        break;
      } catch (mt::error const& e) {
        if (std::string const code(e.code()); code != "S05" && code != "R04") throw;
      }
    }
  }
  return h.value;
}

constexpr std::uint64_t functions = 15757524874003233644u;
constexpr std::array<std::uint64_t, 25> kept = {
    0x2af383df908a222d, 0x9da4cc45297dea83, 0x183882b96eedc7c9, 0x66419197e89ab83c, 0x31c838bc04735099,
    0xdadf2db8720133b5, 0x200117a1b3ebbaf5, 0x7b31848c4c055ba5, 0x2819e04bd24aa4b1, 0xb3c519b2439466f9,
    0x7a694b6f14dc7b3d, 0xef841a7925800614, 0xe819def972a1b355, 0xab96ca4aad07fd01, 0x48ac241311c1881d,
    0x14c41cec7d90ec93, 0x1cd13e594d70fb69, 0x9dd6d4a248cd3c38, 0x55f61ce469253087, 0x1db2ceb84e35dff5,
    0x8535efc6846f729d, 0x79bae9acce2a497a, 0xa80a92ee4ab4f365, 0x89626380ad93211f, 0x116e239f93bc4856,
};

}  // namespace

TEST_CASE("results are the bits that they were") {
#if defined(__clang__)
  return meshtensor_test::skip("this compiler takes the operands of an expression in another order than the table's");
#endif
  if (std::uint64_t const here = of_functions(); here != functions) {
    MESSAGE("functions = " << here);
    return meshtensor_test::skip("the mathematical functions of this system round otherwise than the table's");
  }
  std::string table;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    std::uint64_t const now = of_program(i + 1);
    CHECK_MESSAGE(now == kept[i], "programs of seed " << i + 1);
    char text[32];
    std::snprintf(text, sizeof text, "0x%016lx,%c", now, i % 5 == 4 ? '\n' : ' ');
    table += text;
  }
  MESSAGE(table);
  property::at_least(25, std::ssize(kept));
}
