// SPDX-License-Identifier: Apache-2.0
// Plans that are broken on purpose: a value at another's address, or at one of the two places of a slice that a loop
// gathers ahead; under another's name; a node too early; a wait that is late. Either the check of plans finds it, or it
// does no harm, whenever collectives do their work.
//
// timeout: 300
#include "meshtensor/meshtensor.hpp"
#include "property/outcome.hpp"
#include "property/program_fuzzer.hpp"

using namespace property;

namespace {

struct breaker {
  mt::lowering const& good;
  rng c;
  std::vector<mt::value_id> placed;  // values that have an address of their own in the arena
  std::vector<mt::value_id> ahead;   // values that have two
  std::string what = "";             // was broken

  breaker(mt::lowering const& l, std::uint64_t seed) : good(l), c{seed} {
    for (int v = 0; v < l.graph.value_count; ++v)
      if (l.planned.root[v] == v) {
        if (l.planned.where[v] == mt::place::arena) placed.push_back(static_cast<mt::value_id>(v));
        if (l.planned.where[v] == mt::place::double_buffer) ahead.push_back(static_cast<mt::value_id>(v));
      }
  }
  std::int64_t bytes(int v) const { return good.planned.numbers.local_bytes(good.graph.values[v]); }
  mt::value_id any_of(std::vector<mt::value_id> const& values) {
    return values[static_cast<std::size_t>(c.below(static_cast<int>(values.size())))];
  }
  mt::value_id any_placed() { return any_of(placed); }

  /// Two values at one address.
  bool share_address(mt::plan& p) {
    mt::value_id const v = any_placed(), other = any_placed();
    if (v == other || p.offset[v] == p.offset[other] || p.offset[other] + bytes(v) > p.arena_bytes) return false;
    p.offset[v] = p.offset[other];
    what = "%" + std::to_string(v) + " has the address of %" + std::to_string(other);
    return true;
  }
  /// A value at one of the two addresses of a slice that a loop gathers one iteration ahead.
  bool share_turn(mt::plan& p) {
    if (ahead.empty()) return false;
    mt::value_id const v = any_placed(), other = any_of(ahead);
    int const which = c.below(2);
    std::int64_t const at = p.offset[other] + which * mt::planned_bytes(p.numbers, good.graph.values[other]);
    if (p.offset[v] == at || at + bytes(v) > p.arena_bytes) return false;
    p.offset[v] = at;
    what = "%" + std::to_string(v) + " has address " + std::to_string(which) + " of %" + std::to_string(other);
    return true;
  }
  /// A value that is taken for another name of one of the same size.
  bool share_root(mt::plan& p) {
    mt::value_id const v = any_placed(), other = any_placed();
    if (v == other || bytes(v) != bytes(other) || v < other) return false;
    for (int i = 0; i < good.graph.value_count; ++i)
      if (p.root[i] == v) p.root[i] = other;
    what = "%" + std::to_string(v) + " is another name of %" + std::to_string(other);
    return true;
  }
  mt::region_id a_region(mt::plan const& p) {
    for (;;)
      if (auto const r = static_cast<mt::region_id>(c.below(good.graph.region_count)); p.steps.count[r] > 1) return r;
  }
  /// A node before the one that comes before it.
  bool swap_steps(mt::plan& p) {
    mt::region_id const r = a_region(p);
    mt::node_id* const at = p.steps.nodes + p.steps.first[r] + c.below(p.steps.count[r] - 1);
    std::swap(at[0], at[1]);
    what = "nodes " + std::to_string(at[0]) + " and " + std::to_string(at[1]) + " change places";
    return true;
  }
  bool is_wait(mt::node_id which) const { return good.graph.nodes[which].kind == mt::primitive::wait; }
  /// A wait at the end of its region.
  bool put_off_a_wait(mt::plan& p) {
    mt::region_id const r = a_region(p);
    mt::node_id* const first = p.steps.nodes + p.steps.first[r];
    int const i = c.below(p.steps.count[r]);
    if (!is_wait(first[i])) return false;
    what = "the wait " + std::to_string(first[i]) + " comes at the end";
    std::rotate(first + i, first + i + 1, first + p.steps.count[r]);
    return true;
  }

