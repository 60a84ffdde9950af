// SPDX-License-Identifier: Apache-2.0
// Two programs that share a table, and some that do not fit them: what is needed to try executables and stores.
#pragma once

#include "meshtensor/meshtensor.hpp"

namespace small {
namespace mt = meshtensor;
using mt::to;

inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct rows_dim : mt::dim<"rows", 4> {} rows;
inline constexpr struct columns_dim : mt::dim<"columns", 6> {} columns;

inline constexpr struct data_axis : mt::axis<"data"> {} data;
inline constexpr struct model_axis : mt::axis<"model", 2> {} model;
struct mesh : mt::mesh<data, model> {};

inline constexpr mt::layer counter = [](mt::scope auto s) {
  auto const count = s.state("count", mt::i64);
  s.update(count, count + 1);
};

// y = x table, and the table grows by `step`.
struct grow {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, rows);
    auto const table = s.parameter("table", rows, columns);
    counter(s / "inner");
    s.output("y", einsum(x, table, to(batch, columns)));
    s.output("sum", sum(table));
    s.update(table, table + s.number("step", 1));
  }
};
struct look {
  constexpr void operator()(mt::scope auto s) const {
    auto const table = s.parameter("table", rows, columns);
    s.output("twice", table * 2);
  }
};
struct grow_and_look : mt::programs<grow, look> {};

// On its own it compiles: only a store can know that "table" is another thing elsewhere.
struct other_dims {
  constexpr void operator()(mt::scope auto s) const { s.output("table", s.parameter("table", columns)); }
};

struct spread : mt::layout<mt::shard<batch, data>, mt::shard<columns, model>> {};
struct by_rows : mt::layout<mt::shard<rows, model>> {};

inline mt::array<float, rows, columns> counted() {
  mt::array<float, rows, columns> a;
  for (float n = 0; float& e : a) e = n++;
  return a;
}

}  // namespace small
