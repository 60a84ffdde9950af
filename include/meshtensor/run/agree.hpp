// How the processes of a job decide alike on what each sees differently: a clock, the load of a machine.
#pragma once

#include <concepts>

#include "meshtensor/run/transport.hpp"

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
  explicit agreement(job& j) : job_(j) {
    if (job_.size() < 2) return;
    for (int r = 0; r < job_.size(); ++r) all_.members.push_back(r);
    all_.with = {all_.members.data(), job_.size(), job_.held(job_.size())[0]};
    all_.call.kind = collective::all_reduce, all_.call.op = reduction::max;
    all_.call.type = f64, all_.call.dims = 1, all_.call.extent[0] = 1;
    job_.run(job_.size(), [&](int, transport& t) { number_ = t.prepare(all_); });
  }
  agreement(agreement const&) = delete;

  double operator()(double mine) {
    double greatest = mine;
    if (job_.size() > 1)
      job_.run(job_.size(), [&](int, transport& t) {
        t.start(number_, all_, &mine, &greatest);
        t.wait(number_);
      });
    return greatest;
  }

 private:
  job& job_;
  planned_collective all_;
  int number_ = 0;
};

}  // namespace meshtensor
