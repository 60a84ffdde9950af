// SPDX-License-Identifier: Apache-2.0
// The operations of the table in docs/layouts.md, "What moves along a sharded dim": the rows and formulas as the page
// has them, and a program for each row.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "meshtensor/meshtensor.hpp"
#include "meshtensor/pass/cost.hpp"
#include "support/source_path.hpp"

namespace moving_operations {

namespace mt = meshtensor;
using mt::to;

// ---- formulas ----

using names = std::map<std::string, double>;

/// Evaluates a formula of the page for one processor. `most(f)` is the largest value of f for all of them.
class formula {
 public:
  formula(std::string const& text, std::vector<names> const& processors, std::size_t q)
      : text_(text), processors_(processors), q_(q) {}

  double value() {
    at_ = 0;
    double const v = sum();
    expect('\0');
    return v;
  }

 private:
  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) { return next() == c && (++at_, true); }
  void expect(char c) {
    if (next() != c) throw std::runtime_error("'" + text_ + "' has no '" + c + "' at " + std::to_string(at_));
    if (c != '\0') ++at_;
  }
  double sum() {
    double v = product();
    for (;;)
      if (take('+')) v += product();
      else if (take('-')) v -= product();
      else return v;
  }
  double product() {
    double v = factor();
    for (;;)
      if (take('*')) v *= factor();
      else if (take('/')) v /= factor();
      else return v;
  }
  double factor() {
    if (take('(')) {
      double const v = sum();
      expect(')');
      return v;
    }
    std::string word;
    for (char c = next(); std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; c = text_[++at_]) {
      word += c;
      if (at_ + 1 == text_.size()) {
        ++at_;
        break;
      }
    }
    if (word.empty()) throw std::runtime_error("'" + text_ + "' has no term at " + std::to_string(at_));
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return std::stod(word);
    if (!take('(')) return name(word);
    return word == "most" ? most() : function(word);
  }
  double name(std::string const& word) const {
    auto const found = processors_[q_].find(word);
    if (found == processors_[q_].end()) throw std::runtime_error("'" + text_ + "': '" + word + "' is not known");
    return found->second;
  }
  double most() {
    std::size_t const begin = at_, own = q_;
    double largest = 0;
    for (q_ = 0; q_ < processors_.size(); ++q_) {
      at_ = begin;
      largest = std::max(largest, sum());
    }
    q_ = own;
    expect(')');
    return largest;
  }
  double function(std::string const& word) {
    std::vector<double> x;
    do x.push_back(sum());
    while (take(','));
    expect(')');
    if (word == "min") return *std::ranges::min_element(x);
    if (word == "max") return *std::ranges::max_element(x);
    if (word == "up") return std::ceil(x.at(0));
    if (word == "down") return std::floor(x.at(0));
    if (word == "both") return std::max(0.0, std::min(x.at(1), x.at(3)) - std::max(x.at(0), x.at(2)));
    auto const p = static_cast<std::int64_t>(name("p")), q = static_cast<std::int64_t>(name("q"));
    auto const elements = std::llround(x.at(0)) / 4;
    if (word == "share") return static_cast<double>(mt::part_of(elements, p, q).count * 4);
    if (word == "reduced") {
      if (x.at(0) > 4096) {
        std::int64_t const share = mt::part_of(elements, p, q).count;
        return static_cast<double>(((p - 1) * share + elements - share) * 4);
      }
      std::int64_t power = 1, rounds = 0;
      while (2 * power <= p) power *= 2, ++rounds;
      return x.at(0) * static_cast<double>(q >= power ? 1 : rounds + (q < p - power ? 1 : 0));
    }
    throw std::runtime_error("'" + text_ + "': there is no function '" + word + "'");
  }

  std::string const text_;
  std::vector<names> const& processors_;
  std::size_t q_, at_ = 0;
};

// ---- the page ----

struct row {
  std::string operation, sharded;
  std::set<std::string> exchanges;
  std::vector<std::string> equal_parts, any_parts;  // one formula for each exchange
};

/// What stands between backquotes.
inline std::vector<std::string> code_spans(std::string const& cell) {
  std::vector<std::string> all;
  for (std::size_t begin = 0; (begin = cell.find('`', begin)) != cell.npos;) {
    std::size_t const end = cell.find('`', begin + 1);
    if (end == cell.npos) break;
    all.push_back(cell.substr(begin + 1, end - begin - 1));
    begin = end + 1;
  }
  return all;
}

