// SPDX-License-Identifier: Apache-2.0
// What a layout sends, kind by kind, for the patterns that people name: data and tensor parallel, optimizer state
// spread, vocabulary spread, sequence parallel.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "property/outcome.hpp"
#include "support/programs.hpp"

namespace mt = meshtensor;
using namespace programs;
using meshtensor::layout_rules;

namespace {

mt::mesh_shape const mesh = mt::mesh_shape{}.add("data", 2).add("model_axis", 2);

/// The dims of a value without the axes that shard them: `[layers, model]`.
std::string dims_text(mt::module const& m, mt::value const& v) {
  std::string text = "[";
  for (int i = 0; i < v.dims.count; ++i) text += (i == 0 ? "" : ", ") + m.dim_name(v.dims.at[i]).text();
  return text + "]";
}

int looked_at = 0;  // layouts

/// Every collective of a program under a layout, as `all_reduce sum [model] over data`, in the order of the alphabet;
/// those inside a loop begin with `in loop: `, backwards `in backward loop: `.
std::vector<std::string> sent(mt::module const& traced, layout_rules const& rules) {
  auto const m = property::partitioned(traced, mesh, rules);
  REQUIRE_MESSAGE(m->report.empty(), std::string(m->report.view()));
  std::vector<std::string> inside(static_cast<std::size_t>(m->region_count)), all;
  for (int i = m->node_count; i-- > 0;) {
    mt::node const& n = m->nodes[i];
    for (int k = 0; k < n.regions.count; ++k)
      inside[m->region_of(n, k)] = n.kind != mt::primitive::repeat ? inside[n.region]
                                   : mt::loop::of(n).reversed      ? "in backward loop: "
                                                                   : "in loop: ";
    if (!mt::is_collective(n.kind)) continue;
    std::string text = inside[n.region] + mt::text_of(n.kind);
    if (n.kind == mt::primitive::all_reduce || n.kind == mt::primitive::reduce_scatter)
      text += std::string(" ") + mt::text_of(static_cast<mt::reduction>(n.function));
    text += " " + dims_text(*m, m->result_value(n)) + " over ";
    for (int a = 0; a < m->axis_count; ++a)
      if ((mt::axes_of_collective(n) >> a & 1) != 0) text += m->names[m->axes[a].label].text();
    all.push_back(text);
  }
  std::sort(all.begin(), all.end());
  ++looked_at;
  return all;
}
std::vector<std::string> sorted(std::vector<std::string> all) {
  std::sort(all.begin(), all.end());
  return all;
}

/// A program of the catalogue, or one of this file.
std::unique_ptr<mt::module> traced(char const* label) { return property::program_named(label).trace(); }
template <class Program>
std::unique_ptr<mt::module> traced() {
  return mt::on_heap([] { return mt::trace<mt::precision<Program, mt::f64>>(); });
}

/// The trainable variables of a program, with their dims.
std::vector<std::string> parameters(mt::module const& m) {
  std::vector<std::string> all;
  for (int i = 0; i < m.variable_count; ++i) {
    mt::value v{};
    v.dims = m.variables[i].dims;
    if (m.variables[i].trainable) all.push_back(dims_text(m, v));
  }
  return all;
}

int count(std::vector<std::string> const& all, std::string const& part) {
  return static_cast<int>(std::count_if(all.begin(), all.end(), [&](auto const& s) { return s.find(part) != s.npos; }));
}

}  // namespace

TEST_CASE("data parallel: one all_reduce for each parameter and one for the loss") {
  for (char const* label : {"mlp", "classifier", "language_model", "translator"}) {
    INFO(std::string(label));
    auto const m = traced(label);
    std::vector<std::string> expected{"all_reduce sum [] over data"};
    for (auto const& dims : parameters(*m)) expected.push_back("all_reduce sum " + dims + " over data");
    CHECK(sent(*m, layout_rules{}.shard("batch", {"data"})) == sorted(expected));
  }
}