  bool break_plan(mt::plan& p, int how) {
    switch (how) {
      case 0: return share_address(p);
      case 1: return share_root(p);
      case 2: return swap_steps(p);
      case 3: return share_turn(p);
      default: return put_off_a_wait(p);
    }
  }
};

/// Loops of five iterations over layers: what starts ahead is in flight in either of its two places.
listed deep() {
  return {"in_parts of 5 layers", program_named("in_parts").entry, [] {
            auto traced = program_named("in_parts").trace();
            for (int d = 0; d < traced->dim_count; ++d)
              if (traced->names[traced->dims[d].label] == mt::name("layers")) traced->dims[d].value = 5;
            return traced;
          }};
}

/// A random program with a branch and a loop that may end early, or several.
template <std::uint64_t Seed>
listed ending_early() {
  return {"loops that may end early", mt::name("train"), [] {
            auto traced = write_programs(rng{Seed}.next(), may_end_early::yes).traced;
            for (int d = 0; d < traced->dim_count; ++d)
              if (mt::dim_row& row = traced->dims[d]; row.kind == mt::dim_row::dynamic)
                row.kind = mt::dim_row::fixed, row.value = 4;
            return std::make_unique<mt::module>(mt::extract_entry(*traced, mt::find_entry(*traced, mt::name("train"))));
          }};
}

inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct width_dim : mt::dim<"width", 4> {} width;
inline constexpr struct out_dim : mt::dim<"out", 4> {} out;

/// A loop whose body does not read its carry: only if no iteration runs does the first value matter.
listed unread() {
  return {"an unread carry", mt::name("train"), [] {
            auto traced = std::make_unique<mt::module>();
            mt::builder b(*traced);
            b.begin_region(mt::region_kind::entry, b.intern(mt::name("train")));
            mt::trace_scope<mt::dtype::f64> const s(&b, mt::no_id, mt::line(std::source_location()));
            auto const x = s.input("x", s.real(), batch, width);
            auto const start = tanh(x);
            auto const product = einsum(x, s.parameter("w", width, out), mt::to(batch, out));
            auto const size = mt::sum(product * product);
            auto const [trips, last] = mt::while_loop(
                s / "settle", mt::at_most(3), [&](auto, auto) { return size < 1.0; }, [&](auto, auto) { return x * 2; },
                start);
            s.output("last", last);
            mt::raise(traced->report);
            return traced;
          }};
}

}  // namespace

TEST_CASE("a broken plan is found, or does no harm") {
  constexpr char const* names[] = {"one address", "one name", "order", "one address of two", "late wait"};
  long found[5] = {}, harmless[5] = {};
  mt::mesh_shape mesh{};
  mesh.add("ax", 2), mesh.add("by", 2);
  auto const& jobs = meshtensor_test::jobs_of_each_timing();
  std::uint64_t seed = sample_number();
  std::vector<listed> all{deep(), ending_early<33>(), ending_early<17>()};
  for (char const* label : {"movements", "mlp", "recurrent", "nested", "composites", "in_parts", "memories"})
    all.push_back(program_named(label));
  for (listed const& program : all)
    each_of_three(
        program, mesh, [&](mt::lowering const& low, mt::blocks const& inputs, std::vector<std::string> const& outputs) {
          auto const wanted = run_with(jobs[0], low, mesh, inputs, outputs, 2);
          breaker b(low, ++seed);
          auto broken = std::make_unique<mt::plan>(low.planned);
          for (int i = 0; i < share_of(500); ++i) {
            int const how = i % 5;
            *broken = low.planned;
            if (!b.break_plan(*broken, how)) continue;
            if (!mt::verify_plan(low.graph, low.entry, *broken).report.empty()) {
              ++found[how];
              continue;
            }
            ++harmless[how];
            INFO(b.what);
            for (std::size_t k = 0; k < jobs.size(); ++k) {
              INFO(std::string(mt::text_of(mt::collective_timings[k])));
              bool const right = run_with(jobs[k], low.graph, *broken, low.entry, mesh, inputs, outputs, 2) == wanted;
              CHECK_MESSAGE(right, mt::text_of(low.graph));
            }
          }
        });
  for (int how = 0; how < 5; ++how) {
    MESSAGE(std::string(names[how]) << ": " << found[how] << " found, " << harmless[how] << " do no harm");
    CHECK(found[how] > 0);
  }
}

