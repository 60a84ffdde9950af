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
    0xf5168fc35340e65d, 0x1e1c22dbd1ff1b23, 0xcf48adf6459749f8, 0x76512f5e2da63f80, 0x31c838bc04735099,
    0xdadf2db8720133b5, 0x200117a1b3ebbaf5, 0xf14a0f8bbc2043f6, 0xabb88d1e5c471a36, 0xa759fdf22aebcd99,
    0x2690d84b9c813cba, 0x2f40a83920e4101d, 0x8e117e9dd3da7789, 0x7ccd9ad042c4fdf5, 0xa9de29ff10551f1d,
    0x51e23460cabaded0, 0x070d326ce511a257, 0xce834595ecc36ec0, 0x826334fb4e8b0c63, 0x9ddf9678ee0f908c,
    0xbc66d4970ccd85fd, 0xc87cbfd05798c04d, 0xa80a92ee4ab4f365, 0x6c136653b3c18d04, 0xac5f419a2decb9ae,
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
