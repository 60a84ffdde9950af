// SPDX-License-Identifier: Apache-2.0
// What a program counts in, by the dims of its inputs, under any layout.
// passes: start-up
#include "meshtensor/train/progress_unit.hpp"

#include <doctest/doctest.h>

#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct length : mt::dim<"length", 12> {} length;
inline constexpr struct other_length : mt::dim<"other_length", 6> {} other_length;
inline constexpr struct height : mt::dim<"height", 6> {} height;
inline constexpr struct width : mt::dim<"width", 6> {} width;
inline constexpr struct channels : mt::dim<"channels", 3> {} channels;
inline constexpr struct patients : mt::dim<"patients", 10> {} patients;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>> {};

/// A program that has these inputs, and its unit on several ranks.
template <class F>
struct program_of {
  constexpr void operator()(mt::scope auto s) const { F::inputs(s); }
};
template <class Inputs>
mt::progress_unit unit() {
  auto const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<program_of<Inputs>, mesh, layout, mt::reference_device> const step(weights, batch(8), data(2));
  return mt::unit_of(step);
}
template <class Inputs>
mt::progress_unit unit_without_batch() {
  auto const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<program_of<Inputs>, mt::mesh<>, mt::layout<>, mt::reference_device> const step(weights);
  return mt::unit_of(step);
}
void check(mt::progress_unit const& u, std::string const& name, double count) {
  CHECK(u.name == name);
  CHECK(u.per_step == count);
}

struct texts {
  static constexpr void inputs(mt::scope auto s) {
    s.output("y", s.input("text", mt::i32, batch, length) + s.input("next", mt::i32, batch, length));
  }
};
struct pairs {
  static constexpr void inputs(mt::scope auto s) {
    s.output("y", s.input("source", mt::i32, batch, length) + 1);
    s.output("z", s.input("target", mt::i32, batch, other_length) + 1);
  }
};
struct images {
  static constexpr void inputs(mt::scope auto s) {
    s.output("y", s.input("images", mt::f32, batch, height, width, channels) * 2);
    s.output("z", s.input("labels", mt::i32, batch) + 1);
    s.output("w", s.input("rate", mt::f32) + 1);
  }
};
struct bytes {
  static constexpr void inputs(mt::scope auto s) {
    s.output("y", mt::cast<mt::dtype::f32>(s.input("images", mt::u8, batch, height, width)));
    s.output("z", s.input("labels", mt::i32, batch) + 1);
  }
};
struct rows {
  static constexpr void inputs(mt::scope auto s) { s.output("y", s.input("x", mt::f32, batch, width) * 2); }
};
struct named {
  static constexpr void inputs(mt::scope auto s) {
    s.output("y", s.input("x", mt::f32, patients, width) * 2);
    s.output("z", s.input("sick", mt::i32, patients) + 1);
  }
};
struct nothing {
  static constexpr void inputs(mt::scope auto s) { s.output("y", s.parameter("w", width) * 2); }
};

}  // namespace

TEST_CASE("tokens, sequences, images, rows") {
  check(unit<texts>(), "tokens", 96);
  check(unit<pairs>(), "sequences", 8);
  check(unit<images>(), "images", 8);
  check(unit<bytes>(), "images", 8);
  check(unit<rows>(), "rows", 8);
}
TEST_CASE("a batch dim with a name of its own gives the unit its name") {
  check(unit_without_batch<named>(), "patients", 10);
}
TEST_CASE("without inputs, steps are counted") { check(unit_without_batch<nothing>(), "steps", 1); }
