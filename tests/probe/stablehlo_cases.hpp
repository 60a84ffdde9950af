// SPDX-License-Identifier: Apache-2.0
// A program as StableHLO with what it is given and must give, in files for whoever runs it: NAME.mlir is the text,
// NAME.txt lists arguments and results, NAME.bin has their elements, for each of the replicas one after the other.
#pragma once

#include <filesystem>
#include <fstream>

#include "meshtensor/emit/stablehlo.hpp"
#include "meshtensor/job/rank_context.hpp"
#include "property/subject.hpp"

namespace probe {
namespace mt = meshtensor;

/// The second step of one program, by the interpreter, and its cases on meshes.
class stablehlo_cases {
 public:
  int emitted = 0;

  /// `folder`: where cases are written; empty: they are emitted only. The module must outlive this.
  stablehlo_cases(std::string folder, mt::module const& traced, mt::name const& entry,
                  std::vector<mt::dim_extent> extents)
      : folder_(std::move(folder)),
        traced_(traced),
        entry_(entry),
        extents_(std::move(extents)),
        whole_(traced, entry, extents_) {
    whole_.steps = 2;
    whole_.fill(property::fill_kind::reals, property::rng{11}, -1.5, 1.5, 11);
    whole_.expect();
    settings_.step = 1;
  }

  property::subject const& whole() const { return whole_; }

  /// Emits the program on a mesh; false if the layout does not fit.
  bool add(std::string const& name, mt::mesh_shape const& mesh, mt::layout_rules const& rules,
           mt::device_capabilities const& capabilities = {}) {
    std::unique_ptr<mt::lowering> l;
    try {
      l = mt::lower(traced_, entry_, mesh, rules, extents_, capabilities);
    } catch (mt::error const& e) {
      if (e.code()[0] != 'S') throw;
      return false;
    }
    auto const program = mt::stablehlo(l->graph, l->entry, l->planned.numbers, mesh);
    ++emitted;
    if (folder_.empty()) return true;
    std::string const path = (std::filesystem::path(folder_) / name).string();
    std::ofstream(path + ".mlir") << program.text;
    std::ofstream list(path + ".txt"), data(path + ".bin", std::ios::binary);
    list << "replicas " << mesh.size() << "\n";
    for (auto const& p : program.arguments) write(list << "argument ", data, *l, mesh, p, false);
    for (auto const& p : program.results) write(list << "result ", data, *l, mesh, p, true);
    return true;
  }

 private:
  void write(std::ostream& list, std::ostream& data, mt::lowering const& l, mt::mesh_shape const& mesh,
             mt::stablehlo_port const& p, bool after) const {
    mt::module const& m = l.graph;
    if (p.kind == mt::stablehlo_port::number) {
      list << mt::text_of(p.type_in(m)) << "\n";
      mt::block const b = number_of(l, p);
      for (int rank = 0; rank < mesh.size(); ++rank)
        data.write(static_cast<char const*>(b.window().data), static_cast<std::streamsize>(mt::bytes_of(p.type_in(m))));
      return;
    }
    if (p.value == mt::no_id) {  // seed, step
      list << "u64\n";
      std::uint64_t const word = p.kind == mt::stablehlo_port::seed ? settings_.seed : settings_.step;
      for (int rank = 0; rank < mesh.size(); ++rank) data.write(reinterpret_cast<char const*>(&word), sizeof word);
      return;
    }
    mt::value const& v = m.values[p.value];
    list << mt::text_of(v.type);
    for (int i = 0; i < v.dims.count; ++i) list << " " << l.planned.numbers.local(v, i);
    list << "\n";
    mt::block const whole = value_of(l, p, after);
    for (int rank = 0; rank < mesh.size(); ++rank) {
      mt::view part = mt::rank_context(m, l.planned, mesh, rank).window_of(v);
      std::vector<char> room(static_cast<std::size_t>(part.bytes()));
      part.data = room.data();
      std::int64_t first = 0;
      for (int i = 0; i < part.count; ++i) first += part.origin[i] * whole.window().stride[i];
      mt::detail::copy_by_name(whole.window(), first, part, 0, mt::no_id, mt::no_id, part.extent);
      data.write(room.data(), part.bytes());
    }
  }
  mt::block value_of(mt::lowering const& l, mt::stablehlo_port const& p, bool after) const {
    mt::module const& m = l.graph;
    switch (p.kind) {
      case mt::stablehlo_port::variable:
        return whole_.expected_variables(after ? 1 : 0).at(mt::path_text(m, m.variables[p.row].path));
      case mt::stablehlo_port::input: return whole_.inputs.at(m.names[m.nodes[p.row].attribute[0]].text());
      case mt::stablehlo_port::output: return whole_.expected_outputs(1).at(mt::label_of_output(m, m.nodes[p.row]));
      default: throw std::logic_error("a port without a value");
    }
  }
  mt::block number_of(mt::lowering const& l, mt::stablehlo_port const& p) const {
    mt::dynamic_array<mt::number_value> numbers;
    mt::evaluate_numbers(l.graph, l.planned.numbers, settings_, numbers);
    mt::block b(p.type_in(l.graph), {}, l.planned.numbers);
    mt::with_element(b.type(), [&]<class E>() { *b.window().as<E>() = mt::element_of<E>(numbers[p.row]); });
    return b;
  }

  std::string folder_;
  mt::module const& traced_;
  mt::name entry_;
  std::vector<mt::dim_extent> extents_;
  property::subject whole_;
  mt::settings settings_;
};

}  // namespace probe
