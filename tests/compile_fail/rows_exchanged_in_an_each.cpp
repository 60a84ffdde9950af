// SPDX-License-Identifier: Apache-2.0
// Rows go to the ranks of their groups, for all indices alike.
// expect: G46 all_to_all_rows does not take the further dim of an each
// expect: rows_exchanged_in_an_each.cpp:18)
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

inline constexpr struct batch : mt::dim<"batch", 4> {} batch;
inline constexpr struct in : mt::dim<"in", 6> {} in;
inline constexpr struct length : mt::dim<"length", 6> {} length;
inline constexpr struct groups : mt::dim<"groups", 2> {} groups;
struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, length, in);
    auto group = s.input("group", mt::i32, batch, length);
    auto y = mt::map(s / "examples", batch, std::tuple(x, group), [](mt::scope auto, auto one, auto to) {
      auto sent = mt::all_to_all_rows(one, to, groups);
      return mt::return_rows(sent.rows, sent);
    });
    s.output("y", y);
  }
};
struct mesh : mt::mesh<> {};
struct layout : mt::layout<> {};

int main() {
  auto const job = mt::job::as_threads();
  mt::store values(job);
  mt::executable<step, mesh, layout> run(values);
}