inline std::vector<row> rows_of_page() {
  auto const root = meshtensor_test::source_path(__FILE__).parent_path().parent_path().parent_path();
  std::ifstream page(root / "docs" / "layouts.md");
  std::vector<row> all;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| operation | sharded | exchange |")) inside = true;
    else if (inside && !line.starts_with("|")) break;
    else if (inside && !line.starts_with("|--")) {
      std::vector<std::string> cells;
      for (std::size_t begin = 2; begin < line.size();) {
        std::size_t const end = line.find(" |", begin);
        cells.push_back(line.substr(begin, end - begin));
        begin = end == line.npos ? end : end + 3;
      }
      if (cells.size() != 5) throw std::runtime_error("a row has not five cells: " + line);
      auto const exchanges = code_spans(cells[2]);
      all.push_back(
          {cells[0], cells[1], {exchanges.begin(), exchanges.end()}, code_spans(cells[3]), code_spans(cells[4])});
    }
  }
  return all;
}

// ---- the programs ----

inline constexpr struct dim_t : mt::dim<"dim"> {} dim;
inline constexpr struct dy_t : mt::dim<"dy"> {} dy;
inline constexpr struct to_t : mt::dim<"to"> {} to_dim;
inline constexpr struct half_t : mt::dim<"to", mt::divided(dim, 2)> {} halved;
inline constexpr struct kernel_t : mt::dim<"kernel", 5> {} kernel;
inline constexpr struct three_t : mt::dim<"kernel", 3> {} three;
inline constexpr struct both_t : mt::dim<"to", dim + dy> {} both;
inline constexpr struct other_t : mt::dim<"other", 6> {} other;
inline constexpr struct width_t : mt::dim<"width", 5> {} width;
inline constexpr struct rows_t : mt::dim<"rows", 48> {} rows;
inline constexpr struct columns_t : mt::dim<"columns", 29> {} columns;
inline constexpr struct batch_t : mt::dim<"batch", 12> {} batch;
inline constexpr struct index_t : mt::dim<"index", 7> {} index;
inline constexpr struct pair_t : mt::dim<"to", 2> {} pair;
inline constexpr struct best_t : mt::dim<"best", 2> {} best;
inline constexpr struct six_t : mt::dim<"dim", 6> {} six;
inline constexpr struct five_t : mt::dim<"dim", 5> {} five;
inline constexpr struct ax_t : mt::axis<"ax"> {} ax;

/// x [dim, other], and what `F` makes of it.
template <auto F>
struct of_x {
  constexpr void operator()(mt::scope auto s) const { s.output("y", F(s, s.input("x", mt::f32, dim, other))); }
};
constexpr auto rolled = [](auto, auto x) { return roll(x, dim, 3); };
constexpr auto shifted = [](auto, auto x) { return shift(x, dim, 3); };
constexpr auto reversed = [](auto, auto x) { return reverse(x, dim); };
constexpr auto sliced = [](auto, auto x) { return slice(x, dim, to_dim, 2); };
constexpr auto sliced_by_two = [](auto, auto x) { return slice(x, dim, to_dim, 1, 2); };
constexpr auto padded = [](auto, auto x) { return pad(x, dim, to_dim, 2); };
constexpr auto padded_by_two = [](auto, auto x) { return pad(x, dim, to_dim, 1, 0, 2); };
constexpr auto joined = [](auto s, auto x) { return concat(x, dim, s.input("y", mt::f32, dy, other), dy, both); };
constexpr auto stacked = [](auto s, auto x) { return stack(std::tuple(x, s.input("y", mt::f32, dim, other)), pair); };
constexpr auto convolved = [](auto s, auto x) {
  return conv(x, s.input("k", mt::f32, kernel, other, width), to(dim, width),
              mt::window(dim, dim, kernel, {.padding = mt::centred_padding}));
};
constexpr auto convolved_by_two = [](auto s, auto x) {
  return conv(x, s.input("k", mt::f32, three, other, width), to(halved, width),
              mt::window(dim, halved, three, {.stride = 2, .padding = {1, 1}}));
};
constexpr auto contracted = [](auto s, auto x) { return einsum(x, s.input("w", mt::f32, dim), to(other)); };
constexpr auto summed = [](auto, auto x) { return sum(x, dim); };
constexpr auto averaged = [](auto, auto x) { return mean(x, dim); };
constexpr auto greatest = [](auto, auto x) { return max(x, dim); };
constexpr auto accumulated = [](auto, auto x) { return cumulative_sum(x, dim); };
constexpr auto put_one = [](auto s, auto x) { return put(x, s.input("part", mt::f32, other), dim, 3); };
constexpr auto looked_up = [](auto s, auto x) { return gather(x, s.input("index", mt::i32, index), dim); };
constexpr auto sliced_at = [](auto s, auto x) { return slice(x, dim, to_dim, s.input("start", mt::i32)); };
constexpr auto put_at = [](auto s, auto x) {
  return put(x, s.input("part", mt::f32, to_dim, other), dim, to_dim, s.input("start", mt::i32));
};
constexpr auto ordered = [](auto, auto x) { return argsort(x, dim); };
constexpr auto best_place = [](auto, auto x) { return argmax(x, dim); };
constexpr auto best_values = [](auto, auto x) { return std::get<0>(top_k(x, dim, best)); };

