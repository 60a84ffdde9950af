// SPDX-License-Identifier: Apache-2.0
// Runs collectives over all processes of a job outside of a step, to agree, to gather or to broadcast.
#pragma once

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/job/job_runner.hpp"

namespace meshtensor {

/// One collective of all processes of a job, on an operand of one dim. All processes must construct and call these
/// objects in the same order. In a job of one process the result is the operand.
class on_all_ranks {
 public:
  /// `what` names the purpose in error sentences about missing ranks. The text must outlive this object.
  on_all_ranks(job_runner& j, collective kind, dtype type, std::int64_t count, char const* what) : job_(j) {
    for (int r = 0; r < job_.size(); ++r) all_.members.push_back(r);
    all_.call.kind = kind, all_.call.op = reduction::max, all_.call.type = type, all_.call.file = what;
    all_.call.dims = 1, all_.call.extent[0] = count;
    all_.call.join = kind == collective::all_gather ? 0 : -1;
    if (is_alone()) return;
    all_.with = {all_.members.data(), job_.size(), job_.held(job_.size())[0]};
  }
  on_all_ranks(on_all_ranks const&) = delete;
  on_all_ranks& operator=(on_all_ranks const&) = delete;

  bool is_alone() const { return job_.size() < 2; }
  int rank() const { return is_alone() ? 0 : all_.with.index; }
  /// Sets the root of a broadcast.
  on_all_ranks& from(int rank) {
    all_.call.root = rank;
    return *this;
  }
  void operator()(void const* in, void* out) {
    if (is_alone()) {
      copy_bytes(out, in, bytes_of(all_.call));
      return;
    }
    job_.run(job_.size(), [&](int, transport& t) {
      int const number = t.prepare(all_);  // at each call, because many objects live for one call only
      t.start(number, all_, in, out);
      t.wait(number);
      t.release(number);
    });
  }

 private:
  job_runner& job_;
  planned_collective all_;
};

}  // namespace meshtensor
