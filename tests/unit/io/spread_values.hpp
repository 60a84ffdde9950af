// SPDX-License-Identifier: Apache-2.0
// A program with values of all kinds on a mesh of any size, under layouts that put them elsewhere: what is needed to
// save on one mesh and load on another.
#pragma once

#include <bit>
#include <cstring>
#include <map>
#include <string>

#include "meshtensor/meshtensor.hpp"

namespace spread_values {
namespace mt = meshtensor;

inline constexpr struct rows : mt::dim<"rows", 24> {} rows;
inline constexpr struct columns : mt::dim<"columns", 12> {} columns;
inline constexpr struct deep : mt::dim<"deep", 36> {} deep;
inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};

/// Parameters, an average and a counter; three floats and an integer.
struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const a = s.parameter("a", rows, columns, mt::normal(1));
    auto const b = s.parameter("b", deep, rows, columns, mt::normal(1));
    auto const c = s.parameter("block/c", deep, mt::normal(1));
    auto const counted = s.state("count", mt::i64);
    auto const half = s.state("half", mt::bf16, columns, deep, mt::normal(1));
    auto const wide = s.state("wide", mt::f64, rows, mt::normal(1));
    s.update(counted, counted + 1);
    s.update(a, a * 1.5);
    s.update(b, b - 0.25);
    s.update(c, c * c);
    s.update(half, half + 1.5);
    s.update(wide, wide + 0.1);
  }
};

struct by_rows : mt::layout<mt::shard<rows, data>, mt::shard<deep, model>> {};
struct by_columns : mt::layout<mt::shard<columns, model>> {};
struct both : mt::layout<mt::shard<rows, data, model>> {};
struct deep_first : mt::layout<mt::shard<deep, model>, mt::shard<columns, data>> {};
template <class Layout>
using stepping = mt::executable<step, mesh, Layout, mt::reference_device>;

/// A store on a mesh under one of the four layouts, and its executable.
struct held {
  held(mt::job const& job, int layout, int on_data, int on_model, std::uint64_t seed = 5) : weights(job, seed) {
    make(layout, on_data, on_model);
  }
  void make(int layout, int on_data, int on_model) {
    if (layout == 0) use<by_rows>(on_data, on_model);
    else if (layout == 1) use<by_columns>(on_data, on_model);
    else if (layout == 2) use<both>(on_data, on_model);
    else use<deep_first>(on_data, on_model);
  }
  template <class Layout>
  void use(int on_data, int on_model) {
    auto made = std::make_shared<stepping<Layout>>(weights, data(on_data), model(on_model));
    run = [made] { (*made)(); };
  }
  /// The bytes of all values, whole.
  std::map<std::string, std::string> all() {
    std::map<std::string, std::string> bytes;
    for (auto& [label, s] : weights.values()) {
      bytes[label].resize(static_cast<std::size_t>(s.bytes()));
      weights.copy_out(label, bytes[label].data());
    }
    return bytes;
  }

  mt::store weights;
  std::function<void()> run;
};

}  // namespace spread_values
