// SPDX-License-Identifier: Apache-2.0
// An operation declared outside of the library says that its operands may have any strides.
// expect: meshtensor T52: an operation of your own has a buffer of its own, dense operands, no part
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/extension.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;

struct same_rule {
  static constexpr mt::name name{"same"};
  static constexpr mt::declaration declares{.takes_strides = true};
  static constexpr void infer(mt::inference& i) { i.give(i[0].type, i.dims_of(0)); }
  static void evaluate(mt::evaluation const&) {}
};

struct step {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", mt::extension<same_rule>({}, mt::to(), s.input("x", mt::f32, batch)));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
}  // namespace

int main() { return traced.node_count; }
