// SPDX-License-Identifier: Apache-2.0
// Every change of placement: the collectives that `reshard` chooses, on real blocks, give what the new placement says;
// the way there and back is the identity; and no more is received than the table of single changes allows.
//
// timeout: 300
#include <doctest/doctest.h>

#include "meshtensor/comm/reference.hpp"
#include "meshtensor/job/rank_context.hpp"
#include "meshtensor/pass/cost.hpp"
#include "meshtensor/pass/reshard.hpp"
#include "meshtensor/pass/verify/verify_layout.hpp"
#include "property/sample.hpp"
#include "property/transitions.hpp"
#include "support/layouts.hpp"

using namespace transitions;

namespace {

/// What each processor holds of one value.
using blocks = std::vector<std::vector<double>>;

/// One value, brought from one placement to many others, and back.
class journey {
 public:
  journey(int dims, mt::mesh_shape const& mesh, mt::placement const& from)
      : mesh_(mesh), from_(from), m_(new mt::module{}), b_(*m_), plan_(new mt::plan{}) {
    b_.begin_region(mt::region_kind::entry, b_.intern("main"));
    for (int a = 0; a < mesh.count; ++a)
      m_->axes[m_->axis_count++] = {b_.intern(mesh.axes[a].label), mesh.axes[a].extent, {}};
    mt::shape s{};
    for (int d = 0; d < dims; ++d) {
      char const label[] = {static_cast<char>('a' + d), '\0'};
      s.add(b_.dim(mt::name::of(label), mesh.size() * (d == 0 ? 2 : 1)));
    }
    start_ = b_.add(mt::primitive::argument, {}, mt::dtype::f64, s);
    m_->values[start_].layout = from;
  }

  void add(mt::placement const& to) {
    int const first = m_->node_count;
    mt::value_id const there = mt::reshard(b_, start_, to);
    way w{to, there, mt::no_id, first, m_->node_count};
    if (!from_.has_partial()) w.back = mt::reshard(b_, there, from_);
    ways_.push_back(w);
  }

  /// Runs all ways and calls f(placement, bytes received) for each.
  template <class F>
  void check(F f) {
    REQUIRE(mt::verify_layout(*m_).empty());
    plan_->numbers = mt::bind(*m_, mesh_);
    REQUIRE(plan_->numbers.ok());
    for (int r = 0; r < mesh_.size(); ++r) processors_.emplace_back(*m_, *plan_, mesh_, r);
    held_.resize(static_cast<std::size_t>(m_->value_count));
    fill();
    for (int i = 1; i < m_->node_count; ++i) run(m_->nodes[i]);
    int misplaced = 0, wrong = 0, changed = 0;
    for (way const& w : ways_) {
      misplaced += !(m_->values[w.there].layout == w.to);
      wrong += count_wrong(w.there);
      changed += w.back != mt::no_id && held_[w.back] != held_[start_];
      double bytes = 0;
      for (int i = w.first; i < w.end; ++i) bytes += received_by(m_->nodes[i]);
      f(w.to, bytes);
    }
    CHECK(misplaced == 0);
    CHECK(wrong == 0);
    CHECK(changed == 0);
  }

 private:
  struct way {
    mt::placement to;
    mt::value_id there, back;
    int first, end;
  };

  mt::view window(mt::value_id v, std::size_t rank) const { return processors_[rank].window_of(m_->values[v]); }
  std::size_t ranks() const { return processors_.size(); }
  blocks empty(mt::value_id v) const {
    blocks all;
    for (std::size_t r = 0; r < ranks(); ++r) all.emplace_back(static_cast<std::size_t>(window(v, r).size()));
    return all;
  }
  /// Calls f(place in the block, index in the whole).
  template <class F>
  void each(mt::value_id v, std::size_t rank, F f) const {
    mt::view const w = window(v, rank);
    for (std::int64_t i = 0; i < w.size(); ++i) {
      std::int64_t index = 0, rest = i;
      for (int d = 0; d < w.count; ++d)
        index = index * w.total[d] + w.origin[d] + rest / w.stride[d], rest %= w.stride[d];
      f(static_cast<std::size_t>(i), static_cast<std::uint64_t>(index));
    }
  }
  static double whole(std::uint64_t index) { return static_cast<double>(index * 7919 % 1009) - 500; }

  // ---- what partial means ----

