// SPDX-License-Identifier: Apache-2.0
// Measures the machine that a job runs on: the rates of a rank, and the network along each axis of its mesh.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

#include "meshtensor/emit/page_rates.hpp"
#include "meshtensor/job/job_runner.hpp"
#include "meshtensor/job/planned_collective.hpp"
#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/run/executable.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {
namespace detail {

/// Gathers blocks along an axis of a mesh, as one rank of it.
class gathering {
 public:
  gathering(mesh_shape const& mesh, int axis, std::int64_t rank, std::int64_t elements, transport& t)
      : t_(t), in_(at(elements), 1.0f), out_(at(elements * mesh.axes[axis].extent)) {
    std::int64_t const count = mesh.axes[axis].extent, mine = mesh.coordinate(rank, axis);
    for (std::int64_t k = 0; k < count; ++k)
      c_.members.push_back(static_cast<int>(rank + (k - mine) * mesh.stride(axis)));
    c_.with = {c_.members.data(), static_cast<int>(count), static_cast<int>(mine)};
    c_.axes = {mesh.axes[axis].label};
    c_.call.kind = collective::all_gather;
    c_.call.dims = 1, c_.call.extent[0] = elements, c_.call.join = 0;
    number_ = t_.prepare(c_);
  }
  gathering(gathering const&) = delete;
  ~gathering() { t_.release(number_); }

  double received_bytes() const {
    return static_cast<double>(received_bytes_of(c_.call, c_.with.count, c_.with.index));
  }
  int messages() const { return messages_in_turn(false, false, c_.with.count); }
  /// The shortest of many runs, in seconds, because on a busy machine ranks wait for a core.
  double seconds() {
    double least = run();
    for (int i = 0; i < 32; ++i) least = std::min(least, run());
    return least;
  }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  double run() {
    auto const now = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count() +
             static_cast<double>(t_.ahead()) * 1e-9;
    };
    double const begin = now();
    t_.start(number_, c_, in_.data(), out_.data());
    t_.wait(number_);
    return now() - begin;
  }

  transport& t_;
  planned_collective c_;
  std::vector<float> in_, out_;
  int number_ = 0;
};

/// The links as the first rank of this process sees them. There are none in lockstep, because lockstep has no network.
/// All processes must call this.
template <class = lazy>
std::vector<link> measured_links(job_runner& j, mesh_shape const& mesh) {
  constexpr std::int64_t few = 2, many = 1 << 20;  // elements that a rank receives from all others
  std::vector<link> all;
  if (j.in_lockstep() || mesh.size() == 1) return all;
  int const first = j.held(static_cast<int>(mesh.size()))[0];
  j.run(static_cast<int>(mesh.size()), [&](int rank, transport& t) {
    for (int a = 0; a < mesh.count; ++a) {
      std::int64_t const others = mesh.axes[a].extent - 1;
      if (others == 0) continue;
      gathering small(mesh, a, rank, few, t), large(mesh, a, rank, std::max<std::int64_t>(many / others, 2 * few), t);
      double const of_small = small.seconds(), of_large = large.seconds();
      if (rank != first) continue;
      double const bytes = large.received_bytes() - small.received_bytes();
      // If both took nearly as long, both waited for a core. Then the bytes took at least an eighth of the time.
      double const of_bytes = std::max(of_large - of_small, of_large / 8);
      all.push_back({mesh.axes[a].label, of_small / small.messages(), bytes / of_bytes});
    }
  });
  return all;
}
#if MESHTENSOR_COMPILED
extern template std::vector<link> measured_links<lazy>(job_runner&, mesh_shape const&);
#endif

/// Nothing is known of a device that does not measure itself, because its network may not be that of the job. All
/// processes must call this.
template <class = lazy>
page_rates rates_of_job(job_runner& j, mesh_shape const& mesh, rates const& of_rank) {
  if (of_rank.flops == 0) return {};
  return {of_rank, measured_links(j, mesh), "measured"};
}

}  // namespace detail

/// The rates of the machine that runs an executable, for `on_page`. They are a rank's arithmetic and memory while the
/// other ranks are busy likewise, and the network along each axis. All processes of the job must call this. It takes a
/// fraction of a second. Nothing is known of a device that does not measure itself.
///
///     mt::explain_html(job, "plan.html", {mt::on_page("training", step, mt::measured_rates(step))});
template <class... Args>
page_rates measured_rates(executable<Args...> const& step) {
  return detail::rates_of_job(step.runner(), step.bound_mesh(), step.best_rates());
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
