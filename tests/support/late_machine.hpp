// SPDX-License-Identifier: Apache-2.0
// A device that takes every liberty the device concept allows. Its addresses cannot be read or written; its queues run
// only when somebody waits, in an order that is drawn, as far as events allow; and it fails when it is asked to. It
// sees for itself whether work that conflicts changes places.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/device/program_on_machine.hpp"
#include "meshtensor/device/reference.hpp"

namespace meshtensor_test {

class late_machine {
 public:
  explicit late_machine(std::uint64_t seed = 1, int queues = 4) : state_(seed * 2 + 1), queues_(queues) {
    int const memory = memfd_create("late machine", 0);
    bool const has_room = memory >= 0 && ftruncate(memory, room) == 0;
    auto const map = [&](int access) {
      return has_room ? mmap(nullptr, room, access, MAP_SHARED | MAP_NORESERVE, memory, 0) : MAP_FAILED;
    };
    void *const reserved = map(PROT_NONE), *const shadow = map(PROT_READ | PROT_WRITE);
    if (memory >= 0) close(memory);
    if (reserved == MAP_FAILED || shadow == MAP_FAILED) throw meshtensor::error("M10", {"no room for a test's device"});
    first_ = static_cast<std::byte*>(reserved), shadow_ = static_cast<std::byte*>(shadow);
  }
  late_machine(late_machine const&) = delete;
  ~late_machine() { munmap(first_, room), munmap(shadow_, room); }

  // ---- what a test asks of it ----
  long fails_to_allocate = -1;  // counts down: the allocation that finds no memory
  std::string fails_at;         // the name of a kernel that fails
  int ignored_wait = -1;        // of a step's waits for events, in the order in which they are given
  int misplaced = -1;           // of a step: goes to the next queue
  int postponed = -1;           // a queue that runs only when no other one can
  bool checks_order = true;     // whether it tells of work that changed places
  bool computes = true;         // whether work is done, or only put in order; the host gets what it asks for
  bool keeps_lists = false;
  // ---- what it tells ----
  long out_of_order = 0, launches = 0, downloads = 0;
  long unordered = 0;         // neighbours in the list of what was given, on two queues, that nothing puts in order
  int waits = 0, placed = 0;  // of the step
  std::vector<std::vector<meshtensor::queued_command>> lists;  // of the step: what was given before each `wait`
  /// Forgets what it tells of a step.
  void begin_step() { waits = placed = 0, lists.clear(); }
  std::size_t blocks() const { return blocks_.size(); }
  long host_blocks() const { return host_blocks_; }
  bool is_idle() const { return pending_.empty(); }

  /// Whether an address is one of its memory.
  bool has(std::byte const* at) const { return first_ <= at && at < first_ + room; }
  /// Whether its memory can be read and written from outside, as by an MPI library that knows the device.
  void open(bool is_open) { mprotect(first_, room, is_open ? PROT_READ | PROT_WRITE : PROT_NONE); }

  // ---- device_machine ----
  std::byte* allocate(std::size_t bytes) {
    if (fails_to_allocate >= 0 && fails_to_allocate-- == 0)
      throw meshtensor::error("R82", {"the test's device has no ", bytes, " bytes left"});
    std::size_t const whole = (bytes + 255) / 256 * 256;  // blocks touch each other where their bytes allow
    std::size_t at = 0;                                   // the first gap that is wide enough
    for (auto const& [begin, size] : blocks_) {
      if (begin - at >= whole) break;
      at = begin + size;
    }
    if (at + whole > room) throw meshtensor::error("R82", {"the test's device has no ", bytes, " bytes left"});
    blocks_[at] = whole;
    std::memset(shadow_ + at, 0xff, whole);
    return first_ + at;
  }
  void release(std::byte* at) noexcept {
    auto const found = blocks_.find(static_cast<std::size_t>(at - first_));
    if (uses(meshtensor::bytes_at(at, static_cast<std::int64_t>(found->second))))
      failure_ = "memory is given back while work on it waits";
    blocks_.erase(found);
  }
  std::byte* allocate_host(std::size_t bytes) { return ++host_blocks_, static_cast<std::byte*>(std::calloc(bytes, 1)); }
  void release_host(std::byte* at) noexcept { --host_blocks_, std::free(at); }
  void upload(std::byte* to, void const* from, std::size_t n) {
    give("upload", {}, {range(to, n)}, [=, this] {
      if (n != 0) std::memcpy(host(to), from, n);
    });
  }
  void download(void* to, std::byte* from, std::size_t n) {
    ++downloads;
    give("download", {range(from, n)}, {}, [=, this] {
      if (n != 0) std::memcpy(to, host(from), n);
    });
  }
  void copy(std::byte* to, std::byte* from, std::size_t n) {
    give("copy", {range(from, n)}, {range(to, n)}, [=, this] {
      if (n != 0) std::memmove(host(to), host(from), n);
    });
  }
  void clear(std::byte* to, std::size_t n) {
    give("clear", {}, {range(to, n)}, [=, this] {
      if (n != 0) std::memset(host(to), 0, n);
    });
  }
  std::mutex& submission_lock() { return submission_lock_; }

