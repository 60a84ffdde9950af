// SPDX-License-Identifier: Apache-2.0
// verify finds every result whose dtype, dims or order of dims cannot be: each result of every program of the catalogue
// is changed in turn.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "meshtensor/pass/differentiate.hpp"
#include "meshtensor/pass/verify.hpp"
#include "property/program.hpp"

namespace mt = meshtensor;

namespace {

bool is_subset(mt::shape const& a, mt::shape const& b) { return b.includes(a); }
bool is_subsequence(mt::shape const& a, mt::shape const& b) {
  int at = 0;
  for (int i = 0; i < b.count && at < a.count; ++i)
    if (a.at[at] == b.at[i]) ++at;
  return at == a.count;
}

/// Whether `many` is `few` with several neighbours, or one, in the place of `joined`.
bool is_split(mt::shape const& few, mt::shape const& many, int joined) {
  int const at = few.find(joined), more = many.count - few.count + 1;
  for (int i = 0; i < few.count; ++i)
    if (at < 0 || more < 1 || (i != at && few.at[i] != many.at[i < at ? i : i + more - 1])) return false;
  return few.count != 0 && !many.has(joined);
}

/// Whether a convolution's result has no dim that its windows give to other tensors.
bool has_one_dim_a_window(mt::module const& m, mt::node const& n, mt::shape const& dims) {
  auto const windows = mt::conv_attributes::of(n);
  auto const result = mt::conv_rule::result_role(mt::conv_rule::direction(n));
  for (int k = windows.first; k < windows.first + windows.count; ++k)
    for (mt::dim_id d : {m.windows[k].input, m.windows[k].output, m.windows[k].kernel})
      if (d != mt::conv_rule::dim_of(m.windows[k], result) && dims.has(d)) return false;
  return true;
}

/// Whether a node may have a result of this dtype and these dims, by the words of its documentation: nodes that are
/// asked for dims or a dtype take what does not contradict their operands.
bool may_give(mt::module const& m, mt::node const& n, mt::value const& was, mt::dtype type, mt::shape const& dims) {
  auto const x = [&](int i = 0) -> mt::value const& { return m.operand_value(n, i); };
  bool const same_type = type == was.type, same_dims = dims == was.dims;
  mt::shape all{};
  for (int i = 0; i < n.operands.count; ++i) all = mt::united(all, x(i).dims);
  switch (n.kind) {
    case mt::primitive::input: return true;
    case mt::primitive::constant: return same_dims;
    case mt::primitive::iota: return dims.count == 1;
    case mt::primitive::random: return mt::is_float(type);
    case mt::primitive::call: return same_dims;
    case mt::primitive::elementwise: return same_dims && (same_type || mt::applies(n, mt::function::cast));
    case mt::primitive::einsum: return same_type && is_subset(dims, all);
    case mt::primitive::grouped_einsum: {  // the groups stand in one of the operands or in the result
      mt::dim_id const groups = mt::grouped_einsum_attributes::of(n).groups;
      bool const by_operand = x().dims.has(groups) || m.operand_value(n, 1).dims.has(groups);
      mt::shape known = all;
      if (!known.has(groups)) known.add(groups);
      return same_type && is_subset(dims, known) && dims.has(groups) != by_operand;
    }
    case mt::primitive::conv: {  // and dims that windows give
      mt::shape known = all;
      auto const windows = mt::conv_attributes::of(n);
      mt::shape given{};
      for (int k = windows.first; k < windows.first + windows.count; ++k) {
        auto const result = mt::conv_rule::result_role(mt::conv_rule::direction(n));
        given.add(mt::conv_rule::dim_of(m.windows[k], result));
      }
      for (int i = 0; i < dims.count; ++i)
        if (!given.has(dims.at[i]) && !known.has(dims.at[i])) return false;
      return same_type && dims.includes(given) && has_one_dim_a_window(m, n, dims);
    }
    case mt::primitive::pool: {  // its own dtype and dims alone
      bool const is_position = n.function == static_cast<int>(mt::pool_step::position);
      return type == (is_position ? mt::dtype::i32 : x().type) && dims == was.dims;
    }
    case mt::primitive::reduce: return same_type && is_subsequence(dims, x().dims);
    case mt::primitive::broadcast: return same_type && is_subset(x().dims, dims);
    case mt::primitive::transpose: return same_type && is_subset(x().dims, dims) && is_subset(dims, x().dims);
    case mt::primitive::reshape:
      return same_type && (is_split(x().dims, dims, n.attribute[0]) || is_split(dims, x().dims, n.attribute[0]));
    case mt::primitive::gather: return same_type && is_subset(dims, was.dims) && is_subset(was.dims, dims);
    case mt::primitive::scatter_add: {
      mt::shape const rest = mt::without(dims, mt::shape{}.add(n.attribute[0]));
      return same_type && dims.has(n.attribute[0]) && is_subset(rest, x().dims);
    }
    default: return same_type && same_dims;
  }
}

struct change {
  char const* what;
  mt::dtype type;
  mt::shape dims;
};
std::vector<change> changes_of(mt::module const& m, mt::value const& v) {
  std::vector<change> all;
  for (int t = 0; t <= static_cast<int>(mt::dtype::boolean); ++t)
    if (auto const type = static_cast<mt::dtype>(t); type != v.type) all.push_back({"dtype", type, v.dims});
  for (int i = 0; i < v.dims.count; ++i)
    all.push_back({"a dim less", v.type, mt::without(v.dims, mt::shape{}.add(v.dims.at[i]))});
  for (int d = 0; d < m.dim_count && v.dims.count < mt::shape::capacity; ++d)
    if (!v.dims.has(d)) all.push_back({"a dim more", v.type, mt::shape(v.dims).add(d)});
  for (int i = 0; i + 1 < v.dims.count; ++i) {
    mt::shape transposed = v.dims;
    std::swap(transposed.at[i], transposed.at[i + 1]);
    all.push_back({"order", v.type, transposed});
  }
  return all;
}

/// Changes each result of a module; counts what is tried, by what is changed.
static std::string p_label;
void change_each(mt::module& m, std::map<std::string, int>& tried) {
  REQUIRE(mt::verify(m).view() == "");
  for (int v = 0; v < m.value_count; ++v) {
    mt::value const was = m.values[v];
    mt::node const n = m.nodes[was.node];
    if (n.results.count == 0 || m.result(n, was.index) != v) continue;
    for (change const& c : changes_of(m, was)) {
      if (may_give(m, n, was, c.type, c.dims)) continue;
      m.values[v].type = c.type, m.values[v].dims = c.dims;
      CAPTURE(v);
      std::string const where = p_label + ": " + c.what + " of " + mt::text_of(n) + " in a region of kind " +
                                std::to_string(static_cast<int>(m.regions[n.region].kind));
      CHECK_MESSAGE(!mt::verify(m).empty(), where);
      ++tried[c.what];
      m.values[v] = was;
    }
  }
}

}  // namespace

TEST_CASE("no wrong result passes, traced or differentiated") {
  std::map<std::string, int> tried;
  for (property::listed const& p : property::catalogue()) {
    std::string const label = p.label;
    if (label.find("language_model") == 0 || label == "translator") continue;  // long, and of the same operations
    CAPTURE(label);
    p_label = label;
    auto const traced = p.trace();
    change_each(*traced, tried);
    std::unique_ptr<mt::module> const grown(new mt::module(mt::differentiate(*traced)));
    change_each(*grown, tried);
  }
  for (auto const& [what, times] : tried) MESSAGE(what << ": " << times);
  CHECK(tried.size() == 4);
  for (auto const& [what, times] : tried) CHECK_MESSAGE(times > 500, what);
}
