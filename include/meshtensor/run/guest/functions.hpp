// SPDX-License-Identifier: Apache-2.0
// The functions of a guest as C sees them: a table of addresses. This header includes no header of programs.
#pragma once

#include <cstdint>

namespace meshtensor {

extern "C" {

/// The functions that the header and the module of a guest call. Each function that returns an int returns a status. 0
/// means success. 1 means that the call was refused and may be repeated. 2 means that a rank failed and the job is
/// over. No function throws. The generated files declare the same struct.
struct guest_functions {
  /// Makes a guest, whose number is not 0. `extents` lists the extents of the open dims, then the sizes of the open
  /// axes. `checksum` is that of the interface for which the caller was written.
  int (*create)(std::int64_t* guest, int communicator, std::int64_t const* extents, std::int32_t checksum);
  int (*destroy)(std::int64_t* guest);
  /// Names the memory from which each step reads an input, until other memory is named. An input without dims is read
  /// at once.
  int (*feed)(std::int64_t guest, int program, int input, void const* from, std::int64_t const* extents,
              std::int64_t const* strides);
  /// Names the memory into which the next step writes an output.
  int (*fetch)(std::int64_t guest, int program, int output, void* to, std::int64_t const* extents,
               std::int64_t const* strides);
  /// Copies an output of the last step.
  int (*get)(std::int64_t guest, int program, int output, void* to, std::int64_t const* extents,
             std::int64_t const* strides);
  /// The first indices and the extents of this process's part of an input or output.
  int (*part)(std::int64_t guest, int program, int is_output, int port, std::int64_t* first, std::int64_t* extents);
  int (*set)(std::int64_t guest, int number, double value);
  int (*step)(std::int64_t guest, int program);
  /// A sentence about this thread's last failure.
  char const* (*error)(void);
  /// Writes the C header and the Fortran module of the guest. The names of their functions begin with `name`. A file
  /// whose path is null is not written.
  int (*write)(char const* name, char const* header, char const* module);
};
}

}  // namespace meshtensor
