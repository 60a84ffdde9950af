// SPDX-License-Identifier: Apache-2.0
// Writes plans as one page for a browser, side by side: the parts of tensors, memory, collectives and the longest
// chain.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "meshtensor/emit/page/figures.hpp"
#include "meshtensor/emit/page/longest_chain.hpp"
#include "meshtensor/emit/page/memory_curve.hpp"
#include "meshtensor/emit/page/style.hpp"
#include "meshtensor/emit/report/collectives.hpp"
#include "meshtensor/emit/report/sharded_dims.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// A plan on a page, its title there, and the rates of its machine.
struct plan_on_page {
  std::string title;
  meshtensor::module const& graph;
  plan const& planned;
  mesh_shape const& mesh;
  page_rates machine{};
};

namespace detail {

class page_writer {
 public:
  std::string text(std::vector<plan_on_page> const& plans) {
    std::string all =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
        canvas::escaped(plans.empty() ? "" : plans[0].title) + "</title>\n<style>" + style_of_page() +
        "</style>\n</head>\n<body>\n<div class=\"plans\">\n";
    for (plan_on_page const& p : plans) all += section(p);
    return all + "</div>\n</body>\n</html>\n";
  }

 private:
  static constexpr std::size_t most_rows = 60;

  static std::string cell(std::string const& text, char const* kind = "") {
    return std::string("<td") + kind + ">" + canvas::escaped(text) + "</td>";
  }
  static std::string whole_cell(std::string const& text) { return cell(text, " class=\"whole\""); }
  static std::string path_cell(std::string const& path) { return "<td>" + breakable(path) + "</td>"; }
  /// A number as people read it. Its exact value is an attribute for programs.
  static std::string number_cell(std::string const& id, std::string const& value, std::string const& text) {
    return "<td class=\"number\" data-" + id + "=\"" + value + "\">" + text + "</td>";
  }
  static std::string bytes_cell(char const* id, std::int64_t bytes) {
    return number_cell(id, std::to_string(bytes), bytes_text(bytes));
  }
  static std::string row(std::string const& name, char const* id, std::int64_t value, std::string const& text) {
    return "<tr><td>" + name + "</td>" + number_cell(id, std::to_string(value), text) + "</tr>\n";
  }
  static std::string row_of_bytes(std::string const& name, char const* id, std::int64_t bytes) {
    return row(name, id, bytes, bytes_text(bytes));
  }
  static std::string exact(double x) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", x);
    return text;
  }

