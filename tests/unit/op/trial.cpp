// SPDX-License-Identifier: Apache-2.0
#include "unit/op/trial.hpp"

namespace trial {
namespace {
void require_verified(mt::module const& m) {
  for (int i = 0; i < m.node_count; ++i) {
    char const* const finding = mt::verify_node(m, m.nodes[i]);
    INFO("node " << i << ", " << std::string(mt::text_of(m.nodes[i].kind)) << ": "
                 << std::string(finding == nullptr ? "" : finding));
    REQUIRE(finding == nullptr);
  }
}
}  // namespace

mt::dim_id dim_of(mt::module const& m, mt::name const& label) {
  for (int d = 0; d < m.dim_count; ++d)
    if (m.dim_name(d) == label) return static_cast<mt::dim_id>(d);
  throw mt::error("R00", "the program has no dim '" + label.text() + "'");
}

program program::from(mt::module const& traced, std::vector<mt::dim_extent> const& extents) {
  require_verified(traced);
  program p;
  p.m_.reset(new mt::module(mt::differentiate(mt::widen(traced))));
  require_verified(*p.m_);
  p.b_ = mt::bind(*p.m_, mt::mesh_shape{}, extents);
  mt::raise(p.b_.report);
  for (int i = 0; i < p.m_->node_count; ++i) {
    mt::node const& n = p.m_->nodes[i];
    if (n.kind != mt::primitive::input) continue;
    mt::value const& v = p.m_->result_value(n);
    p.inputs[p.m_->names[n.attribute[0]].text()] = mt::block(v.type, v.dims, p.b_);
  }
  return p;
}

mt::blocks program::run() {
  mt::blocks outputs = mt::interpreter(*m_, b_).run(0, inputs, variables, settings);
  ++settings.step;
  return outputs;
}

void program::fill(std::string const& name, std::vector<double> const& numbers) {
  mt::block& b = inputs.at(name);
  REQUIRE(b.size() == static_cast<std::int64_t>(numbers.size()));
  for (std::size_t i = 0; i < numbers.size(); ++i) b.set(static_cast<std::int64_t>(i), numbers[i]);
}

void program::fill_at_random(double low, double high, std::uint64_t seed) {
  stream s{seed};
  for (auto& [name, b] : inputs)
    for (std::int64_t i = 0; i < b.size(); ++i) b.set(i, s.between(low, high));
}

std::vector<double> numbers_of(mt::block const& b) {
  std::vector<double> r;
  for (std::int64_t i = 0; i < b.size(); ++i) r.push_back(b.number_at(i));
  return r;
}

}  // namespace trial
