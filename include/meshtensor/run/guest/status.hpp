// SPDX-License-Identifier: Apache-2.0
// Turns exceptions of a guest into a status and a sentence, because C and Fortran know no exceptions.
#pragma once

#include <exception>
#include <string>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/job/job.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

inline std::string& guest_error() {
  static thread_local std::string sentence;
  return sentence;
}
/// Calls `f`, and keeps its failure as a sentence. `job` is the guest's job, or null.
template <class F>
int with_status(job const* j, F const& f) noexcept {
  try {
    try {
      f();
      return 0;
    } catch (std::exception const& e) { guest_error() = e.what(); } catch (...) {
      guest_error() = unknown_exception;
    }
  } catch (...) { guest_error().clear(); }  // no memory for a sentence
  return j != nullptr && j->get().has_failed() ? 2 : 1;
}

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
