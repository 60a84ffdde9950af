// SPDX-License-Identifier: Apache-2.0
// Checks numbers before a step. If they become elements of tensors of integers, they must fit those. If they are
// outputs, they must fit f64. Shares must be greater than 0 and at most 1.
#pragma once

#include <vector>

#include "meshtensor/array/numbers.hpp"
#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/graph/element_number.hpp"
#include "meshtensor/graph/spell.hpp"
#include "meshtensor/op/rules.hpp"

namespace meshtensor {
namespace detail {

/// The row of a number that is an element of a node's result, or no_id if the node takes no such number.
inline number_id element_row(node const& n) {
  switch (n.kind) {
    case primitive::constant: return constant_attributes::of(n).number;
    case primitive::pad: return pad_attributes::of(n).around;
    case primitive::shift: return shift_attributes::of(n).around;
    case primitive::move: return move_attributes::of(n).around;
    default: return no_id;
  }
}
/// Whether a node's number is an output, which f64 must hold.
inline bool gives_number(node const& n) { return n.kind == primitive::constant && constant_attributes::of(n).is_exact; }
/// Whether a node's number is a share, by which other numbers are divided.
inline bool takes_share(node const& n) { return n.kind == primitive::constant && constant_attributes::of(n).is_share; }
/// Whether a node has a number that becomes an integer, an output or a share.
inline bool is_checked(module const& m, node const& n) {
  if (element_row(n) == no_id) return false;
  if (gives_number(n) || takes_share(n)) return true;
  dtype const type = m.result_value(n).type;
  return !is_float(type) && type != dtype::boolean;
}

/// errors  T02 the number is an output, and f64 does not hold it
inline void require_exact(module const& m, number_id row, site_id site, number_value const& now) {
  if (now.rest == 0) return;
  diagnostic d{};
  add_exact(d << "T02 the number " << speller(m).number(row).c_str() << " is ", now);
  raise(add_line(add_inexact_output(d << ", but it is"), m, site));
}
/// errors  T51 the number is not greater than 0, or greater than 1
inline void require_share(module const& m, number_id row, site_id site, number_value const& now) {
  if (now.real > 0 && now.real <= 1) return;
  diagnostic d{};
  add_exact(d << "T51 the number " << speller(m).number(row).c_str() << " is ", now);
  raise(add_line(d << ", but must be greater than 0 and at most 1", m, site));
}
/// errors  T02 the number does not fit
inline void require_fits(module const& m, dtype type, number_id row, site_id site, number_value const& now) {
  if (fits(now, type)) return;
  bool const is_literal = m.numbers[row].kind == number_row::literal;
  diagnostic d{};
  d << "T02 ";
  if (!is_literal) d << "the number " << speller(m).number(row).c_str() << " is ";
  add_exact(d, now) << (is_literal ? "" : ", but");
  raise(add_line(add_range(d, now, "stands beside", type), m, site));
}
/// errors  T02 a number that the node takes does not fit; T51 it is no share
inline void require_fits(module const& m, node const& n, dynamic_array<number_value> const& now) {
  if (!is_checked(m, n)) return;
  number_id const row = element_row(n);
  if (gives_number(n)) return require_exact(m, row, n.site, now[row]);
  if (takes_share(n)) return require_share(m, row, n.site, now[row]);
  require_fits(m, m.result_value(n).type, row, n.site, now[row]);
}

}  // namespace detail

/// The numbers of a program that become elements of tensors of integers, outputs or shares.
class integer_numbers {
 public:
  explicit integer_numbers(module const& m) : m_(m) {
    for (int i = 0; i < m.node_count; ++i)
      if (detail::is_checked(m, m.nodes[i])) nodes_.push_back(i);
  }

  /// errors  T02 a number of this step does not fit a tensor beside it; T51 it is no share
  void require(dynamic_array<number_value> const& now) const {
    for (int const i : nodes_) detail::require_fits(m_, m_.nodes[i], now);
  }

 private:
  meshtensor::module const& m_;
  std::vector<int> nodes_;
};

}  // namespace meshtensor
