// SPDX-License-Identifier: Apache-2.0
// Gradients of gradients of every operation, layer, loss and composite: against finite differences, and under many
// layouts.
// timeout: 300
#include "property/second_order.hpp"
#include "support/source_path.hpp"

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

using namespace property;

namespace {

/// Programs that take gradients, and what of each is known: whether its gradients are those of its loss, so that finite
/// differences give them, and how many layouts are tried on each mesh.
struct tried {
  char const* label;
  bool is_smooth = true;
  program_case how = {.assignments = 4, .drawn = 2};
  char const* apart = "";  // a source that gradients hold constant in some places, as spectral norm does
};
constexpr program_case few = {.assignments = 1, .drawn = 1, .steps = 1};
std::vector<tried> const programs_tried = {
    {"functions"},
    {"contractions"},
    {"reductions"},
    {"softmaxes"},
    {"not_finite", false},
    {"movements"},
    {"orders"},
    {"lookups"},
    {"noise"},
    {"asked"},
    {"mlp"},
    {"recurrent"},
    {"trading"},
    {"nested"},
    {"composites", false},  // one has a gradient that is not its body's
    {"settled", true, few},
    {"decided", true, few},
    {"classifier"},
    {"attending"},
    {"choosing"},
    {"language_model", true, few},
    {"translator", true, few},
    {"adversaries"},
    {"in_parts"},
    {"memories"},
    {"penalised", true, few},
    {"bent", true, few},
    {"powers", true, few},
    {"routed", true, few},
    {"grouped", true, few},
    {"convolved", true, few},
    {"normed", true, few, "weight"},
    {"pooled", true, few},
    {"members", true, few},
    {"surrounded", true, few},
};

/// The text of a header without the library's own details.
std::string text_of_header(std::filesystem::path const& path) {
  std::stringstream all;
  all << std::ifstream(path).rdbuf();
  std::string text = all.str();
  for (std::size_t from = 0; (from = text.find("detail {", from)) != std::string::npos;)
    text.erase(from, text.find("detail\n", from) - from);
  return text;
}
/// The sentence for what the programs lack.
std::string in_no_program(std::string const& name) {
  return name + " is in no program of tests/support/programs.hpp: add it to one that programs_tried has";
}
/// What the group of a pattern matches, wherever it does.
std::vector<std::string> matches(std::string const& text, char const* pattern) {
  std::vector<std::string> all;
  std::regex const wanted(pattern);
  for (auto i = std::sregex_iterator(text.begin(), text.end(), wanted); i != std::sregex_iterator(); ++i)
    all.push_back((*i)[1]);
  return all;
}

}  // namespace

TEST_CASE("a gradient's gradient is that of finite differences") {
  std::uint64_t number = 0;
  for (auto const& t : programs_tried) {
    if (!is_in_even_sample(number++) || !t.is_smooth) continue;
    listed const& program = program_named(t.label);
    check_differences(t.label, second_order(*program.trace()), program.entry, "", 1e-6, t.apart);
  }
}

TEST_CASE("and so is the gradient of that") {
  std::uint64_t number = 100;  // others than of order 2
  for (char const* label : {"reductions", "softmaxes", "mlp", "recurrent", "classifier"}) {
    if (!is_in_even_sample(number++)) continue;
    listed const& program = program_named(label);
    check_differences(label, second_order(*program.trace()).next(3), program.entry, " of order 3", 1e-5);
  }
}

TEST_CASE("under many layouts") {
  tally t;
  for (auto const& p : programs_tried) {
    listed const& program = program_named(p.label);
    INFO(std::string(p.label));
    hold_under_every_layout(p.label, *second_order(*program.trace()).graph, program.entry, p.how, t);
  }
  at_least(100, t.tried);
}

TEST_CASE("every primitive and function, composite and layer is among them") {
  std::set<mt::primitive> primitives;
  std::set<mt::function> functions;
  std::set<std::string> composites;
  for (auto const& p : programs_tried) {
    auto const m = program_named(p.label).trace();
    for (int i = 0; i < m->node_count; ++i) {
      mt::node const& n = m->nodes[i];
      primitives.insert(n.kind);
      if (n.kind == mt::primitive::elementwise) functions.insert(static_cast<mt::function>(n.function));
      if (n.kind == mt::primitive::composite) composites.insert(m->names[n.attribute[0]].text());
    }
  }
  for (int i = 0; i < static_cast<int>(mt::primitive::count_); ++i) {
    auto const p = static_cast<mt::primitive>(i);
    bool const is_wanted = mt::is_computed(p) || p == mt::primitive::repeat || p == mt::primitive::composite;
    if (p != mt::primitive::iteration && p != mt::primitive::extension)  // made by passes alone, or by others
      CHECK_MESSAGE((primitives.contains(p) || !is_wanted), in_no_program(mt::text_of(p)));
  }
  for (int i = 0; i < static_cast<int>(mt::function::count_); ++i) {
    auto const f = static_cast<mt::function>(i);
    if (f != mt::function::copy) CHECK_MESSAGE(functions.contains(f), in_no_program(mt::text_of(f)));
  }

  auto const here = meshtensor_test::source_path(__FILE__).parent_path();
  std::string const programs = text_of_header(here / "../support/programs.hpp");
  // What has no gradient, is tried elsewhere, is what optimizers take gradients by, or is refused with the right name.
  std::set<std::string> const without = {
      "call",  "elementwise", "elementwise_at", "matmul",     "gradient_by_parameters", "extension", "pow",
      "where", "take",        "reshape",        "normal_like"};
  int operations = 0;
  for (char const* room : {"op", "nn"})
    for (auto const& file : std::filesystem::directory_iterator(here / "../../include/meshtensor" / room)) {
      std::string const text = text_of_header(file.path());
      for (auto const& name :
           matches(text, R"(template <[^;{}]*?\b(?:handle|operand_like)\b[^;{}]*?constexpr [\w<>:, ]+? (\w+)\()")) {
        ++operations;
        bool const is_tried = std::regex_search(programs, std::regex("\\b" + name + "[(<]"));
        CHECK_MESSAGE((is_tried || without.contains(name)), in_no_program(name));
      }
      for (auto const& name : matches(text, R"(\ninline constexpr library_layer (\w+))")) {
        ++operations;
        CHECK_MESSAGE(std::regex_search(programs, std::regex("\\b" + name + "[(<]")), in_no_program(name));
      }
      for (auto const& label : matches(text, R"re(\b(?:composite\w*\(|name\()\s*"([\w.]+)")re"))
        CHECK_MESSAGE(composites.contains(label), in_no_program(label));
    }
  MESSAGE(operations << " operations and layers, " << composites.size() << " composites");
  CHECK(operations > 50);
}

TEST_CASE("rows of -inf alone, and positions that nobody sees, leave it finite") {
  listed const& program = program_named("not_finite");
  second_order const twice(*program.trace());
  subject s(*twice.graph, program.entry, {});
  s.fill(fill_kind::reals, rng{11}, -1.5, 1.5, 11);
  s.expect();
  CHECK(twice.by.size() == 3);
  for (auto const& by : twice.by) {
    mt::block const& gradient = s.expected_outputs().at(by.gradient);
    int wrong = 0;
    for (std::int64_t i = 0; i < gradient.size(); ++i) wrong += !std::isfinite(gradient.number_at(i));
    INFO(by.name);
    CHECK(wrong == 0);
  }
}