  // ---- queueing_machine ----
  int queues() const { return queues_; }
  void on(int queue) { now_ = (queue + (placed++ == misplaced ? 1 : 0)) % queues_; }
  void record(int event) { events_[event] = last_of(now_); }
  void wait_for(int event) {
    if (waits++ == ignored_wait) return;
    awaited_[now_].push_back(events_.at(event));
  }

  // ---- loop_machine ----
  std::byte* host(std::byte const* at) const { return at == nullptr ? nullptr : shadow_ + (at - first_); }
  void launch(meshtensor::launched_work const& about, std::function<void()> const& work) {
    ++launches;
    give(about.what, about.reads, about.writes, work);
  }

  /// Does all that was given, in an order that is drawn; nothing is left after a failure.
  void wait() {
    std::vector<given> all(std::make_move_iterator(pending_.begin()), std::make_move_iterator(pending_.end()));
    begin_anew();
    std::string failed = std::exchange(failure_, "");
    std::vector<meshtensor::queued_command> commands;
    for (given const& g : all) commands.push_back(g.command);
    unordered += unordered_neighbours(commands);
    if (keeps_lists) lists.push_back(std::move(commands));
    running r{all, std::vector<bool>(all.size()), std::vector<std::vector<int>>(static_cast<std::size_t>(queues_)), {}};
    for (std::size_t i = 0; i < all.size(); ++i)
      r.lists[static_cast<std::size_t>(all[i].command.queue)].push_back(static_cast<int>(i));
    r.next.resize(r.lists.size());
    for (std::size_t left = all.size(); left != 0 && failed.empty(); --left) {
      int const next = drawn(r);
      failed = next < 0 ? "all queues wait for each other" : run(r, next);
    }
    if (!failed.empty()) throw meshtensor::error("R81", {"the test's device: ", failed});
  }

 private:
  static constexpr std::size_t room = std::size_t{1} << 33;
  struct given {
    std::string what;
    std::function<void()> work;
    meshtensor::queued_command command;
  };

  static meshtensor::byte_range range(std::byte const* at, std::size_t n) {
    return meshtensor::bytes_at(at, static_cast<std::int64_t>(n));
  }
  std::uint64_t draw(std::uint64_t below) {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return state_ % below;
  }
  bool uses(meshtensor::byte_range const& r) const {
    for (given const& g : pending_)
      for (auto const* list : {&g.command.reads, &g.command.writes})
        for (auto const& other : *list)
          if (other.meets(r)) return true;
    return false;
  }
  int last_of(int queue) const {
    for (std::size_t i = pending_.size(); i-- > 0;)
      if (pending_[i].command.queue == queue) return static_cast<int>(i);
    return -1;
  }
  void give(std::string what, std::vector<meshtensor::byte_range> reads, std::vector<meshtensor::byte_range> writes,
            std::function<void()> work) {
    std::vector<int> after = std::move(awaited_[now_]);
    awaited_[now_].clear();
    std::erase(after, -1);
    pending_.push_back(
        {std::move(what), std::move(work), {now_, std::move(after), std::move(reads), std::move(writes)}});
  }
  void begin_anew() { pending_.clear(), events_.clear(), awaited_.clear(), now_ = 0; }

  long unordered_neighbours(std::vector<meshtensor::queued_command> const& commands) const {
    auto const queues = static_cast<std::size_t>(queues_);
    std::vector<int> seen(commands.size() * queues, -1),
        last(queues, -1);  // by command and queue: the last command before it
    long count = 0;
    for (std::size_t i = 0; i < commands.size(); ++i) {
      int* const before = seen.data() + i * queues;
      auto const add = [&](int command) {
        if (command < 0) return;
        auto const t = static_cast<std::size_t>(command), q = static_cast<std::size_t>(commands[t].queue);
        for (std::size_t k = 0; k < queues; ++k) before[k] = std::max(before[k], seen[t * queues + k]);
        before[q] = std::max(before[q], command);
      };
      auto const own = static_cast<std::size_t>(commands[i].queue);
      add(last[own]);
      for (int w : commands[i].waits) add(w);
      last[own] = static_cast<int>(i);
      if (i == 0 || commands[i - 1].queue == commands[i].queue) continue;
      count += before[static_cast<std::size_t>(commands[i - 1].queue)] < static_cast<int>(i) - 1;
    }
    return count;
  }

