// SPDX-License-Identifier: Apache-2.0
// The MPI communicators of a world: one of all ranks, one for notices, and two for each group.
#pragma once

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "meshtensor/comm/mpi/pending_collective.hpp"

namespace meshtensor::comm {

class mpi_communicators {
 public:
  /// Takes the rank and the size of the communicator that the world duplicates later.
  void take(MPI_Comm user) {
    if (user == MPI_COMM_NULL)
      throw error("R25",
                  "a job was given MPI_COMM_NULL, which ranks outside of a communicator get: make it on the ranks "
                  "that are in the communicator");
    must(MPI_Comm_rank(user, &rank_), "MPI_Comm_rank");
    must(MPI_Comm_size(user, &size_), "MPI_Comm_size");
  }
  /// Makes the communicators of all ranks, together with the other ranks.
  void duplicate(MPI_Comm user) {
    must(MPI_Comm_dup(user, &world_), "MPI_Comm_dup");
    must(MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    for (int r = 0; r < size_; ++r) everybody_.push_back(r);
    if (size_ == 1) return;
    must(MPI_Comm_dup(world_, &notices_), "MPI_Comm_dup");
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm world() const { return world_; }
  /// The communicator for messages about waits and failures, or MPI_COMM_NULL if there is one rank.
  MPI_Comm notices() const { return notices_; }
  group everybody() const { return {everybody_.data(), size_, rank_}; }

  /// Makes the communicators of a group, collectively over its members.
  void make(group const& g) {
    group_communicators c{std::vector<int>(g.members, g.members + g.count)};
    bool everybody = g.count == size_;
    for (int j = 0; j < g.count; ++j) everybody = everybody && g.members[j] == j;
    if (everybody) {
      c.first = world_;
    } else {
      MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
      must(MPI_Comm_group(world_, &all), "MPI_Comm_group");
      must(MPI_Group_incl(all, g.count, g.members, &some), "MPI_Group_incl");
      must(MPI_Comm_create_group(world_, some, 0, &c.first), "MPI_Comm_create_group");
      MPI_Group_free(&some);
      MPI_Group_free(&all);
    }
    must(MPI_Comm_set_errhandler(c.first, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    must(MPI_Comm_dup(c.first, &c.second), "MPI_Comm_dup");
    groups_.push_back(std::move(c));
  }
  /// The communicators of a group, or null if it was not prepared.
  group_communicators* find(group const& g) {
    for (group_communicators& c : groups_)
      if (std::equal(c.members.begin(), c.members.end(), g.members, g.members + g.count)) return &c;
    return nullptr;
  }

  /// Frees all communicators. If not `silent`, messages on that for notices are pending, and it is kept.
  void free(bool silent) {
    if (notices_ != MPI_COMM_NULL && silent) MPI_Comm_free(&notices_);
    for (group_communicators& c : groups_) {
      if (c.first != world_) MPI_Comm_free(&c.first);
      MPI_Comm_free(&c.second);
    }
    MPI_Comm_free(&world_);
  }

 private:
  MPI_Comm world_ = MPI_COMM_NULL, notices_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 0;
  std::vector<int> everybody_;
  std::deque<group_communicators> groups_;
};

}  // namespace meshtensor::comm
