// SPDX-License-Identifier: Apache-2.0
// Checks every floating value of a step as it is made, and names the operation that made the first infinite or NaN
// element.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "meshtensor/array/interpret.hpp"
#include "meshtensor/base/bytes.hpp"
#include "meshtensor/graph/locate.hpp"
#include "meshtensor/job/rank_context.hpp"
#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/schedule.hpp"

namespace meshtensor::detail {

/// The number of infinite or NaN elements, and the index of the first.
struct not_finite {
  std::int64_t count = 0, first = -1;
};

/// Tests the bits, because a compiler that assumes finite numbers removes `isfinite`.
template <class Bits>
not_finite find_not_finite(void const* elements, std::int64_t size, Bits exponent) {
  auto const* const at = static_cast<Bits const*>(elements);
  not_finite found;
  for (std::int64_t i = 0; i < size; ++i) found.count += (at[i] & exponent) == exponent;
  for (std::int64_t i = 0; found.count != 0 && found.first < 0; ++i)
    if ((at[i] & exponent) == exponent) found.first = i;
  return found;
}
inline not_finite find_not_finite(view const& v) {
  switch (v.type) {
    case dtype::f64: return find_not_finite<std::uint64_t>(v.data, v.size(), 0x7ffull << 52);
    case dtype::f32: return find_not_finite<std::uint32_t>(v.data, v.size(), 0x7f800000u);
    case dtype::bf16: return find_not_finite<std::uint16_t>(v.data, v.size(), 0x7f80u);
    default: return {};
  }
}

/// An observer of an engine, called before and after each node. Copies of it share their buffers, one for each rank,
/// because ranks may be threads. It is a template, so that only programs that use it compile its loops.
template <class = lazy>
class numerics_check {
 public:
  numerics_check(module const& m, binding const& numbers, std::int64_t ranks)
      : m_(m),
        ranks_(ranks),
        kept_(std::make_shared<std::vector<operands_kept>>(static_cast<std::size_t>(ranks))),
        awaited_(awaited_values(m, numbers)) {}

  /// Copies the operands that a kernel may overwrite, so that `after` can recompute the nodes of the kernel.
  void before(node const& n, std::span<rank_context const> held) const {
    if (n.kind != primitive::kernel && !is_whole(n)) return;
    for (rank_context const& p : held) {
      operands_kept& all = (*kept_)[static_cast<std::size_t>(p.rank())];
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
      for (int i = 0; i < n.results.count; ++i) {
        value_id const v = m_.result(n, i);
        if (awaited_[v]) continue;  // may still be in flight, so it is checked at its wait
        if (!is_float(m_.values[v].type) || p.pointer(v) == nullptr || p.is_strided_slice(v) || !p.is_here(v)) continue;
        if (view const result = p.at(v); find_not_finite(result).count != 0) tell(n, i, p);
      }
    }
  }

 private:
  using operands_kept = std::vector<std::vector<double>>;

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
    if (!has_region(n)) raise(n.kind == primitive::wait ? awaited(m_, n) : n, m_.result(n, result), seen, p);
    inside all(m_, p);
    try {
      all.run(n, (*kept_)[static_cast<std::size_t>(p.rank())]);
    } catch (error const&) {}  // if a rule has no reference loops, name the node that made the kernel's result
    if (all.found != no_id) raise(m_.nodes[m_.values[all.found].node], all.found, all.at(all.found), p);
    value_id const last = m_.link(m_.regions[m_.region_of(n, 0)].results, result);
    raise(m_.nodes[m_.values[last].node], last, seen, p);
  }
  static bool has_region(node const& n) { return n.kind == primitive::kernel || n.kind == primitive::composite; }

  /// Recomputes a kernel node by node, until a value is infinite or NaN.
  class inside {
   public:
    inside(module const& m, rank_context const& p) : m_(m), p_(p), at_(p.windows(), p.windows() + m.value_count) {}
    value_id found = no_id;
    view const& at(value_id v) const { return at_[v]; }

    void run(node const& n, operands_kept& kept) {
      for (int i = 0; i < n.operands.count; ++i) {
        view& v = at_[m_.operand(n, i)];
        auto& copy = kept[static_cast<std::size_t>(i)];
        v.data = copy.empty() ? p_.pointer(m_.operand(n, i)) : reinterpret_cast<std::byte*>(copy.data());
      }
      call(n);
    }

   private:
    void call(node const& n) {
      region_id const r = m_.region_of(n, 0);
      region const& body = m_.regions[r];
      for (int i = 0; i < n.operands.count; ++i)  // with the operand's strides, because it may be a window
        at_[m_.link(body.arguments, i)] = at_[m_.operand(n, i)];
      for (int i = 0; i < m_.node_count && found == no_id; ++i) {
        node const& one = m_.nodes[i];
        if (one.region != r || one.kind == primitive::argument) continue;
        if (has_region(one)) call(one);
        else compute(one);
      }
      for (int i = 0; i < body.results.count && found == no_id; ++i)
        at_[m_.result(n, i)].data = at_[m_.link(body.results, i)].data;
    }
    void compute(node const& n) {
      std::vector<view> operands, results;
      for (int i = 0; i < n.operands.count; ++i) operands.push_back(at_[m_.operand(n, i)]);
      for (int i = 0; i < n.results.count; ++i) {
        view& v = at_[m_.result(n, i)];
        memory_.emplace_back(static_cast<std::size_t>(v.bytes() + 7) / 8 + 1);
        v.data = memory_.back().data();
        results.push_back(v);
      }
      evaluate<>({m_, n, operands.data(), results.data(), p_.context});
      for (int i = 0; i < n.results.count && found == no_id; ++i)
        if (find_not_finite(results[static_cast<std::size_t>(i)]).count != 0) found = m_.result(n, i);
    }

    meshtensor::module const& m_;
    rank_context const& p_;
    std::vector<view> at_;
    std::deque<std::vector<double>> memory_;
  };

  /// Throws an error such as `log in blocks (train.cpp:31) gives f32[batch/data, inner]: 3 of 96 elements are not
  /// finite, …`.
  [[noreturn]] void raise(node const& made_by, value_id v, view const& seen, rank_context const& p) const {
    not_finite const bad = find_not_finite(seen);
    std::string where, which = what(made_by);
    std::int64_t rest = bad.first;
    for (int d = 0; d < seen.count; rest %= seen.stride[d], ++d)
      where += std::string(d == 0 ? ", at " : ", ") + m_.dim_name(seen.dim[d]).text() + "=" +
               std::to_string(seen.origin[d] + rest / seen.stride[d]);
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
                        : made_by.kind == primitive::repeat ? ": a sum over its iterations"
                                                            : ": what it is made from is finite"});
  }
  std::string what(node const& n) const {
    if (n.kind == primitive::input) return "the input '" + m_.names[name_of(n)].text() + "'";
    if (n.kind == primitive::read)
      return "the parameter or state '" + path_text(m_, m_.variables[variable_of(n)].path) + "'";
    name const* const own = own_name_of(m_, n);
    return own == nullptr ? text_of(n) : own->text();
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
  std::shared_ptr<std::vector<operands_kept>> kept_;  // by rank
  std::vector<bool> awaited_;                         // by value
};

/// Checks the values of all later steps of a session.
template <class Session>
void check_numerics_of(Session& s, std::int64_t ranks) {
  numerics_check<> const looks(s.graph(), s.planned().numbers, ranks);
  s.observe([looks](node const& n, std::span<rank_context const> held) { looks.after(n, held); },
            [looks](node const& n, std::span<rank_context const> held) { looks.before(n, held); });
}

}  // namespace meshtensor::detail