  /// Work that is being done.
  struct running {
    std::vector<given>& all;
    std::vector<bool> is_done;
    std::vector<std::vector<int>> lists;  // by queue
    std::vector<std::size_t> next;        // by queue: the place in its list
  };
  /// The next of a queue that can run, of those that can; -1: none.
  int drawn(running const& r) {
    std::vector<int> heads;
    for (std::size_t q = 0; q < r.lists.size(); ++q) {
      if (r.next[q] == r.lists[q].size()) continue;
      int const i = r.lists[q][r.next[q]];
      bool can = true;
      for (int w : r.all[static_cast<std::size_t>(i)].command.waits)
        can = can && r.is_done[static_cast<std::size_t>(w)];
      if (can) heads.push_back(i);
    }
    if (heads.size() > 1)
      std::erase_if(heads, [&](int i) { return r.all[static_cast<std::size_t>(i)].command.queue == postponed; });
    return heads.empty() ? -1 : heads[static_cast<std::size_t>(draw(heads.size()))];
  }
  /// Runs one; a sentence if it fails.
  std::string run(running& all, int i) {
    given const& g = all.all[static_cast<std::size_t>(i)];
    bool is_early = false;
    for (std::size_t q = 0; q < all.lists.size(); ++q)
      for (std::size_t k = all.next[q]; k < all.lists[q].size() && all.lists[q][k] < i; ++k) {
        is_early = true;
        given const& before = all.all[static_cast<std::size_t>(all.lists[q][k])];
        if (checks_order && meshtensor::conflict(before.command, g.command))
          return g.what + " runs before " + before.what + ", whose memory it shares: a wait is missing";
      }
    out_of_order += is_early;
    for (auto const* list : {&g.command.reads, &g.command.writes})
      for (auto const& r : *list)
        if (!r.empty() && !is_mine(r)) return g.what + " touches memory that was given back";
    if (!fails_at.empty() && g.what.starts_with(fails_at)) return "the kernel of " + g.what + " failed";
    try {
      if (computes || g.what == "download") g.work();
    } catch (std::exception const& e) { return g.what + ": " + e.what(); }
    all.is_done[static_cast<std::size_t>(i)] = true;
    ++all.next[static_cast<std::size_t>(g.command.queue)];
    return {};
  }
  bool is_mine(meshtensor::byte_range const& r) const {
    if (r.begin < first_ || r.begin >= first_ + room) return true;  // no memory of the device: an order of effects
    auto const at = static_cast<std::size_t>(r.begin - first_);
    auto const next = blocks_.upper_bound(at);
    if (next == blocks_.begin()) return false;
    auto const& [begin, size] = *std::prev(next);
    return static_cast<std::size_t>(r.end - first_) <= begin + size;
  }

  std::uint64_t state_;
  int queues_, now_ = 0;
  std::byte *first_ = nullptr, *shadow_ = nullptr;
  std::map<std::size_t, std::size_t> blocks_;  // from the first address: bytes
  long host_blocks_ = 0;
  std::deque<given> pending_;
  std::map<int, int> events_;                // the last order before it
  std::map<int, std::vector<int>> awaited_;  // by queue: what its next order waits for
  std::string failure_;
  std::mutex submission_lock_;
};

/// The machine that late devices run on; a test puts its own there.
inline late_machine*& given_machine() {
  static late_machine* one = nullptr;
  return one;
}
struct late_device_base {
  static late_machine& machine() { return *given_machine(); }
};
/// Runs the kernels of another device late and out of order.
template <class Kernels>
struct late : late_device_base {
  using recorded_program = meshtensor::program_on_machine<late_machine, Kernels>;
};
template <class Kernels>
requires(meshtensor::capabilities_of<Kernels>.fuses)
struct late<Kernels> : late_device_base {
  static constexpr meshtensor::device_capabilities capabilities = meshtensor::capabilities_of<Kernels>;
  using recorded_program = meshtensor::program_on_machine<late_machine, Kernels>;
};
using late_device = late<meshtensor::reference_device>;

/// A machine for the tests of its lifetime.
struct late_here {
  late_machine machine;
  explicit late_here(std::uint64_t seed = 1, int queues = 4) : machine(seed, queues) { given_machine() = &machine; }
  ~late_here() { given_machine() = nullptr; }
};

}  // namespace meshtensor_test
