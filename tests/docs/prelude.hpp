// SPDX-License-Identifier: Apache-2.0
// Declares what the snippets of docs/ use: dims, axes, a program and its executable.
#pragma once

#include <algorithm>
#include <random>
#include <span>
#include <sstream>

#include <meshtensor/datasets/prefetched.hpp>
#include <meshtensor/datasets/text/bleu.hpp>
#include <meshtensor/datasets/text/pair_batches.hpp>
#include <meshtensor/datasets/text/pairs.hpp>
#include <meshtensor/emit/print.hpp>
#include <meshtensor/inspect/check.hpp>
#include <meshtensor/inspect/check_adjoint.hpp>
#include <meshtensor/inspect/explain.hpp>
#include <meshtensor/inspect/simulate.hpp>
#include <meshtensor/inspect/trace_events.hpp>
#include <meshtensor/inspect/watched.hpp>
#include <meshtensor/meshtensor.hpp>
#include <meshtensor/train/event_file.hpp>
#include <meshtensor/train/loss_guard.hpp>
#include <meshtensor/train/progress_line.hpp>
#include <meshtensor/train/stop_request.hpp>

#include "support/xtensor.hpp"

namespace mt = meshtensor;
using mt::to;

namespace prelude {

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct length : mt::dim<"length", 8> {} length;
inline constexpr struct d_model : mt::dim<"d_model", 6> {} d_model;
inline constexpr struct d_next : mt::dim<"d_next", 6> {} d_next;
inline constexpr struct d_ff : mt::dim<"d_ff", 12> {} d_ff;
inline constexpr struct d_both : mt::dim<"d_both", d_model + d_ff> {} d_both;
inline constexpr struct in : mt::dim<"in", 8> {} in;
inline constexpr struct hidden : mt::dim<"hidden", 16> {} hidden;
inline constexpr struct out : mt::dim<"out", 8> {} out;
inline constexpr struct heads : mt::dim<"heads", 2> {} heads;
inline constexpr struct vocab : mt::dim<"vocab", 20> {} vocab;
inline constexpr struct layers : mt::dim<"layers", 2> {} layers;
inline constexpr struct parts : mt::dim<"parts", 2> {} parts;
inline constexpr struct rows : mt::dim<"rows", 8> {} rows;
inline constexpr struct cols : mt::dim<"cols", 8> {} cols;
inline constexpr struct rows_2 : mt::dim<"rows_2", mt::divided(rows, 2)> {} rows_2;
inline constexpr struct cols_2 : mt::dim<"cols_2", mt::divided(cols, 2)> {} cols_2;
inline constexpr struct k_rows : mt::dim<"k_rows", 3> {} k_rows;
inline constexpr struct k_cols : mt::dim<"k_cols", 3> {} k_cols;
inline constexpr struct c_in : mt::dim<"c_in", 3> {} c_in;
inline constexpr struct c_out : mt::dim<"c_out", 4> {} c_out;

inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model", 2> {} model;
struct mesh : mt::mesh<data, model> {};
struct data_parallel : mt::layout<mt::shard<batch, data>> {};

inline constexpr mt::layer block = [](mt::scope auto s, auto x) { return x * s.parameter("query", d_model); };

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const y = block(s / "block", s.input("x", mt::f32, batch, d_model));
    auto const loss = mean(y * y);
    mt::sgd{.learning_rate = s.number("rate", 0.1)}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
    s.output("y", y);
  }
};

struct scale {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", s.input("x", mt::f32, batch, d_model) * s.parameter("gain", d_model, mt::ones));
  }
};

using executable = mt::executable<train_step, mesh, data_parallel>;
using images_array = mt::array<float, batch, d_model>;

}  // namespace prelude
