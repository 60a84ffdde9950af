// SPDX-License-Identifier: Apache-2.0
// Compiled once for all tests of random programs.
#include "property/layout_trial.hpp"

#include <doctest/doctest.h>

#include <set>

#include "meshtensor/meshtensor.hpp"
#include "property/graph_fuzzer.hpp"
#include "property/integer_fuzzer.hpp"
#include "property/program.hpp"
#include "property/rounding_interpreter.hpp"

namespace property {

namespace {

template <class Fuzzer>
random_programs exact_graph(Fuzzer const& a) {
  return {std::make_unique<mt::module>(a.g.module()), {mt::name("main")}, nullptr};
}

/// Whether something stands between a start and its wait, or the end of a loop.
bool is_overlapped(mt::module const& m, mt::plan const& p, mt::node_id start) {
  mt::node const& n = m.nodes[start];
  if (!mt::is_collective(n.kind) || p.numbers.members(mt::axes_of_collective(n)) < 2) return false;
  if (mt::ends_behind_loop(n)) return p.where[p.root[m.result(n)]] == mt::place::stack_slice;
  int at = 0;
  mt::node_id const* const all = p.steps.nodes + p.steps.first[n.region];
  while (all[at] != start) ++at;
  for (int i = at + 1; i < p.steps.count[n.region]; ++i) {
    mt::node const& other = m.nodes[all[i]];
    if (other.kind == mt::primitive::wait && m.operand(other, 0) == m.result(n)) return false;
    if (!mt::shares_memory(other)) return true;
  }
  return false;
}

bool has_loop_over(mt::module const& m, mt::name const& dim) {
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == mt::primitive::repeat && m.dim_name(mt::loop::of(m.nodes[i]).dim) == dim) return true;
  return false;
}

/// How many random tensors of a set of programs are equal to another one because they have its identity.
int count_equal_draws(mt::module const& m) {
  std::set<std::uint64_t> known;
  int equal = 0;
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == mt::primitive::random) equal += !known.insert(mt::identity_of(m, m.nodes[i])).second;
  return equal;
}

}  // namespace

whole_programs::whole_programs(random_programs programs, meshtensor_test::closeness tolerance, bool is_smooth)
    : programs_(std::move(programs)), tolerance_(tolerance), is_smooth_(is_smooth) {
  auto const differentiated = [](mt::module const& m, mt::name const& label) {
    return mt::run_passes(m, {label, {}, {}, {}}, 0, 3);  // extracted, widened and differentiated
  };
  for (mt::name const& label : programs_.entries) {
    differentiated_.push_back(differentiated(traced(), label));
    if (is_single()) in_f64_.push_back(differentiated(*programs_.in_f64, label));
    simplified_.push_back(mt::whole_entry(traced(), label));
  }
  names_.dims = dims_in_use(traced()), names_.scopes = scopes_of(traced());
  for (mt::name const& dim : names_.dims)
    if (has_loop_over(traced(), dim)) names_.loop_dims.push_back(dim);
  for (mt::name const& scope : names_.scopes)
    for (char const* large : {"blocks", "deep", "cell", "optimizer", "tuner", "net"})
      if (scope == mt::name::of(large)) names_.large_scopes.push_back(scope);
  REQUIRE(count_equal_draws(traced()) == 0);
}

namespace {
constexpr auto same = meshtensor_test::same_numbers;  // of zeros of both signs the greatest is either
constexpr meshtensor_test::closeness rounded{1e-9, 1e-3}, single{2e-2, 0.1};
}  // namespace

whole_programs whole_programs::of_loops_that_may_end_early(std::uint64_t seed) {
  rng c{seed};
  int const kind = c.below(4);
  if (kind == 0) return {exact_graph(graph_fuzzer(c.next(), purpose::values, may_end_early::yes)), same, false};
  if (kind == 1) return {exact_graph(graph_fuzzer(c.next(), purpose::gradients, may_end_early::yes)), rounded, false};
  random_programs all = write_programs(c.next(), may_end_early::yes);
  auto const tolerance = all.in_f64 ? single : rounded;
  return {std::move(all), tolerance, true};
}

whole_programs whole_programs::of(std::uint64_t seed) {
  rng c{seed};
  int const kind = c.below(8);
  if (kind == 0) return {exact_graph(graph_fuzzer(c.next(), purpose::values)), same, false};
  if (kind == 1) return {exact_graph(graph_fuzzer(c.next(), purpose::gradients)), rounded, false};
  random_programs all = write_programs(c.next());
  auto const tolerance = all.in_f64 ? single : rounded;
  return {std::move(all), tolerance, true};
}

whole_programs whole_programs::of_integers_near_limits(std::uint64_t seed) {
  whole_programs all(exact_graph(integer_fuzzer(seed)), meshtensor_test::same_bits, false);
  all.near_limits_ = true;
  return all;
}