TEST_CASE("no wait can be left out") {
  int left_out = 0;
  mt::mesh_shape mesh{};
  mesh.add("ax", 2), mesh.add("by", 2);
  for (char const* label : {"mlp", "recurrent", "nested", "composites", "classifier in f32", "in_parts"})
    each_of_three(program_named(label), mesh,
                  [&](mt::lowering const& low, mt::blocks const&, std::vector<std::string> const&) {
                    auto broken = std::make_unique<mt::plan>(low.planned);
                    for (int r = 0; r < low.graph.region_count; ++r)
                      for (int i = 0; i < low.planned.steps.count[r]; ++i) {
                        mt::node_id* const first = broken->steps.nodes + broken->steps.first[r];
                        *broken = low.planned;
                        if (low.graph.nodes[first[i]].kind != mt::primitive::wait) continue;
                        std::rotate(first + i, first + i + 1, first + broken->steps.count[r]--);
                        ++left_out;
                        CHECK(!mt::verify_plan(low.graph, low.entry, *broken).report.empty());
                      }
                  });
  MESSAGE(left_out << " waits left out");
  at_least(51, left_out);
}

TEST_CASE("what a loop gives is there if no iteration runs") {
  int found = 0;
  mt::mesh_shape mesh{};
  mesh.add("ax", 2), mesh.add("by", 2);
  for (listed const& program : {ending_early<33>(), ending_early<17>(), unread()})
    each_of_three(program, mesh, [&](mt::lowering const& low, mt::blocks const&, std::vector<std::string> const&) {
      mt::module const& m = low.graph;
      mt::plan const& p = low.planned;
      auto broken = std::make_unique<mt::plan>(p);
      // What is made between a carry's first value, which lies where the carry lies, and the loop, is put there, too.
      auto const is_written_over = [&](mt::value_id carry, mt::node_id from, mt::node_id to) {
        mt::node_id const* at = p.steps.nodes + p.steps.first[m.nodes[to].region];
        while (*at != from) ++at;
        while (*++at != to)
          for (int k = 0; k < m.nodes[*at].results.count; ++k) {
            mt::value_id const v = m.result(m.nodes[*at], k);
            if (p.root[v] != v || p.where[v] != mt::place::arena || p.offset[v] == p.offset[carry]) continue;
            if (p.offset[carry] + p.numbers.local_bytes(m.values[v]) > p.arena_bytes) continue;
            *broken = p;
            broken->offset[v] = p.offset[carry];
            ++found;
            CHECK(!mt::verify_plan(m, low.entry, *broken).report.empty());
          }
      };
      for (int i = 0; i < m.node_count; ++i) {
        mt::node const& n = m.nodes[i];
        mt::loop const l = mt::loop::of(n);
        if (n.kind != mt::primitive::repeat || !l.ends_early) continue;
        for (int c = 0; c < l.carries; ++c) {
          mt::value_id const start = m.operand(n, c), carry = p.root[m.result(n, c)];
          mt::node_id const maker = m.values[start].node;
          if (p.root[start] == carry && p.where[carry] == mt::place::arena && m.nodes[maker].region == n.region &&
              m.nodes[maker].kind != mt::primitive::argument)
            is_written_over(carry, maker, static_cast<mt::node_id>(i));
        }
      }
    });
  MESSAGE(found << " carries whose first value something overwrites");
  at_least(51, found);
}
