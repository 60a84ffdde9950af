// SPDX-License-Identifier: Apache-2.0
// Prints the tables of a module: dims, mesh and variables.
#pragma once

#include <string>
#include <utility>

#include "meshtensor/graph/spell.hpp"
#include "meshtensor/op/rules.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

class table_printer : speller {
 public:
  using speller::speller;

  std::string text() {
    tables();
    return std::move(text_);
  }

 private:
  [[gnu::cold]] void tables() {
    std::string all;
    for (int d = 0; d < m_.dim_count; ++d) {
      dim_row const& row = m_.dims[d];
      all += (d == 0 ? "dims " : ", ") + dim(d);
      switch (row.kind) {
        case dim_row::fixed: all += " = " + std::to_string(row.value); break;
        case dim_row::product: all += " = " + dim(row.first) + " * " + dim(row.second); break;
        case dim_row::quotient: all += " = ceil(" + dim(row.first) + " / " + dim(row.second) + ")"; break;
        case dim_row::sum: all += " = " + dim(row.first) + " + " + dim(row.second); break;
        case dim_row::shifted:
          all += " = " + dim(row.first) + (row.value < 0 ? " - " : " + ") +
                 std::to_string(row.value < 0 ? -row.value : row.value);
          break;
        case dim_row::same: all += " = " + dim(row.first); break;
        case dim_row::holders: all += " = holders of " + dim(row.first); break;
        case dim_row::rows: all += " = rows for " + dim(row.first); break;
        case dim_row::sent: all += " = those sent of " + dim(row.first); break;
        case dim_row::counted: all += " = " + number(static_cast<number_id>(row.value)); break;
        case dim_row::blocks: all += " = shards of " + dim(row.first); break;
        case dim_row::in_block: all += " = " + dim(row.first) + " / " + dim(row.second); break;
        case dim_row::windowed: {
          auto const places = window_places::of(row.value);
          all += " = (" + dim(row.first) + (places.offset < 0 ? " - " : " + ") +
                 std::to_string(places.offset < 0 ? -places.offset : places.offset) + ") / " +
                 std::to_string(places.stride) + " + 1";
          break;
        }
        case dim_row::halo: all += " = " + dim(row.first) + " reached from parts of " + dim(row.second); break;
        case dim_row::dynamic: break;
      }
    }
    if (!all.empty()) text_ += all + "\n";
    all.clear();
    for (int a = 0; a < m_.axis_count; ++a)
      all += (a == 0 ? "mesh " : ", ") + axis(a) +
             (m_.axes[a].extent == 0 ? "" : " = " + std::to_string(m_.axes[a].extent));
    if (!all.empty()) text_ += all + "\n";
    for (int i = 0; i < m_.variable_count; ++i) {
      variable const& v = m_.variables[i];
      text_ += (v.trainable ? "parameter " : "state ") + path(v.path) + ": " + text_of(v.type) + "[" +
               dims(v.dims, v.layout) + "]";
      switch (v.start) {
        case initializer_kind::automatic: break;
        case initializer_kind::constant: text_ += " = " + number(v.number); break;
        case initializer_kind::normal: text_ += " = normal(" + number(v.number) + ")"; break;
        case initializer_kind::uniform: text_ += " = uniform(" + number(v.number) + ")"; break;
      }
      text_ += "\n";
    }
  }

  std::string text_;
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
