// SPDX-License-Identifier: Apache-2.0
// The concept of a device, which is the last template argument of an executable. There are three kinds of devices.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <mutex>
#include <type_traits>

#include "meshtensor/graph/rule.hpp"
#include "meshtensor/pass/device_capabilities.hpp"

namespace meshtensor {

/// A device that runs kernels in the host's memory, one after the other. When `launch` returns, the results are in
/// memory. Each rank has a copy of the device. docs/howto/add-a-device.md lists its optional members.
template <class D>
concept host_device = std::copy_constructible<D> && requires(D& d, typename D::kernel& k, module const& m,
                                                             node const& n, view const* views, evaluation const& e) {
  { d.prepare(m, n, views, views) } -> std::same_as<typename D::kernel>;
  d.launch(k, e);
};

/// The hardware of a device, apart from any program: memory that the host cannot read, and queues of work that is done
/// later.
///
/// - `allocate` gives memory at a multiple of 256 bytes, and throws if there is not enough.
/// - `allocate_host` gives memory of the host for copies that run while the host goes on.
/// - `upload`, `download`, `copy` and `clear` append work to the queue. It runs after all work that is already there.
/// - `wait` returns when all work is done. It throws the first failure, and then no queue has any work left.
/// - `submission_lock` is a lock that every caller holds while it gives work.
///
/// Addresses are pointers, so that plans can use them like host memory. However, only the machine reads and writes
/// there.
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
  { d.submission_lock() } -> std::same_as<std::mutex&>;
};

/// A machine with several queues, which run at the same time and in any order that events allow.
///
/// - `queues` is the number of queues.
/// - `on` selects the queue for all later work. After `wait`, it is the first queue again.
/// - `record` records an event, which is a number. The event is complete when all earlier work of the queue is done.
/// - `wait_for` makes later work of the queue wait for an event that was recorded before.
template <class M>
concept queueing_machine = device_machine<M> && requires(M& d, M const& c, int number) {
  { c.queues() } -> std::same_as<int>;
  d.on(number);
  d.record(number);
  d.wait_for(number);
};

/// A machine that keeps the work of a recording, and can repeat all of it by one call.
template <class M>
concept capturing_machine = device_machine<M> && requires(M& d) {
  d.begin_capture();
  d.replay(*d.end_capture());
};

/// A node as one rank computes it. The views have no addresses. `inside` has the views of all values, by id.
struct node_views {
  view const *operands, *results, *inside;
};

/// A device that runs kernels in memory of its own. `machine()` has memory and queues. A `recorded_program` prepares
/// each node of a program and turns it into work for the machine. A step is recorded once, as a list of such work, and
/// this list is given to the machine in each step. One engine (run/recorded/steps.hpp) runs all ranks that the process
/// holds.
///
/// If the device cannot run an operation of the program, `prepare` throws before the first step, with the operation's
/// name and line.
template <class D>
concept recording_device =
    std::copy_constructible<D> && device_machine<std::remove_cvref_t<decltype(D::machine())>> &&
    requires(typename D::recorded_program& p, typename D::recorded_program::recorder& to_do, node const& n,
             node_views const& v, view const& x, std::byte* at, std::int64_t bytes) {
      typename D::recorded_program::memory;
      typename D::recorded_program::host_block;
      typename D::recorded_program::device_collective;
      // the list to which a node adds its work
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

/// A device that takes a whole program as text and runs it by itself, see run/whole_program.hpp.
template <class D>
concept whole_program_device = requires { typename D::whole_program; };

/// The concept for the last template argument of an executable, which runs its program.
template <class D>
concept device = host_device<D> || recording_device<D> || whole_program_device<D>;

/// The kernels of a host device, and the functions that make and run them.
template <class Device>
struct kernels_of_device {
  using kernel = typename Device::kernel;
  /// Whether the device runs a kernel's region in one call. Otherwise, the region's nodes would need buffers, which the
  /// plan does not allocate. Therefore such a device runs modules without fused kernels.
  static constexpr bool runs_regions =
      requires(Device& d, module const& m, view const* v) { d.prepare_region(m, m.nodes[0], v, v, v); };

  /// Whether a node has anything to compute on this rank.
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
