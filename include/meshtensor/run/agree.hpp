// How the processes of a job decide alike on what each sees differently: a clock, the load of a machine.
#pragma once

#include <concepts>

#include "meshtensor/run/over_all.hpp"

namespace meshtensor {

/// Gives every process the greatest of the numbers that the processes have: `if (greatest(seconds) > limit) stop();`.
/// All call it alike. A job of one process has nothing to agree on.
class agreement {
 public:
  /// Of the processors of a program, which have their job.
  template <class P>
  requires requires(P const& p) {
    { p.get() } -> std::same_as<job&>;
  }
  explicit agreement(P const& p) : agreement(p.get()) {}
  explicit agreement(job& j) : greatest_(j, collective::all_reduce, f64, 1, "an agreement") {}

  double operator()(double mine) {
    double greatest = mine;
    greatest_(&mine, &greatest);
    return greatest;
  }

 private:
  over_all greatest_;
};

}  // namespace meshtensor