random_spread::random_spread(whole_programs const& programs, mt::mesh_shape const& on, std::uint64_t by, bool even)
    : mesh(on), seed(by % 1000) {
  rng c{by};
  layouts.push_back(random_layout(programs.names(), mesh, c));
  while (layouts.size() < programs.count())
    layouts.push_back(c.one_in(4) ? random_layout(programs.names(), mesh, c) : layouts[0]);
  extents = even ? fitting_extents(programs.traced(), mesh, layouts, c) : any_extents(programs.traced(), c);
  for (steps = {0}; steps.size() < 3;)
    steps.push_back(static_cast<std::size_t>(c.below(static_cast<int>(programs.count()))));
}

std::string random_spread::text(whole_programs const& programs) const {
  std::string t = "mesh " + meshtensor_test::text_of(mesh);
  for (std::size_t e = 0; e < layouts.size(); ++e)
    t += "\n  " + programs.label(e).text() + ": " + meshtensor_test::text_of(layouts[e]);
  t += "\n  extents:";
  for (mt::dim_extent const& d : extents) t += " " + d.label.text() + "=" + std::to_string(d.extent);
  t += "\n  steps:";
  for (std::size_t e : steps) t += " " + programs.label(e).text();
  return t;
}

layout_trial::layout_trial(whole_programs const& programs, random_spread const& spread,
                           mt::device_capabilities const& capabilities)
    : programs_(programs), spread_(spread) {
  for (std::size_t e = 0; e < programs.count(); ++e)
    lowered_.push_back(mt::lower_whole(programs.simplified(e), programs.label(e), spread.mesh, spread.layouts[e],
                                       spread.extents, capabilities));
  std::map<std::string, mt::placement> placed;
  for (auto const& low : lowered_) {
    mt::module const& m = low->graph;
    for (int v = 0; v < m.value_count; ++v)
      for (int d = 0; d < m.values[v].dims.count; ++d) even_ = even_ && low->planned.numbers.is_even(m.values[v], d);
    for (int i = 0; i < m.node_count; ++i) {
      mt::node const& n = m.nodes[i];
      in_flight_ += is_overlapped(m, low->planned, static_cast<mt::node_id>(i));
      if (n.kind != mt::primitive::read && n.kind != mt::primitive::write) continue;
      mt::variable const& v = m.variables[n.attribute[0]];
      std::string const path = mt::path_text(m, v.path);
      if (!(placed.emplace(path, v.layout).first->second == v.layout))
        throw mt::error("R04", {"the layouts of two programs disagree on '", path, "'"});
    }
  }
  for (std::size_t e = 0; e < programs.count(); ++e) inputs_.push_back(inputs_of(e));
}

mt::blocks layout_trial::inputs_of(std::size_t e) const {
  mt::blocks all;
  mt::module const& m = programs_.differentiated(e);
  auto const numbers = mt::on_heap([&] { return mt::bind(m, mt::mesh_shape{}, spread_.extents); });
  mt::raise(numbers->report);
  rng c{spread_.seed};
  bool const exact = programs_.tolerance().tolerance <= 0;
  for (int i = 0; i < m.node_count; ++i) {
    mt::node const& n = m.nodes[i];
    if (n.kind != mt::primitive::input) continue;
    mt::value const& v = m.result_value(n);
    mt::block b(v.type, v.dims, *numbers);
    for (std::int64_t k = 0; k < b.size(); ++k) {
      double const unit = static_cast<double>(c.next() >> 11) / 9007199254740992.0;
      b.set(k, !mt::is_float(v.type) ? c.below(5) : exact ? c.below(7) - 3 : 2 * unit - 1);
    }
    all.emplace(m.names[n.attribute[0]].text(), std::move(b));
  }
  if (programs_.has_integers_near_limits()) fill_near_limits(all, c);
  return all;
}

/// What the interpreter gives after every step. `otherwise`: in f64 for a program in f32; else with inputs that differ
/// in the thirteenth digit, and results of each operation that differ in the fifteenth: where layers level out what
/// differs and later ones amplify it, the inputs change nothing, and rounding in between much.
std::vector<layout_trial::after_step> layout_trial::expected(bool otherwise) const {
  bool const doubled = otherwise && programs_.is_single();
  std::vector<after_step> all;
  std::vector<mt::blocks> inputs = inputs_;
  std::vector<std::unique_ptr<mt::binding>> numbers;
  std::vector<std::unique_ptr<rounding_interpreter>> oracles;
  double const rounding = otherwise && !doubled ? 1e-15 : 0;
  for (std::size_t e = 0; e < programs_.count(); ++e) {
    mt::module const& m = doubled ? programs_.differentiated_in_f64(e) : programs_.differentiated(e);
    numbers.push_back(mt::on_heap([&] { return mt::bind(m, mt::mesh_shape{}, spread_.extents); }));
    oracles.push_back(std::make_unique<rounding_interpreter>(m, *numbers.back(), rounding));
    for (auto& [label, b] : inputs[e]) {
      if (!otherwise || !mt::is_float(b.type())) continue;
      mt::block const before = b;
      if (doubled) {
        mt::view const v = before.window();
        mt::shape dims{};
        for (int i = 0; i < v.count; ++i) dims.add(v.dim[i]);
        b = mt::block(mt::dtype::f64, dims, *numbers.back());
      }
      for (std::int64_t i = 0; i < b.size(); ++i) {
        double const change = doubled ? 0 : static_cast<double>(i % 3 - 1) * 1e-13;
        b.set(i, before.number_at(i) * (1 + change));
      }
    }
  }
  mt::blocks variables;
  mt::settings s;
  s.seed = spread_.seed;
  std::vector<std::uint64_t> steps(programs_.count());
  std::map<std::string, std::uint64_t> updates;
  for (std::size_t e : spread_.steps) {
    mt::module const& m = doubled ? programs_.differentiated_in_f64(e) : programs_.differentiated(e);
    int const entry = mt::find_entry(m, programs_.label(e));
    mt::counted_paths const counted(m, entry);
    s.step = steps[e]++;
    counted.give(s, [&](std::size_t k) { return updates[counted.labels()[k]]; });
    mt::blocks outputs = oracles[e]->run(entry, inputs[e], variables, s);
    for (std::string const& label : counted.labels()) ++updates[label];
    all.push_back({std::move(outputs), variables, oracles[e]->has_overflowed()});
  }
  return all;
}

