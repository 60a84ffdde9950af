// SPDX-License-Identifier: Apache-2.0
// Counts what a rank sends by MPI: its own definitions of the calls, which pass on to those of the library. For one
// file of an executable.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <string>

namespace counted {

inline std::map<std::string, int> calls_made;
inline std::map<std::string, std::int64_t> received;  // bytes from others

inline void clear() { calls_made.clear(), received.clear(); }
inline std::int64_t all_received() {
  std::int64_t sum = 0;
  for (auto const& [function, bytes] : received) sum += bytes;
  return sum;
}

inline int size_of(MPI_Datatype type) {
  int n = 0;
  MPI_Type_size(type, &n);
  return n;
}
inline int others(MPI_Comm over) {
  int n = 0;
  MPI_Comm_size(over, &n);
  return n - 1;
}
inline void count(char const* name, std::int64_t bytes) {
  ++calls_made[name];
  received[name] += bytes;
}
inline std::int64_t all_but_mine(int const* counts, MPI_Comm over) {
  int me = 0;
  MPI_Comm_rank(over, &me);
  std::int64_t sum = 0;
  for (int j = 0; j <= others(over); ++j) sum += j == me ? 0 : counts[j];
  return sum;
}

}  // namespace counted

extern "C" {
int MPI_Iallgather(void const* a, int n, MPI_Datatype s, void* b, int m, MPI_Datatype t, MPI_Comm c, MPI_Request* r) {
  counted::count("iallgather", static_cast<std::int64_t>(m) * counted::size_of(t) * counted::others(c));
  return PMPI_Iallgather(a, n, s, b, m, t, c, r);
}
int MPI_Iallgatherv(void const* a, int n, MPI_Datatype s, void* b, int const* m, int const* d, MPI_Datatype t,
                    MPI_Comm c, MPI_Request* r) {
  counted::count("iallgatherv", counted::all_but_mine(m, c) * counted::size_of(t));
  return PMPI_Iallgatherv(a, n, s, b, m, d, t, c, r);
}
int MPI_Ialltoall(void const* a, int n, MPI_Datatype s, void* b, int m, MPI_Datatype t, MPI_Comm c, MPI_Request* r) {
  counted::count("ialltoall", static_cast<std::int64_t>(m) * counted::size_of(t) * counted::others(c));
  return PMPI_Ialltoall(a, n, s, b, m, t, c, r);
}
int MPI_Ialltoallv(void const* a, int const* n, int const* e, MPI_Datatype s, void* b, int const* m, int const* d,
                   MPI_Datatype t, MPI_Comm c, MPI_Request* r) {
  counted::count("ialltoallv", counted::all_but_mine(m, c) * counted::size_of(t));
  return PMPI_Ialltoallv(a, n, e, s, b, m, d, t, c, r);
}
int MPI_Iallreduce(void const* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* r) {
  counted::count("iallreduce", 0);
  return PMPI_Iallreduce(a, b, n, t, o, c, r);
}
int MPI_Ireduce_scatter_block(void const* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* r) {
  counted::count("ireduce_scatter_block", 0);
  return PMPI_Ireduce_scatter_block(a, b, n, t, o, c, r);
}
int MPI_Ireduce_scatter(void const* a, void* b, int const* n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* r) {
  counted::count("ireduce_scatter", 0);
  return PMPI_Ireduce_scatter(a, b, n, t, o, c, r);
}
int MPI_Ibcast(void* a, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* r) {
  int me = 0;
  MPI_Comm_rank(c, &me);
  counted::count("ibcast", me == root ? 0 : static_cast<std::int64_t>(n) * counted::size_of(t));
  return PMPI_Ibcast(a, n, t, root, c, r);
}
int MPI_Igatherv(void const* a, int n, MPI_Datatype s, void* b, int const* m, int const* d, MPI_Datatype t, int root,
                 MPI_Comm c, MPI_Request* r) {
  int me = 0;
  MPI_Comm_rank(c, &me);
  counted::count("igatherv", me == root ? counted::all_but_mine(m, c) * counted::size_of(t) : 0);
  return PMPI_Igatherv(a, n, s, b, m, d, t, root, c, r);
}
int MPI_Isend(void const* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
  counted::count("isend", 0);
  return PMPI_Isend(a, n, t, to, tag, c, r);
}
int MPI_Irecv(void* a, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r) {
  counted::count("irecv", static_cast<std::int64_t>(n) * counted::size_of(t));
  return PMPI_Irecv(a, n, t, from, tag, c, r);
}
// No plan makes these.
int MPI_Ibarrier(MPI_Comm c, MPI_Request* r) {
  counted::count("ibarrier", 0);
  return PMPI_Ibarrier(c, r);
}
int MPI_Bcast(void* a, int n, MPI_Datatype t, int root, MPI_Comm c) {
  counted::count("bcast", 0);
  return PMPI_Bcast(a, n, t, root, c);
}
int MPI_Allgather(void const* a, int n, MPI_Datatype s, void* b, int m, MPI_Datatype t, MPI_Comm c) {
  counted::count("allgather", 0);
  return PMPI_Allgather(a, n, s, b, m, t, c);
}
int MPI_Alltoall(void const* a, int n, MPI_Datatype s, void* b, int m, MPI_Datatype t, MPI_Comm c) {
  counted::count("alltoall", 0);
  return PMPI_Alltoall(a, n, s, b, m, t, c);
}
int MPI_Send(void const* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
  counted::count("send", 0);
  return PMPI_Send(a, n, t, to, tag, c);
}
int MPI_Recv(void* a, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s) {
  counted::count("recv", 0);
  return PMPI_Recv(a, n, t, from, tag, c, s);
}
int MPI_Allreduce(void const* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) {
  counted::count("allreduce", 0);
  return PMPI_Allreduce(a, b, n, t, o, c);
}
int MPI_Barrier(MPI_Comm c) {
  counted::count("barrier", 0);
  return PMPI_Barrier(c);
}
}
