// SPDX-License-Identifier: Apache-2.0
// Sentences as template arguments, and the error sentences about members that tensors of other libraries have.
#pragma once

#include <cstddef>
#include <string_view>

namespace meshtensor::detail {

/// A text as a template argument.
template <std::size_t Size>
struct literal {
  char at[Size];
  constexpr literal() : at{} {}
  consteval literal(char const (&words)[Size]) : at{} {  // NOLINT: a literal is one
    for (std::size_t i = 0; i < Size; ++i) at[i] = words[i];
  }
};

template <literal... Parts>
inline constexpr auto joined_words = [] {
  literal<((sizeof(Parts.at) - 1) + ... + 1)> all;
  std::size_t size = 0;
  auto const add = [&](std::string_view part) {
    for (char c : part) all.at[size++] = c;
  };
  (add(Parts.at), ...);
  return all;
}();

/// The code of an overload that rejects two mistakes: `Code` if `Holds`.
template <bool Holds, literal Code, literal Otherwise>
struct code_if {
  static constexpr auto value = Holds ? Code : Otherwise;
};
template <class Code, literal Words>
inline constexpr auto with_code = joined_words<Code::value, " ", Words>;

/// Stands for an argument that was not given.
struct none_given {};

/// The result of a refused call that has no tensor to return. An output accepts it, so that its use causes no second
/// error.
struct no_result {};

/// The error with this sentence and the types that it is about, as `type`. It is the reason for which a call is refused
/// (tensor/wrong.hpp).
template <literal Words, class... Facts>
struct refusal_of;

inline constexpr literal has_no_shape =
    "T31 a tensor has no shape to change: split, merge, rename, slice and broadcast change its dims "
    "by name";
inline constexpr literal needs_no_transpose =
    "T30 dims are matched by name, so tensors are seldom transposed: transpose(x, mt::to(b, a)) does "
    "it";
inline constexpr literal has_extents =
    "T31 the extent of a dim is a number, extent(batch): it may be known at start-up only";
inline constexpr literal has_functions =
    "T30 operations are functions: sum(x, batch), softmax(x, vocab), einsum(x, w, mt::to(batch, "
    "out))";
inline constexpr literal has_no_value =
    "T27 a tensor has no value while the program is traced: s.output(\"y\", y) gives it out, and a "
    "step has it by name";
inline constexpr literal is_cast =
    "T30 operations are functions: cast(x, mt::f32) changes the dtype; where a tensor is kept, the layout says";
inline constexpr literal no_number_is_known =
    "T27 a number has no value while the program is traced: maximum and minimum take numbers, and full(s, n, mt::f64) "
    "is a tensor that can be compared";
inline constexpr literal has_no_tape =
    "T34 gradients are part of the program: gradient(loss, w), or mt::sgd{}.minimize(s / "
    "\"optimizer\", loss); stop_gradient(x) ends them";
inline constexpr literal has_no_rows =
    "T32 a tensor has no elements to loop over: operations take all of them, mt::scan goes along a dim";
inline constexpr literal is_not_indexed =
    "T32 elements are not indexed: slice(x, dim, part, first) takes a part, gather(x, index, dim) "
    "the rows of an index";

inline constexpr literal is_not_changed =
    "T33 a tensor is not changed in place: x = x + y makes another one, s.update(w, next) replaces a parameter or "
    "state";
inline constexpr literal is_not_known =
    "T27 a tensor has no value while the program is traced: select(condition, a, b) chooses for each element, "
    "maximum(a, "
    "b) and minimum(a, b) the one or the other, mt::cond takes one of two branches, mt::while_loop repeats a body";
inline constexpr literal is_no_number =
    "T27 a tensor has no value while the program is traced: s.output(\"y\", y) gives it out, and a step has it by "
    "name; "
    "cast(y, mt::f32) changes its dtype";

}  // namespace meshtensor::detail
