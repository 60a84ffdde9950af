// SPDX-License-Identifier: Apache-2.0
#include "unit/op/laws.hpp"

#include <tuple>

#include "meshtensor/device/reference.hpp"
#include "meshtensor/op/detail/arithmetic.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/pass/lower.hpp"
#include "meshtensor/run/session.hpp"

namespace laws {
namespace {

std::unique_ptr<mt::module> trace(traced_program program) {
  std::unique_ptr<mt::module> m(new mt::module{});
  mt::builder b(*m);
  b.begin_region(mt::region_kind::entry, b.intern(mt::name("applied")));
  program(scope(&b, mt::no_id, mt::line(std::source_location())));
  mt::raise(m->report);
  return m;
}

/// Adds inputs, outputs and gradients to a graph that was traced.
class gradient_builder {
 public:
  explicit gradient_builder(mt::module& m) : b_(m) { b_.region = b_.entry = static_cast<mt::region_id>(0); }

  mt::value_id named(mt::primitive kind, char const* label) {
    for (int i = 0; i < b_.m.node_count; ++i) {
      mt::node const& n = b_.m.nodes[i];
      if (n.kind == kind && b_.m.names[mt::name_of(n)] == mt::name::of(label))
        return kind == mt::primitive::output ? b_.m.operand(n, 0) : b_.m.result(n);
    }
    throw mt::error("R00", "the program has no '" + std::string(label) + "'");
  }
  mt::value_id input_like(mt::value_id x, char const* label) {
    mt::value const v = b_.m.values[x];
    return b_.add(mt::primitive::input, {}, v.type, v.dims, {{b_.intern(mt::name::of(label))}});
  }
  void output(char const* label, mt::value_id v) {
    mt::name_id const called = b_.intern(mt::name::of(label));
    b_.m.nodes[b_.add_node(mt::primitive::output, 0, mt::ids(&v, 1), {{called}})].effect = true;
  }
  mt::value_id sum_of(mt::value_id x) { return mt::reduce(b_, mt::reduction::sum, x, b_.m.values[x].dims); }
  mt::value_id along(mt::value_id dx, mt::value_id u, mt::value_id dy, mt::value_id v) {
    mt::value_id const first = sum_of(mt::multiply(b_, dx, u));
    return mt::add(b_, first, sum_of(mt::multiply(b_, dy, v)));
  }
  mt::value_id loss_of(mt::value_id made) {
    mt::value_id const one = mt::scale(b_, made, 0.5);
    mt::value_id const weight = mt::add(b_, one, mt::constant(b_, 0.3, mt::dtype::f64));
    return sum_of(mt::multiply(b_, made, weight));
  }
  auto gradients(mt::value_id loss, mt::value_id x, mt::value_id y) {
    mt::value_id const by[] = {x, y};
    auto const made = mt::detail::gradients_by(b_, loss, by);
    return std::pair(made.at[0], made.at[1]);
  }

