// SPDX-License-Identifier: Apache-2.0
// Threads whose collectives are as late as is legal: results are garbage until a wait, and operands are read at the
// wait or at the start.
#pragma once

#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <vector>

#include "meshtensor/job/local_runners.hpp"
#include "support/layouts.hpp"

namespace meshtensor_test {

namespace mt = meshtensor;

/// All members of a group run one plan, so they wait in the same order, and delayed collectives start in that order.
class late_transport final : public mt::transport {
 public:
  late_transport(mt::transport& inner, int rank) : inner_(inner), c_{static_cast<std::uint64_t>(rank)} {}

  int prepare(mt::planned_collective const& c) override { return inner_.prepare(c); }
  void release(int number) override { inner_.release(number); }
  bool start(int number, mt::planned_collective const& c, void const* in, void* out) override {
    held& h = held_.emplace_back(held{number, &c, in, out, {}});
    if (in != nullptr && (in == out || c_.one_in(2))) {  // null: a slice that another processor holds
      auto const* const first = static_cast<std::byte const*>(in);
      h.operand.assign(first, first + mt::bytes_of(c.call));
      h.in = h.operand.data();
    }
    std::int64_t const bytes = mt::result_bytes_of(c.call, c.with.count, c.with.index);
    if (bytes != 0) std::memset(out, 0xff, static_cast<std::size_t>(bytes));  // NaN for floats
    return true;
  }
  void wait(int number) override {
    for (; is_held(number); held_.pop_front()) {
      held& h = held_.front();
      inner_.start(h.number, *h.with, h.in, h.out);
      started_[h.number].swap(h.operand);  // peers read it until the wait
    }
    inner_.wait(number);
  }
  void progress() override { inner_.progress(); }
  void abandon() override { inner_.abandon(); }
  std::int64_t workspace_bytes() const override { return inner_.workspace_bytes(); }
  std::int64_t ahead() const override { return inner_.ahead(); }

 private:
  struct held {
    int number;
    mt::planned_collective const* with;
    void const* in;
    void* out;
    std::vector<std::byte> operand;
  };

  bool is_held(int number) const {
    for (held const& h : held_)
      if (h.number == number) return true;
    return false;
  }

  mt::transport& inner_;
  rng c_;
  std::deque<held> held_;
  std::map<int, std::vector<std::byte>> started_;  // copies of operands, by number
};

class late_runner final : public mt::job_runner {
 public:
  int size() const override { return 0; }
  std::vector<int> held(int size) const override { return threads_.held(size); }
  void run(int size, mt::rank_work work) override {
    auto& ends = ends_[size];
    ends.resize(static_cast<std::size_t>(size));
    threads_.run(size, [&](int rank, mt::transport& t) {
      auto& mine = ends[static_cast<std::size_t>(rank)];
      if (!mine) mine = std::make_unique<late_transport>(t, rank);
      work(rank, *mine);
    });
  }

 private:
  mt::thread_runner threads_;
  std::map<int, std::vector<std::unique_ptr<late_transport>>> ends_;
};

}  // namespace meshtensor_test
