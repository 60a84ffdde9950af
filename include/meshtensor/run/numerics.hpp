// SPDX-License-Identifier: Apache-2.0
// Checks every floating value of a step as it is made, and names the operation that made the first infinite or NaN
// element.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "meshtensor/array/interpret.hpp"
#include "meshtensor/base/bytes.hpp"
#include "meshtensor/graph/locate.hpp"
#include "meshtensor/job/rank_context.hpp"
#include "meshtensor/pass/schedule.hpp"
#include "meshtensor/run/indices_taking_part.hpp"
#include "meshtensor/run/recomputed_kernel.hpp"

namespace meshtensor::detail {

/// An observer of an engine, called before and after each node. Copies of it share their buffers, one for each rank,
/// because ranks may be threads. It is a template, so that only programs that use it compile its loops.
template <class = lazy>
class numerics_check {
 public:
  numerics_check(module const& m, binding const& numbers, std::int64_t ranks)
      : m_(m),
        ranks_(ranks),
        kept_(std::make_shared<std::vector<kept_of_rank>>(static_cast<std::size_t>(ranks),
                                                          kept_of_rank{{}, {}, recomputed_kernel(m)})),
        awaited_(awaited_values(m, numbers)),
        participation_(std::make_shared<participation>(m)) {}

  /// Copies the operands that a kernel may overwrite, so that `after` can recompute the nodes of the kernel.
  void before(node const& n, std::span<rank_context const> held) const {
    if (n.kind != primitive::kernel && !is_whole(n)) return;
    for (rank_context const& p : held) {
      operands_kept& all = of(p).operands;
      all.resize(std::max(all.size(), static_cast<std::size_t>(n.operands.count)));
      for (int i = 0; i < n.operands.count; ++i) {
        std::vector<double>& copy = all[static_cast<std::size_t>(i)];
        copy.clear();
        if (!is_written(n, m_.operand(n, i), p)) continue;
        copy.resize(static_cast<std::size_t>(p.bytes(m_.operand(n, i)) + 7) / 8 + 1);
        copy_bytes(copy.data(), p.pointer(m_.operand(n, i)), p.bytes(m_.operand(n, i)));
      }
    }
  }
  /// errors  R32 a result has an infinite or NaN element
  void after(node const& n, std::span<rank_context const> held) const {
    if (n.kind == primitive::argument || (shares_memory(n) && n.kind != primitive::wait)) return;
    for (rank_context const& p : held) {
      if (value_id const v = participation_->made_by(m_, n); v != no_id) keep_mask(n, v, p);
      for (int i = 0; i < n.results.count; ++i) {
        value_id const v = m_.result(n, i);
        if (awaited_[v]) continue;  // may still be in flight, so it is checked at its wait
        if (!is_float(m_.values[v].type) || p.pointer(v) == nullptr || p.is_strided_slice(v) || !p.is_here(v)) continue;
        if (is_bad(v, p.at(v), p)) tell(n, i, p);
      }
    }
  }

 private:
  struct kept_of_rank {
    operands_kept operands;
    indices_taking_part taking_part;
    recomputed_kernel kernel;
  };

