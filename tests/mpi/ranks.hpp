// SPDX-License-Identifier: Apache-2.0
// For tests on several ranks: failures say on which rank, and a rank whose test case ends early ends all, as the others
// would wait for it for ever.
#pragma once

#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

namespace ranks {

inline int rank() {
  int r = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &r);
  return r;
}

inline int count() {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}

inline std::vector<int> below(int n) {
  std::vector<int> all;
  for (int r = 0; r < n; ++r) all.push_back(r);
  return all;
}

/// A limit that waits of ranks which are well do not reach, however busy the machine is: several times what all of them
/// need for `work`, in which they meet many times.
template <class Work>
std::chrono::milliseconds limit_from(Work work) {
  auto const begin = std::chrono::steady_clock::now();
  work();
  std::chrono::duration<double, std::milli> const taken = std::chrono::steady_clock::now() - begin;
  double const mine = taken.count();
  double longest = 0;
  MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return std::chrono::milliseconds(std::max(500L, static_cast<long>(3 * longest)));
}

/// Rank 0 comes to nothing until all others have said that they are through. Rank 0 calls one, the others the other.
inline void hang_until_told() {
  for (int from = 1; from < count(); ++from)
    for (int there = 0; there == 0; std::this_thread::sleep_for(std::chrono::milliseconds(1)))
      MPI_Iprobe(from, 7, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  for (int from = 1; from < count(); ++from) MPI_Recv(nullptr, 0, MPI_BYTE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
inline void tell_hanging_rank() { MPI_Send(nullptr, 0, MPI_BYTE, 0, 7, MPI_COMM_WORLD); }

struct listener : doctest::IReporter {
  explicit listener(doctest::ContextOptions const&) {}
  void report_query(doctest::QueryData const&) override {}
  void test_run_start() override {}
  void test_run_end(doctest::TestRunStats const&) override {}
  void test_case_start(doctest::TestCaseData const& test) override { name = test.m_name; }
  void test_case_reenter(doctest::TestCaseData const&) override {}
  void test_case_end(doctest::CurrentTestCaseStats const&) override {}
  void test_case_exception(doctest::TestCaseException const& e) override { end(e.error_string.c_str()); }
  void subcase_start(doctest::SubcaseSignature const&) override {}
  void subcase_end() override {}
  void log_assert(doctest::AssertData const& check) override {
    if (!check.m_failed) return;
    std::fprintf(stderr, "[rank %d] %s:%d: %s: %s\n", rank(), check.m_file, check.m_line, check.m_expr,
                 check.m_decomp.c_str());
    if ((check.m_at & doctest::assertType::is_require) != 0) end("a requirement does not hold");
  }
  void log_message(doctest::MessageData const&) override {}
  void test_case_skipped(doctest::TestCaseData const&) override {}

  void end(char const* reason) {
    std::fprintf(stderr, "[rank %d] '%s' ended early: %s\n", rank(), name, reason);
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }

  char const* name = "";
};

REGISTER_LISTENER("ranks", 1, listener);

}  // namespace ranks