std::string layout_trial::compare(held_bytes const& held) const {
  std::size_t compared = 0;
  auto const wanted = expected(false);
  std::vector<after_step> other;  // where inputs and rounding differ a little
  auto const diverges = [&](std::size_t t) {
    if (wanted[t].overflowed) return true;
    for (mt::blocks const* all : {&wanted[t].outputs, &wanted[t].variables})
      for (auto const& [label, b] : *all)
        if (meshtensor_test::detail::greatest(b) > 1e4) return true;
    return false;
  };
  auto const not_finite = [&](std::size_t t) -> std::string {
    for (mt::blocks const* all : {&wanted[t].outputs, &wanted[t].variables})
      for (auto const& [label, b] : *all)
        for (std::int64_t i = 0; i < b.size(); ++i)
          if (!std::isfinite(b.number_at(i)))
            return "step and value '" + std::to_string(t) + " " + label + "' is not finite";
    return "";
  };
  auto const differs = [&](std::size_t t, mt::rank_context const& p, std::string const& label, mt::value const& v,
                           mt::blocks after_step::* which, std::string const& key) -> std::string {
    std::string const place = std::to_string(t) + " " + label + key + " " + std::to_string(p.rank());
    auto const found = held.find(place);
    if (found == held.end()) return "step, value and rank '" + place + "' are missing";
    std::vector<std::byte> bytes = found->second;
    mt::view part = p.window_of(v);
    part.data = bytes.data();
    mt::block const& whole = (wanted[t].*which).at(key);
    ++compared;
    std::string d = meshtensor_test::difference(part, whole, programs_.tolerance());
    if (d.empty()) return d;
    if (programs_.is_smooth()) {
      if (other.empty()) other = expected(true);
      double off = 0;
      for (std::int64_t i = 0; i < whole.size(); ++i)
        off = std::max(off, std::abs((other[t].*which).at(key).number_at(i) - whole.number_at(i)));
      double const most = meshtensor_test::detail::greatest(whole);
      meshtensor_test::closeness const as_far{(programs_.is_single() ? 100 : 10) * off / (most == 0 ? 1 : most),
                                              most == 0 ? 1.0 : 0.0};
      if (std::isnan(off) || meshtensor_test::difference(part, whole, as_far).empty()) return "";
    }
    return "step, value and rank '" + place + "': " + d;
  };
  for (std::size_t t = 0; t < spread_.steps.size() && !(programs_.is_smooth() && diverges(t)); ++t) {
    if (programs_.is_smooth())
      if (std::string const fault = not_finite(t); !fault.empty()) return fault;
    mt::module const& m = lowered_[spread_.steps[t]]->graph;
    for (std::int64_t rank = 0; rank < spread_.mesh.size(); ++rank) {
      mt::rank_context const p(m, lowered_[spread_.steps[t]]->planned, spread_.mesh, static_cast<int>(rank));
      for (int i = 0; i < m.node_count; ++i) {
        mt::node const& n = m.nodes[i];
        std::string fault;
        if (n.kind == mt::primitive::output) {
          fault = differs(t, p, "output ", m.operand_value(n, 0), &after_step::outputs, mt::label_of_output(m, n));
        } else if (n.kind == mt::primitive::read || n.kind == mt::primitive::write) {
          mt::value const& v = n.kind == mt::primitive::read ? m.result_value(n) : m.operand_value(n, 0);
          std::string const path = mt::path_text(m, m.variables[n.attribute[0]].path);
          fault = differs(t, p, "variable ", v, &after_step::variables, path);
        }
        if (!fault.empty()) return fault;
      }
    }
  }
  return compared != 0 || diverges(0) ? "" : "nothing was compared";
}

}  // namespace property