 private:
  mt::builder b_;
};

}  // namespace

void check_close(double got, double wanted, double tolerance) {
  CHECK(std::abs(got - wanted) <= tolerance * (1 + std::abs(wanted)));
}

namespace {
std::unique_ptr<mt::module> trace_with_gradients(traced_program traced, int order) {
  auto m = trace(traced);
  if (order >= 1) {
    gradient_builder g(*m);
    auto const x = g.named(mt::primitive::input, "x"), y = g.named(mt::primitive::input, "y");
    auto const loss = g.loss_of(g.named(mt::primitive::output, "result"));
    g.output("loss", loss);
    auto [dx, dy] = g.gradients(loss, x, y);
    g.output("dx", dx), g.output("dy", dy);
    mt::value_id const u = order >= 2 ? g.input_like(x, "u") : x, v = order >= 2 ? g.input_like(y, "v") : y;
    for (std::string prefix = "dd"; order >= static_cast<int>(prefix.size()); prefix += "d") {
      std::tie(dx, dy) = g.gradients(g.along(dx, u, dy, v), x, y);
      g.output((prefix + "x").c_str(), dx), g.output((prefix + "y").c_str(), dy);
    }
    mt::raise(m->report);
  }
  return m;
}
}  // namespace

trial::program with_gradients(traced_program traced, int order) {
  return trial::program::from(*trace_with_gradients(traced, order));
}

std::vector<double> result_of(traced_program traced, std::vector<double> const& x) {
  trial::program p = with_gradients(traced, 0);
  if (!x.empty()) p.fill("x", x);
  return trial::numbers_of(p.run().at("result"));
}

namespace {
/// Every partial derivative of the loss, against a central difference.
void check_gradient(trial::program p, range const& r) {
  p.fill_at_random(r.low, r.high);
  mt::blocks const given = p.run();
  constexpr double step = 1e-5;
  for (std::string const name : {"x", "y"}) {
    mt::block& input = p.inputs.at(name);
    mt::block const& derivative = given.at("d" + name);
    for (std::int64_t i = 0; i < input.size(); ++i) {
      double const here = input.number_at(i);
      input.set(i, here + step);
      double const above = p.run().at("loss").number_at(0);
      input.set(i, here - step);
      double const below = p.run().at("loss").number_at(0);
      input.set(i, here);
      INFO("d loss / d " << name << "[" << i << "]");
      check_close(derivative.number_at(i), (above - below) / (2 * step));
    }
  }
}

/// Gradients of gradients along a direction, against central differences of what they are the gradients of.
void check_curvature(trial::program p, range const& r) {
  p.fill_at_random(r.low, r.high);
  mt::blocks const given = p.run();
  constexpr double step = 1e-5;
  auto const moved = [&](double by) {
    mt::blocks const before = p.inputs;
    for (auto const& [name, along] : {std::pair<std::string, std::string>("x", "u"), {"y", "v"}})
      for (std::int64_t i = 0; i < before.at(name).size(); ++i)
        p.inputs.at(name).set(i, before.at(name).number_at(i) + by * before.at(along).number_at(i));
    mt::blocks outputs = p.run();
    p.inputs = before;
    return outputs;
  };
  mt::blocks const above = moved(step), below = moved(-step);
  for (std::string const name : {"dx", "dy", "ddx", "ddy"})
    for (std::int64_t i = 0; i < given.at(name).size(); ++i) {
      INFO("d" << name << "[" << i << "]");
      double const wanted = (above.at(name).number_at(i) - below.at(name).number_at(i)) / (2 * step);
      check_close(given.at("d" + name).number_at(i), wanted, name.size() == 2 ? 1e-6 : 1e-5);
    }
}

/// Element by element: calls f(index in `part`, index in `whole` at `fresh` = k).
template <class G>
void each_slice(mt::module const& of_part, mt::block const& part, mt::module const& of_whole, mt::block const& whole,
                int k, G g) {
  mt::view const p = part.window(), w = whole.window();
  std::int64_t stride[mt::max_dims_of_one] = {}, first = 0;
  for (int i = 0; i < w.count; ++i) {
    bool found = false;
    for (int j = 0; j < p.count; ++j)
      if (of_part.dim_name(p.dim[j]) == of_whole.dim_name(w.dim[i])) stride[j] = w.stride[i], found = true;
    if (!found) {
      REQUIRE(of_whole.dim_name(w.dim[i]) == mt::name("fresh"));
      first = k * w.stride[i];
    }
  }
  for (std::int64_t i = 0; i < part.size(); ++i) {
    std::int64_t place = first, rest = i;
    for (int j = p.count; j-- > 0;) place += rest % p.extent[j] * stride[j], rest /= p.extent[j];
    g(i, place);
  }
}

/// A fresh dim of x, of y, or of both appears in the result, whose slices are the results of the slices.
void check_fresh(trial::program whole, trial::program part, range const& r) {
  whole.fill_at_random(r.low, r.high);
  mt::blocks const together = whole.run();
  mt::view const made = together.at("result").window();
  CHECK(made.find(trial::dim_of(whole.graph(), "fresh")) >= 0);
  for (int k = 0; k < 2; ++k) {
    for (std::string const name : {"x", "y"})
      each_slice(part.graph(), part.inputs.at(name), whole.graph(), whole.inputs.at(name), k,
                 [&](auto i, auto place) { part.inputs.at(name).set(i, whole.inputs.at(name).number_at(place)); });
    mt::blocks const alone = part.run();
    int wrong = 0;
    each_slice(part.graph(), alone.at("result"), whole.graph(), together.at("result"), k, [&](auto i, auto place) {
      wrong += !(alone.at("result").number_at(i) == together.at("result").number_at(place));
    });
    INFO("slice " << k);
    CHECK(wrong == 0);
  }
}

}  // namespace

void check_gradients(forms const& f, range const& r) {
  check_gradient(with_gradients(f.part, 1), r);
  check_curvature(with_gradients(f.part, 3), r);
}

void check_fresh_dims(forms const& f, int order, range const& r) {
  for (traced_program const whole : {f.fresh_x, f.fresh_y, f.fresh_both})
    if (whole != nullptr) check_fresh(with_gradients(whole, order), with_gradients(f.part, order), r);
}

/// Tensors whose dims are values: the same nodes, hence the same numbers.
void check_any(forms const& f, int order, range const& r) {
  trial::program typed = with_gradients(f.part, order), any = with_gradients(f.any, order);
  typed.fill_at_random(r.low, r.high);
  any.fill_at_random(r.low, r.high);
  CHECK(typed.graph().node_count == any.graph().node_count);
  mt::blocks const wanted = typed.run(), got = any.run();
  for (auto const& [name, numbers] : wanted) CHECK(trial::numbers_of(got.at(name)) == trial::numbers_of(numbers));
}

void check_sharded(traced_program traced, int order, std::string const& dim) {
  auto const m = trace_with_gradients(traced, order);
  trial::program whole = trial::program::from(*m);
  whole.fill_at_random(0.4, 1.6);
  mt::mesh_shape const mesh = mt::mesh_shape{}.add("ranks", 4);
  mt::layout_rules rules{};
  rules.shard(mt::name::of(dim.c_str()), {"ranks"});
  auto const lowered = mt::lower(*m, mt::name("applied"), mesh, rules, {});
  auto job = mt::job::in_lockstep();
  mt::store variables(job);
  mt::session<mt::reference_device> ranks(variables, lowered->graph, lowered->planned, mesh, lowered->entry);
  for (auto const& [name, numbers] : whole.inputs) ranks.feed(name, numbers.data());
  ranks.step();
  for (auto const& [name, wanted] : whole.run()) {
    mt::block const got = ranks.whole(name);
    REQUIRE(got.size() == wanted.size());
    for (std::int64_t i = 0; i < wanted.size(); ++i) {
      INFO(name << "[" << i << "] with " << dim << " sharded");
      check_close(got.number_at(i), wanted.number_at(i), 1e-12);
    }
  }
}

void check_same(traced_program first, traced_program second, int order) {
  trial::program p = with_gradients(first, order), q = with_gradients(second, order);
  p.fill_at_random(0.4, 1.6), q.fill_at_random(0.4, 1.6);
  mt::blocks const got = p.run(), wanted = q.run();
  for (auto const& [label, numbers] : wanted)
    for (std::int64_t i = 0; i < numbers.size(); ++i) {
      INFO(label << "[" << i << "]");
      check_close(got.at(label).number_at(i), numbers.number_at(i), 1e-12);
    }
}

}  // namespace laws
