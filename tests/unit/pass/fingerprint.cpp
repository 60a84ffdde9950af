// SPDX-License-Identifier: Apache-2.0
// The fingerprint tells programs apart that differ in one fact, and does not see where they stand in their file.
#include "meshtensor/pass/fingerprint.hpp"

#include <doctest/doctest.h>

#include <array>

#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct row_dim : mt::dim<"row"> {} row;
inline constexpr struct column_dim : mt::dim<"column"> {} column;
inline constexpr struct first_dim : mt::dim<"flat", row_dim{} * row_dim{}> {
} first;
inline constexpr struct second_dim : mt::dim<"flat", row_dim{} * column_dim{}> {
} second;

enum class changed { nothing, place, factor, parent, trainable, start };

inline constexpr mt::layer scaled = [](mt::scope auto s, auto x) { return x * s.parameter("scale", mt::normal(1)); };
inline constexpr mt::layer around = [](mt::scope auto s, auto x) { return scaled(s / "inner", x); };

template <changed What>
struct with {
  struct program {  // entries are called by the last name of their type
    constexpr void operator()(mt::scope auto s) const {
      auto const x = s.input("x", mt::f32, row, column);
      auto const flat = [&] {  // the same names, with another second factor
        if constexpr (What == changed::factor) return mean(s.input("flat", mt::f32, second));
        else return mean(s.input("flat", mt::f32, first));
      }();
      auto const outer = around(s / "outer", x);
      auto const other = [&] {  // the same names of scopes, with another parent
        if constexpr (What == changed::parent) return around(s / "outer" / "deep", outer);
        else return around(s / "deep" / "outer", outer);
      }();
      auto const kept = [&] {
        if constexpr (What == changed::trainable) return s.parameter("kept", mt::zeros);
        else return s.state("kept", mt::f32, mt::zeros);
      }();
      auto const start = s.parameter("start", mt::constant(What == changed::start ? 2 : 1));
      if constexpr (What == changed::place) s.output("y", mean(other) + flat + kept + start);
      else s.output("y", mean(other) + flat + kept + start);
    }
  };
};

template <changed What>
std::uint64_t of() {
  return mt::fingerprint(*mt::on_heap([] { return mt::trace<typename with<What>::program>(); }));
}

}  // namespace

TEST_CASE("one fact that differs changes the fingerprint") {
  CHECK(of<changed::nothing>() == of<changed::place>());
  std::array const others{of<changed::factor>(), of<changed::parent>(), of<changed::trainable>(), of<changed::start>()};
  for (std::uint64_t const other : others) CHECK(other != of<changed::nothing>());
}
