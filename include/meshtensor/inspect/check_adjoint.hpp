// SPDX-License-Identifier: Apache-2.0
// Finds wrong gradients: the dot-product test compares them with differences of the program's outputs.
#pragma once

#include <string>

#include "meshtensor/inspect/adjoint_test.hpp"
#include "meshtensor/inspect/checker.hpp"

namespace meshtensor {

/// The dot-product test of a program. Let J be the derivative of the outputs by one input or parameter. For random
/// directions v and u, ⟨J v, u⟩ must equal ⟨v, Jᵀ u⟩. The left side is made of outputs at x + h v and x − h v, and the
/// right side is what `gradient` gives. The test is repeated for each input and parameter from which a gradient can
/// flow to an output. The result names the first one that fails. For example, it finds a composite whose own gradient
/// is wrong:
///
///     auto r = mt::check_adjoint<train_step, mesh, layout>(batch(8), mt::feed<"x">(images));
///     mt::print(job, "{}\n", text_of(r));
///
/// The arguments are those of `check`. The step runs on whole tensors by the rules' reference loops, and all floats are
/// f64, so it is meant for small sizes. Random numbers of the program are the same in all runs, and updates of
/// variables do not happen.
///
/// A gradient that stops on purpose, as behind `stop_gradient`, fails the test. So does a point at which the program
/// has no derivative, such as `relu` at 0.
///
/// errors  those of `executable`; R88 no output depends on a float, or the program calls a function that takes no f64
/// source  Claerbout, Earth Soundings Analysis, 1992: the dot-product test
template <class... Args, class... Given>
adjoint_result check_adjoint(store& from, Given const&... given) {
  using program = executable<Args...>;
  auto const traced = stored_module<program::stages::traced, program::stages::fingerprint>::load();
  auto const job = job::in_lockstep();
  store values(job, from.seed());
  values.begin_from(from.source());
  program step(values, given...);
  detail::copy_state(from, values);
  detail::checked_session<typename program::running_device> here(step.running());
  return detail::adjoint_test<>(*traced, entry_name<typename program::entry>(), here, values).run();
}
template <class... Args, class... Given>
adjoint_result check_adjoint(Given const&... given) {
  auto const job = job::in_lockstep();
  store fresh(job);
  return check_adjoint<Args...>(fresh, given...);
}

}  // namespace meshtensor