struct sorted {
  constexpr void operator()(mt::scope auto s) const {
    auto const [y, position] = sort(s.input("x", mt::f32, dim, other), dim);
    s.output("y", y);
    s.output("position", position);
  }
};
inline constexpr mt::layer used_apart = [](mt::scope auto s, auto y) { s.output("y", y); };
struct spread_sum {
  constexpr void operator()(mt::scope auto s) const {
    used_apart(s / "spread", sum(s.input("x", mt::f32, dim, to_dim, other), dim));
  }
};
struct scattered {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, index, other);
    s.output("y", scatter_add(x, s.input("index", mt::i32, index), dim, to(dim, other)));
  }
};
struct unstacked_six {
  constexpr void operator()(mt::scope auto s) const {
    auto const [a, b, c, d, e, f] = unstack(s.input("x", mt::f32, six, other), six);
    s.output("a", a), s.output("b", b), s.output("c", c), s.output("d", d), s.output("e", e), s.output("f", f);
  }
};
struct unstacked_five {
  constexpr void operator()(mt::scope auto s) const {
    auto const [a, b, c, d, e] = unstack(s.input("x", mt::f32, five, other), five);
    s.output("a", a), s.output("b", b), s.output("c", c), s.output("d", d), s.output("e", e);
  }
};
/// Rows that all belong to the last group.
struct exchanged {
  constexpr void operator()(mt::scope auto s) const {
    static_cast<void>(s.input("groups", mt::f32, to_dim));
    auto const last = s.input("index", mt::i32, dim) + (extent(to_dim) - 1);
    auto const sent = all_to_all_rows(s.input("x", mt::f32, dim, other), last, to_dim);
    s.output("y", return_rows(sent.rows, sent));
  }
};
/// Rows of the first half that are the last row, and others that are the first one: all from other ranks.
struct permuted {
  constexpr void operator()(mt::scope auto s) const {
    auto const place = iota(s, dim, mt::i32), last = place * 0 + (extent(dim) - 1);
    auto const sources = select(2 * place < last + 1, last, place * 0);
    s.output("y", permute(s.input("x", mt::f32, dim, other), dim, sources));
  }
};
struct looped {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", repeat(s / "loop", dim, s.input("x", mt::f32, batch, other), [](mt::scope auto r, auto h) {
               auto const up = r.parameter("up", other, width);
               return einsum(einsum(h, up, to(batch, width)), up, to(batch, other));
             }));
  }
};
template <auto In, auto Out>
struct trained {
  constexpr void operator()(mt::scope auto s) const {
    auto const y = repeat(s / "loop", dim, s.input("x", mt::f32, batch, In), [](mt::scope auto r, auto h) {
      auto const up = r.parameter("up", In, Out);
      return einsum(einsum(h, up, to(batch, Out)), up, to(batch, In));
    });
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", mean(y * y));
  }
};

struct extents {
  std::int64_t dim, other;  // of `dim`, and of `to`, or of `dy` in a concat; 0: the program has none
};

/// A program for a row. In `sharded` stand the dims that the layout shards.
struct trial {
  char const *operation, *cell;
  std::unique_ptr<mt::module> (*trace)();
  mt::name entry;
  std::vector<char const*> sharded;
  std::vector<extents> sizes;
  names given;                      // the numbers of its formulas: k, f, s, i
  std::int64_t bytes = 24;          // r; of `spread_sum` times the extent of `to`
  std::set<std::string> counted{};  // the exchanges of the row, if the program has others, too
  char const* second = nullptr;     // the dim of `sizes[].other`
  bool one_axis = false;            // over several axes there is an exchange along each
};

