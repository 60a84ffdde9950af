// SPDX-License-Identifier: Apache-2.0
// The ranks on this rank's machine: whether their processes live, and which rank reports that one has ended.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/base/process.hpp"
#include "meshtensor/base/process_end.hpp"
#include "meshtensor/comm/mpi/library.hpp"

namespace meshtensor::comm {

/// After `meet`, signal handlers may call all functions that are `noexcept`, because these allocate nothing.
class mpi_neighbours {
 public:
  mpi_neighbours() = default;
  mpi_neighbours(mpi_neighbours const&) = delete;
  mpi_neighbours& operator=(mpi_neighbours const&) = delete;
  ~mpi_neighbours() {
    if (shared_ != nullptr) ::munmap(shared_, sizeof *shared_);
    if (file_ >= 0) ::close(file_);
  }

  /// Finds the neighbours, collectively over `talk`, whose ranks are these processes. If the ranks of a machine are to
  /// `agree` on one that reports, they share a word of memory. The word is in an unnamed file of the first of them,
  /// which the others open.
  void meet(MPI_Comm talk, std::vector<process_id> const& processes, int rank, bool agree) {
    process_id const& here = processes[static_cast<std::size_t>(rank)];
    for (std::size_t r = 0; r < processes.size(); ++r)  // ranks in this process, as in a simulator, end with it
      if (processes[r].place == here.place && processes[r].number != here.number)
        others_.push_back({static_cast<int>(r), processes[r], process_end(processes[r].number)});
    if (!agree) return;
    bool const first = others_.empty() || rank < others_[0].rank;
    if (first) file_ = ::memfd_create("meshtensor", MFD_CLOEXEC);
    if (first && file_ >= 0 && ::ftruncate(file_, sizeof *shared_) == 0) map(file_);
    std::vector<int> files(processes.size());
    must(MPI_Allgather(&file_, 1, MPI_INT, files.data(), 1, MPI_INT, talk), "MPI_Allgather");
    if (first) return;
    int const lent = files[static_cast<std::size_t>(others_[0].rank)];
    std::string const path = "/proc/" + std::to_string(others_[0].id.number) + "/fd/" + std::to_string(lent);
    int const opened = lent < 0 ? -1 : ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (opened < 0) return;
    map(opened);
    ::close(opened);
  }

  bool empty() const noexcept { return others_.empty(); }
  std::vector<int> ranks() const {
    std::vector<int> all;
    for (neighbour const& n : others_) all.push_back(n.rank);
    return all;
  }
  /// The first rank whose process has ended, or -1 if all live.
  int gone() const noexcept {
    for (neighbour const& n : others_)
      if (n.end.has_come()) return n.rank;
    return -1;
  }
  /// `rank 2 failed: process 4711 on node17 was killed by SIGKILL`
  void describe(int rank, signal_safe_line& to) const noexcept {
    for (neighbour const& n : others_) {
      if (n.rank != rank) continue;
      to << "rank " << rank << " failed: process " << n.id.number << " on " << n.id.host << " ";
      n.end.describe(to);
    }
  }
  std::string sentence(int rank) const {
    signal_safe_line line;
    describe(rank, line);
    return std::string(line.text());
  }
  /// Whether these ranks share memory to agree on one that reports.
  bool agree() const noexcept { return shared_ != nullptr; }
  /// True for the first rank that reports, or sees, why the job ends. The others print nothing. If the ranks share no
  /// memory, it is true for all of them.
  bool speaks_first() noexcept { return shared_ == nullptr || shared_->exchange(1) == 0; }

 private:
  using word = std::atomic<int>;
  static_assert(word::is_always_lock_free);
  struct neighbour {
    int rank;
    process_id id;
    process_end end;
  };

  void map(int file) {
    void* const at = ::mmap(nullptr, sizeof *shared_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at != MAP_FAILED) shared_ = static_cast<word*>(at);
  }

  std::vector<neighbour> others_;
  int file_ = -1;           // of the first rank
  word* shared_ = nullptr;  // 0 while the job runs, 1 when its end was reported
};

}  // namespace meshtensor::comm
