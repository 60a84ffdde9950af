// SPDX-License-Identifier: Apache-2.0
// Five small programs after each pass, and their instructions, as text, in tests/unit/pass/golden: what each pass does.
// MESHTENSOR_UPDATE=1 writes the texts anew.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "meshtensor/emit/print_instructions.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/source_path.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch_dim : mt::dim<"batch", 8> {} batch;
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;
inline constexpr struct out_dim : mt::dim<"out", 6> {} out;
inline constexpr struct time_dim : mt::dim<"time", 4> {} time;
inline constexpr struct words_dim : mt::dim<"words", 12> {} words;
inline constexpr struct layers_dim : mt::dim<"layers", 2> {} layers;

/// One step of gradient descent for a linear layer.
struct descent {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto weight = s.parameter("weight", in, out);
    auto bias = s.parameter("bias", out, mt::zeros);
    auto y = einsum(x, weight, to(batch, out)) + bias;
    auto loss = mean(y * y);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

/// The same layer twice, as a loop over stacked parameters, with its gradient.
struct twice {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = mt::repeat(s / "layers", layers, x,
                        [](mt::scope auto r, auto h) { return tanh(h * r.parameter("gain", in, mt::ones)); });
    s.output("dx", gradient(sum(y * y), x));
  }
};

/// A normalization, which is a composite with a gradient of its own.
struct chances {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, out);
    auto p = softmax(x * s.number("sharpness", 1), out);
    s.output("p", p);
    s.output("dx", gradient(sum(p * p), x));
  }
};

/// Rows of a table that is sharded: looked up in parts.
struct lookup {
  constexpr void operator()(mt::scope auto s) const {
    auto word = s.input("word", mt::i32, batch);
    s.output("y", gather(s.parameter("table", words, in), word, words) * 2);
  }
};

/// A cumulative sum along a sharded dim.
struct sums {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", cumulative_sum(s.input("x", mt::f32, batch, time), time));
  }
};

/// The text of a program after each pass that changes it, the names of the steps that plan it, and its instructions.
template <class Program>
std::string text_after_each(mt::layout_rules const& rules) {
  class text_of_passes final : public mt::pass_observer {
   public:
    std::string text, last;
    void ends(char const* pass, mt::module const& m) override {
      std::string const own = std::regex_replace(mt::text_of(m), std::regex("golden.cpp:\\d+ ?"), "");
      std::string const tidy = std::regex_replace(own, std::regex(" *(  #)? *\n"), "\n");
      text += "==== " + std::string(pass) + "\n" + (tidy == last ? "(no change)\n" : tidy) + "\n";
      last = tidy;
    }
    void planned(char const* step, mt::module const&) override { text += "==== " + std::string(step) + "\n"; }
  } texts;
  mt::mesh_shape const mesh = mt::mesh_shape{}.add("data", 2).add("model", 2);
  auto const traced = mt::on_heap([] { return mt::trace<Program>(); });
  auto const low = mt::lower(*traced, mt::entry_name<Program>(), mesh, rules, {}, {.fuses = true}, &texts);
  return texts.text + mt::text_of(low->instructions, low->graph, low->planned) + "\n";
}

/// The first line in which two texts differ; empty: none.
std::string first_difference(std::string const& a, std::string const& b) {
  std::istringstream x(a), y(b);
  for (std::string p, q;;) {
    bool const more = static_cast<bool>(std::getline(x, p)), other = static_cast<bool>(std::getline(y, q));
    if (!more && !other) return "";
    if (more != other || p != q) return "got '" + (more ? p : "(end)") + "', wanted '" + (other ? q : "(end)") + "'";
  }
}

template <class Program>
void check(char const* name, mt::layout_rules const& rules) {
  auto const file = meshtensor_test::source_path(__FILE__).parent_path() / "golden" / (std::string(name) + ".txt");
  std::string const text = text_after_each<Program>(rules);
  if (std::getenv("MESHTENSOR_UPDATE") != nullptr) std::ofstream(file) << text;
  std::stringstream known;
  known << std::ifstream(file).rdbuf();
  INFO(file.filename().string());
  CHECK(first_difference(text, known.str()) == "");
}

}  // namespace

TEST_CASE("five programs after each pass") {
  check<descent>("descent", mt::layout_rules{}.shard("batch", {"data"}).shard("out", {"model"}));
  check<twice>("twice", mt::layout_rules{}.shard("batch", {"data"}));
  check<chances>("chances", mt::layout_rules{}.shard("batch", {"data"}).shard("out", {"model"}));
  check<lookup>("lookup", mt::layout_rules{}.shard("words", {"model"}));
  check<sums>("sums", mt::layout_rules{}.shard("time", {"model"}));
}
