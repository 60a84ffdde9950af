// SPDX-License-Identifier: Apache-2.0
// Compiled once for all property tests.
#include "property/catalogue.hpp"

#include "support/programs.hpp"

namespace property {

namespace {

template <class Program, mt::dtype Parameters = mt::dtype::f64, mt::dtype Compute = Parameters>
listed entry(char const* label) {
  return {label, mt::entry_name<Program>(),
          [] { return mt::on_heap([] { return mt::trace<mt::precision<Program, Parameters, Compute>>(); }); }};
}

}  // namespace

std::vector<listed> const& catalogue() {
  using namespace programs;
  static std::vector<listed> const all{
      entry<functions>("functions"),
      entry<discrete>("discrete"),
      entry<contractions>("contractions"),
      entry<reductions>("reductions"),
      entry<softmaxes>("softmaxes"),
      entry<not_finite>("not_finite"),
      entry<movements>("movements"),
      entry<orders>("orders"),
      entry<lookups>("lookups"),
      entry<noise>("noise"),
      entry<asked>("asked"),
      entry<mlp>("mlp"),
      entry<recurrent>("recurrent"),
      entry<trading>("trading"),
      entry<nested>("nested"),
      entry<composites>("composites"),
      entry<settled>("settled"),
      entry<decided>("decided"),
      entry<classifier>("classifier"),
      entry<attending>("attending"),
      entry<choosing>("choosing"),
      entry<language_model>("language_model"),
      entry<translator>("translator"),
      entry<adversaries>("adversaries"),
      entry<in_parts>("in_parts"),
      entry<averaged>("averaged"),
      entry<memories>("memories"),
      entry<penalised>("penalised"),
      entry<bent>("bent"),
      entry<powers>("powers"),
      entry<routed>("routed"),
      entry<grouped>("grouped"),
      entry<convolved>("convolved"),
      entry<images>("images"),
      entry<normed>("normed"),
      entry<pooled>("pooled"),
      entry<surrounded>("surrounded"),
      entry<members>("members"),
      entry<classifier, mt::dtype::f32>("classifier in f32"),
      entry<recurrent, mt::dtype::f32>("recurrent in f32"),
      entry<language_model, mt::dtype::f32>("language_model in f32"),
      entry<mixed, mt::dtype::f32, mt::dtype::bf16>("bf16 with parameters in f32"),
  };
  return all;
}

listed const& program_named(std::string const& label) {
  for (listed const& p : catalogue())
    if (p.label == label) return p;
  throw mt::error("R99", "the catalogue has no program '" + label + "'");
}

}  // namespace property