  // Along the axes that are partial in one way: where a processor stands, and of how many.
  struct stand {
    std::uint64_t at = 0, count = 1;
  };
  stand along(mt::reduction kind, std::size_t rank) const {
    stand s;
    for (int a = 0; a < mesh_.count; ++a)
      if (from_.part(a) == kind) {
        auto const extent = static_cast<std::uint64_t>(mesh_.axes[a].extent);
        s.at = s.at * extent + static_cast<std::uint64_t>(mesh_.coordinate(static_cast<int>(rank), a));
        s.count *= extent;
      }
    return s;
  }
  // Terms of a sum; one of them has the value, the others less; likewise more.
  void fill() {
    held_[start_] = empty(start_);
    for (std::size_t r = 0; r < ranks(); ++r) {
      stand const sum = along(mt::reduction::sum, r), max = along(mt::reduction::max, r),
                  min = along(mt::reduction::min, r);
      each(start_, r, [&](std::size_t i, std::uint64_t index) {
        auto const term = [&](std::uint64_t k) { return static_cast<double>((index + 3) * (k + 5) % 13) - 6; };
        double v = sum.at == 0 ? whole(index) : term(sum.at);
        for (std::uint64_t k = 1; sum.at == 0 && k < sum.count; ++k) v -= term(k);
        if (max.at != index % max.count) v -= 1 + static_cast<double>(index % 3);
        if (min.at != index % min.count) v += 1 + static_cast<double>(index % 3);
        held_[start_][r][i] = v;
      });
    }
  }
  /// What all processors together say of an element, reduced over the axes from `axis` on that are still partial.
  double reduced(mt::value_id v, std::size_t rank, std::size_t i, int axis = 0) const {
    mt::placement const& p = m_->values[v].layout;
    while (axis < mesh_.count && !p.is_partial(axis)) ++axis;
    if (axis == mesh_.count) return held_[v][rank][i];
    double result = 0;
    for (std::int64_t c = 0; c < mesh_.axes[axis].extent; ++c) {
      auto const at = static_cast<std::int64_t>(rank);
      std::int64_t const other = at + (c - mesh_.coordinate(static_cast<int>(at), axis)) * mesh_.stride(axis);
      double const term = reduced(v, static_cast<std::size_t>(other), i, axis + 1);
      result = c == 0                               ? term
               : p.part(axis) == mt::reduction::sum ? result + term
               : p.part(axis) == mt::reduction::max ? std::max(result, term)
                                                    : std::min(result, term);
    }
    return result;
  }
  int count_wrong(mt::value_id v) const {
    int wrong = 0;
    for (std::size_t r = 0; r < ranks(); ++r)
      each(v, r, [&](std::size_t i, std::uint64_t index) { wrong += reduced(v, r, i) != whole(index); });
    return wrong;
  }

  // ---- what runs ----

  void run(mt::node const& n) {
    mt::value_id const from = m_->operand(n, 0), to = m_->result(n);
    held_[to] = empty(to);
    if (n.kind == mt::primitive::local_slice) {
      for (std::size_t r = 0; r < ranks(); ++r) {
        std::map<std::uint64_t, double> seen;
        each(from, r, [&](std::size_t i, std::uint64_t index) { seen[index] = held_[from][r][i]; });
        each(to, r, [&](std::size_t i, std::uint64_t index) { held_[to][r][i] = seen.at(index); });
      }
      return;
    }
    auto const number = static_cast<mt::node_id>(&n - m_->nodes);
    std::vector<mt::group> groups;
    std::vector<void const*> in;
    std::vector<void*> out;
    for (std::size_t r = 0; r < ranks(); ++r) {
      mt::planned_collective const& c = processors_[r].collective_of(number);
      if (c.with.index == 0) groups.push_back(c.with);
      in.push_back(held_[from][r].data()), out.push_back(held_[to][r].data());
    }
    auto const calls = [&](int r) -> mt::collective_call const& {
      return processors_[static_cast<std::size_t>(r)].collective_of(number).call;
    };
    mt::run_collective(calls, groups, in.data(), out.data());
  }
  double received_by(mt::node const& n) const {
    if (n.kind == mt::primitive::local_slice) return 0;
    if (n.kind == mt::primitive::move) {
      double const whole = static_cast<double>(plan_->numbers.size(m_->operand_value(n, 0).dims)) * sizeof(double);
      return static_cast<double>(mt::cost_of_collective(*m_, plan_->numbers, n).bytes) / whole;
    }
    auto const members = static_cast<double>(plan_->numbers.members(mt::axes_of_collective(n)));
    change const c = n.kind == mt::primitive::all_gather   ? change::gather
                     : n.kind == mt::primitive::all_to_all ? change::exchange
                     : n.kind == mt::primitive::all_reduce ? change::reduce
                                                           : change::scatter;
    return received(c, block(m_->operand_value(n, 0).layout, mesh_), members);
  }

