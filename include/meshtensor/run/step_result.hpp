// SPDX-License-Identifier: Apache-2.0
// Results of a step: numbers, and outputs with dims.
#pragma once

#include <cstddef>
#include <type_traits>

#include "meshtensor/base/name.hpp"
#include "meshtensor/tensor/call.hpp"
#include "meshtensor/tensor/wrong.hpp"

namespace meshtensor {

/// An output with dims, in place: sharded over the ranks, valid until the next step or the executable's end.
template <class Executable, name Label>
class step_output {
 public:
  explicit step_output(Executable const& e) : e_(&e) {}
  /// This process's part. It is the block of its rank, which knows its first indices, or the whole if this process
  /// holds all ranks. The dims of the result are values, because a part of a dim does not have the type of the dim.
  auto local() const { return e_->template local<Label>(); }
  /// The same without a copy, valid until the next step. errors R06 this process holds several ranks
  auto view() const { return e_->template view_of<Label>(); }
  /// The whole, on every process. If processes hold parts of it, all of them must call this.
  auto gather() const { return e_->template gather<Label>(); }
  /// A compile-time error, because only an output without dims converts to a number.
  template <class N>
  requires std::is_arithmetic_v<N>
  operator N() const {  // NOLINT: implicit, because users write `float loss = result.get<"loss">()`
    static_assert(sizeof(N) == 0,
                  "meshtensor T03: this output has dims, so it is no number: local() is what this process "
                  "holds of it, gather() the whole; or give out its sum or mean");
    return {};
  }

 private:
  Executable const* e_;
};

/// Stands for an output that the program does not have, so that the compiler reports no further errors about its use.
struct no_output {
  template <class T>
  operator T() const;  // NOLINT: never called, because the program does not compile
  no_output local() const;
  no_output view() const;
  no_output gather() const;
};

/// The results of a step. `result.get<"loss">()` is a number if the output has no dims, and otherwise a step_output.
template <class Executable>
class step_result {
 public:
  explicit step_result(Executable const& e) : e_(&e) {}
  template <name Label>
  auto get(checked_line<typename Executable::template output_finding<Label>> const& = {}) const {
    return e_->template found<Label>();
  }
  /// Rejects a name as an argument. The sentence depends on N, so that it is made only for a call.
  template <std::size_t N>
  no_output get(char const (&)[N],
                detail::refused_call<"T19 get takes the name of the output in angle brackets: "
                                     "step(...).get<\"loss\">()",
                                     std::conditional_t<N == 0, Executable, detail::none_given>> const& = {}) const {
    return {};
  }

 private:
  Executable const* e_;
};

}  // namespace meshtensor