  std::string section(plan_on_page const& p) {
    step_traffic const sent = traffic_of(p.graph, p.planned);
    computed const work = work_of(p.graph, p.planned.numbers);
    std::int64_t const parameters = parameter_count(p.graph, p.planned.numbers);
    plan const& q = p.planned;
    known_rates const machine(p.machine);
    longest_chain const chain(p.graph, q, machine);
    std::string all = "<div class=\"plan\">\n<h1>" + canvas::escaped(p.title) + "</h1>\n<table>\n";
    all += "<tr><td>layout</td><td>" + canvas::escaped(detail::sharded_dims(p.graph, p.mesh)) + "</td></tr>\n";
    all += row("ranks", "ranks", p.mesh.size(), std::to_string(p.mesh.size()));
    all += row("parameters of all ranks", "parameters", parameters, quantity(parameters, "elements"));
    all += row_of_bytes("memory of a rank", "memory-bytes", q.variable_bytes + q.arena_bytes + q.input_bytes);
    all += row_of_bytes("&emsp;for parameters and state", "variable-bytes", q.variable_bytes);
    all += row_of_bytes("&emsp;for intermediate values", "arena-bytes", q.arena_bytes);
    all += row_of_bytes("&emsp;for inputs", "input-bytes", q.input_bytes);
    all += row_of_bytes("received by a rank in a step", "received-bytes", sent.bytes);
    all += row("collectives in a step", "collectives", sent.collectives(), std::to_string(sent.collectives()));
    all += row("computed by a rank in a step", "flops", work.all(), rounded(work.all()) + "flop");
    all += row("&emsp;in products", "product-flops", work.products, rounded(work.products) + "flop");
    all += "<tr><td>longest chain, at the rates below</td>" +
           number_cell("chain-seconds", exact(chain.seconds()), seconds_text(chain.seconds())) +
           "</tr>\n</table>\n<h2>Who holds what</h2>\n" + figures_of_page(p.graph, q, p.mesh);
    return all + memory(p) + collectives(p) + rows_of_chain(chain) + rates_table(p, machine) + "</div>\n";
  }
  std::string memory(plan_on_page const& p) {
    memory_curve const curve(p.graph, p.planned);
    std::string all =
        "<h2>Memory during a step</h2>\n<p>The intermediate values that a rank holds at once, by the scope that "
        "computes them, from the beginning of a step to its end: at most <b data-most-live-bytes=\"" +
        std::to_string(curve.most()) + "\">" + bytes_text(curve.most()) + "</b>.</p>\n<div class=\"curve\">\n" +
        curve.image(colours_) +
        "</div>\n<div class=\"ends quiet\"><span>beginning of the step</span><span>end</span></div>\n"
        "<table>\n<tr><th>scope</th><th class=\"number\">at most</th></tr>\n";
    for (memory_curve::band const& b : curve.bands())
      all += "<tr><td><span class=\"colour\" style=\"background:" + colours_.of(b.scope) + "\"></span>" +
             canvas::escaped(b.scope) + "</td>" + bytes_cell("scope-bytes", b.most) + "</tr>\n";
    return all + "</table>\n";
  }
  static std::string collectives(plan_on_page const& p) {
    auto const lines = collectives_of_report(p.graph, p.planned).lines();
    if (lines.empty()) return "<h2>Collectives</h2>\n<p>None: no rank receives data from another one.</p>\n";
    std::string all =
        "<h2>Collectives</h2>\n<p>The bytes are those that a rank receives in a step.</p>\n"
        "<div class=\"wide\">\n<table class=\"collectives\">\n<tr><th class=\"number\">received</th>"
        "<th>collective</th><th>over</th><th class=\"number\">times</th><th>caused by</th></tr>\n";
    std::size_t shown = 0;
    std::int64_t rest = 0, sum = 0;
    for (auto const& l : lines) sum = saturated_sum(sum, l.bytes);
    for (auto const& [_, place] : largest_first(lines)) {
      auto const& l = lines[place];
      if (++shown > most_rows) rest = saturated_sum(rest, l.bytes);
      else
        all += "<tr>" + bytes_cell("bytes", l.bytes) + whole_cell(l.kind) + whole_cell(l.over) +
               cell((l.at_most ? "at most " : "") + std::to_string(l.runs), " class=\"number\"") + path_cell(l.where) +
               "</tr>\n";
    }
    if (shown > most_rows)
      all += "<tr>" + bytes_cell("bytes", rest) + cell(std::to_string(shown - most_rows) + " smaller rows") + "</tr>\n";
    all += "</table>\n</div>\n";
    if (sum > traffic_of(p.graph, p.planned).bytes)
      all += "<p>Small collectives are sent together, which takes fewer bytes than the rows have.</p>\n";
    return all;
  }
  static std::string rows_of_chain(longest_chain const& c) {
    std::string all =
        "<h2>The longest chain</h2>\n<p>Each of these operations needs the one before it, so no order of the "
        "operations makes a step shorter than their sum. The times follow from the rates below.</p>\n"
        "<div class=\"wide\">\n<table class=\"chain\">\n<tr><th class=\"number\">time</th>"
        "<th class=\"number\">share</th><th>operations</th><th>in</th></tr>\n";
    std::size_t shown = 0;
    double rest = 0;
    auto const begin = [&](double seconds) {
      char share[16];
      std::snprintf(share, sizeof share, "%.1f %%", c.seconds() == 0 ? 0 : 100 * seconds / c.seconds());
      return "<tr>" + number_cell("seconds", exact(seconds), seconds_text(seconds)) + cell(share, " class=\"number\"");
    };
    for (auto const& l : c.links()) {
      if (++shown > most_rows) rest += l.seconds;
      else all += begin(l.seconds) + cell(l.what) + path_cell(l.where) + "</tr>\n";
    }
    if (shown > most_rows) all += begin(rest) + cell(std::to_string(shown - most_rows) + " more") + "</tr>\n";
    return all + "</table>\n</div>\n";
  }
  static std::string rates_table(plan_on_page const& p, known_rates const& machine) {
    auto const per_second = [](double rate, char const* of) { return rounded(saturated_count(rate)) + of + "/s"; };
    auto const line = [](std::string const& of, std::string const& text, std::string const& source) {
      return "<tr>" + cell(of) + cell(text, " class=\"number\"") + cell(source) + "</tr>\n";
    };
    std::string all =
        "<h2>Rates</h2>\n<p>The time of an operation is that of its arithmetic or of its bytes of memory, whichever "
        "is longer. The time of a collective is that of its messages and bytes.</p>\n<table class=\"rates\">\n"
        "<tr><th>of a rank</th><th class=\"number\">rate</th><th>source</th></tr>\n";
    all += line("arithmetic", per_second(machine.processor().flops, "flop"), machine.source_of_flops());
    all += line("memory", per_second(machine.processor().bytes, "B"), machine.source_of_bytes());
    for (int a = 0; a < p.mesh.count; ++a) {
      if (p.mesh.axes[a].extent == 1) continue;
      name const& axis = p.mesh.axes[a].label;
      link const l = machine.of_axis(axis);
      all += line(
          "network over " + axis.text(),
          per_second(l.bytes_per_second, "B") + (l.latency == 0 ? "" : ", " + seconds_text(l.latency) + " a message"),
          machine.source_of_axis(axis));
    }
    return all + "</table>\n";
  }

  scope_colours colours_;
};

}  // namespace detail

/// Plans as one page of HTML that needs no other file. Several plans stand side by side, for example two layouts of one
/// program. Each number has its exact value in an attribute, for example `data-received-bytes`. Times follow from the
/// rates of each plan's machine, or from assumed rates.
///
/// errors  R28 a rate is negative or no number
template <class = lazy>
std::string page(std::vector<plan_on_page> const& plans) {
  return detail::page_writer().text(plans);
}

#if MESHTENSOR_COMPILED
extern template std::string page<lazy>(std::vector<plan_on_page> const&);
#endif

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
