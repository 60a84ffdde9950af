// SPDX-License-Identifier: Apache-2.0
// Defines a dense array in host memory, which owns a value of the interpreter or of a test.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "meshtensor/base/number_value.hpp"
#include "meshtensor/op/detail/scalar.hpp"
#include "meshtensor/pass/bind/binding.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor {

/// Owns the elements of one whole value, dense and row-major in the order of its dims.
class block {
 public:
  block() = default;
  block(dtype type, shape const& dims, binding const& numbers) {
    window_.type = type;
    window_.count = dims.count;
    for (int i = 0; i < dims.count; ++i) {
      window_.dim[i] = dims.at[i];
      window_.extent[i] = window_.total[i] = numbers.extent[dims.at[i]];
    }
    window_.densify();
    storage_.resize((static_cast<std::size_t>(window_.bytes()) + sizeof(double) - 1) / sizeof(double));
  }

  view window() const {
    view v = window_;
    v.data = const_cast<double*>(storage_.data());
    return v;
  }
  void* data() { return storage_.data(); }
  void const* data() const { return storage_.data(); }
  template <class E>
  E* as() {
    return reinterpret_cast<E*>(storage_.data());
  }
  template <class E>
  E const* as() const {
    return reinterpret_cast<E const*>(storage_.data());
  }
  dtype type() const { return window_.type; }
  std::int64_t size() const { return window_.size(); }
  std::int64_t bytes() const { return window_.bytes(); }

  /// Element `i` as a double, for any dtype. An i64 beyond 2^53 is rounded.
  double number_at(std::int64_t i) const {
    return with_element(window_.type, [&]<class E>() { return static_cast<double>(as<E>()[i]); });
  }
  void set(std::int64_t i, double number) {
    with_element(window_.type, [&]<class E>() { as<E>()[i] = static_cast<E>(static_cast<arithmetic_t<E>>(number)); });
  }

 private:
  view window_{};
  std::vector<double> storage_;  // doubles, so that every dtype is aligned
};

namespace detail {
/// The first element that f64 does not hold, which is an integer beyond 2^53. It is -1 if there is none.
inline std::int64_t first_beyond_f64(block const& b) {
  if (b.type() != dtype::i64) return -1;
  for (std::int64_t i = 0; i < b.size(); ++i)
    if (number_value(b.as<std::int64_t>()[i]).rest != 0) return i;
  return -1;
}
}  // namespace detail

}  // namespace meshtensor
