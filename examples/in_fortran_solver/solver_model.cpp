// SPDX-License-Identifier: Apache-2.0
// A network that learns how much heat flows, for a Fortran solver that trains it and asks it. A Fortran module is
// generated from the inputs and outputs of this file, so that the solver can call it: see docs/large-codes.md.
#include <meshtensor/device/reference.hpp>
#include <meshtensor/meshtensor.hpp>
#include <meshtensor/run/guest.hpp>

namespace {
namespace mt = meshtensor;

// A Fortran array has these dims in reverse order, for example temperature(x, y, z).
inline constexpr struct z : mt::dim<"z"> {} z;
inline constexpr struct y : mt::dim<"y"> {} y;
inline constexpr struct x : mt::dim<"x"> {} x;
inline constexpr struct hidden : mt::dim<"hidden", 8> {} hidden;
inline constexpr struct up : mt::axis<"up"> {} up;  // the solver divides z into slabs
struct mesh : mt::mesh<up> {};
struct slabs : mt::layout<mt::shard<z, up>> {};

inline constexpr mt::layer change = [](mt::scope auto s, auto temperature, auto laplacian, auto time_step) {
  auto features = tanh(temperature * s.parameter("in", hidden, mt::normal(1)) + s.parameter("bias", hidden));
  return einsum(features, s.parameter("out", hidden, mt::normal(0.1)), mt::to(z, y, x)) * laplacian * time_step;
};

struct learn {
  constexpr void operator()(mt::scope auto s) const {
    auto guess = change(s / "model", s.input("temperature", mt::f64, z, y, x), s.input("laplacian", mt::f64, z, y, x),
                        s.input("time_step", mt::f64));
    auto error = guess - s.input("change", mt::f64, z, y, x);
    auto loss = mean(error * error) * 1e4;
    mt::adam{.learning_rate = s.number("learning_rate", 0.01)}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct predict {
  constexpr void operator()(mt::scope auto s) const {
    s.output("change", change(s / "model", s.input("temperature", mt::f64, z, y, x),
                              s.input("laplacian", mt::f64, z, y, x), s.input("time_step", mt::f64)));
  }
};
struct both : mt::programs<mt::precision<learn, mt::f64>, mt::precision<predict, mt::f64>> {};

template <class Program>
using on_slabs = mt::executable<both, mt::precision<Program, mt::f64>, mesh, slabs, mt::reference_device>;
using model = mt::guest<on_slabs<learn>, on_slabs<predict>>;

}  // namespace

extern "C" mt::guest_functions const* solver_model_functions() { return model::functions(); }
