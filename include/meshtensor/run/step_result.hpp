// SPDX-License-Identifier: Apache-2.0
// Results of a step: numbers, and values with dims where they lie.
#pragma once

#include <type_traits>

#include "meshtensor/base/name.hpp"

namespace meshtensor {

/// An output with dims, where it lies: spread over the processors, until the next step.
template <class Executable, name Label>
class step_output {
 public:
  explicit step_output(Executable const& e) : e_(&e) {}
  /// What this process holds: its processor's block, which knows its first indices; all, where all processors are its
  /// own. A part of a dim is not that dim, so the dims are values.
  auto local() const { return e_->template local<Label>(); }
  /// The same without a copy: it lasts until the next step. errors R06 this process holds several processors
  auto view() const { return e_->template where_it_lies<Label>(); }
  /// The whole, on every process. Where processes hold parts of it they all must call this.
  auto gather() const { return e_->template gather<Label>(); }
  /// Of an output without dims `get` gives a number; this says so of one that has some.
  template <class N>
  requires std::is_arithmetic_v<N>
  operator N() const {  // NOLINT: what a reader of `float loss = result.get<"loss">()` expects
    static_assert(sizeof(N) == 0,
                  "meshtensor T03: this output has dims, so it is no number: local() is what this process "
                  "holds of it, gather() the whole; or give out its sum or mean");
    return {};
  }

 private:
  Executable const* e_;
};

/// What came out of a step: `result.get<"loss">()` is a number where the output has no dims, else a step_output.
template <class Executable>
class step_result {
 public:
  explicit step_result(Executable const& e) : e_(&e) {}
  template <name Label>
  auto get() const {
    return e_->template get<Label>();
  }

 private:
  Executable const* e_;
};

}  // namespace meshtensor
