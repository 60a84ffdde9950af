// SPDX-License-Identifier: Apache-2.0
// Computes a minimum cut: the cheapest set of edges whose removal separates a source from a sink.
#pragma once

#include <cstdint>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/diagnostic.hpp"

namespace meshtensor {

/// A directed graph with capacities. Vertices are numbered from 0: a source, a sink, and two for each value.
struct flow_network {
  static constexpr int max_vertices = 2 * max_values + 2, max_edges = max_links;
  static constexpr std::int64_t unlimited = std::int64_t{1} << 60;

  struct edge {  // the reverse edge is `number ^ 1`
    int to, next;
    std::int64_t left;  // residual capacity
  };

  int vertex_count, edge_count;
  bool full;                // whether there are too many edges
  int first[max_vertices];  // the first edge that leaves a vertex, plus 1
  int by[max_vertices];     // the edge by which a search reached the vertex, plus 1
  int waiting[max_vertices];
  edge edges[max_edges];

  constexpr int add_vertex() { return vertex_count++; }
  constexpr void add_edge(int from, int to, std::int64_t capacity) {
    full = full || edge_count + 2 > max_edges;
    if (full) return;
    edges[edge_count++] = {to, first[from], capacity}, first[from] = edge_count;
    edges[edge_count++] = {from, first[to], 0}, first[to] = edge_count;
  }

  /// Computes a maximum flow (Edmonds and Karp, J. ACM 19, 1972). Afterwards `is_before_sink` describes the minimum cut
  /// that is nearest to the sink.
  constexpr void fill(int source, int sink) {
    while (search(source, false, sink)) {
      std::int64_t most = unlimited;
      for (int v = sink; v != source; v = edges[(by[v] - 1) ^ 1].to)
        if (edges[by[v] - 1].left < most) most = edges[by[v] - 1].left;
      for (int v = sink; v != source; v = edges[(by[v] - 1) ^ 1].to)
        edges[by[v] - 1].left -= most, edges[(by[v] - 1) ^ 1].left += most;
    }
    search(sink, true, -1);
  }
  /// Whether a vertex is on the sink's side of the cut.
  constexpr bool is_before_sink(int vertex) const { return by[vertex] != 0; }

 private:
  // Searches breadth-first from `start`, or backwards to it, and marks the vertices that it reaches. It stops at
  // `goal`, and returns whether it got there.
  constexpr bool search(int start, bool backwards, int goal) {
    for (int v = 0; v < vertex_count; ++v) by[v] = 0;
    int count = 1;
    waiting[0] = start, by[start] = -1;
    for (int i = 0; i < count; ++i)
      for (int e = first[waiting[i]]; e != 0; e = edges[e - 1].next) {
        edge const& way = edges[e - 1];
        if (by[way.to] != 0 || edges[backwards ? (e - 1) ^ 1 : e - 1].left == 0) continue;
        by[way.to] = e;
        if (way.to == goal) return true;
        waiting[count++] = way.to;
      }
    return false;
  }
};

}  // namespace meshtensor