template <class Program>
trial of(char const* operation, char const* cell, std::vector<char const*> sharded, std::vector<extents> sizes,
         names given = {}) {
  return {operation,
          cell,
          [] { return mt::on_heap([] { return mt::trace<Program>(); }); },
          mt::entry_name<Program>(),
          std::move(sharded),
          std::move(sizes),
          std::move(given)};
}

inline std::vector<trial> const& trials() {
  static std::vector<trial> const all = [] {
    std::vector<extents> const alone{{24, 0}, {25, 0}, {5, 0}};
    std::vector<extents> const shorter{{36, 24}, {36, 12}, {29, 17}, {23, 7}},
        half{{36, 12}, {24, 12}, {37, 18}, {29, 11}};
    std::vector<extents> const longer{{12, 24}, {24, 36}, {17, 29}, {7, 23}}, twice{{12, 24}, {12, 36}, {11, 29}};
    std::vector<extents> const two{{12, 24}, {12, 12}, {7, 10}, {11, 3}};
    names const k{{"k", 3}}, f{{"f", 2}}, fs{{"f", 1}, {"s", 2}};
    char const *const D = "`dim`", *const DT = "`dim`, `to`";
    std::vector<trial> t;
    auto const add = [&](trial one, char const* second = nullptr) -> trial& {
      one.second = second;
      t.push_back(std::move(one));
      return t.back();
    };
    add(of<of_x<rolled>>("`roll(x, dim, k)`, 0 ≤ k < E", D, {"dim"}, alone, k));
    add(of<of_x<shifted>>("`shift(x, dim, k)`, 0 ≤ k < E", D, {"dim"}, alone, k));
    add(of<of_x<reversed>>("`reverse(x, dim)`", D, {"dim"}, alone));
    add(of<of_x<sliced>>("`slice(x, dim, to, f)`", DT, {"dim", "to"}, shorter, f), "to");
    add(of<of_x<sliced_by_two>>("`slice(x, dim, to, f, s)`", DT, {"dim", "to"}, half, fs), "to");
    add(of<of_x<sliced>>("`slice(x, dim, to, f)`", D, {"dim"}, shorter, f), "to");
    for (auto const& [cell, sharded] : {std::pair{D, std::vector{"dim"}}, {DT, std::vector{"dim", "to"}}}) {
      add(of<of_x<sliced_at>>("`slice(x, dim, to, start)`, from a tensor on", cell, sharded, shorter), "to").one_axis =
          cell == DT;
      add(of<of_x<put_at>>("`put(x, part, dim, to, start)`, from a tensor on", cell, sharded, shorter), "to").one_axis =
          cell == DT;
    }
    add(of<of_x<padded>>("`pad(x, dim, to, f)`", DT, {"dim", "to"}, longer, f), "to");
    add(of<of_x<padded_by_two>>("`pad(x, dim, to, f, 0, s)`", DT, {"dim", "to"}, twice, fs), "to");
    add(of<of_x<padded>>("`pad(x, dim, to, f)`", D, {"dim"}, longer, f), "to");
    add(of<of_x<joined>>("`concat(x, dim, y, dy, to)`", "`dim`, `dy`, `to`", {"dim", "dy", "to"}, two), "dy");
    add(of<of_x<joined>>("`concat(x, dim, y, dy, to)`", D, {"dim"}, two), "dy");
    add(of<of_x<sliced>>("`slice`, `pad` or `concat`", "`to`", {"to"}, shorter, f), "to");
    add(of<of_x<padded>>("`slice`, `pad` or `concat`", "`to`", {"to"}, longer, f), "to");
    add(of<of_x<joined>>("`slice`, `pad` or `concat`", "`to`", {"to"}, two), "dy");
    add(of<of_x<stacked>>("`stack(std::tuple(x, y), to)`", D, {"dim"}, alone));
    add(of<unstacked_six>("`unstack(x, dim)`", D, {"dim"}, {{6, 0}})).one_axis = true;
    add(of<unstacked_five>("`unstack(x, dim)`", D, {"dim"}, {{5, 0}})).one_axis = true;
    add(of<exchanged>("`all_to_all_rows(x, index, to)`, then `return_rows`", DT, {"dim", "to"}, shorter), "to");
    add(of<permuted>("`permute(x, dim, sources)`, all rows from other ranks", D, {"dim"}, alone)).one_axis = true;
    add(of<looped>("`repeat(s, dim, …)`: of a parameter", D, {"dim"}, {{12, 0}, {7, 0}, {3, 0}})).bytes = 4 * 6 * 5;
    trial& small = add(of<trained<other, width>>("the parameter's gradient, slices up to 4 KiB", D, {"dim", "batch"},
                                                 {{12, 0}, {7, 0}, {3, 0}}));
    small.bytes = 4 * 6 * 5, small.counted = {"reduce_scatter"}, small.one_axis = true;
    trial& large = add(of<trained<rows, columns>>("the parameter's gradient, larger slices", D, {"dim", "batch"},
                                                  {{12, 0}, {7, 0}, {3, 0}}));
    large.bytes = std::int64_t{4} * 48 * 29, large.counted = {"reduce_scatter"}, large.one_axis = true;
    char const* const reduces = "`einsum(x, w, to(other))`, `sum`, `mean`, `max`";
    add(of<of_x<contracted>>(reduces, D, {"dim"}, alone));
    add(of<of_x<summed>>(reduces, D, {"dim"}, alone));
    add(of<of_x<averaged>>(reduces, D, {"dim"}, alone));
    add(of<of_x<greatest>>(reduces, D, {"dim"}, alone));
    add(of<spread_sum>("`sum(x, dim)`, used where `to` is sharded", D, {"dim"}, {{24, 36}, {25, 19}, {24, 5}}), "to")
        .one_axis = true;
    add(of<of_x<convolved>>("`conv(x, kernel, …)`, a window that reaches h elements to both sides", D, {"dim"}, alone,
                            {{"h", 2}}));
    add(of<of_x<convolved_by_two>>("`conv(x, kernel, …)`, windows of w elements, stride s, padded by f", DT,
                                   {"dim", "to"}, {{24, 12}, {48, 24}, {37, 19}, {5, 3}},
                                   {{"f", 1}, {"s", 2}, {"w", 3}}),
        "to");
    add(of<of_x<accumulated>>("`cumulative_sum(x, dim)`", D, {"dim"}, alone));
    add(of<of_x<put_one>>("`put(x, part, dim, k)`", D, {"dim"}, alone));
    add(of<of_x<looked_up>>("`gather(x, index, dim)`, of i indices", D, {"dim"}, alone, {{"i", 7}}));
    add(of<scattered>("`scatter_add(x, index, dim, to(dim, other))`", D, {"dim"}, alone));
    char const* const orders = "`sort(x, dim)`, `argsort`, `argmax`, `top_k`";
    add(of<of_x<ordered>>(orders, D, {"dim"}, alone)).one_axis = true;
    add(of<of_x<best_place>>(orders, D, {"dim"}, alone)).one_axis = true;
    add(of<of_x<best_values>>(orders, D, {"dim"}, alone)).one_axis = true;
    add(of<sorted>(orders, D, {"dim"}, alone)).one_axis = true;
    return t;
  }();
  return all;
}

