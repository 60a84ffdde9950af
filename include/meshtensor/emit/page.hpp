// SPDX-License-Identifier: Apache-2.0
// Writes plans as one page for a browser, side by side: who holds what, memory, collectives and the longest chain.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "meshtensor/emit/drawing.hpp"
#include "meshtensor/emit/page/longest_chain.hpp"
#include "meshtensor/emit/page/memory_curve.hpp"
#include "meshtensor/emit/report/exchanges.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// A plan on a page, and what the page calls it.
struct plan_on_page {
  std::string title;
  meshtensor::module const& graph;
  plan const& planned;
  mesh_shape const& mesh;
};

namespace detail {

class page_writer {
 public:
  std::string text(std::vector<plan_on_page> const& plans) const {
    std::string all =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" +
        canvas::escaped(plans.empty() ? "" : plans[0].title) +
        "</title>\n<style>body{font:14px/1.5 system-ui,sans-serif;margin:24px;color:#1f2328}"
        ".plans{display:flex;gap:48px;align-items:flex-start}.plan{flex:none}"
        "table{border-collapse:collapse;margin:8px 0}td,th{padding:2px 14px 2px 0;text-align:left;vertical-align:top}"
        "td.number,th.number{text-align:right}h1{font-size:20px}h2{font-size:16px;margin:28px 0 4px}"
        "p{max-width:760px}svg{display:block}</style>\n</head>\n<body>\n<div class=\"plans\">\n";
    for (plan_on_page const& p : plans) all += section(p);
    return all + "</div>\n</body>\n</html>\n";
  }

 private:
  static constexpr std::size_t most_rows = 60;
  // Their ratios alone count: 10 operations take as long as a byte of memory, a byte of a network 10 times as long.
  static constexpr rates of_a_core{1e11, 1e10};
  static constexpr double of_a_network = 1e9;

  static std::string cell(std::string const& text, char const* kind = "") {
    return std::string("<td") + kind + ">" + canvas::escaped(text) + "</td>";
  }
  /// A number as people read it, and exactly for programs.
  static std::string bytes_cell(std::int64_t bytes) {
    return "<td class=\"number\" data-bytes=\"" + std::to_string(bytes) + "\">" + bytes_text(bytes) + "</td>";
  }
  static std::string row(std::string const& name, char const* id, std::int64_t value, std::string const& text) {
    return "<tr><td>" + name + "</td><td class=\"number\" data-" + id + "=\"" + std::to_string(value) + "\">" + text +
           "</td></tr>\n";
  }

  static std::string section(plan_on_page const& p) {
    exchanged const sent = traffic_of(p.graph, p.planned);
    computed const work = work_of(p.graph, p.planned.numbers);
    std::string all = "<div class=\"plan\">\n<h1>" + canvas::escaped(p.title) + "</h1>\n<table>\n";
    all += row("ranks", "ranks", p.mesh.size(), std::to_string(p.mesh.size()));
    all += row("parameters and state of a rank", "variable-bytes", p.planned.variable_bytes,
               bytes_text(p.planned.variable_bytes));
    all +=
        row("intermediate values of a rank", "arena-bytes", p.planned.arena_bytes, bytes_text(p.planned.arena_bytes));
    all += row("inputs of a rank", "input-bytes", p.planned.input_bytes, bytes_text(p.planned.input_bytes));
    all += row("received by a rank in a step", "received-bytes", sent.bytes, bytes_text(sent.bytes));
    all += row("collectives in a step", "collectives", sent.collectives(), std::to_string(sent.collectives()));
    all += row("computed by a rank in a step", "flops", work.all(), rounded(work.all()) + "flop");
    all += row("of them in products", "product-flops", work.products, rounded(work.products) + "flop");
    all += "</table>\n<h2>Who holds what</h2>\n" + drawing_writer(p.graph, p.planned, p.mesh).parts();
    memory_curve const curve(p.graph, p.planned);
    all +=
        "<h2>Memory during a step</h2>\n<p>The intermediate values that a rank holds at once, by the scope that "
        "computes them, from the begin of a step to its end: at most <b data-most-live-bytes=\"" +
        std::to_string(curve.most()) + "\">" + bytes_text(curve.most()) + "</b>.</p>\n" + curve.image();
    return all + collectives(p) + chain(p) + "</div>\n";
  }
  static std::string collectives(plan_on_page const& p) {
    auto const lines = exchanges_of_report(p.graph, p.planned).lines();
    std::string all =
        "<h2>Collectives</h2>\n<table class=\"collectives\">\n<tr><th class=\"number\">received</th>"
        "<th>collective</th><th>over</th><th class=\"number\">times</th><th>caused by</th></tr>\n";
    std::size_t shown = 0;
    std::int64_t rest = 0, sum = 0;
    for (auto const& l : lines) sum = saturated_sum(sum, l.bytes);
    for (auto const& [_, place] : largest_first(lines)) {
      auto const& l = lines[place];
      if (++shown > most_rows) rest = saturated_sum(rest, l.bytes);
      else
        all += "<tr>" + bytes_cell(l.bytes) + cell(l.kind) + cell(l.over) +
               cell((l.at_most ? "at most " : "") + std::to_string(l.runs), " class=\"number\"") + cell(l.where) +
               "</tr>\n";
    }
    if (shown > most_rows)
      all += "<tr>" + bytes_cell(rest) + cell(std::to_string(shown - most_rows) + " smaller rows") + "</tr>\n";
    all += "</table>\n";
    if (sum > traffic_of(p.graph, p.planned).bytes)
      all += "<p>Small collectives are sent together, which takes fewer bytes than the rows have.</p>\n";
    return all;
  }
  static std::string chain(plan_on_page const& p) {
    longest_chain const c(p.graph, p.planned, of_a_core, of_a_network);
    std::string all =
        "<h2>The longest chain</h2>\n<p>Each of these operations needs the one before it, so a step cannot "
        "be shorter. The shares assume that 10 floating-point operations take as long as a byte of memory, "
        "and that a byte of the network takes 10 times as long.</p>\n<table class=\"chain\">\n"
        "<tr><th class=\"number\">share</th><th>operations</th><th>in</th></tr>\n";
    std::size_t shown = 0;
    double rest = 0;
    auto const share = [&](double seconds) {
      char text[16];
      std::snprintf(text, sizeof text, "%.1f %%", c.seconds() == 0 ? 0 : 100 * seconds / c.seconds());
      return std::string(text);
    };
    for (auto const& l : c.links()) {
      if (++shown > most_rows) rest += l.seconds;
      else all += "<tr>" + cell(share(l.seconds), " class=\"number\"") + cell(l.what) + cell(l.where) + "</tr>\n";
    }
    if (shown > most_rows)
      all += "<tr>" + cell(share(rest), " class=\"number\"") + cell(std::to_string(shown - most_rows) + " more") +
             "</tr>\n";
    return all + "</table>\n";
  }
};

}  // namespace detail

/// Plans as one page of HTML that needs no other file. Several stand side by side, for example two layouts of one
/// program. Each number has its exact value in an attribute, as `data-received-bytes`.
template <class = lazy>
std::string page(std::vector<plan_on_page> const& plans) {
  return detail::page_writer().text(plans);
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
