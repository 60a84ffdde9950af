// SPDX-License-Identifier: Apache-2.0
// A program too large for what a compiler does by default: the flag is named, by the compiler or by the line that it
// shows. The library's CMake target sets it as high as it goes.
// expect gcc: evaluation operation count exceeds limit of 3000000 (use '-fconstexpr-ops-limit=' to increase the limit)
// also clang: constexpr evaluation hit maximum step limit
// expect clang: program_error<not constexpr, or past -fconstexpr-steps>
// also gcc: net::step::operator()
// also clang: program_past_the_compilers_limit.cpp:21:
// flags gcc: -fconstexpr-ops-limit=3000000
// flags clang: -fconstexpr-steps=1048576
#include "meshtensor/pass/lower.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    for (int i = 0; i < 1000; ++i) x = x * 2 + 1;
    s.output("y", x);
  }
};

constexpr auto marked = mt::detail::fingerprint_of<step>;
}  // namespace net

int main() {}