/// A trial on a mesh, lowered at start-up, and the names of its formulas for each processor of the mesh.
struct lowered_trial {
  std::unique_ptr<mt::lowering> low;
  std::vector<names> processors;
  bool has_equal_parts = true;
  std::set<std::string> exchanges;  // those between more than one processor

  lowered_trial(trial const& t, extents const& e, mt::mesh_shape const& mesh, std::vector<mt::name> const& axes) {
    mt::layout_rules rules{};
    for (char const* d : t.sharded) {
      mt::layout_rule r{};
      r.dim = mt::name::of(d);
      for (mt::name const& a : axes) r.axes[r.count++] = a;
      rules.add(r);
    }
    if (t.entry == mt::entry_name<spread_sum>()) rules.shard("to", {"ax"}, "spread");
    auto const traced = t.trace();
    std::vector<mt::dim_extent> sizes;
    for (int d = 0; d < traced->dim_count; ++d) {
      if (traced->dims[d].kind != mt::dim_row::dynamic) continue;
      mt::name const label = traced->dim_name(d);
      sizes.push_back({label, label == mt::name::of("dim") ? e.dim : e.other});
    }
    low = mt::lower(*traced, t.entry, mesh, rules, sizes);
    for (int i = 0; i < low->graph.node_count; ++i)
      if (mt::node const& n = low->graph.nodes[i];
          mt::is_collective(n.kind) && low->planned.numbers.members(mt::axes_of_collective(n)) > 1)
        exchanges.insert(mt::text_of(n.kind));
    if (!t.counted.empty()) std::erase_if(exchanges, [&](std::string const& x) { return !t.counted.contains(x); });
    find_names(t, e, mesh, axes);
  }

