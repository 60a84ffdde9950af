// SPDX-License-Identifier: Apache-2.0
// Calls a function at the beginning of MPI_Finalize, when collectives still work.
#pragma once

#include "meshtensor/comm/mpi/library.hpp"

namespace meshtensor::comm {

/// Calls `F` once, first of all in MPI_Finalize. MPI deletes the attributes of MPI_COMM_SELF there, before any part of
/// itself ends, and calls back for each of them.
/// source  MPI 4.0, section 11.2.4 "Allowing User Functions at MPI Finalization"
template <void (*F)() noexcept>
void before_finalize() {
  int key = MPI_KEYVAL_INVALID;
  constexpr auto call = [](MPI_Comm, int, void*, void*) {
    F();
    return MPI_SUCCESS;
  };
  must(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, call, &key, nullptr), "MPI_Comm_create_keyval");
  must(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  must(MPI_Comm_free_keyval(&key), "MPI_Comm_free_keyval");  // which lives as long as the attribute
}

}  // namespace meshtensor::comm
