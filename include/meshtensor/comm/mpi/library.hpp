// SPDX-License-Identifier: Apache-2.0
// The only header that includes <mpi.h>: errors as exceptions, properties of the MPI library, and the MPI types of
// dtypes.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <string>
#include <string_view>

#include "meshtensor/comm/collective.hpp"

namespace meshtensor::comm {

/// Throws if an MPI function failed. errors R25
inline void must(int code, char const* function) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int size = 0;
  MPI_Error_string(code, text, &size);
  throw error("R25", {function, " failed with code ", code, ": ", text});
}

/// `Open MPI v4.1.4`
inline std::string library_name() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int size = 0;
  MPI_Get_library_version(text, &size);
  std::string_view const all(text, static_cast<std::size_t>(size));
  return std::string(all.substr(0, all.find_first_of(",\n")));
}

/// Whether several threads may call MPI, one at a time (MPI_THREAD_SERIALIZED).
inline bool takes_turns() {
  int level = 0;
  must(MPI_Query_thread(&level), "MPI_Query_thread");
  return level >= MPI_THREAD_SERIALIZED;
}

/// Whether the MPI library says that it takes addresses of a GPU's memory.
inline bool takes_memory_of_gpus() {
  auto const says = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"));
  return says != nullptr && says() != 0;
}

/// The MPI type that moves elements of the size of this dtype.
inline MPI_Datatype moved(dtype type) {
  switch (bytes_of(type)) {
    case 8: return MPI_UINT64_T;
    case 4: return MPI_UINT32_T;
    case 2: return MPI_UINT16_T;
    default: return MPI_UINT8_T;
  }
}

/// The MPI type in which the MPI library makes reductions that pass `may_be_native`.
inline MPI_Datatype reduced(dtype type) {
  switch (type) {
    case dtype::f64: return MPI_DOUBLE;
    case dtype::f32: return MPI_FLOAT;
    case dtype::i64: return MPI_INT64_T;
    default: return MPI_INT32_T;
  }
}

inline MPI_Op operation(reduction op) {
  return op == reduction::sum ? MPI_SUM : op == reduction::max ? MPI_MAX : MPI_MIN;
}

}  // namespace meshtensor::comm