TEST_CASE("nothing is sent where nothing is sharded") { CHECK(sent(*traced("language_model"), {}).empty()); }

TEST_CASE("optimizer state spread over the data axis: reduce_scatter and all_gather for each parameter") {
  auto const all = sent(*traced("mlp"), layout_rules{}.shard("batch", {"data"}).shard("model", {"data"}, "optimizer"));
  CHECK(all == sorted({"all_reduce sum [] over data", "all_reduce sum [layers, inner] over data",  // lacks `model`
                       "reduce_scatter sum [layers, model] over data", "reduce_scatter sum [layers, model] over data",
                       "reduce_scatter sum [layers, model, inner] over data",
                       "reduce_scatter sum [layers, inner, model] over data", "all_gather [layers, model] over data",
                       "all_gather [layers, model] over data", "all_gather [layers, model, inner] over data",
                       "all_gather [layers, inner, model] over data"}));
}

namespace {

/// Attention and a feed-forward part without biases, as in the papers on tensor and sequence parallelism.
constexpr mt::layer plain_attention = [](mt::scope auto s, auto x) {
  return mt::nn::causal_attention(s, x, length, memory, model, heads, head);
};
constexpr mt::layer plain_feed_forward = [](mt::scope auto s, auto x) {
  auto h = gelu(einsum(x, s.parameter("up", model, inner), to(batch, length, inner)));
  return einsum(h, s.parameter("down", inner, model), to(batch, length, model));
};
struct blocks {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, length, model);
    auto y = repeat(s / "blocks", layers, x, [](mt::scope auto r, auto h) {
      auto a = h + plain_attention(r / "attention", mt::nn::rms_norm(r / "norm_1", h, model));
      return a + plain_feed_forward(r / "feed_forward", mt::nn::rms_norm(r / "norm_2", a, model));
    });
    auto loss = mt::nn::mean_squared_error(y, sin(x));
    s.output("loss", loss);
    mt::sgd{}.minimize(s / "optimizer", loss);
  }
};

struct loss_over_vocab {
  constexpr void operator()(mt::scope auto s) const {
    auto logits = s.input("logits", s.real(), batch, length, vocab);
    auto next = s.input("next", mt::i32, batch, length);
    auto losses = mt::nn::cross_entropy(logits, next, vocab);
    s.output("losses", losses);
    s.output("slope", gradient(sum(losses) * 0.5, logits));
  }
};

}  // namespace

// Two forwards and two backwards in every layer; gradients of what is sharded are complete where they are.
TEST_CASE("tensor parallel: two all_reduces a layer each way") {
  auto const all =
      sent(*traced<blocks>(), layout_rules{}.shard("heads", {"model_axis"}).shard("inner", {"model_axis"}));
  std::string const one = "all_reduce sum [batch, length, model] over model_axis";
  CHECK(all == sorted({"in loop: " + one, "in loop: " + one, "in backward loop: " + one, "in backward loop: " + one}));
}

TEST_CASE("with data parallelism besides, nothing else is sent") {
  auto const all =
      sent(*traced<blocks>(),
           layout_rules{}.shard("heads", {"model_axis"}).shard("inner", {"model_axis"}).shard("batch", {"data"}));
  CHECK(count(all, "over model_axis") == 4);
  CHECK(count(all, "all_reduce sum [layers") == static_cast<int>(parameters(*traced<blocks>()).size()));
  CHECK(all.size() == 4 + parameters(*traced<blocks>()).size() + 1);
}