  mt::mesh_shape mesh_;
  mt::placement from_;
  std::unique_ptr<mt::module> m_;
  mt::builder b_;
  std::unique_ptr<mt::plan> plan_;
  mt::value_id start_;
  std::vector<way> ways_;
  std::vector<mt::rank_context> processors_;
  std::vector<blocks> held_;
};

mt::mesh_shape mesh_of(std::vector<int> const& sizes) {
  mt::mesh_shape mesh{};
  char const* labels[] = {"ax", "by", "cz"};
  for (std::size_t a = 0; a < sizes.size(); ++a) mesh.add(mt::name::of(labels[a]), sizes[a]);
  return mesh;
}

/// What is reduced may not become partial.
bool leads_to(mt::placement const& from, mt::placement const& to) {
  for (int a = 0; a < mt::max_axes; ++a)
    if (to.is_partial(a) && to.part(a) != from.part(a)) return false;
  return true;
}

struct counts {
  long ways = 0, simple = 0, beyond = 0;
  double worst = 1;  // by how much more is received than on the cheapest way of single changes
};

counts try_all(int dims, std::vector<int> const& sizes, bool with_partial = true) {
  mt::mesh_shape const mesh = mesh_of(sizes);
  auto const places = all(dims, mesh, with_partial);
  counts c;
  for (std::size_t k = 0; k < places.size(); ++k) {
    if (sizes.size() > 1 && with_partial && !property::is_in_even_sample(k)) continue;
    mt::placement const& from = places[k];
    journey j(dims, mesh, from);
    for (mt::placement const& to : places)
      if (leads_to(from, to)) j.add(to);
    auto const least = cheapest(from, dims, mesh);
    j.check([&](mt::placement const& to, double bytes) {
      double const best = least.at(to.bits), most = allowed(from, to, dims, mesh);
      ++c.ways, c.simple += most >= 0, c.beyond += most >= 0 && bytes > most + 1e-12;
      if (bytes > best + 1e-12) c.worst = std::max(c.worst, bytes / best);
    });
  }
  std::string text;
  for (int s : sizes) text += (text.empty() ? "" : ", ") + std::to_string(s);
  MESSAGE(dims << " dims on {" << text << "}: " << c.ways << " changes of placement, " << c.simple
               << " by single changes alone; at worst " << c.worst << " times the least bytes");
  CHECK(c.beyond == 0);
  return c;
}

}  // namespace

TEST_CASE("one axis") {
  long ways = 0;
  for (int p : {1, 2, 3})
    for (int dims : {1, 2, 3}) {
      counts const c = try_all(dims, {p});
      CHECK(c.simple == c.ways);
      CHECK(c.worst == 1);
      ways += c.ways;
    }
  property::at_least(195, ways);
}
TEST_CASE("two axes") {
  long ways = 0;
  for (auto const& sizes : std::vector<std::vector<int>>{{2, 2}, {2, 3}, {3, 2}})
    for (int dims : {1, 2, 3}) {
      counts const c = try_all(dims, sizes);
      CHECK(c.worst <= 3);
      ways += c.ways;
    }
  property::at_least(5697, ways);
}
TEST_CASE("three axes") {
  long ways = 0;
  for (int dims : {1, 2, 3}) {
    counts const c = try_all(dims, {2, 2, 2});
    CHECK(c.worst <= 3.5);
    ways += c.ways;
  }
  property::at_least(73905, ways);
}
TEST_CASE("an axis within one that makes way for an axis of another size moves, too") {
  for (auto const& sizes : std::vector<std::vector<int>>{{1, 2, 2}, {2, 1, 2}, {2, 2, 1}, {1, 2, 4}})
    CHECK(try_all(1, sizes, false).ways == 16 * 16);
}
