// SPDX-License-Identifier: Apache-2.0
// Changes of placement on a device whose queues run late and out of order: from whole values, shards and partial sums,
// maxima and minima to whatever is not partial, many at a time, beside each other; exact.
// passes: start-up
// timeout: 300
#include <doctest/doctest.h>

#include "meshtensor/meshtensor.hpp"
#include "meshtensor/pass/reshard.hpp"
#include "meshtensor/pass/verify/verify_layout.hpp"
#include "property/sample.hpp"
#include "property/transitions.hpp"
#include "support/compare.hpp"
#include "support/late_machine.hpp"
#include "support/layouts.hpp"

using namespace transitions;
using meshtensor_test::late_device;

namespace {

/// The axes along which a placement is partial, all in one way.
struct partial_axes {
  mt::reduction kind = mt::reduction::none;
  std::vector<int> axes;
  bool is_mixed = false;

  partial_axes(mt::placement const& p, mt::mesh_shape const& mesh) {
    for (int a = 0; a < mesh.count; ++a) {
      if (!p.is_partial(a)) continue;
      is_mixed = is_mixed || (!axes.empty() && p.part(a) != kind);
      kind = p.part(a), axes.push_back(a);
    }
  }
};

/// One value in one placement, and its copies in others: outputs of one program.
class program {
 public:
  program(int dims, mt::mesh_shape const& mesh, mt::placement const& from)
      : mesh_(mesh), m_(new mt::module{}), b_(*m_) {
    b_.begin_region(mt::region_kind::entry, b_.intern("main"));
    for (char const* part : {"in", "op", "out"}) b_.add_path(mt::no_id, mt::name::of(part));
    for (int a = 0; a < mesh.count; ++a)
      m_->axes[m_->axis_count++] = {b_.intern(mesh.axes[a].label), mesh.axes[a].extent, {}};
    partial_axes const partial(from, mesh);
    mt::shape given{}, terms{}, kept{};
    mt::placement spread{};
    int const first = static_cast<int>(partial.axes.size());
    for (int a : partial.axes) {
      char const label[] = {'k', static_cast<char>('0' + a), '\0'};
      terms.add(b_.dim(mt::name::of(label), mesh.axes[a].extent));
      terms_ *= mesh.axes[a].extent;
    }
    for (int d = 0; d < dims; ++d) {
      char const label[] = {static_cast<char>('a' + d), '\0'};
      kept.add(b_.dim(mt::name::of(label), mesh.size() * (d == 0 ? 2 : 1)));
      size_ *= mesh.size() * (d == 0 ? 2 : 1);
    }
    given = mt::united(terms, kept);
    for (int a = 0; a < first; ++a) spread.shard(a, partial.axes[static_cast<std::size_t>(a)]);
    for (int d = 0; d < dims; ++d)
      for (int o = 0, axis = 0; (axis = from.axis_at(d, o)) >= 0; ++o) spread.shard(first + d, axis);
    kind_ = partial.kind;
    value_ = b_.add(mt::primitive::input, {}, mt::dtype::f64, given, {{b_.intern(mt::name("x"))}});
    m_->values[value_].layout = spread;
    if (first != 0)
      value_ =
          b_.add(mt::primitive::reduce, static_cast<std::uint8_t>(kind_), mt::ids(&value_, 1), mt::dtype::f64, kept);
    m_->values[value_].layout = from;
    whole_ = kept;
  }

  void add(mt::placement const& to) {
    mt::value_id const there = mt::reshard(b_, value_, to);
    mt::name_id const label = b_.intern(mt::name::of("y" + std::to_string(count_++)));
    m_->nodes[b_.add_node(mt::primitive::output, 0, mt::ids(&there, 1), {{label}})].effect = true;
  }
  int count() const { return count_; }