// What was one all_reduce is a reduce_scatter and an all_gather: the same bytes, and activations between are spread.
TEST_CASE("sequence parallel: reduce_scatter and all_gather instead of all_reduce") {
  auto const all = sent(*traced<blocks>(), layout_rules{}
                                               .shard("heads", {"model_axis"})
                                               .shard("inner", {"model_axis"})
                                               .shard("length", {"model_axis"})
                                               .shard("length", {"model_axis"}, "blocks")
                                               .replicate("length", "attention")
                                               .replicate("length", "feed_forward"));
  CHECK(count(all, "in loop: reduce_scatter sum [batch, length, model]") == 2);
  CHECK(count(all, "in loop: all_gather [batch, length, model]") == 2);
  CHECK(count(all, "in loop: ") == 4);
  CHECK(count(all, "in backward loop: reduce_scatter sum [batch, length, model]") == 2);
  CHECK(count(all, "in backward loop: all_reduce") == 0);
  // Gains of the norms see a part of the sequence each: their gradients, and the loss, are all that is reduced.
  CHECK(count(all, "all_reduce sum [layers, model]") == 2);
  CHECK(count(all, "all_reduce sum []") == 1);
  CHECK(count(all, "all_reduce") == 3);
}

TEST_CASE("cross entropy over a sharded vocabulary: three small reductions, no logits gathered") {
  auto const all =
      sent(*traced<loss_over_vocab>(), layout_rules{}.shard("batch", {"data"}).shard("vocab", {"model_axis"}));
  CHECK(all ==
        sorted({"all_reduce max [batch, length] over model_axis", "all_reduce sum [batch, length] over model_axis",
                "all_reduce sum [batch, length] over model_axis"}));
}

TEST_CASE("an embedding over a sharded vocabulary: one all_reduce of what was looked up") {
  auto const all = sent(*traced("lookups"), layout_rules{}.shard("vocab", {"model_axis"}));
  CHECK(!all.empty());
  CHECK(count(all, "all_reduce sum [batch, length, model]") == static_cast<int>(all.size()));
}

namespace {

/// A slice that starts at a tensor, and its gradient.
struct takes_a_slice {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, length, model);
    auto y = slice(x, length, past, s.input("start", mt::i32, batch));
    s.output("y", y);
    s.output("dx", gradient(sum(y * y), x));
  }
};
/// A slice that is written at a tensor.
struct puts_a_slice {
  constexpr void operator()(mt::scope auto s) const {
    auto part = s.input("part", s.real(), batch, past, model);
    auto start = s.input("start", mt::i64, batch);
    s.output("y", put(s.input("x", s.real(), batch, length, model), part, length, past, start));
  }
};

}  // namespace

TEST_CASE("a slice that starts at a tensor: what is sent has the extent of the slice, whichever dim is sharded") {
  auto const taken = traced<takes_a_slice>(), put = traced<puts_a_slice>();
  layout_rules const by_length = layout_rules{}.shard("length", {"data"}),
                     by_past = layout_rules{}.shard("past", {"data"});
  layout_rules const by_both = layout_rules{}.shard("length", {"data"}).shard("past", {"data"});
  using texts = std::vector<std::string>;
  CHECK(sent(*taken, by_length) == texts{"all_reduce sum [batch, past, model] over data"});
  CHECK(sent(*taken, by_past) == texts{"all_gather [batch, past/again, model] over data"});  // of the cotangent
  CHECK(sent(*taken, by_both) ==
        texts{"all_gather [batch, past/again, model] over data", "reduce_scatter sum [batch, past, model] over data"});
  CHECK(sent(*taken, layout_rules{}.shard("batch", {"data"}).shard("model", {"model_axis"})) == texts{});
  CHECK(sent(*put, by_length) == texts{});
  CHECK(sent(*put, by_both) == texts{"all_gather [batch, past/again, model] over data"});
  CHECK(sent(*put, layout_rules{}.shard("batch", {"data"}).shard("model", {"model_axis"})) == texts{});
}

TEST_CASE("layers spread over an axis are gathered once, before the loop") {
  auto const all = sent(*traced("mlp"), layout_rules{}.shard("layers", {"data"}));
  CHECK(count(all, "in loop") == 0);
  CHECK(count(all, "in backward loop") == 0);
  CHECK(count(all, "all_gather [layers") == static_cast<int>(parameters(*traced("mlp")).size()));
}

TEST_CASE("so many layouts were looked at") { property::at_least(19, looked_at); }
