// SPDX-License-Identifier: Apache-2.0
// A program that sends rows to the holders of their groups, computes with each group's matrix and returns the rows; and
// layouts that shard tokens and groups over the same axes.
#pragma once

#include <string>
#include <vector>

#include "meshtensor/meshtensor.hpp"
#include "support/layouts.hpp"

namespace exchange_programs {

namespace mt = meshtensor;
using mt::to;
inline constexpr struct token_dim : mt::dim<"token", 7> {} token;
inline constexpr struct part_dim : mt::dim<"part", 5> {} part;
inline constexpr struct choice_dim : mt::dim<"choice", 2> {} choice;
inline constexpr struct group_dim : mt::dim<"group", 5> {} group;
inline constexpr struct inner_dim : mt::dim<"inner", 2> {} inner;
inline constexpr struct width_dim : mt::dim<"width", 3> {} width;
inline constexpr struct hidden_dim : mt::dim<"hidden", 2> {} hidden;

inline constexpr mt::layer of_groups = [](mt::scope auto s, auto const& sent) {
  auto const up = s.parameter("up", group, width, hidden, mt::normal(0.5));
  auto const bias = s.parameter("bias", group, hidden, mt::normal(0.5));
  auto const made = grouped_einsum(sent.rows, up, sent.group, group, to(sent.holder, sent.row, hidden));
  auto const seen = tanh(made + gather(bias, sent.group, group));
  return grouped_einsum(seen, up, sent.group, group, to(sent.holder, sent.row, width));
};

/// With `Most` rows for each group, or with all.
template <int Most = 0>
struct exchanged {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), token, part, inner);
    auto const index = s.input("index", mt::i32, token, part, choice);
    auto const rows = einsum(x, s.parameter("in", inner, width, mt::normal(0.5)), to(token, part, width));
    auto const sent = [&] {
      if constexpr (Most == 0) return all_to_all_rows(rows, index, group);
      else return all_to_all_rows(rows, index, group, Most);
    }();
    auto const y = return_rows(of_groups(s / "groups", sent), sent);
    auto const loss = mean(y * (y + 0.5)) + mean(rows * rows) + sum(sent.rows * (sent.rows + 1)) * 0.01;
    s.output("y", y);
    s.output("index", sent.index);
    s.output("loss", loss);
    s.output("dx", gradient(loss, x));
    mt::sgd{.learning_rate = 0.5}.minimize(s / "optimizer", loss);
  }
};

/// Indices with loads of three to one, a group without rows, and some that name no group.
inline void give_loads(mt::block& index) {
  constexpr int loads[] = {0, 0, 0, 3, -1, 0, 0, 2, 0, 1, 3, 7};
  for (std::int64_t i = 0; i < index.size(); ++i) index.set(i, loads[i * 5 % 12]);
}

/// Layouts of tokens, of their parts and of groups over lists of axes of a mesh: those in which no axis occurs twice in
/// the first two lists.
inline std::vector<mt::layout_rules> layouts_of_exchanges(mt::mesh_shape const& mesh) {
  std::vector<std::vector<mt::name>> lists{{}};
  for (int a = 0; a < mesh.count; ++a) {
    lists.push_back({mesh.axes[a].label});
    for (int b = 0; b < mesh.count; ++b)
      if (a != b) lists.push_back({mesh.axes[a].label, mesh.axes[b].label});
  }
  std::vector<mt::layout_rules> all;
  for (auto const& tokens : lists)
    for (auto const& parts : lists)
      for (auto const& groups : lists) {
        bool twice = false;
        for (mt::name const& t : tokens)
          for (mt::name const& p : parts) twice = twice || t == p;
        if (twice || (tokens.empty() && parts.empty())) continue;
        mt::layout_rules rules{};
        auto const add = [&](char const* dim, std::vector<mt::name> const& axes) {
          mt::layout_rule r{};
          r.dim = mt::name::of(dim);
          for (mt::name const& a : axes) r.axes[r.count++] = a;
          if (r.count != 0) rules.add(r);
        };
        add("token", tokens), add("part", parts), add("group", groups);
        all.push_back(rules);
      }
  return all;
}

}  // namespace exchange_programs