  kept_of_rank& of(rank_context const& p) const { return (*kept_)[static_cast<std::size_t>(p.rank())]; }
  not_finite find_bad(value_id v, view const& seen, rank_context const& p) const {
    not_finite const all = find_not_finite(seen);
    return all.count == 0 ? all : of_those_taking_part(masks_at(m_.values[v].region, p), seen, all);
  }
  std::vector<view> masks_at(region_id region, rank_context const& p) const {
    std::vector<view> all;
    for (region_id r = region; r != no_id; r = m_.regions[r].parent) {
      if (view const* const kept = of(p).taking_part.of(r); kept != nullptr) all.push_back(*kept);
      value_id const argument = participation_->argument_of(r);
      if (argument != no_id && p.pointer(argument) != nullptr && !p.is_strided_slice(argument) && p.is_here(argument))
        all.push_back(p.at(argument));
    }
    return all;
  }
  bool is_bad(value_id v, view const& seen, rank_context const& p) const { return find_bad(v, seen, p).count != 0; }
  void keep_mask(node const& n, value_id v, rank_context const& p) const {
    if (m_.result(n) == v) return of(p).taking_part.keep(n.region, p.at(v));
    of(p).taking_part.keep(n.region, of(p).kernel.made(v, n, p, of(p).operands));
  }
  bool is_written(node const& n, value_id operand, rank_context const& p) const {
    for (int k = 0; k < n.results.count; ++k) {
      value_id const out = m_.result(n, k);
      if (p.pointer(operand) < p.pointer(out) + p.bytes(out) && p.pointer(out) < p.pointer(operand) + p.bytes(operand))
        return true;
    }
    return false;
  }
  [[noreturn]] void tell(node const& n, int result, rank_context const& p) const {
    view const seen = p.at(m_.result(n, result));
    if (!recomputed_kernel::runs(n))
      raise(n.kind == primitive::wait ? awaited(m_, n) : n, m_.result(n, result), seen, p);
    recomputed_kernel& kernel = of(p).kernel;
    value_id found = no_id;
    try {
      found = kernel.find(n, p, of(p).operands, [&](value_id v, view const& made) { return is_bad(v, made, p); });
    } catch (error const&) {}  // if a rule has no reference loops, name the node that made the kernel's result
    if (found != no_id) raise(m_.nodes[m_.values[found].node], found, kernel.at(found), p);
    value_id const last = m_.link(m_.regions[m_.region_of(n, 0)].results, result);
    raise(m_.nodes[m_.values[last].node], last, seen, p);
  }
  /// Throws an error such as `log in blocks (train.cpp:31) gives f32[batch/data, inner]: 3 of 96 elements are not
  /// finite, …`.
  [[noreturn]] void raise(node const& made_by, value_id v, view const& seen, rank_context const& p) const {
    not_finite const bad = find_bad(v, seen, p);
    std::string where, which = what(made_by);
    for (int d = 0; d < seen.count; ++d)
      where += std::string(d == 0 ? ", at " : ", ") + m_.dim_name(seen.dim[d]).text() + "=" +
               std::to_string(position_along(seen, d, bad.first));
    diagnostic line{}, type{};
    add_line(line, m_, made_by.site);
    add_type(type, m_, m_.values[v].type, m_.values[v].dims, m_.values[v].layout);
    bool const given = made_by.kind == primitive::input || made_by.kind == primitive::read;
    if (!given && made_by.path != no_id) which += " in " + path_text(m_, made_by.path);
    std::string const when = " in step " + std::to_string(p.context.step) +
                             (is_in_loop(made_by) ? ", iteration " + std::to_string(p.context.iteration) : "");
    throw error("R32", {which, line.view(), given ? " is " : " gives ", type.view(), ": ", bad.count, " of ",
                        seen.size(), " elements are not finite, the first is ", number_at(seen, bad.first), where,
                        ranks_ < 2 ? "" : " on rank " + std::to_string(p.rank()), when,
                        given                               ? ": it was so before the step computed anything"
                        : !numbers_of(made_by).empty()      ? ": set the number to a finite value"
                        : made_by.kind == primitive::repeat ? ": a sum over its iterations"
                                                            : ": what it is made from is finite"});
  }
  std::string what(node const& n) const {
    if (n.kind == primitive::input) return "the input '" + m_.names[name_of(n)].text() + "'";
    if (n.kind == primitive::read)
      return "the parameter or state '" + path_text(m_, m_.variables[variable_of(n)].path) + "'";
    name const* const own = own_name_of(m_, n);
    return (own == nullptr ? text_of(n) : own->text()) + numbers_of(n);
  }
  /// The numbers that give a constant its value: ` of the number 'rate'`.
  std::string numbers_of(node const& n) const {
    std::string text;
    if (n.kind == primitive::constant) add_numbers(text, n.attribute[0]);
    return text;
  }
  void add_numbers(std::string& text, id row) const {
    number_row const& r = m_.numbers[row];
    if (r.kind == number_row::named)
      text += (text.empty() ? " of the number '" : ", '") + m_.names[r.first].text() + "'";
    if (r.kind != number_row::expression) return;
    add_numbers(text, r.first);
    if (r.second != id{no_id}) add_numbers(text, r.second);
  }
  static char const* number_at(view const& v, std::int64_t i) {
    auto const words = [&]<class Bits>(Bits sign, Bits exponent) {
      Bits const b = v.as<Bits>()[i];
      bool const infinite = static_cast<Bits>(b & static_cast<Bits>(~sign)) == exponent;
      return !infinite ? "nan" : (b & sign) != 0 ? "-inf" : "inf";
    };
    if (v.type == dtype::f64) return words(std::uint64_t{1} << 63, std::uint64_t{0x7ff} << 52);
    if (v.type == dtype::f32) return words(std::uint32_t{1} << 31, std::uint32_t{0x7f800000});
    return words(std::uint16_t{0x8000}, std::uint16_t{0x7f80});
  }
  bool is_in_loop(node const& n) const {
    for (region_id r = n.region; r != no_id; r = m_.regions[r].parent)
      if (m_.regions[r].kind == region_kind::body) return true;
    return false;
  }

  meshtensor::module const& m_;
  std::int64_t ranks_;
  std::shared_ptr<std::vector<kept_of_rank>> kept_;  // by rank
  std::vector<bool> awaited_;                        // by value
  std::shared_ptr<participation const> participation_;
};

/// Checks the values of all later steps of a session.
template <class Session>
void check_numerics_of(Session& s, std::int64_t ranks) {
  numerics_check<> const looks(s.graph(), s.planned().numbers, ranks);
  s.observe([looks](node const& n, std::span<rank_context const> held) { looks.after(n, held); },
            [looks](node const& n, std::span<rank_context const> held) { looks.before(n, held); });
}

}  // namespace meshtensor::detail
