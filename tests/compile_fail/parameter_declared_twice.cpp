// One name stands for one parameter.
// expect: G03: one name is declared twice with different dims or dtypes
// expect: parameter_declared_twice.cpp:19:
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch : mt::dim<"batch"> {
} batch;
inline constexpr struct in : mt::dim<"in", 4> {
} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = x + s.parameter("w", in);
    s.output("y", y + s.parameter("w", batch));
  }
};

constexpr mt::module traced = mt::trace<step>();
}  // namespace net

int main() {}