  /// What is wrong; empty: nothing.
  std::string run(meshtensor_test::late_machine& machine) {
    if (auto const fault = mt::verify_layout(*m_); !fault.empty()) return std::string(fault.view());
    auto const laid = mt::on_heap([&] { return mt::overlap_collectives(*m_); });
    auto const bound = mt::on_heap([&] { return mt::bind(*laid, mesh_); });
    if (!bound->ok()) return std::string(bound->report.view());
    auto const plan = mt::on_heap([&] { return mt::plan_memory(*laid, 0, *bound); });
    mt::job const job = mt::job::in_lockstep();
    mt::store values(job);
    mt::session<late_device> run(values, *laid, *plan, mesh_, 0);
    for (int step = 0; step < 2; ++step) {
      std::vector<double> x(static_cast<std::size_t>(terms_ * size_));
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<double>((i + 7u * static_cast<unsigned>(step)) * 7919 % 1009) - 500;
      mt::block const whole = expected(x, *bound);
      run.feed("x", x.data());
      run.step();
      for (int k = 0; k < count_; ++k)
        for (std::size_t r = 0; r < run.held().size(); ++r)
          if (auto const d = meshtensor_test::difference(run.local("y" + std::to_string(k), r), whole); !d.empty())
            return "change " + std::to_string(k) + ", rank " + std::to_string(r) + ": " + d;
    }
    out_of_order = machine.out_of_order;
    return "";
  }
  long out_of_order = 0;

 private:
  mt::block expected(std::vector<double> const& x, mt::binding const& numbers) const {
    mt::block whole(mt::dtype::f64, whole_, numbers);
    for (std::int64_t i = 0; i < size_; ++i) {
      double y = x[static_cast<std::size_t>(i)];
      for (std::int64_t t = 1; t < terms_; ++t) {
        double const term = x[static_cast<std::size_t>(t * size_ + i)];
        y = kind_ == mt::reduction::max   ? std::max(y, term)
            : kind_ == mt::reduction::min ? std::min(y, term)
                                          : y + term;
      }
      whole.set(i, y);
    }
    return whole;
  }

  mt::mesh_shape mesh_;
  std::unique_ptr<mt::module> m_;
  mt::builder b_;
  mt::value_id value_;
  mt::shape whole_{};
  mt::reduction kind_ = mt::reduction::none;
  std::int64_t terms_ = 1, size_ = 1;
  int count_ = 0;
};

constexpr int most_changes = 60;  // of one program

/// `number`: of the next program, another one for each.
long try_all(int dims, std::vector<int> const& sizes, std::uint64_t& number) {
  mt::mesh_shape mesh{};
  char const* labels[] = {"ax", "by", "cz"};
  for (std::size_t a = 0; a < sizes.size(); ++a) mesh.add(mt::name::of(labels[a]), sizes[a]);
  std::vector<mt::placement> targets;
  for (mt::placement const& p : all(dims, mesh, false)) targets.push_back(p);
  long changes = 0, out_of_order = 0;
  for (mt::placement const& from : all(dims, mesh, true)) {
    if (partial_axes(from, mesh).is_mixed) continue;
    for (std::size_t first = 0; first < targets.size(); first += most_changes) {
      if (!property::is_in_even_sample(number++)) continue;
      meshtensor_test::late_here here(number, 1 + static_cast<int>(number % 4));
      program p(dims, mesh, from);
      for (std::size_t k = first; k < targets.size() && k < first + most_changes; ++k) p.add(targets[k]);
      auto const fault = p.run(here.machine);
      CHECK(fault == "");
      CHECK(here.machine.blocks() == 0);
      CHECK(here.machine.host_blocks() == 0);
      changes += p.count(), out_of_order += p.out_of_order;
    }
  }
  MESSAGE(dims << " dims on " << meshtensor_test::text_of(mesh) << ": " << changes << " changes of placement, "
               << out_of_order << " kernels out of the list's order");
  return changes;
}

}  // namespace

TEST_CASE("one axis") {
  long changes = 0;
  std::uint64_t number = 0;
  for (int p : {1, 2, 3})
    for (int dims : {1, 2, 3}) changes += try_all(dims, {p}, number);
  property::at_least(100, changes);
}
TEST_CASE("two axes") {
  long changes = 0;
  std::uint64_t number = 0;
  for (auto const& sizes : std::vector<std::vector<int>>{{2, 2}, {2, 3}, {3, 2}})
    for (int dims : {1, 2, 3}) changes += try_all(dims, sizes, number);
  property::at_least(1000, changes);
}
TEST_CASE("three axes") {
  long changes = 0;
  std::uint64_t number = 0;
  for (int dims : {1, 2, 3}) changes += try_all(dims, {2, 2, 2}, number);
  property::at_least(10000, changes);
}