  /// The bytes that the plan counts for the exchanges of the row.
  std::int64_t planned_bytes(trial const& t) const {
    if (t.counted.empty()) return mt::traffic_of(low->graph, low->planned).bytes;
    std::int64_t bytes = 0;
    auto const runs = mt::run_counts_of(low->graph, low->planned.numbers);
    for (int i = 0; i < low->graph.node_count; ++i)
      if (mt::node const& n = low->graph.nodes[i]; mt::is_collective(n.kind) && t.counted.contains(mt::text_of(n.kind)))
        bytes += mt::bytes_in_step(low->graph, low->planned.numbers, n, runs.of[n.region]);
    return bytes;
  }
  /// The bytes of one processor by the formulas for any parts.
  double bytes_of(row const& r, std::size_t q) const {
    double all = 0;
    for (std::string const& f : r.any_parts) all += formula(f, processors, q).value();
    return all;
  }
  /// The sum of the most of each exchange, by these formulas or others.
  double most_bytes(std::vector<std::string> const& formulas) const {
    double all = 0;
    for (std::string const& f : formulas) all += formula("most(" + f + ")", processors, 0).value();
    return all;
  }

 private:
  void find_names(trial const& t, extents const& e, mt::mesh_shape const& mesh, std::vector<mt::name> const& axes) {
    bool const joins = t.second != nullptr && std::string(t.second) == "dy";
    std::int64_t const result = joins ? e.dim + e.other : e.other;
    auto const part = [&](std::int64_t extent, std::int64_t rank) {
      mt::interval held{0, extent};
      for (mt::name const& label : axes) {
        int const a = mesh.find(label);
        mt::interval const inner = mt::part_of(held.count, mesh.axes[a].extent, mesh.coordinate(rank, a));
        held = {held.begin + inner.begin, inner.count};
      }
      return held;
    };
    for (std::int64_t rank = 0; rank < mesh.size(); ++rank) {
      std::int64_t p = 1, q = 0;
      for (mt::name const& label : axes) {
        int const a = mesh.find(label);
        p *= mesh.axes[a].extent, q = q * mesh.axes[a].extent + mesh.coordinate(rank, a);
      }
      names all = t.given;
      auto const put = [&](char const* name, std::int64_t v) { all[name] = static_cast<double>(v); };
      mt::interval const of_dim = part(e.dim, rank), of_dy = part(joins ? e.other : 0, rank),
                         of_to = part(result, rank);
      put("p", p), put("q", q), put("E", e.dim), put("T", result);
      put("b", of_dim.begin), put("e", of_dim.begin + of_dim.count), put("n", of_dim.count);
      put("c", of_dy.begin), put("d", of_dy.begin + of_dy.count);
      put("B", of_to.begin), put("F", of_to.begin + of_to.count), put("N", of_to.count);
      bool const scatters = t.entry == mt::entry_name<spread_sum>();
      bool const holds_last = of_to.count != 0 && of_to.begin + of_to.count == result;
      put("j", holds_last ? e.dim - of_dim.count : 0), put("l", holds_last ? 0 : of_dim.count);
      put("r", t.bytes * (scatters ? result : 1));
      if (all.contains("f")) {
        double const f = all["f"], s = all.contains("s") ? all["s"] : 1;
        all["g"] = static_cast<double>(e.dim) - f - s * static_cast<double>(result);
        all["u"] = std::ceil((all["B"] - f) / s), all["v"] = std::ceil((all["F"] - f) / s);
      }
      processors.push_back(all);
      for (std::int64_t const extent : {e.dim, e.other}) has_equal_parts = has_equal_parts && extent % p == 0;
      if (!t.counted.empty()) has_equal_parts = has_equal_parts && t.bytes / 4 % p == 0;  // parts of a slice
    }
  }
};

}  // namespace moving_operations
