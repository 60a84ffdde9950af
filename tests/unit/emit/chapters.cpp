// SPDX-License-Identifier: Apache-2.0
// The blocks of docs/design/architecture are what the library prints about the program of chapters/network.hpp. A line
// `<!-- printed: NAME -->` before a block names the text that it shows, and `from "A" to "B"` takes some of its lines.
// MESHTENSOR_UPDATE=1 writes the blocks and the picture anew.
// passes: start-up
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "meshtensor/comm/mpi_algorithm.hpp"
#include "meshtensor/emit/drawing.hpp"
#include "meshtensor/emit/print_instructions.hpp"
#include "meshtensor/emit/report.hpp"
#include "support/source_path.hpp"
#include "unit/emit/chapters/network.hpp"

namespace mt = meshtensor;
namespace fs = std::filesystem;

namespace {

using texts = std::map<std::string, std::string>;

std::string read(fs::path const& file) {
  std::stringstream all;
  all << std::ifstream(file).rdbuf();
  return all.str();
}
std::vector<std::string> lines_of(std::string const& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}
std::string joined(std::vector<std::string> const& lines) {
  std::string text;
  for (std::string const& line : lines) text += line + "\n";
  return text;
}

/// Keeps the text of the module after each pass.
class keeper final : public mt::pass_observer {
 public:
  explicit keeper(texts& all) : all_(all) {}
  void ends(char const* pass, mt::module const& m) override { all_[pass] = mt::text_of(m); }

 private:
  texts& all_;
};

/// The collectives of rank 3 as it gives them to a communicator, and the messages that carry each.
std::string calls_of_rank_3(mt::lowering const& low, mt::mesh_shape const& mesh) {
  mt::rank_context const rank(low.graph, low.planned, mesh, 3);
  std::string text;
  for (int i = 0; i < low.graph.node_count; ++i) {
    mt::node const& n = low.graph.nodes[i];
    if (!is_collective(n.kind)) continue;
    if (goes_with_another(low.planned, i)) {
      mt::node const& last = low.graph.nodes[low.planned.joined[i] - 1];
      text +=
          "%" + std::to_string(low.graph.result(n)) + ": joined with %" + std::to_string(low.graph.result(last)) + "\n";
      continue;
    }
    mt::planned_collective const& c = rank.collective_of(static_cast<mt::node_id>(i));
    auto const carried = mt::comm::mpi_algorithm_of(c.call, c.with.count, mt::reductions::ordered);
    CHECK(carried.first == mt::comm::mpi_function::steps);
    int const messages = mt::reduction_steps(c.with.count).received(c.with.index);
    text += "%" + std::to_string(low.graph.result(n)) + ": " + mt::located(c.call) + ", " + mt::text_of(c.with) + ": " +
            std::to_string(messages) + " MPI_Irecv, " + std::to_string(messages) + " MPI_Isend\n";
  }
  return text;
}

/// Every text that a page may show, by name, and the picture.
texts printed() {
  texts all;
  keeper keeps(all);
  mt::mesh_shape const mesh = chapters::mesh::shape;
  auto const traced = mt::on_heap([] { return mt::trace<chapters::train_step>(); });
  auto const low = mt::lower(*traced, mt::entry_name<chapters::train_step>(), mesh, chapters::layout::sharding_rules,
                             {}, {.fuses = true}, &keeps);
  all["trace"] = mt::text_of(*traced);
  all["instructions"] = mt::text_of(low->instructions, low->graph, low->planned);
  all["report"] = mt::report(low->graph, low->planned, mesh);
  all["calls of rank 3"] = calls_of_rank_3(*low, mesh);
  all["picture"] = mt::drawing(low->graph, low->planned, mesh);
  all["program"] = read(meshtensor_test::source_path(__FILE__).parent_path() / "chapters" / "network.hpp");
  return all;
}

/// The lines from the first one with `first` to the next one with `last`, without their common indentation.
std::vector<std::string> part_of(std::vector<std::string> const& lines, std::string const& first,
                                 std::string const& last) {
  auto const next = [&](auto from, std::string const& what) {
    return std::find_if(from, lines.end(), [&](std::string const& line) { return line.find(what) != line.npos; });
  };
  auto const begin = next(lines.begin(), first), end = next(begin, last);
  REQUIRE_MESSAGE(end != lines.end(), "no lines from '", first, "' to '", last, "'");
  std::vector<std::string> part(begin, end + 1);
  std::size_t indented = part[0].size();
  for (std::string const& line : part) indented = std::min(indented, line.find_first_not_of(' '));
  for (std::string& line : part) line.erase(0, indented);
  return part;
}

/// The page with the blocks behind its marks written anew. A block without a mark is an error.
std::string with_blocks(std::string const& page, texts const& all) {
  static std::regex const mark(R"re(<!-- printed: ([\w ]+?)(?: from "([^"]*)" to "([^"]*)")? -->)re");
  std::vector<std::string> result, shown;
  bool inside = false;
  for (std::string const& line : lines_of(page)) {
    bool const is_fence = line.starts_with("```");
    if (is_fence && !inside) {
      std::smatch found;
      std::string const before = result.empty() ? "" : result.back();
      REQUIRE_MESSAGE(std::regex_match(before, found, mark), "a block without a mark: ", before);
      REQUIRE_MESSAGE(all.contains(found[1]), "there is no such text: ", before);
      shown = lines_of(all.at(found[1]));
      if (found[2].matched) shown = part_of(shown, found[2], found[3]);
      result.push_back(line);
      result.insert(result.end(), shown.begin(), shown.end());
    } else if (is_fence || !inside) {
      result.push_back(line);
    }
    if (is_fence) inside = !inside;
  }
  return joined(result);
}

/// The first line in which two texts differ, or nothing.
std::string first_difference(std::string const& a, std::string const& b) {
  auto const x = lines_of(a), y = lines_of(b);
  auto const [p, q] = std::mismatch(x.begin(), x.end(), y.begin(), y.end());
  if (p == x.end() && q == y.end()) return "";
  return "got '" + (p == x.end() ? "(end)" : *p) + "', wanted '" + (q == y.end() ? "(end)" : *q) + "'";
}

void check_file(fs::path const& file, std::string const& text) {
  if (std::getenv("MESHTENSOR_UPDATE") != nullptr) std::ofstream(file) << text;
  INFO(file.filename().string());
  CHECK(first_difference(text, read(file)) == "");
}

}  // namespace

TEST_CASE("the blocks and the picture of docs/design/architecture") {
  fs::path const docs = meshtensor_test::source_path(__FILE__).parent_path() / "../../../docs";
  texts const all = printed();
  int pages = 0;
  for (auto const& page : fs::directory_iterator(docs / "design" / "architecture"))
    check_file(page.path(), with_blocks(read(page.path()), all)), ++pages;
  CHECK(pages == 10);
  check_file(docs / "pictures" / "network.svg", all.at("picture"));
}

TEST_CASE("the compiler traces the same graph") {
  static constexpr mt::module in_compiler = mt::trace<chapters::train_step>();
  CHECK(mt::text_of(in_compiler) == printed().at("trace"));
}
