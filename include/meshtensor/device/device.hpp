// SPDX-License-Identifier: Apache-2.0
// The device concept: what an executable's last template argument must have, in three styles.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <mutex>
#include <type_traits>

#include "meshtensor/graph/rule.hpp"
#include "meshtensor/pass/device_capabilities.hpp"

namespace meshtensor {

/// Runs kernels in the host's memory, one after the other: when `launch` returns, the results are there. Each processor
/// has a copy of the device. docs/howto/add-a-device.md has what else it may have.
template <class D>
concept host_device = std::copy_constructible<D> && requires(D& d, typename D::kernel& k, module const& m,
                                                             node const& n, view const* views, evaluation const& e) {
  { d.prepare(m, n, views, views) } -> std::same_as<typename D::kernel>;
  d.launch(k, e);
};

/// Memory that the host cannot read, and work that is done later: the hardware, apart from any program.
///
/// allocate       memory at a multiple of 256; throws if there is not enough
/// allocate_host  memory of the host, to copy from and to while the host goes on
/// upload, download, copy, clear
///                give work to the queue; what lies there before is done first
/// wait           until all work is done; throws the first failure, and nothing is left in a queue then
/// turns          held by whoever gives work
///
/// Addresses are pointers, so that plans can be laid over them. Nothing but the machine reads through them.
template <class M>
concept device_machine = requires(M& d, std::byte* at, void* home, void const* from, std::size_t bytes) {
  { d.allocate(bytes) } -> std::same_as<std::byte*>;
  { d.release(at) } noexcept;
  { d.allocate_host(bytes) } -> std::same_as<std::byte*>;
  { d.release_host(at) } noexcept;
  d.upload(at, from, bytes);
  d.download(home, at, bytes);
  d.copy(at, at, bytes);
  d.clear(at, bytes);
  d.wait();
  { d.turns() } -> std::same_as<std::mutex&>;
};

/// A machine with several queues, which run beside each other in any order that events allow.
///
/// queues    how many
/// on        work that is given from now on goes to this queue; after `wait`, to the first one
/// record    an event, a number: it has come when what lies in the queue is done
/// wait_for  what is given to the queue from now on is done after the event, which was recorded before
template <class M>
concept queueing_machine = device_machine<M> && requires(M& d, M const& c, int number) {
  { c.queues() } -> std::same_as<int>;
  d.on(number);
  d.record(number);
  d.wait_for(number);
};

/// A machine that keeps the work that it is given between two calls, and can do it again at once.
template <class M>
concept capturing_machine = device_machine<M> && requires(M& d) {
  d.begin_recording();
  d.replay(*d.end_recording());
};

/// A node as one processor computes it: views without addresses; `inside` has those of all values, by id.
struct node_views {
  view const *operands, *results, *inside;
};

/// Runs kernels in memory of its own. `machine()` has memory and queues; a `recorded_program` prepares each node of a
/// program and turns it into work for the machine. A step is recorded once, as a list of such work, and given to the
/// machine in each step; one engine (run/recorded/steps.hpp) has all processors of the mesh.
///
/// What a program does not run it refuses in `prepare`, before the first step, with the operation's name and line.
template <class D>
concept recording_device =
    std::copy_constructible<D> && device_machine<std::remove_cvref_t<decltype(D::machine())>> &&
    requires(typename D::recorded_program& p, typename D::recorded_program::recorder& to_do, node const& n,
             node_views const& v, view const& x, std::byte* at, std::int64_t bytes) {
      typename D::recorded_program::memory;
      typename D::recorded_program::host_block;
      typename D::recorded_program::exchange;
      // a list of work: what a node records goes there
      to_do.copy(at, at, bytes);
      to_do.clear(at, bytes);
      to_do.upload(at, at, bytes);
      to_do.download(at, at, bytes);
      to_do.forget();
      { to_do.size() } -> std::same_as<std::size_t>;
      // at start-up
      { p.prepare(n, {v.operands, v.results, v.inside}) } -> std::same_as<typename D::recorded_program::work>;
      p.prepare_sum(dtype{});
      p.load();
      // while a step is recorded
      p.copy_part(to_do, x, bytes, x);
      p.accumulate(to_do, x, x);
      // in each step
      p.finish(to_do);
      p.play(to_do);
    };

/// Takes programs whole, as text, and runs them by itself: run/whole_program.hpp.
template <class D>
concept whole_program_device = requires { typename D::whole_program; };

/// What runs a program: the last template argument of an executable.
template <class D>
concept device = host_device<D> || recording_device<D> || whole_program_device<D>;

/// The kernels of a host device, and how they are made and run.
template <class Device>
struct kernels_of_device {
  using kernel = typename Device::kernel;
  /// Whether the device runs a kernel's region in one call. Else the region's nodes would need buffers, which the plan
  /// does not allocate: such a device runs modules without fused kernels.
  static constexpr bool runs_regions =
      requires(Device& d, module const& m, view const* v) { d.prepare_region(m, m.nodes[0], v, v, v); };

  /// Whether a node has anything to compute here.
  static bool has_results(node const& n, view const* results) {
    return n.effect || std::any_of(results, results + n.results.count, [](view const& v) { return v.size() != 0; });
  }
  static kernel prepare(Device& d, module const& m, node const& n, view const* operands, view const* results,
                        view const* windows) {
    if constexpr (runs_regions)
      if (n.kind == primitive::kernel) return d.prepare_region(m, n, operands, results, windows);
    return d.prepare(m, n, operands, results);
  }
  static void launch(Device& d, kernel& k, evaluation const& e) {
    if constexpr (runs_regions)
      if (e.n.kind == primitive::kernel) return d.launch_region(k, e);
    d.launch(k, e);
  }
};

}  // namespace meshtensor
